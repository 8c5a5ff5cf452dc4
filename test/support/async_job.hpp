#pragma once

#include "test/support/windowed_job.hpp"
#include "libgraph/api/headrace.hpp"

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace headrace::testing {

/// Asks the executor for each click, which knows it already; of some not at the first time.
class asking_for_clicks final : public api::async_function<click, click> {
public:
  void open(api::open_context& context) override { steps_ = &context.blocking(); }
  void async_invoke(const click& in, api::result_future<click> result) override {
    const bool is_refused = in.value % refused_every == 0 && ++calls_ % 2 == 1;
    api::run_async(
        *steps_,
        [in, is_refused] {
          if (is_refused)
            throw std::runtime_error("busy");
          return in;
        },
        std::move(result));
  }

private:
  static constexpr std::int64_t refused_every = 50;
  graph::blocking_steps* steps_ = nullptr;
  std::int64_t calls_ = 0; ///< for such clicks
};

/// The same clicks, some of them later.
inline api::stream<click> ask_for(const api::stream<click>& clicks, bool is_ordered) {
  const auto retry = api::exponential_backoff_retry<click>(20, std::chrono::milliseconds(5),
                                                           std::chrono::milliseconds(50), 2)
                         .if_exception(api::has_exception);
  const auto timeout = std::chrono::hours(1);
  constexpr std::int64_t capacity = 20;
  return is_ordered
             ? api::ordered_wait_with_retry(clicks, asking_for_clicks(), timeout, retry, capacity)
             : api::unordered_wait_with_retry(clicks, asking_for_clicks(), timeout, retry,
                                              capacity);
}

} // namespace headrace::testing
