#pragma once

#include "libgraph/expression/kernel/kernel.hpp"

namespace headrace::graph {

/// USER and VOLATILE USER: calls of users' functions, the first argument of which is the function.
std::span<const kernel_entry> user_call_kernels();

} // namespace headrace::graph
