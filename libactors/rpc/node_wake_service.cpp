#include "libactors/rpc/node_wake_service.hpp"

#include "libactors/rpc/actor_target.hpp"

#include <utility>

namespace headrace::actors {

node_wake_service::node_wake_service(const clock& time) : time_(time), thread_([this] { run(); }) {}

node_wake_service::~node_wake_service() { stop(); }

void node_wake_service::stop() {
  {
    const std::lock_guard lock(guard_);
    ending_ = true;
    wishes_ = {};
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void node_wake_service::wake_at(const sleeper& who, std::int64_t at_us) {
  bool is_first = false;
  {
    const std::lock_guard lock(guard_);
    if (ending_ || at_us == never) {
      return;
    }
    is_first = wishes_.empty() || at_us < wishes_.top().at_us;
    wishes_.push({.at_us = at_us, .who = who});
  }
  if (is_first) {
    changed_.notify_one();
  }
}

void node_wake_service::run() {
  std::unique_lock lock(guard_);
  while (!ending_) {
    if (wishes_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto left_us = wishes_.top().at_us - time_.now_us();
    if (left_us > 0) {
      changed_.wait_for(lock, std::chrono::microseconds(left_us));
      continue;
    }
    auto who = wishes_.top().who;
    wishes_.pop();
    lock.unlock();
    if (const auto target = who.lock()) {
      target->post({wake{}});
    }
    lock.lock();
  }
}

} // namespace headrace::actors
