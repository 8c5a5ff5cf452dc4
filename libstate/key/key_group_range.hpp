#pragma once

#include "libgraph/data/key_group.hpp"

#include <algorithm>

namespace headrace::state {

using graph::key_group_range;

/// The groups that both ranges have; empty when there are none.
inline key_group_range intersection(key_group_range left, key_group_range right) {
  const auto first = std::max(left.first, right.first);
  const auto end = std::min(left.end, right.end);
  return first < end ? key_group_range{first, end} : key_group_range{};
}

} // namespace headrace::state
