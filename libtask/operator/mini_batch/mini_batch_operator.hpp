#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace headrace::task {

/// Gives fewer rows of an input that come to the same. Called with all that were gathered of it.
using bundle_fold = std::function<graph::record_batch(std::int32_t input, graph::record_batch)>;

struct mini_batch_setup {
  graph::mini_batch_spec spec;
  std::vector<std::int32_t> inputs{0}; ///< in the order in which what they gave is worked on
  bundle_fold fold;                    ///< empty: all rows are worked on
};

/// Puts a bundle before an operator with inputs, without timers: rows are gathered, and given to it
/// as one batch an input
///
///     when they are as many as `rows_max`, so that the bundles of a stream do not depend on how it
///     is cut into batches; when the first of them has waited for `latency_ms`; before a barrier,
///     so that none is in a checkpoint; at the end of an input; before the last watermark.
///
/// A watermark that comes while rows wait is given on behind what they lead to, the latest alone:
/// later than it could be, which is never wrong, so that watermarks do not cut bundles short.
std::unique_ptr<stream_operator> gather_rows(std::unique_ptr<stream_operator> inner,
                                             mini_batch_setup with, const headrace::clock& time);

} // namespace headrace::task
