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

} // namespace headrace::sql
