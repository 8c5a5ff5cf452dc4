#pragma once

#include "libactors/base/assert.hpp"
#include "libactors/base/error.hpp"

#include <optional>
#include <utility>
#include <variant>

namespace headrace {

/// Holds a value or an error. C++20 has no `std::expected`.
template <class T>
class [[nodiscard]] result {
public:
  using value_type = T;

  // Implicit by design: `return value` and `return error`. NOLINTBEGIN(google-explicit-constructor)
  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  result(headrace::error failure) : state_(std::in_place_index<1>, std::move(failure)) {}
  // NOLINTEND(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    HEADRACE_ASSERT(has_value(), "value() of a failed result");
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    HEADRACE_ASSERT(has_value(), "value() of a failed result");
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    HEADRACE_ASSERT(has_value(), "value() of a failed result");
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const headrace::error& error() const& {
    HEADRACE_ASSERT(!has_value(), "error() of a result with a value");
    return *std::get_if<1>(&state_);
  }
  headrace::error&& error() && {
    HEADRACE_ASSERT(!has_value(), "error() of a result with a value");
    return std::move(*std::get_if<1>(&state_));
  }

private:
  std::variant<T, headrace::error> state_;
};

/// Holds success or an error.
template <>
class [[nodiscard]] result<void> {
public:
  using value_type = void;

  result() = default;
  result(headrace::error failure) : failure_(std::move(failure)) {} // NOLINT: implicit by design

  bool has_value() const { return !failure_.has_value(); }
  explicit operator bool() const { return has_value(); }
  const headrace::error& error() const& {
    HEADRACE_ASSERT(failure_.has_value(), "error() of a successful status");
    return *failure_;
  }
  headrace::error&& error() && {
    HEADRACE_ASSERT(failure_.has_value(), "error() of a successful status");
    return std::move(*failure_);
  }

private:
  std::optional<headrace::error> failure_;
};

/// Success, or why not.
using status = result<void>;

} // namespace headrace

#define HEADRACE_CONCAT_INNER(a, b) a##b
#define HEADRACE_CONCAT(a, b) HEADRACE_CONCAT_INNER(a, b)

/// Returns the error of `expression` (a result or status) from the calling function, if it has one.
#define HEADRACE_CHECK(expression)                                                                 \
  do {                                                                                             \
    auto headrace_checked = (expression);                                                          \
    if (!headrace_checked)                                                                         \
      return std::move(headrace_checked).error();                                                  \
  } while (false)

/// `HEADRACE_TRY(auto x, f())`: binds the value, or returns the error from the calling function.
#define HEADRACE_TRY(target, ...)                                                                  \
  auto HEADRACE_CONCAT(headrace_tried_, __LINE__) = (__VA_ARGS__);                                 \
  if (!HEADRACE_CONCAT(headrace_tried_, __LINE__))                                                 \
    return std::move(HEADRACE_CONCAT(headrace_tried_, __LINE__)).error();                          \
  target = std::move(HEADRACE_CONCAT(headrace_tried_, __LINE__)).value()
