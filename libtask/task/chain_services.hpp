#pragma once

#include "libtask/operator/operator_context.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace headrace::task {

/// What the operators of a subtask ask of it. While they are opened on a thread of the executor
/// their wishes are held, and nothing of the subtask is touched: it may be gone meanwhile. One
/// thread at a time, handed on by the step that opens.
class chain_services final : public operator_services {
public:
  explicit chain_services(operator_services& to) : to_(to), waker_(to.waker()) {}

  /// From now on wishes are held, until they are granted or dropped.
  void hold() { holds_ = true; }
  /// Passes on what is held, in order. In a turn of the subtask.
  void grant() {
    holds_ = false;
    for (auto& wish : std::exchange(held_, {}))
      wish(to_);
  }
  void drop() {
    holds_ = false;
    held_.clear();
  }

  void run_blocking(std::function<void()> step, std::function<void()> then) override {
    pass([step = std::move(step), then = std::move(then)](operator_services& to) {
      to.run_blocking(step, then);
    });
  }
  void after(std::chrono::milliseconds delay, std::function<void()> action) override {
    pass([delay, action = std::move(action)](operator_services& to) { to.after(delay, action); });
  }
  /// Is never held.
  std::function<void()> waker() override { return waker_; }
  void send_to_coordinator(operator_id from, byte_string event) override {
    pass([from, event = std::move(event)](operator_services& to) {
      to.send_to_coordinator(from, event);
    });
  }
  void fail(error cause) override {
    pass([cause = std::move(cause)](operator_services& to) { to.fail(cause); });
  }

private:
  using wish_type = std::function<void(operator_services&)>;
  template <class Wish>
  void pass(Wish wish) {
    if (holds_)
      held_.emplace_back(std::move(wish));
    else
      wish(to_);
  }

  operator_services& to_;
  std::function<void()> waker_;
  bool holds_ = false;
  std::vector<wish_type> held_;
};

} // namespace headrace::task
