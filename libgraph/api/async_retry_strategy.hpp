#pragma once

#include "libgraph/spec/operator_spec.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::api {

/// When an async function is called again for a row, and how soon. Without a predicate it never is.
template <class Out>
class async_retry_strategy {
public:
  using result_predicate = std::function<bool(const std::vector<Out>&)>;
  using exception_predicate = std::function<bool(const std::string&)>;

  explicit async_retry_strategy(graph::async_retry_spec spec) : spec_(spec) {}

  /// Results that are not good enough.
  async_retry_strategy if_result(result_predicate predicate) const {
    auto out = *this;
    out.of_result_ = std::move(predicate);
    return out;
  }
  /// Failures, told by their words, that may pass.
  async_retry_strategy if_exception(exception_predicate predicate) const {
    auto out = *this;
    out.of_exception_ = std::move(predicate);
    return out;
  }

  const graph::async_retry_spec& spec() const { return spec_; }
  bool wants_retry(const std::vector<Out>& results) const {
    return of_result_ && of_result_(results);
  }
  bool wants_retry(const std::string& failure) const {
    return of_exception_ && of_exception_(failure);
  }

private:
  graph::async_retry_spec spec_;
  result_predicate of_result_;
  exception_predicate of_exception_;
};

/// @param max_attempts  behind the first call, as Flink counts them
template <class Out>
async_retry_strategy<Out> fixed_delay_retry(std::int32_t max_attempts,
                                            std::chrono::milliseconds delay) {
  return async_retry_strategy<Out>({max_attempts, delay.count(), delay.count(), 1});
}
/// @param max_attempts  behind the first call, as Flink counts them
/// @param multiplier    of the delay from one attempt to the next, at least 1
template <class Out>
async_retry_strategy<Out>
exponential_backoff_retry(std::int32_t max_attempts, std::chrono::milliseconds initial_delay,
                          std::chrono::milliseconds max_delay, double multiplier) {
  return async_retry_strategy<Out>(
      {max_attempts, initial_delay.count(), max_delay.count(), multiplier});
}

/// Flink's predicates: results of no row, and every failure.
template <class Out>
bool is_empty_result(const std::vector<Out>& results) {
  return results.empty();
}
inline bool has_exception(const std::string& /*failure*/) { return true; }

} // namespace headrace::api
