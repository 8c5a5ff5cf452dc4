#pragma once

#include "libtask/operator/aggregate/group_cells.hpp"
#include "libtask/operator/match/lazy_columns.hpp"
#include "libtask/operator/match/pattern_matches.hpp"
#include "libgraph/spec/operator_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace headrace::task {

/// The matches of one key with what their aggregates have come to: some bytes a node.
struct summed_matches {
  explicit summed_matches(const pattern_automaton& automaton) : matches(automaton) {}
  pattern_matches matches;
  std::vector<std::byte> sums; ///< of nodes, in their order
};

/// Computes what the conditions of a pattern are about, and its measures, over rows of many keys.
///
/// A condition about its row alone is computed for all rows at once. One about the rows before,
/// too, is asked for a row and a match; all that were asked are answered together.
///
///     begin(rows) → { ask …, answer_all, answer …, extend … } → add_match … → finish
///
/// What fails for a row (a division by zero) fails when its answer is taken.
class match_values {
public:
  /// @errors invalid_graph, type_mismatch  as `check_match`
  static result<match_values> make(const graph::match_spec& spec, const graph::logical_type& input,
                                   const graph::row_type_ptr& output,
                                   const graph::program_settings& settings);

  /// From now on rows are those of this batch, by number.
  void begin(graph::record_batch rows, const graph::program_time& time);
  const graph::record_batch& rows() const { return rows_; }

  /// Whether the condition is about earlier rows: it is to be asked.
  bool needs_match(std::uint32_t variable) const { return conditions_[variable].of_match >= 0; }
  /// A condition about its row alone. @errors data_errc::…  it fails for the row
  result<bool> holds(std::uint32_t variable, std::uint32_t row) const;
  /// Asks for a condition about `row` behind the rows of a match that ends with `tip`.
  /// @returns the answer's number, with those of this variable since `answer_all`
  /// @errors data_errc::…  the argument of an aggregate fails
  result<std::uint32_t> ask(std::uint32_t variable, const summed_matches& of, std::uint32_t tip,
                            std::uint32_t row);
  /// Computes what was asked since the last time.
  void answer_all();
  /// @errors data_errc::…  as `holds`
  result<bool> answer(std::uint32_t variable, std::uint32_t number) const;

  /// Adds up what nodes that are new have. @errors data_errc::…  an argument fails
  status extend(summed_matches& of) const;

  /// Takes the measures of a match.
  status add_match(const summed_matches& of, const found_match& found);
  std::size_t match_count() const { return times_ms_.size(); }
  /// The rows of the matches since the last time, with the times they were found.
  /// @errors data_errc::…  a measure fails
  result<graph::record_batch> finish();

private:
  /// Columns of the input, and values, that an expression is over.
  struct gathered {
    std::vector<std::size_t> columns;
    std::vector<std::size_t> values;
    std::vector<graph::column_builder> built; ///< one each
    graph::row_type_ptr type;
    std::size_t count = 0;
  };
  struct condition {
    std::int32_t of_row = -1;   ///< of `of_rows_`; both -1: any row
    std::int32_t of_match = -1; ///< of `of_matches_`
  };
  struct asked {
    gathered from;
    std::optional<lazy_columns> program;
  };
  /// How an aggregate is kept in the bytes of a node: in a cell, or as the number of a row.
  struct aggregate {
    std::size_t value = 0;
    std::optional<std::size_t> arguments; ///< of `arguments_`; nothing: counts rows
    std::optional<group_cells> cell;
    std::size_t offset = 0; ///< in the bytes
  };
  /// The row that a match may take next.
  struct candidate {
    std::uint32_t row = 0;
    std::uint32_t variable = 0;
  };

  match_values() = default;
  static bool counts(const graph::pattern_value& value, std::uint32_t variable) {
    return value.variable < 0 || value.variable == static_cast<std::int32_t>(variable);
  }
  status add_aggregates(const graph::logical_type& input, const graph::program_settings& settings);
  gathered gather(const graph::logical_type& input, std::vector<graph::expression>& expressions);
  status take(const aggregate& to, std::uint32_t row, std::byte* sums) const;
  status append(std::size_t value, const summed_matches& of, std::uint32_t tip,
                const candidate* next, graph::column_builder& to) const;
  status append_aggregate(const aggregate& from, const summed_matches& of, std::uint32_t tip,
                          const candidate* next, graph::column_builder& to) const;
  static graph::record_batch rows_of(gathered& from);

  graph::match_spec spec_;
  graph::row_type_ptr output_;
  std::vector<condition> conditions_; ///< by variable
  std::vector<lazy_columns> of_rows_;
  std::vector<asked> of_matches_;
  std::vector<lazy_columns> arguments_;
  std::vector<aggregate> aggregates_;
  std::vector<std::int32_t> aggregate_of_; ///< by value; -1: it is none
  std::size_t sums_bytes_ = 0;             ///< of a node
  gathered measured_;
  std::optional<graph::expression_program> measures_;
  std::vector<std::int64_t> times_ms_;
  graph::record_batch rows_;
  graph::program_time time_;
  std::int64_t found_ms_ = 0; ///< of the match whose values are appended
  mutable std::vector<std::byte> scratch_;
};

} // namespace headrace::task
