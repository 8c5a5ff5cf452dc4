#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libgraph/expression/expression.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headrace::graph {

/// What expressions depend on beside their input.
struct program_settings {
  std::string time_zone = "UTC";                   ///< of the session
  std::shared_ptr<memory_budget> memory = nullptr; ///< null: not counted
  std::uint64_t seed = 0;                          ///< of RAND and UUID
};

/// When a batch is computed.
struct program_time {
  std::int64_t now_ms = 0;       ///< wall clock
  std::int64_t watermark_ms = 0; ///< least int64: none yet
};

/// Expressions, made ready to run over batches: kernels over whole columns, each common
/// subexpression once. A branch that a row does not take (of CASE, AND, COALESCE, …) is not
/// computed for it, so that it cannot fail there. Of one thread.
class expression_program {
public:
  /// @param condition  BOOLEAN over the input; empty: every row
  /// @errors invalid_graph, type_mismatch  as `check_expression`, or no function of the name for
  ///         these types
  static result<expression_program> compile(const logical_type& input, const expression& condition,
                                            std::span<const expression> outputs,
                                            const program_settings& settings);
  ~expression_program();
  expression_program(expression_program&&) noexcept;
  expression_program& operator=(expression_program&&) noexcept;

  /// Keeps the rows for which the condition is TRUE, and gives the outputs of each, selected from
  /// columns as long as the input's. Timestamps and kinds stay.
  /// @param type  of the outputs
  /// @errors data_errc::…  a value that a function refuses
  result<record_batch> run(const record_batch& in, const row_type_ptr& type,
                           const program_time& time);

private:
  struct parts;
  explicit expression_program(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

/// Whether the value is the same for every row and at any time.
bool is_constant(const expression& checked);

/// The value of an expression without columns: what folds constants.
/// @returns one row
/// @errors invalid_graph, type_mismatch  as `compile`
/// @errors data_errc::…  a value that a function refuses: "/ failed: division by zero"
result<column_ptr> evaluate_constant(const expression& from, const program_settings& settings);

} // namespace headrace::graph
