#pragma once

#include "libgraph/connector/format.hpp"
#include "libgraph/data/order_key.hpp"
#include "libgraph/expression/expression.hpp"
#include "libgraph/spec/over_frame.hpp"
#include "libgraph/types/logical_type.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace::graph {

/// Names a function of the job's code by its index in the function table; -1: none.
struct function_ref {
  std::int32_t index = -1;
  bool is_none() const { return index < 0; }
  friend bool operator==(const function_ref&, const function_ref&) = default;
};

/// A connector by name and options, or one that the job's code brings.
struct connector_spec {
  std::string name;
  option_map options;
  function_ref provider;
  friend bool operator==(const connector_spec&, const connector_spec&) = default;
};

/// How event time and watermarks are made.
enum class watermark_kind : std::uint8_t { none, bounded_out_of_orderness, monotonous, generated };
struct watermark_spec {
  watermark_kind kind = watermark_kind::none;
  /// Largest expected disorder: the watermark is 1 ms and this below the largest time. -1: is that
  /// time, and further rows of it come too late.
  std::int64_t bound_ms = 0;
  std::int64_t idle_timeout_ms = 0; ///< 0: never idle
  bool on_event = false;         ///< cut batches at each advance: results do not depend on batches
  function_ref assigner;         ///< none: rows keep the timestamps they have
  std::int32_t time_column = -1; ///< instead of an assigner: this BIGINT or TIMESTAMP column
  function_ref generator = {};   ///< of watermarks that are generated
  friend bool operator==(const watermark_spec&, const watermark_spec&) = default;
};

// One struct a kind of operator; what libtask's operator factories are given.
struct source_spec {
  connector_spec connector;
  watermark_spec watermarks;
  friend bool operator==(const source_spec&, const source_spec&) = default;
};
struct row_function_spec {
  function_ref function;
  friend bool operator==(const row_function_spec&, const row_function_spec&) = default;
};
struct filter_spec {
  function_ref function;
  friend bool operator==(const filter_spec&, const filter_spec&) = default;
};
struct project_spec {
  std::vector<std::int32_t> columns;
  friend bool operator==(const project_spec&, const project_spec&) = default;
};
struct watermarks_spec {
  watermark_spec watermarks;
  friend bool operator==(const watermarks_spec&, const watermarks_spec&) = default;
};
struct keyed_process_spec {
  function_ref function;
  std::vector<std::int32_t> key_columns;
  friend bool operator==(const keyed_process_spec&, const keyed_process_spec&) = default;
};
/// Runs a function over two inputs (Flink's connected streams). With keys it has states and timers
/// of keys, which rows of both inputs have; or, where the second is broadcast, those of the first.
struct co_process_spec {
  function_ref function;
  std::vector<std::int32_t> key_columns;          ///< of the first input; empty: there are no keys
  std::vector<std::int32_t> second_key_columns{}; ///< of the same types; none of what is broadcast
  bool is_broadcast = false;                      ///< each subtask gets all rows of the second
  friend bool operator==(const co_process_spec&, const co_process_spec&) = default;
};

/// When a call of an async function is made again for a row.
struct async_retry_spec {
  std::int32_t attempts_max = 0; ///< behind the first call; 0: never
  std::int64_t delay_ms = 0;     ///< before the first of them
  std::int64_t delay_ms_max = 0;
  double multiplier = 1; ///< of the delay, from one to the next; at least 1
  friend bool operator==(const async_retry_spec&, const async_retry_spec&) = default;
};
/// Calls a function of the job for each row, and goes on while the calls run (Flink's async I/O).
struct async_wait_spec {
  static constexpr std::int64_t capacity_limit = 1'000'000;
  function_ref function;
  bool is_ordered = false;     ///< rows leave in the order in which they came
  std::int64_t timeout_ms = 0; ///< of a row, over all of its calls; 0: none
  std::int64_t capacity = 100; ///< rows that have been called for and not left, 1 to the limit
  async_retry_spec retry{};
  friend bool operator==(const async_wait_spec&, const async_wait_spec&) = default;
};

enum class aggregate_kind : std::uint8_t { count, sum, min, max, min_by, max_by, first, last };
/// One aggregate over a column. min_by and max_by order whole rows by it: such a call stands alone,
/// and the output is the first row that has the extreme value (of an input with hidden key columns
/// behind, as many leading columns as the output type has).
struct aggregate_call {
  aggregate_kind kind = aggregate_kind::count;
  std::int32_t column = -1;
  friend bool operator==(const aggregate_call&, const aggregate_call&) = default;
};
/// Either a function of the job, or built-in calls: one a column of the output row, in order; a key
/// column's call is `first`. `result_type` is the row that the aggregates give when a window
/// function follows; type NULL: it is the operator's output type.
struct aggregation {
  function_ref function;
  std::vector<aggregate_call> calls;
  logical_type result_type;
  friend bool operator==(const aggregation&, const aggregation&) = default;
};
/// Running aggregate: emits the new value of a key for each row (Flink's keyed `sum`, `reduce`).
struct keyed_aggregate_spec {
  std::vector<std::int32_t> key_columns;
  aggregation aggregates;
  friend bool operator==(const keyed_aggregate_spec&, const keyed_aggregate_spec&) = default;
};

enum class window_kind : std::uint8_t {
  tumbling,
  sliding,
  end_of_stream, ///< one window a key, fired at the end of input
  cumulating,    ///< from one start on, each a slide longer than the one before, up to the size
  session,       ///< rows that come within `size_ms` of another one
};
struct window_spec {
  window_kind kind = window_kind::tumbling;
  std::int64_t size_ms = 0;
  std::int64_t slide_ms = 0;
  std::int64_t offset_ms = 0;
  std::int64_t allowed_lateness_ms = 0;
  bool is_processing_time = false; ///< by the clock, not by the rows' time
  std::string time_zone{};         ///< of the clocks that bounds are told by; empty: of instants
  friend bool operator==(const window_spec&, const window_spec&) = default;
};
struct window_aggregate_spec {
  std::vector<std::int32_t> key_columns;
  window_spec window;
  aggregation aggregates;
  function_ref window_function; ///< none: the aggregate's result rows are the output
  std::int32_t late_side = -1;  ///< side output of late rows, as they came in; -1: counted, dropped
  friend bool operator==(const window_aggregate_spec&, const window_aggregate_spec&) = default;
};
/// Keeps the rows for which the condition is TRUE, and gives of each the outputs (SQL's WHERE and
/// SELECT list). Kinds and timestamps of rows stay.
struct calc_spec {
  expression condition;            ///< BOOLEAN; empty: every row
  std::vector<expression> outputs; ///< one a column of the output type
  std::string time_zone = "UTC";   ///< of the session: what TIMESTAMP_LTZ is shown in
  friend bool operator==(const calc_spec&, const calc_spec&) = default;
};
/// One aggregate of SQL over columns of the input, by its name in capitals. COUNT without arguments
/// counts rows.
struct group_aggregate_call {
  std::string function;
  std::vector<std::int32_t> arguments;
  std::int32_t filter = -1; ///< a BOOLEAN column: only rows for which it is TRUE; -1: all
  bool is_distinct = false;
  std::string definition{}; ///< of a user's function, as `encode` of it; empty: built in
  friend bool operator==(const group_aggregate_call&, const group_aggregate_call&) = default;
};
/// Rows are gathered, and worked on together: of all changes of a key only what they come to
/// leaves.
struct mini_batch_spec {
  std::int64_t rows_max = 0;   ///< of all inputs together; 0: rows are worked on as they come
  std::int64_t latency_ms = 0; ///< the longest that a row waits for others
  bool is_on() const { return rows_max > 0; }
  friend bool operator==(const mini_batch_spec&, const mini_batch_spec&) = default;
};
/// Whether an aggregate is one operator, or one before the exchange that sums up what comes with a
/// batch, and one behind it.
enum class aggregate_phase : std::uint8_t {
  single,
  local,  ///< gives the key columns and, as BYTES, what is to be merged into the key's group
  global, ///< takes these
};
/// SQL's GROUP BY over a changelog: a row a key, changed as rows come and go. The output has the
/// key columns, in order, then a column a call; without calls it is the distinct keys.
struct group_aggregate_spec {
  std::vector<std::int32_t> key_columns; ///< at least one: a constant where there is one group
  std::vector<group_aggregate_call> calls;
  bool input_retracts = false;     ///< rows are taken back (-U, -D)
  bool emits_update_before = true; ///< someone downstream needs -U
  std::int64_t state_ttl_ms = 0;   ///< 0: groups are kept for ever
  mini_batch_spec mini_batch{};
  aggregate_phase phase = aggregate_phase::single; ///< in two only calls that can be merged
  /// Of a local phase what the global one gives; of a global one what the local one takes, whose
  /// columns the calls count.
  logical_type other_end = logical_type::null();
  friend bool operator==(const group_aggregate_spec&, const group_aggregate_spec&) = default;
};
/// SQL's Top-N and deduplication: of each key the rows that have the ranks `first` to `last` in an
/// order, as a changelog. The output has the input's columns, then perhaps the rank, a BIGINT.
struct rank_spec {
  static constexpr std::int64_t kept_ranks_max = 100'000; ///< rows of a key that are kept in order
  std::vector<std::int32_t> key_columns; ///< at least one: a constant where there is one key
  std::vector<order_column> order;       ///< empty: as the rows come
  std::int64_t first = 1;                ///< from 1
  std::int64_t last = 1;
  bool prefers_latest = false;     ///< of equal rows the later is before the earlier
  bool outputs_rank = false;       //
  bool input_retracts = false;     ///< rows are taken back (-U, -D)
  bool emits_update_before = true; ///< someone downstream needs -U
  std::int64_t state_ttl_ms = 0;   ///< 0: rows are kept for ever
  mini_batch_spec mini_batch{};    ///< only of one rank, over rows that only come
  /// Of rows that carry their windows, the end, a key too: then the rows are given once, when the
  /// window is over. -1: they are given as they come.
  std::int32_t window_end_column = -1;
  std::string time_zone{}; ///< as that of the windows
  friend bool operator==(const rank_spec&, const rank_spec&) = default;
};
/// SQL's window functions over tables: each row once for each of its windows, with their start, end
/// and last millisecond behind the input's columns. Sessions are of a key each, and over when the
/// rows leave.
struct window_table_spec {
  window_spec window;
  std::int32_t time_column = -1;         ///< not with processing time
  std::vector<std::int32_t> key_columns; ///< of sessions; else none
  friend bool operator==(const window_table_spec&, const window_table_spec&) = default;
};
/// SQL's GROUP BY over rows that carry their windows: a row a key and window, when that is over.
/// The output has the keys, the results, and the window's start, end and last millisecond.
struct window_group_spec {
  std::vector<std::int32_t> key_columns; ///< with the bounds where calls need states of a key
  std::vector<group_aggregate_call> calls;
  std::int32_t start_column = -1; ///< of the window, TIMESTAMP(3)
  std::int32_t end_column = -1;
  bool is_processing_time = false;
  std::string time_zone{}; ///< as that of the windows
  friend bool operator==(const window_group_spec&, const window_group_spec&) = default;
};
/// The same over sessions, which the operator finds itself. For calls that can be merged.
struct session_group_spec {
  std::vector<std::int32_t> key_columns;
  std::vector<group_aggregate_call> calls;
  window_spec window;
  std::int32_t time_column = -1; ///< not with processing time
  friend bool operator==(const session_group_spec&, const session_group_spec&) = default;
};
/// SQL's OVER: a column a call behind the input's, over the rows of the same key up to each row.
struct over_spec {
  std::vector<std::int32_t> key_columns;
  std::int32_t time_column = -1; ///< rows in its order, as the watermark passes; -1: as they come
  bool is_rows = false;          ///< else with all rows of the same time
  std::int64_t preceding = -1;   ///< rows, or milliseconds; -1: all that came before
  std::vector<group_aggregate_call> calls;
  std::int64_t state_ttl_ms = 0; ///< 0: what is carried of a key is kept for ever
  /// Of rows that end: those of a key whose time is the same are a whole partition, in this order.
  std::optional<over_frame> frame{}; ///< in place of `is_rows` and `preceding`
  std::vector<order_column> order{}; ///< with `frame`; empty: all are equal, as they came
  friend bool operator==(const over_spec&, const over_spec&) = default;
};
/// A value of the rows that a match has so far: of those that one variable has taken, or of all.
struct pattern_value {
  enum class kind : std::uint8_t {
    first,      ///< of the row `offset` rows behind the first one; NULL: there is none
    last,       ///< of the row `offset` rows before the last one
    aggregate,  ///< over all of them
    match_time, ///< when the match was found, in event time: TIMESTAMP(3) or TIMESTAMP_LTZ(3)
  };
  kind what = kind::last;
  std::int32_t variable = -1; ///< of the pattern; -1: rows of all
  std::int32_t offset = 0;
  std::int32_t column = -1;          ///< of the input, with `first` and `last`
  std::string function{};            ///< of an aggregate, in capitals
  std::vector<expression> arguments; ///< over the input's columns; COUNT without any counts rows
  logical_type type = logical_type::null();
  friend bool operator==(const pattern_value&, const pattern_value&) = default;
};
/// A variable of a pattern: takes rows that follow each other, each of which meets the condition.
struct pattern_variable {
  std::string name;
  std::int32_t repeat_min = 1;
  std::int32_t repeat_max = 1; ///< -1: without end
  bool is_greedy = false;      ///< a row that it can take is not left to the next variable
  expression condition; ///< BOOLEAN over the input's columns, and behind them the values; or empty
  friend bool operator==(const pattern_variable&, const pattern_variable&) = default;
};
/// Where the next match may begin.
enum class match_skip : std::uint8_t {
  past_last_row,
  to_next_row, ///< behind the row that the match began with
  to_first,    ///< at the first row of a variable
  to_last,
};
/// SQL's MATCH_RECOGNIZE: a row for each time that the rows of a key, in order, match a pattern.
struct match_spec {
  static constexpr std::int64_t states_max = 10'000; ///< sum of the variables' repetitions
  std::vector<std::int32_t> key_columns;
  std::int32_t time_column = -1;   ///< rows in its order, as the watermark passes; -1: as they come
  std::vector<order_column> order; ///< of rows of one time; empty: as they came
  std::vector<pattern_variable> variables; ///< one behind the other
  std::vector<pattern_value> values;
  std::vector<expression> measures; ///< one a column of the output, over what conditions are over
  std::int64_t within_ms = 0;       ///< a match is shorter, from its first row on; 0: any
  match_skip skip = match_skip::to_next_row;
  std::int32_t skip_variable = -1; ///< with to_first and to_last
  std::string time_zone = "UTC";   ///< of the session
  friend bool operator==(const match_spec&, const match_spec&) = default;
};
/// Spreads rows of one key over several: a further column, INT NOT NULL, has a number of a bucket
/// for a further key. One side of a join is dealt out, the other one is in each of them.
struct salt_spec {
  static constexpr std::int32_t buckets_max = 65'536;
  std::vector<std::int32_t> columns; ///< rows that are equal in these have one bucket
  std::int32_t buckets = 1;
  bool is_in_each = false; ///< each row once a bucket; then no columns
  friend bool operator==(const salt_spec&, const salt_spec&) = default;
};
struct sink_spec {
  connector_spec connector;
  friend bool operator==(const sink_spec&, const sink_spec&) = default;
};

enum class join_kind : std::uint8_t {
  inner,
  left,
  right,
  full,
  semi, ///< left rows with a match, once each
  anti, ///< left rows without one
};
/// One of the two inputs of a join.
struct join_side {
  std::vector<std::int32_t> key_columns; ///< of types that the other side's have, but for NULL
  bool retracts = false;                 ///< rows are taken back (-U, -D)
  std::int64_t state_ttl_ms = 0;         ///< 0: rows are kept for ever
  friend bool operator==(const join_side&, const join_side&) = default;
};
/// Joins two changelogs, both hash partitioned by their keys. The output has the left columns, and
/// behind them, but for semi and anti joins, the right ones.
struct join_spec {
  join_kind kind = join_kind::inner;
  join_side left;
  join_side right;
  std::vector<std::uint8_t> null_safe; ///< one a key: 1 where NULL equals NULL
  expression condition; ///< BOOLEAN over the left and the right columns; empty: the keys do
  std::string time_zone = "UTC"; ///< of the session
  mini_batch_spec mini_batch{};
  friend bool operator==(const join_spec&, const join_spec&) = default;
};
/// A join of rows whose times say when they can match no more and are dropped: by windows (of equal
/// ends, joined when the watermark passes them), by a distance, or of left rows with the version
/// that right ones had at their time. But for the last, rows only come.
struct timed_join_spec {
  join_spec join;            ///< no time to live
  bool is_by_window = false; ///< else by the distance; semi and anti joins are by windows
  /// Right rows are versions of what their key names, from their time on: -U are passed over, -D
  /// end it. Inner or left; kinds of left rows stay.
  bool is_by_version = false;
  std::int32_t left_time = -1;  ///< TIMESTAMP column: of a window its end
  std::int32_t right_time = -1; ///< likewise
  /// By distance: right time less left time lies in these bounds, both included.
  std::int64_t least_ms = 0;
  std::int64_t most_ms = 0;
  friend bool operator==(const timed_join_spec&, const timed_join_spec&) = default;
};
/// Joins each row with those that a table has of its key when the row passes. The table ends; each
/// subtask reads it once. The output has the input's columns, then the table's.
struct lookup_join_spec {
  join_kind kind = join_kind::inner; ///< or left
  connector_spec table;
  logical_type table_type;                     ///< what the connector's rows have
  std::vector<std::int32_t> fields;            ///< of those, what the output has
  std::vector<std::int32_t> key_columns;       ///< of the input
  std::vector<std::int32_t> table_key_columns; ///< of `fields`, of the same types but for NULL
  expression condition;                        ///< BOOLEAN over the output's columns; or empty
  std::string time_zone = "UTC";
  friend bool operator==(const lookup_join_spec&, const lookup_join_spec&) = default;
};

/// Joins each row with those that a table function makes of it: SQL's UNNEST and LATERAL TABLE. The
/// output has columns of the input, then of the function's rows. Kinds and timestamps of rows stay.
struct correlate_spec {
  static constexpr const char* unnest = "UNNEST";
  join_kind kind = join_kind::inner; ///< or left: a row of which nothing is made comes with NULLs
  std::string function = unnest;     ///< the elements of its one argument, or a user's function
  std::string definition{};          ///< of a user's function, as `encode` of it; else empty
  std::vector<expression> arguments; ///< over the input
  bool has_ordinality = false;       ///< UNNEST: behind the others the element's place, from 1
  logical_type result_type;          ///< what the function's rows have
  std::vector<std::int32_t> passed;  ///< of the input's columns, what the output has
  std::vector<std::int32_t> fields;  ///< of the function's
  std::string time_zone = "UTC";     ///< of the session
  friend bool operator==(const correlate_spec&, const correlate_spec&) = default;
};

using operator_spec =
    std::variant<source_spec, row_function_spec, filter_spec, project_spec, watermarks_spec,
                 keyed_process_spec, keyed_aggregate_spec, window_aggregate_spec, sink_spec,
                 calc_spec, group_aggregate_spec, join_spec, timed_join_spec, lookup_join_spec,
                 rank_spec, window_table_spec, window_group_spec, session_group_spec, over_spec,
                 correlate_spec, match_spec, salt_spec, co_process_spec, async_wait_spec>;

/// How many inputs an operator of this kind has: 0 (a source), 1 or 2.
inline std::size_t input_count(const operator_spec& spec) {
  if (std::holds_alternative<source_spec>(spec))
    return 0;
  const bool has_two = std::holds_alternative<join_spec>(spec) ||
                       std::holds_alternative<timed_join_spec>(spec) ||
                       std::holds_alternative<co_process_spec>(spec);
  return has_two ? 2 : 1;
}

enum class partitioner_kind : std::uint8_t {
  forward,
  hash,
  rebalance,
  rescale,
  shuffle,
  broadcast,
  global,
  custom,
};
/// How rows of an edge find their subtask.
struct partitioner_spec {
  partitioner_kind kind = partitioner_kind::forward;
  std::vector<std::int32_t> key_columns; ///< for hash
  function_ref function;                 ///< for custom
  friend bool operator==(const partitioner_spec&, const partitioner_spec&) = default;
};

} // namespace headrace::graph
