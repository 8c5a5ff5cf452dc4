#pragma once

#include "libgraph/types/logical_type.hpp"
#include "libactors/base/result.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace headrace::task {

/// Whether no later key is equal to each one as a value of `type`, a scalar; nothing when all
/// differ.
std::vector<bool> last_of_equal_keys(const graph::logical_type& type,
                                     std::span<const std::string_view> keys);

/// Whether all maps inside the type have keys that are scalars. @errors type_mismatch  one has not
status check_map_keys(const graph::logical_type& type);

} // namespace headrace::task
