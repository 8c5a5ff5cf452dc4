#pragma once

#include "libactors/base/assert.hpp"

#include <memory>
#include <utility>

namespace headrace::sql {

/// A value on the heap, for types that contain themselves. Copied, compared and owned like the
/// value; empty only after it was moved from.
template <class T>
class box {
public:
  box() : value_(std::make_unique<T>()) {}
  box(T value) : value_(std::make_unique<T>(std::move(value))) {} // NOLINT: implicit by design
  box(const box& other) : value_(std::make_unique<T>(*other)) {}
  box(box&&) noexcept = default;
  box& operator=(const box& other) {
    if (this != &other)
      value_ = std::make_unique<T>(*other);
    return *this;
  }
  box& operator=(box&&) noexcept = default;
  ~box() = default;

  T& operator*() { return *checked(); }
  const T& operator*() const { return *checked(); }
  T* operator->() { return checked(); }
  const T* operator->() const { return checked(); }

  friend bool operator==(const box& left, const box& right) { return *left == *right; }

private:
  T* checked() const {
    HEADRACE_ASSERT(value_ != nullptr, "a box that was moved from has no value");
    return value_.get();
  }

  std::unique_ptr<T> value_;
};

} // namespace headrace::sql
