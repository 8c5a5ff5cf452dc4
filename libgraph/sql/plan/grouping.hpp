#pragma once

#include "libgraph/sql/plan/logical_plan.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::sql {

/// Takes the aggregates out of the expressions of one SELECT with grouped rows: what is left is
/// over the rows of an aggregate. A value, of one thread.
class grouping_rewriter {
public:
  /// @param input  the columns that keys and expressions are over
  grouping_rewriter(const std::vector<plan_column>& input, std::vector<bound_expression> keys,
                    std::vector<diagnostic>& findings)
      : input_(input), projected_(std::move(keys)), key_count_(projected_.size()),
        findings_(findings) {}

  /// The expression over the aggregate's columns. Nothing, and a finding, when it uses a column
  /// that is neither a key nor inside an aggregate.
  std::optional<bound_expression> rewrite(bound_expression from);
  /// The aggregate over `input`, once all expressions were rewritten.
  plan_node finish(plan_node input) &&;

private:
  std::size_t project(bound_expression from);
  bound_expression take_aggregate(bound_call call, const bound_expression& whole);

  const std::vector<plan_column>& input_;
  std::vector<bound_expression> projected_; ///< the keys, then what the aggregates are over
  std::size_t key_count_;
  std::vector<aggregate_item> items_;
  std::vector<diagnostic>& findings_;
};

/// What names of columns begin with that are the value of a query: the same for all rows, or tied
/// to columns of the query around it.
inline constexpr std::string_view query_value_prefix = "$q";
inline constexpr std::string_view tied_value_prefix = "$k";

/// A key whose equal values are the same value: 0.0 and -0.0 are one group, whose rows are all to
/// say 0.0.
bound_expression canonical_key(bound_expression key);

/// Whether an aggregate stands in it.
bool has_aggregate(const bound_expression& in);

} // namespace headrace::sql
