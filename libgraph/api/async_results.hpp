#pragma once

#include "libgraph/api/collector.hpp"
#include "libgraph/function/async_function.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace headrace::api {

/// Where calls of an async function end, until the task looks. Any thread may end one.
template <class Out>
class async_results {
public:
  struct ended {
    graph::async_call call = 0;
    graph::async_outcome outcome = graph::async_outcome::results;
    std::vector<Out> rows{};
    std::string failure{};
  };

  explicit async_results(std::function<void()> wake) : wake_(std::move(wake)) {}

  void end(ended what) {
    bool wakes = false;
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_)
        return;
      wakes = ended_.empty() && !is_watched_;
      ended_.push_back(std::move(what));
      has_ended_.store(true, std::memory_order_release);
    }
    if (wakes)
      wake_();
  }
  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }
  /// Swaps what has ended with `out`, which is empty.
  void take(std::vector<ended>& out) {
    const std::lock_guard lock(mutex_);
    out.swap(ended_);
    has_ended_.store(false, std::memory_order_release);
  }
  /// The task looks anyway, once it is not watching any more.
  void watch(bool watches) {
    const std::lock_guard lock(mutex_);
    is_watched_ = watches;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    ended_.clear();
    has_ended_.store(false, std::memory_order_release);
  }

private:
  std::mutex mutex_;
  std::vector<ended> ended_;
  bool is_watched_ = false;
  bool is_closed_ = false;
  std::atomic<bool> has_ended_ = false;
  std::function<void()> wake_;
};

/// Ends one call of an async function: once, on any thread. What comes later is ignored, also when
/// the task is gone. Cheap to copy. One that is dropped unused leaves the call to its timeout.
template <class Out>
class result_future {
public:
  result_future(std::shared_ptr<async_results<Out>> to, graph::async_call call)
      : to_(std::move(to)), call_(call) {}

  /// With what the row becomes, which may be nothing.
  void complete(std::vector<Out> rows) const {
    to_->end({call_, graph::async_outcome::results, std::move(rows), {}});
  }
  /// The job fails, unless the retry strategy has the row tried again.
  void complete_exceptionally(std::string failure) const {
    to_->end({call_, graph::async_outcome::failed, {}, std::move(failure)});
  }
  /// The job fails: what a function does about a timeout unless it says otherwise.
  void fail_for_timeout() const { to_->end({call_, graph::async_outcome::timed_out, {}, {}}); }

private:
  std::shared_ptr<async_results<Out>> to_;
  graph::async_call call_ = 0;
};

/// The results that a task has taken, under numbers.
template <class Out>
class taken_async_results {
public:
  std::uint32_t add(std::vector<Out> rows) {
    if (free_.empty()) {
      rows_.push_back(std::move(rows));
      return static_cast<std::uint32_t>(rows_.size() - 1);
    }
    const auto at = free_.back();
    free_.pop_back();
    rows_[at] = std::move(rows);
    return at;
  }
  const std::vector<Out>& at(std::uint32_t which) const { return rows_[which]; }
  void drop(std::uint32_t which) {
    std::vector<Out>().swap(rows_[which]);
    free_.push_back(which);
  }

private:
  std::vector<std::vector<Out>> rows_;
  std::vector<std::uint32_t> free_;
};

} // namespace headrace::api
