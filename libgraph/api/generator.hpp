#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <utility>

namespace headrace::api {

/// What a coroutine yields, one value at a time: it runs only when the next value is asked for, so
/// a row may give any number of outputs in bounded memory.
///
///     stream.flat_map([](order in) -> api::generator<item> {
///       for (const auto& each : in.items)
///         co_yield each;
///     });
///
/// Owns the coroutine; moved, not copied. One thread.
template <class T>
class [[nodiscard]] generator {
public:
  class promise_type {
  public:
    generator get_return_object() {
      return generator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    /// The yielded object lives in the coroutine's frame until it is resumed.
    std::suspend_always yield_value(const T& value) noexcept {
      value_ = std::addressof(value);
      return {};
    }
    void return_void() const noexcept {}
    void unhandled_exception() { failure_ = std::current_exception(); }
    void await_transform() = delete; // a generator awaits nothing

  private:
    friend class generator;
    const T* value_ = nullptr;
    std::exception_ptr failure_;
  };

  generator() = default;
  generator(generator&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  generator& operator=(generator&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~generator() {
    if (handle_)
      handle_.destroy();
  }

  bool is_none() const { return !handle_; }
  /// Runs to the next value. @returns nullptr at the end; else valid until the next call
  /// @throws what the coroutine throws
  const T* next() {
    if (!handle_ || handle_.done())
      return nullptr;
    handle_.resume();
    auto& promise = handle_.promise();
    if (promise.failure_)
      std::rethrow_exception(std::exchange(promise.failure_, nullptr));
    return handle_.done() ? nullptr : promise.value_;
  }
  void reset() { *this = generator(); }

private:
  explicit generator(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

} // namespace headrace::api
