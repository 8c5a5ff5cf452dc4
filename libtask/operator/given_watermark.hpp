#pragma once

#include "libstate/operator_state/operator_state_backend.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>

namespace headrace::task {

/// The watermark that an operator had given, in its operator state: after a restore it is given
/// again before any row, so that rows which come too late for it stay late.
class given_watermark {
public:
  /// @errors corrupt_snapshot
  status open(state::operator_state_backend& states, std::int32_t subtask,
              std::int32_t parallelism);
  /// That of this subtask; at another parallelism the least of all. none: there was none.
  std::int64_t restored_ms() const { return restored_ms_; }
  void store(std::int64_t given_ms);

private:
  state::operator_list_state* stored_ = nullptr;
  std::int32_t subtask_ = 0;
  std::int64_t restored_ms_ = graph::watermark::none;
};

} // namespace headrace::task
