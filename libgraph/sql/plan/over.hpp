#pragma once

#include "libgraph/sql/plan/logical_plan.hpp"

#include <utility>
#include <vector>

namespace headrace::sql {

/// Takes the calls with OVER out of the expressions of one SELECT: what is left is over the rows of
/// operators that compute them, one a window. A value, of one thread.
class over_rewriter {
public:
  /// Notes the calls of an expression; each once.
  void collect(const bound_expression& in);
  bool has_calls() const { return !calls_.empty(); }
  /// The operators over `input`, once all expressions were collected.
  plan_node build(plan_node input);
  /// The expression over what was built.
  void rewrite(bound_expression& in) const;

private:
  std::vector<bound_expression> calls_;
  std::vector<std::size_t> places_; ///< columns, by call
};

/// Whether OVER is ordered by a time attribute, ascending.
bool is_over_time(const over_node& node, const plan_node& input);
/// Whether a window ends with its row, and the function needs none behind it either.
bool ends_with_row(const over_node& node);
bool runs_with_row(const aggregate_item& item);
/// Whether the function runs over rows that have ended.
bool runs_at_end(const aggregate_item& item);

} // namespace headrace::sql
