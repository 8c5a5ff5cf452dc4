#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/expression/program.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace headrace::task {

/// Expressions over a whole batch, of which not every row may be asked for: a row that they fail
/// for fails when it is asked for, and not at all otherwise.
class lazy_columns {
public:
  /// @errors invalid_graph, type_mismatch  as `expression_program::compile`
  static result<lazy_columns> compile(const graph::logical_type& input,
                                      const std::vector<graph::expression>& outputs,
                                      const graph::program_settings& settings);

  /// Computes all rows of a batch, which has no selection.
  void run(const graph::record_batch& in, const graph::program_time& time);
  /// The columns of the batch that was run last, one an expression, row for row; those of rows that
  /// have failed mean nothing.
  const graph::record_batch& columns() const { return columns_; }
  /// Why a row has failed; null: it has not.
  const error* failure_of(std::uint32_t row) const {
    if (failures_.empty())
      return nullptr;
    const auto found = failures_.find(row);
    return found == failures_.end() ? nullptr : &found->second;
  }

private:
  lazy_columns(graph::expression_program program, graph::row_type_ptr type)
      : program_(std::move(program)), type_(std::move(type)) {}
  void run_some(const graph::record_batch& in, std::size_t from, std::size_t count,
                const graph::program_time& time, std::vector<graph::column_builder>& out);

  graph::expression_program program_;
  graph::row_type_ptr type_;
  graph::record_batch columns_;
  std::map<std::uint32_t, error> failures_;
};

} // namespace headrace::task
