#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/function/state.hpp"
#include "libgraph/job_graph/job_graph.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace headrace::task {

/// Describes a state whose values and keys are bytes of our own; the name says of what.
graph::state_descriptor describe_bytes(const std::string& name, graph::state_kind kind,
                                       std::int64_t ttl_ms);

/// Counts how often each value came in the group of the current key, for DISTINCT in groups that
/// expire or are cleared one by one; of others see distinct_values.
class distinct_counter {
public:
  /// @param column  of the input, whose values are counted
  distinct_counter(graph::state_provider& states, const std::string& name, std::int32_t column,
                   std::int64_t ttl_ms, bool counts_nulls);
  /// Whether the value came for the first time, or (taken back) for the last. NULL never does,
  /// unless it is counted as a value.
  bool take(const graph::record_batch& in, std::uint32_t row, bool is_retracted);
  void clear() { counts_->clear(); }

private:
  graph::map_access* counts_;
  std::int32_t column_;
  bool counts_nulls_;
  std::string value_;
};

/// Whether NULLs are values to the aggregate, which others pass over.
bool takes_nulls(const graph::group_aggregate_call& call);

/// An aggregate whose values do not fit into a few words a group: they are in a state of their own,
/// of the current key.
class group_value {
public:
  virtual ~group_value() = default;
  /// Takes a row in, or back, and appends the results before and after it.
  virtual void take(const graph::record_batch& in, std::uint32_t row, bool is_retracted,
                    graph::column_builder& before, graph::column_builder& after) = 0;
  /// For a row that is not counted: the result as it is.
  virtual void pass(graph::column_builder& before, graph::column_builder& after) = 0;
  /// Appends the result as it is.
  virtual void tell(graph::column_builder& to) = 0;
  virtual void clear() = 0;
};

/// MIN and MAX with all values (over rows that are taken back) or of texts, FIRST_VALUE,
/// LAST_VALUE, LISTAGG, ARRAY_AGG and COLLECT with all of them in the order in which they came.
std::unique_ptr<group_value> make_group_value(const graph::group_aggregate_call& call,
                                              const graph::logical_type& input, bool input_retracts,
                                              graph::state_provider& states,
                                              const std::string& name, std::int64_t ttl_ms);

} // namespace headrace::task
