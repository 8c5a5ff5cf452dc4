#pragma once

#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/random.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <memory>

namespace headrace::scheduler {

/// Decides whether and when a job starts again after a failure. Pure.
class restart_strategy {
public:
  virtual ~restart_strategy() = default;
  /// @returns how long to wait before the restart, in milliseconds; 0: at once
  /// @errors restart_suppressed  the job is to fail; says which limit was reached
  virtual result<std::int64_t> on_failure(std::int64_t now_ms) = 0;
};

/// `random` draws the jitter of the exponential delay and outlives the strategy.
std::unique_ptr<restart_strategy> make_restart_strategy(const graph::restart_spec& spec,
                                                        random_source& random);

} // namespace headrace::scheduler
