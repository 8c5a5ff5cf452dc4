#pragma once

#include "libgraph/catalog/catalog_table.hpp"
#include "libgraph/sql/bind/bound_expression.hpp"
#include "libgraph/sql/bind/pattern_scope.hpp"
#include "libgraph/sql/parse/query_ast.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// What a query means, as a tree of operators over rows. A value: planned, rewritten by the
// optimizer, and translated.
namespace headrace::sql {

/// What a column has to do with time.
enum class time_kind : std::uint8_t {
  none,
  row_time,        ///< event time: there are watermarks for it
  processing_time, ///< the clock's time when a row passes
};

/// What a column tells of a row's window.
enum class window_property : std::uint8_t { start, end, time };

struct plan_column {
  std::string name;
  logical_type type = logical_type::null();
  time_kind time = time_kind::none;
  std::optional<window_property> window; ///< of a window function below
  friend bool operator==(const plan_column&, const plan_column&) = default;
};

/// Rows of a connector. The node's columns are `fields` of `record`.
struct scan_node {
  graph::object_path table;
  graph::object_options options;              ///< of WITH and of hints, 'connector' among them
  logical_type record = logical_type::null(); ///< what the connector's rows have
  std::vector<std::size_t> fields;            ///< which of it are read, in this order
  friend bool operator==(const scan_node&, const scan_node&) = default;
};

/// Constant rows, of the columns' types.
struct values_node {
  std::vector<std::vector<bound_expression>> rows;
  friend bool operator==(const values_node&, const values_node&) = default;
};

/// Makes watermarks that follow a column at a distance.
struct watermark_node {
  std::size_t column = 0;
  std::int64_t delay_ms = 0;
  bool on_event = false; ///< at each row that moves them, not once a batch
  std::optional<std::int64_t> idle_timeout_ms = std::nullopt; ///< else that of the job
  friend bool operator==(const watermark_node&, const watermark_node&) = default;
};

/// A column for each item, of the rows for which the condition is true. Planned with one of both,
/// merged by the optimizer.
struct calc_node {
  std::optional<bound_expression> condition;
  std::vector<bound_expression> items;
  friend bool operator==(const calc_node&, const calc_node&) = default;
};

/// One aggregate over columns of the input.
struct aggregate_item {
  std::string function; ///< in capitals; COUNT without arguments counts rows
  std::vector<std::size_t> arguments;
  std::optional<std::size_t> filter; ///< a BOOLEAN column: only rows where it is true
  bool is_distinct = false;
  logical_type type = logical_type::null();
  std::shared_ptr<const graph::user_function> user{}; ///< null: built in
  friend bool operator==(const aggregate_item& left, const aggregate_item& right) {
    return left.function == right.function && left.arguments == right.arguments &&
           left.filter == right.filter && left.is_distinct == right.is_distinct &&
           left.type == right.type && are_same(left.user, right.user);
  }
};

struct sort_key {
  std::size_t column = 0;
  bool is_descending = false;
  bool nulls_first = false;
  friend bool operator==(const sort_key&, const sort_key&) = default;
};

/// A column for each item behind the input's: over the rows of the same partition up to each row.
struct over_node {
  std::vector<std::size_t> partition;
  std::vector<sort_key> order;
  bool is_rows = false;                  ///< else RANGE: with all rows that are equal in the order
  std::optional<std::int64_t> preceding; ///< rows, or milliseconds; nothing: all that came before
  graph::over_frame frame;               ///< the same and more, of rows that end
  std::vector<aggregate_item> items;
  std::optional<std::size_t> window_end{}; ///< given once, when the window is over
  friend bool operator==(const over_node&, const over_node&) = default;
};

/// Of each partition the rows of some ranks in an order: Top-N, and deduplication. The columns are
/// the input's, then perhaps the rank.
struct rank_node {
  std::vector<std::size_t> partition;
  std::vector<sort_key> order; ///< empty: as they come
  std::int64_t first = 1;
  std::int64_t last = 1;
  bool prefers_latest = false; ///< of equal rows the later one
  bool outputs_rank = false;
  std::optional<std::size_t> window_end; ///< given once, when the window is over
  bool is_zoned = false;                 ///< as that of the windows
  friend bool operator==(const rank_node&, const rank_node&) = default;
};

/// A variable of a pattern: takes rows that follow each other.
struct pattern_variable {
  std::string name;
  std::int32_t repeat_min = 1;
  std::optional<std::int32_t> repeat_max = 1; ///< nothing: without end
  bool is_greedy = false; ///< a row that it can take is not left to the next variable
  bool is_reluctant = false;
  std::optional<bound_expression> condition; ///< none: any row
  friend bool operator==(const pattern_variable&, const pattern_variable&) = default;
};

/// A row for each time that the rows of a partition match a pattern: the partition's columns, then
/// the measures. Conditions and measures are over the input's columns and, behind them, the values.
struct match_node {
  std::vector<std::size_t> partition;
  std::vector<sort_key> order; ///< the first one is a time attribute
  std::vector<pattern_variable> variables;
  std::vector<pattern_value> values;
  std::vector<bound_expression> measures;
  std::int64_t within_ms = 0; ///< 0: matches may be of any length
  match_skip skip = match_skip::to_next_row;
  std::optional<std::size_t> skip_variable;
  friend bool operator==(const match_node&, const match_node&) = default;
};

/// A row for each value of the first `key_count` columns of the input: these, then the results. No
/// keys: one row. No items: the distinct keys.
struct aggregate_node {
  std::size_t key_count = 0;
  std::vector<aggregate_item> items;
  std::optional<std::int64_t> ttl_ms = std::nullopt; ///< of a hint
  bool is_skewed = false;                            ///< a hint says that few keys have many rows
  std::vector<std::size_t>
      late{}; ///< of windows: columns of the input that late rows are given with
  friend bool operator==(const aggregate_node&, const aggregate_node&) = default;
};

/// Which windows a row belongs to.
struct window_shape {
  window_function kind = window_function::tumble;
  std::size_t time_column = 0;
  std::int64_t size_ms = 0;  ///< of a session: the gap
  std::int64_t slide_ms = 0; ///< of HOP, and the step of CUMULATE
  std::int64_t offset_ms = 0;
  bool is_processing_time = false;
  bool is_zoned = false; ///< bounds are told by clocks of the session's time zone
  friend bool operator==(const window_shape&, const window_shape&) = default;
};

/// Each row once for each of its windows, with window_start, window_end and window_time behind.
struct window_node {
  window_shape shape;
  std::vector<std::size_t> partition; ///< of sessions; of others where the rows go next
  friend bool operator==(const window_node&, const window_node&) = default;
};

/// The bounds of windows that rows carry, as columns of the input.
struct carried_bounds {
  std::size_t start = 0;
  std::size_t end = 0;
  friend bool operator==(const carried_bounds&, const carried_bounds&) = default;
};

/// An aggregate whose keys have windows among them: emitted once, when the window is over. The
/// columns are the keys, the properties, then the results. `shape` counts columns of the input; of
/// rows that carry their windows it says what these are like.
struct window_aggregate_node {
  window_shape shape;
  std::optional<carried_bounds> carried; ///< else the aggregate finds the windows
  std::vector<std::size_t> keys;         ///< columns of the input
  std::vector<window_property> properties;
  std::vector<aggregate_item> items;
  std::vector<std::size_t> late{}; ///< columns of the input that `late_node` gives; empty: none
  friend bool operator==(const window_aggregate_node&, const window_aggregate_node&) = default;
};

enum class join_type : std::uint8_t {
  inner,
  left,
  right,
  full,
  semi, ///< left rows with a match
  anti, ///< left rows without one
};
/// A column of each input that is equal in rows that match.
struct join_key {
  std::size_t left = 0;
  std::size_t right = 0;
  bool is_null_safe = false; ///< NULL equals NULL
  friend bool operator==(const join_key&, const join_key&) = default;
};
/// What bounds how long rows of a join are kept: columns of both inputs that follow watermarks.
struct join_time {
  bool is_by_window = false; ///< the columns are equal ends of windows; else:
  std::size_t left = 0;
  std::size_t right = 0;
  std::int64_t least_ms = 0; ///< the right time less the left one lies in these bounds
  std::int64_t most_ms = 0;
  friend bool operator==(const join_time&, const join_time&) = default;
};
/// A hint says that rows of a key are spread over several: those of one side by what they are,
/// those of the small one are in each bucket.
struct join_spread {
  bool is_broadcast = false;  ///< else for the sake of few keys with many rows
  std::size_t small_side = 0; ///< an input
  std::int64_t buckets = 1;
  friend bool operator==(const join_spread&, const join_spread&) = default;
};
/// The condition is over the columns of both inputs, one behind the other; none: always true. The
/// optimizer takes the keys out of it, and finds times.
struct join_node {
  join_type kind = join_type::inner;
  std::optional<bound_expression> condition;
  std::optional<std::vector<join_key>> keys = std::nullopt; ///< nothing: not looked for yet
  std::optional<join_time> time = std::nullopt;
  std::array<std::optional<std::int64_t>, 2> ttl_ms{}; ///< of hints, by input
  std::optional<join_spread> spread = std::nullopt;
  friend bool operator==(const join_node&, const join_node&) = default;
};

/// Each row of the input with those of a table that have its key when it passes: the input's
/// columns, then the table's.
struct lookup_join_node {
  join_type kind = join_type::inner; ///< or left
  scan_node table;
  std::vector<join_key> keys;
  std::optional<bound_expression> condition; ///< over the node's columns
  friend bool operator==(const lookup_join_node&, const lookup_join_node&) = default;
};

/// Each row of the first input with the version that the second one's row of its key had at its
/// time: the first input's columns, then the second one's.
struct version_join_node {
  join_type kind = join_type::inner; ///< or left
  std::vector<join_key> keys;
  std::optional<bound_expression> condition; ///< over the node's columns
  std::size_t left_time = 0;                 ///< of the first input
  std::size_t right_time = 0;                ///< of the second one: from when on a version holds
  /// What names a row of the second input, where its table says so; else its upsert key does.
  std::optional<std::vector<std::size_t>> primary_key{};
  friend bool operator==(const version_join_node&, const version_join_node&) = default;
};

/// Each row of the input with those that a table function makes of it: columns of the input, then
/// of the function's rows.
struct correlate_node {
  join_type kind = join_type::inner; ///< or left
  std::string function;              ///< UNNEST, or a user's
  std::shared_ptr<const graph::user_function> user{};
  std::vector<bound_expression> arguments;
  bool has_ordinality = false;
  logical_type rows = logical_type::null(); ///< what the function's rows have
  std::vector<std::size_t> passed;          ///< which columns of the input
  std::vector<std::size_t> fields;          ///< which of `rows`
  friend bool operator==(const correlate_node&, const correlate_node&) = default;
};

/// Over inputs with columns of the same types.
struct set_node {
  set_operator kind = set_operator::union_;
  bool is_all = false;
  friend bool operator==(const set_node&, const set_node&) = default;
};

struct sort_node {
  std::vector<sort_key> keys; ///< empty: any order
  std::optional<std::int64_t> limit;
  std::int64_t offset = 0;
  friend bool operator==(const sort_node&, const sort_node&) = default;
};

/// Of the input, which is a table, what its source left out: malformed records, as
/// `graph::dead_letter_type` has them.
struct dead_letter_node {
  friend bool operator==(const dead_letter_node&, const dead_letter_node&) = default;
};

/// Of the input, which groups rows by windows, the rows that came when their window was over.
struct late_node {
  friend bool operator==(const late_node&, const late_node&) = default;
};

/// Rows into a table, or to the one who asked.
struct sink_node {
  std::optional<graph::object_path> table; ///< none: collected
  graph::object_options options;
  std::vector<std::size_t> primary_key; ///< of the table's columns
  friend bool operator==(const sink_node&, const sink_node&) = default;
};

/// How an operator with state works, beside what it computes. Of the settings, and hints.
struct execution_traits {
  /// In batch mode, where an operator would update rows: it gives each once, when its input ended.
  bool is_final = false;
  std::vector<std::int64_t> ttl_ms; ///< of state, one an input; 0: for ever; none: no lasting state
  std::int64_t mini_batch_rows = 0; ///< gathered at most; 0: rows are worked on as they come
  std::int64_t mini_batch_latency_ms = 0;
  bool is_two_phase = false;     ///< summed up before the exchange, too
  std::string one_phase_because; ///< of an aggregate that was to be in two phases, and cannot
  std::optional<std::size_t>
      split_column; ///< of the input: whose DISTINCT is computed by value first
  std::int64_t split_buckets = 0;
  friend bool operator==(const execution_traits&, const execution_traits&) = default;
};

struct plan_node {
  std::variant<scan_node, values_node, watermark_node, calc_node, aggregate_node, window_node,
               window_aggregate_node, join_node, lookup_join_node, set_node, sort_node, sink_node,
               over_node, rank_node, correlate_node, match_node, dead_letter_node,
               version_join_node, late_node>
      node;
  std::vector<plan_node> inputs;
  std::vector<plan_column> columns;
  source_span at;
  execution_traits traits{};

  logical_type row_type() const;
  friend bool operator==(const plan_node&, const plan_node&) = default;
};

/// A line an operator, its inputs below it:
///
///     Calc(select=[a, +(b, 1) AS c], where=[>(a, 3)])
///     +- TableSourceScan(table=[`c`.`d`.`t`], fields=[a, b])
std::string to_string(const plan_node& plan);

/// Whether an option of a table is about its watermark, and so none of its connector's.
bool is_watermark_option(std::string_view key);

} // namespace headrace::sql
