#pragma once

#include "libgraph/sql/translate/job_translator.hpp"

#include <cstdint>
#include <optional>
#include <string>
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
/// The option 'connector' is its name, the rest its options.
graph::connector_spec connector_of(const graph::object_options& options);

/// Makes the operators of one job, from the sinks down; see `translate`. Of one call.
class job_translator {
public:
  job_translator(const graph::connector_registry& connectors, const translation_settings& settings,
                 std::vector<diagnostic>& findings)
      : connectors_(connectors), settings_(settings), findings_(findings) {}

  std::optional<translated_job> translate(const std::vector<plan_node>& sinks);

private:
  std::nullopt_t fail(diagnostic_kind kind, std::string message, source_span at);
  std::nullopt_t not_yet(const std::string& what, source_span at);

  // --- the pipeline (job_translator.cpp)
  std::int32_t add(std::string name, graph::operator_spec spec, std::vector<std::int32_t> inputs,
                   logical_type type);
  /// That of the operators whose rows come out of `index`; 0: the job's. Who reads them has the
  /// same, as rows that are dealt out to several may overtake those that they take back.
  std::int32_t fixed_parallelism(std::int32_t index);
  /// No keys: all rows to one.
  std::int32_t partition(std::int32_t input, const logical_type& type,
                         std::vector<std::int32_t> keys);
  maybe_index visit(const plan_node& plan);

  // --- sources (translate_source.cpp)
  maybe_index make(const scan_node& node, const plan_node& plan);
  maybe_index make(const values_node& node, const plan_node& plan);
  maybe_index make(const watermark_node& node, const plan_node& plan);
  maybe_index add_source(const scan_node& node, const plan_node& plan,
                         const graph::watermark_spec& watermarks);
  std::optional<graph::column_ptr> value_of(const bound_expression& from);

  // --- rows (translate_calc.cpp, translate_set.cpp, translate_sort.cpp)
  maybe_index make(const calc_node& node, const plan_node& plan);
  std::optional<graph::expression> expression_of(const bound_expression& from);
  /// Adds a column that is the same in all rows.
  std::int32_t add_constant(std::int32_t input, logical_type& type);
  maybe_index make(const set_node& node, const plan_node& plan);
  /// All inputs of a union are of its type, and none comes twice.
  std::int32_t fit(std::int32_t input, const plan_node& from, const graph::transformation& whole);
  maybe_index make(const sort_node& node, const plan_node& plan);

  // --- groups and windows (translate_aggregate.cpp, translate_window.cpp)
  maybe_index make(const aggregate_node& node, const plan_node& plan);
  maybe_index make(const window_node& node, const plan_node& plan);
  maybe_index make(const window_aggregate_node& node, const plan_node& plan);
  std::optional<graph::window_spec> window_of(const window_shape& shape, const plan_node& input,
                                              source_span at);
  std::optional<graph::aggregate_call> call_of(const aggregate_item& item, source_span at);

  // --- joins (translate_join.cpp)
  maybe_index make(const join_node& node, const plan_node& plan);
  maybe_index make(const lookup_join_node& node, const plan_node& plan);

  // --- sinks (translate_sink.cpp)
  maybe_index make(const sink_node& node, const plan_node& plan);
  bool add_sink(const plan_node& plan);
  bool add_table_sink(const sink_node& sink, const plan_node& plan);
  /// ORDER BY and LIMIT of the whole query are left to the one who shows the rows.
  bool add_shown(const plan_node& plan);

  const graph::connector_registry& connectors_;
  const translation_settings& settings_;
  std::vector<diagnostic>& findings_;
  translated_job out_;
  bool has_end_ = true; ///< all sources so far are bounded
  std::vector<std::pair<const plan_node*, std::int32_t>> done_;
};

} // namespace headrace::sql
