#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Keeps one accumulator a key and emits, for each row, the key's new result (Flink's keyed `sum`,
/// `reduce`, …). Rows keep their order and their timestamps.
result<std::unique_ptr<stream_operator>>
make_keyed_aggregate_operator(const graph::operator_node& node, const operator_context& context);

} // namespace headrace::task
