#pragma once

#include <cstdint>

namespace headrace::scheduler {

/// Starts task executors where a driver can (local processes, Kubernetes, YARN); standalone
/// clusters wait for people to. Called in the resource manager's turns; never blocks.
class worker_launcher {
public:
  virtual ~worker_launcher() = default;
  /// So many slots are wanted beyond those that are registered: the newest number counts.
  virtual void want_slots(std::int32_t missing) = 0;
};

/// Waits for task executors that others start.
class standalone_launcher final : public worker_launcher {
public:
  void want_slots(std::int32_t /*missing*/) override {}
};

} // namespace headrace::scheduler
