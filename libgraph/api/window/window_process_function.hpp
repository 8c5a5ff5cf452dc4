#pragma once

#include "libgraph/api/function_traits.hpp"
#include "libgraph/api/process_function.hpp"
#include "libgraph/api/window.hpp"
#include "libgraph/api/window/window_state.hpp"

#include <cstdint>
#include <utility>

namespace headrace::api {

/// What a window function learns, and the states that it gets, when it opens.
class window_open_context : public open_context {
public:
  window_open_context(const graph::function_context& inner, window_states& of_windows)
      : open_context(inner), of_windows_(&of_windows) {}

  /// States of a key and window. Those of a window go with it where `clear` clears them.
  window_states& window_state() { return *of_windows_; }
  /// States of a key: what its windows share.
  open_context& global_state() { return *this; }

private:
  window_states* of_windows_;
};

/// What a window_process_function may ask and do.
template <class Key, class Window = window>
class window_process_context : public window_context<Key, Window> {
public:
  window_process_context(Key key, Window window, side_collector sides,
                         const graph::keyed_context& keyed)
      : window_context<Key, Window>(std::move(key), std::move(window), sides), keyed_(&keyed) {}

  std::int64_t current_watermark() const { return keyed_->current_watermark(); }
  std::int64_t current_processing_time() const { return keyed_->current_processing_time(); }

private:
  const graph::keyed_context* keyed_;
};

/// Makes rows of what a window has: `Given` is window_rows<T>, or the result of the aggregate that
/// it stands behind. A copy runs in each subtask.
template <class Key, class Given, class Out, class Window = window>
class window_process_function {
public:
  using key_type = Key;
  using given_type = Given;
  using output_type = Out;
  using window_type = Window;
  using context_type = window_process_context<Key, Window>;

  virtual ~window_process_function() = default;
  virtual void open(window_open_context&) {}
  virtual void process(context_type& context, const Given& given, collector<Out>& out) = 0;
  /// The window goes: so must its states.
  virtual void clear(context_type&) {}
  virtual void close() {}
};

/// An object of such a class, rather than a lambda.
template <class F>
concept window_process_object = requires {
  typename F::given_type;
  typename F::context_type;
  &F::process;
};

// What a window operator calls, whichever way it was written.

/// None: what the window has is the row.
template <class Out>
struct window_result {
  using output_type = Out;
  void open(const graph::function_context&, window_states&) {}
  template <class Context>
  void process(Context&, const Out& given, collector<Out>& out) {
    out.emit(given);
  }
  template <class Context>
  void clear(Context&) {}
  void close() {}
  static constexpr bool clears = false;
};

/// `void(window_context<Key>&, const given&, collector<Out>&)`
template <class F>
struct window_call {
  using output_type = typename collected<typename call_traits<F>::template parameter<2>>::type;
  F inner;
  void open(const graph::function_context& context, window_states&) {
    open_function(inner, context);
  }
  template <class Context, class Given>
  void process(Context& context, const Given& given, collector<output_type>& out) {
    inner(context, given, out);
  }
  template <class Context>
  void clear(Context&) {}
  void close() { close_function(inner); }
  static constexpr bool clears = false;
};

/// A window_process_function; `F` is its final type.
template <class F>
struct window_object {
  using output_type = typename F::output_type;
  F inner;
  void open(const graph::function_context& context, window_states& of_windows) {
    window_open_context opening(context, of_windows);
    inner.F::open(opening);
  }
  template <class Context>
  void process(Context& context, const typename F::given_type& given, collector<output_type>& out) {
    inner.F::process(context, given, out);
  }
  template <class Context>
  void clear(Context& context) {
    inner.F::clear(context);
  }
  void close() { inner.F::close(); }
  static constexpr bool clears = true;
};

} // namespace headrace::api
