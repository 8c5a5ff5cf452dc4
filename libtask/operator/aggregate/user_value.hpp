#pragma once

#include "libtask/operator/aggregate/group_values.hpp"

namespace headrace::task {

/// A user's aggregate: what it keeps of a group is a state of bytes. Failures are thrown, as
/// `graph::failure`.
std::unique_ptr<group_value> make_user_value(const graph::group_aggregate_call& call,
                                             graph::state_provider& states, const std::string& name,
                                             std::int64_t ttl_ms);

} // namespace headrace::task
