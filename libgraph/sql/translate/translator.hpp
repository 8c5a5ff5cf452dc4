#pragma once

#include "libgraph/sql/translate/job_translator.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Within translate/: a source a kind of plan node.
namespace headrace::sql {

/// An operator's place in the pipeline; nothing after a finding.
using maybe_index = std::optional<std::int32_t>;

std::vector<std::int32_t> numbers(const std::vector<std::size_t>& from);
/// 0, 1, … as many as `count`.
std::vector<std::size_t> first_numbers(std::size_t count);
graph::row_type_ptr shared(const logical_type& type);
/// How long an operator keeps what it has of an input; 0: for ever.
std::int64_t ttl_of(const plan_node& plan, std::size_t input = 0);
graph::mini_batch_spec mini_batch_of(const plan_node& plan);
std::vector<graph::group_aggregate_call> calls_of(const std::vector<aggregate_item>& items);
/// The option 'connector' is its name, the rest its options.
graph::connector_spec connector_of(const graph::object_options& options);

/// Makes the operators of one job, from the sinks down; see `translate`. Of one call.
class job_translator {
public:
  /// @param program  what the operators come behind
  job_translator(const graph::connector_registry& connectors, const translation_settings& settings,
                 std::vector<diagnostic>& findings, graph::pipeline program = {})
      : connectors_(connectors), settings_(settings), findings_(findings) {
    out_.program = std::move(program);
  }

  std::optional<translated_job> translate(const std::vector<plan_node>& sinks);

private:
  std::nullopt_t fail(diagnostic_kind kind, std::string message, source_span at);
  /// Why a table's connector does not go with its options, at the option where that is known.
  std::nullopt_t fail_table(const graph::object_path& table, const graph::object_options& options,
                            const std::string& message, source_span at);
  /// Whether the table has the options without which Flink makes none of its connector.
  bool check_options(const graph::object_path& table, const graph::object_options& options,
                     source_span at);
  std::nullopt_t not_yet(const std::string& what, source_span at);
  /// Once, whatever says it how often.
  void warn(std::string what);
  void warn_of_dead_letters();

  // --- the pipeline (job_translator.cpp)
  std::int32_t add(std::string name, graph::operator_spec spec, std::vector<std::int32_t> inputs,
                   logical_type type);
  /// A source or sink of a table.
  std::int32_t add_of(const graph::object_path& table, graph::operator_spec spec,
                      std::vector<std::int32_t> inputs, logical_type type);
  /// Tells, with the place of the plan at hand, what keeps an operator from being carried out.
  void check(const graph::transformation& made);
  /// That of the operators whose rows come out of `index`; 0: the job's. Who reads them has the
  /// same, as rows that are dealt out to several may overtake those that they take back.
  std::int32_t fixed_parallelism(std::int32_t index);
  /// What `scan.parallelism` or `sink.parallelism` of a table says; 0: nothing.
  static std::int32_t asked_parallelism(const graph::object_options& options, std::string_view key);
  void set_scan_parallelism(std::int32_t source, const scan_node& node);
  /// The rows for a sink that has subtasks of its own; those of a key stay in their order.
  maybe_index deal_out(std::int32_t input, const sink_node& sink, const plan_node& plan);
  /// No keys: all rows to one.
  std::int32_t partition(std::int32_t input, const logical_type& type,
                         std::vector<std::int32_t> keys);
  /// The operators of a plan; of equal ones once.
  /// @param needs_before  whether who reads the rows needs the old one of an update (-U)
  maybe_index visit(const plan_node& plan, bool needs_before = true);

  // --- sources (translate_source.cpp)
  maybe_index make(const scan_node& node, const plan_node& plan);
  maybe_index make(const values_node& node, const plan_node& plan);
  maybe_index make(const watermark_node& node, const plan_node& plan);
  maybe_index make(const dead_letter_node& node, const plan_node& plan);
  maybe_index make(const late_node& node, const plan_node& plan);
  maybe_index add_source(const scan_node& node, const plan_node& plan,
                         const graph::watermark_spec& watermarks);
  /// Tells of tables that batch mode does not take.
  bool check_batch(const scan_node& node, bool has_end, source_span at);
  /// Whether the rows are those of an operator of the program around.
  bool is_stream(const scan_node& node) const;
  maybe_index add_stream(const scan_node& node, const plan_node& plan);
  /// The fields that are read, of rows with all of them.
  std::int32_t choose_fields(std::int32_t input, const scan_node& node, const plan_node& plan);
  std::optional<graph::column_ptr> value_of(const bound_expression& from);

  // --- rows (translate_calc.cpp, translate_set.cpp)
  maybe_index make(const calc_node& node, const plan_node& plan);
  /// Warns of columns that differ when rows are taken back, or refuses them.
  bool tell_of_unsteady(const calc_node& node, const plan_node& plan);
  std::optional<graph::expression> expression_of(const bound_expression& from);
  /// Adds what sums up rows of `type` before the exchange, which is then that of the sums.
  std::int32_t add_local_phase(std::int32_t input, logical_type& type,
                               graph::group_aggregate_spec& global, const logical_type& results);
  /// Adds an aggregate by the keys and buckets of a DISTINCT column, over whose rows, then of
  /// `type`, `rest` sums up.
  std::int32_t add_split(std::int32_t input, logical_type& type, graph::group_aggregate_spec& rest,
                         const logical_type& results, const plan_node& plan);
  /// Adds a column that is the same in all rows.
  std::int32_t add_constant(std::int32_t input, logical_type& type);
  maybe_index make(const set_node& node, const plan_node& plan);
  /// All inputs of a union are of its type, and none comes twice.
  std::int32_t fit(std::int32_t input, const plan_node& from, const graph::transformation& whole);

  // --- orders (translate_over.cpp, translate_rank.cpp, translate_sort.cpp)
  maybe_index make(const over_node& node, const plan_node& plan);
  maybe_index make(const rank_node& node, const plan_node& plan);
  maybe_index make(const sort_node& node, const plan_node& plan);
  maybe_index add_sort(const sort_node& node, const plan_node& plan);
  /// The rows of some ranks of `plan`'s input.
  maybe_index add_rank(const rank_node& node, const plan_node& plan);
  std::optional<std::vector<graph::order_column>> order_of(const std::vector<sort_key>& keys,
                                                           const plan_node& input, source_span at);

  // --- patterns (translate_match.cpp)
  maybe_index make(const match_node& node, const plan_node& plan);
  std::optional<graph::pattern_value> value_of(const pattern_value& from, source_span at);
  bool add_variables(const match_node& node, graph::match_spec& out);

  // --- groups and windows (translate_aggregate.cpp, translate_window.cpp)
  maybe_index make(const aggregate_node& node, const plan_node& plan);
  maybe_index make(const window_node& node, const plan_node& plan);
  maybe_index make(const window_aggregate_node& node, const plan_node& plan);
  /// Tells of aggregates that are too many for one group.
  bool fits_into_group(const std::vector<graph::group_aggregate_call>& calls,
                       const logical_type& input, bool retracts, source_span at);
  graph::window_spec window_of(const window_shape& shape) const;
  /// All window functions of a plan, in words; empty: none.
  std::string windows_below(const plan_node& plan) const;
  /// The name of a column of windows that says what they are: state that goes by it is told by it.
  std::string name_of_windows(const std::string& column, const plan_node& below) const;
  /// Gives a column of windows that name. @returns the rows, which lie as before
  std::int32_t tell_windows(std::int32_t input, logical_type& type, std::size_t column,
                            const plan_node& below);

  // --- late rows (translate_late.cpp)
  /// Lets the operator of a window aggregate, over rows of `type`, give late ones when they are
  /// read. A row comes once.
  void keep_late(const window_aggregate_node& node, const plan_node& plan, std::int32_t made,
                 const logical_type& type);
  /// The same over rows that carry their windows: a row comes once a window, and is late when the
  /// last of them is over. @param windows  columns of `type` that have the window's bounds
  bool keep_late_of_carried(const window_aggregate_node& node, const plan_node& plan,
                            std::int32_t made, const logical_type& type, carried_bounds windows);
  /// The same of the sessions that a window aggregate is over, which drop their late rows before
  /// these have a window.
  bool keep_late_of_sessions(const window_aggregate_node& node, const plan_node& plan);
  std::optional<graph::aggregate_call> call_of(const aggregate_item& item, source_span at);
  /// Aggregates of rows that carry their windows.
  maybe_index add_carried(const window_aggregate_node& node, const plan_node& plan);
  /// The same right over the window function, in one task: rows are dealt out before they get their
  /// windows.
  maybe_index add_at_once(const window_aggregate_node& node, const plan_node& plan);
  /// Adds keyed rows: `type` is then that of the rows, and without keys a constant is one.
  std::int32_t add_keyed(std::int32_t input, logical_type& type, std::vector<std::int32_t>& keys);
  /// From keys, results and bounds to the columns of the plan.
  maybe_index add_results(std::int32_t groups, std::size_t key_count,
                          const window_aggregate_node& node, const plan_node& plan);

  // --- joins (translate_join.cpp)
  /// Adds a bucket behind the rows of a side.
  std::int32_t add_buckets(std::int32_t input, logical_type& type, const join_spread& spread,
                           std::size_t side, const plan_node& plan);
  maybe_index make(const join_node& node, const plan_node& plan);
  maybe_index make(const lookup_join_node& node, const plan_node& plan);
  maybe_index make(const version_join_node& node, const plan_node& plan);
  /// Whether the keys of a join name the version.
  bool check_version_key(const version_join_node& node, const plan_node& plan);
  maybe_index make(const correlate_node& node, const plan_node& plan);

  // --- sinks (translate_sink.cpp)
  maybe_index make(const sink_node& node, const plan_node& plan);
  bool add_sink(const plan_node& plan);
  bool add_table_sink(const sink_node& sink, const plan_node& plan);
  /// Adds what a table asks of its rows, where they do not have it anyway.
  std::int32_t add_constraints(std::int32_t input, const plan_node& sink);
  /// Whether all tables that it reads end. One that cannot be made is told when it is added.
  bool ends(const plan_node& plan) const;
  /// ORDER BY and LIMIT of the whole query are left to the one who shows the rows, if they end.
  bool add_stream_result(const sink_node& sink, const plan_node& plan);
  bool check_inserts_only(const sink_node& sink, const plan_node& plan, const std::string& instead);
  /// ORDER BY and LIMIT of the whole query are left to the one who shows the rows.
  bool add_shown(const plan_node& plan);

  const graph::connector_registry& connectors_;
  const translation_settings& settings_;
  std::vector<diagnostic>& findings_;
  translated_job out_;
  bool has_end_ = true;                    ///< all sources so far are bounded
  std::set<std::int32_t> own_parallelism_; ///< sources whose parallelism is that of nobody else
  struct known_plan {
    const plan_node* plan = nullptr;
    bool needs_before = true;
    std::int32_t index = 0;
  };
  std::vector<known_plan> done_;
  std::deque<plan_node> made_of_final_; ///< what operators that give final rows came to
  /// Operators that give late rows as side output 0. Some windows have two of them.
  struct late_rows {
    const plan_node* plan = nullptr; ///< the window aggregate
    std::int32_t index = 0;
    logical_type type = logical_type::null();
    std::vector<std::int32_t> columns; ///< of the type: those of `late_node`
    std::optional<graph::expression> condition = std::nullopt; ///< else all are late
  };
  std::vector<late_rows> late_;
  /// Operators that give rows with their sessions.
  struct session_rows {
    const plan_node* plan = nullptr;
    std::int32_t index = 0;
    logical_type type = logical_type::null(); ///< of what they take
  };
  std::vector<session_rows> sessions_;
  bool needs_before_ = true; ///< of the plan that is being made
  source_span at_;           ///< likewise
};

} // namespace headrace::sql
