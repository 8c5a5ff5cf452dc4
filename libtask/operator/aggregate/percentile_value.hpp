#pragma once

#include "libtask/operator/aggregate/group_values.hpp"

#include <memory>
#include <string>

namespace headrace::task {

/// PERCENTILE(value, percentage [, frequency]) over DOUBLE, DOUBLE or ARRAY<DOUBLE>, and BIGINT:
/// the value at a part of all in their order, between two of them in proportion. A value counts as
/// often as its frequency says; not at all where one of both is NULL, or the frequency below 1.
std::unique_ptr<group_value> make_percentile_value(const graph::group_aggregate_call& call,
                                                   const graph::logical_type& input,
                                                   graph::state_provider& states,
                                                   const std::string& name, std::int64_t ttl_ms);

} // namespace headrace::task
