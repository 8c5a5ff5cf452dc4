#pragma once

#include "libactors/base/clock.hpp"
#include "libactors/rpc/wake_service.hpp"

#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

namespace headrace::actors {

/// Wakes actors from a thread of its own. Holds them weakly: an actor that has ended is not woken.
class node_wake_service final : public wake_service {
public:
  explicit node_wake_service(const clock& time);
  ~node_wake_service() override;
  node_wake_service(const node_wake_service&) = delete;
  node_wake_service& operator=(const node_wake_service&) = delete;

  void wake_at(const sleeper& who, std::int64_t at_us) override;
  bool is_exact() const override { return false; }
  void stop() override;

private:
  struct wish {
    std::int64_t at_us;
    std::weak_ptr<const actor_ref::target> who;
    bool operator>(const wish& other) const { return at_us > other.at_us; }
  };
  void run();

  const clock& time_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::priority_queue<wish, std::vector<wish>, std::greater<>> wishes_;
  bool ending_ = false;
  std::thread thread_;
};

} // namespace headrace::actors
