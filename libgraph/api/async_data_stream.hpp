#pragma once

#include "libgraph/api/async_function.hpp"
#include "libgraph/api/stream.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace headrace::api {

/// Flink's AsyncDataStream: rows go through an async function. Made by the functions below.
class async_data_stream : private stream_base {
public:
  template <class T>
  explicit async_data_stream(const stream<T>& from) : stream_base(from) {}

  template <class F>
  auto add(F function, graph::async_wait_spec spec,
           std::optional<async_retry_strategy<typename F::output_type>> retry) const {
    using out = typename F::output_type;
    if (retry)
      spec.retry = retry->spec();
    spec.function = program().add(
        factory_of<graph::async_function, async_adaptor<F>>(std::move(function), std::move(retry)));
    return stream<out>(environment(),
                       add_operator(spec.is_ordered ? "ordered_wait" : "unordered_wait", spec,
                                    row_info<out>::type()));
  }
};

/// Rows leave as their calls end, but none passes a watermark.
/// @param function  an async_function<T, Out>
/// @param timeout   of a row; 0: none
/// @param capacity  rows of a subtask whose results have not left; with so many it takes no more
template <class T, class F>
auto unordered_wait(const stream<T>& in, F function, std::chrono::milliseconds timeout,
                    std::int64_t capacity = 100) {
  static_assert(std::is_same_v<typename F::input_type, T>, "the function is for other rows");
  return async_data_stream(in).add(std::move(function), {{}, false, timeout.count(), capacity, {}},
                                   std::nullopt);
}
/// Rows leave in the order in which they came.
template <class T, class F>
auto ordered_wait(const stream<T>& in, F function, std::chrono::milliseconds timeout,
                  std::int64_t capacity = 100) {
  static_assert(std::is_same_v<typename F::input_type, T>, "the function is for other rows");
  return async_data_stream(in).add(std::move(function), {{}, true, timeout.count(), capacity, {}},
                                   std::nullopt);
}
/// The same with calls that are made again; the timeout is over all of a row's.
template <class T, class F>
auto unordered_wait_with_retry(const stream<T>& in, F function, std::chrono::milliseconds timeout,
                               async_retry_strategy<typename F::output_type> strategy,
                               std::int64_t capacity = 100) {
  static_assert(std::is_same_v<typename F::input_type, T>, "the function is for other rows");
  return async_data_stream(in).add(std::move(function), {{}, false, timeout.count(), capacity, {}},
                                   std::optional(std::move(strategy)));
}
template <class T, class F>
auto ordered_wait_with_retry(const stream<T>& in, F function, std::chrono::milliseconds timeout,
                             async_retry_strategy<typename F::output_type> strategy,
                             std::int64_t capacity = 100) {
  static_assert(std::is_same_v<typename F::input_type, T>, "the function is for other rows");
  return async_data_stream(in).add(std::move(function), {{}, true, timeout.count(), capacity, {}},
                                   std::optional(std::move(strategy)));
}

} // namespace headrace::api
