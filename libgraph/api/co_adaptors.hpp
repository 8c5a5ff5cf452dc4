#pragma once

#include "libgraph/api/row_adaptors.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace headrace::api {

// What a connection runs, as `first` and `second`, whichever way it was written.

/// Two functions, which share nothing.
template <class F, class G>
struct function_pair {
  static_assert(!std::is_base_of_v<raw_state_writer, F> && !std::is_base_of_v<raw_state_writer, G>,
                "raw state is of one object with both functions, not of a pair");
  F of_first;
  G of_second;

  void open(const graph::function_context& context) {
    open_function(of_first, context);
    open_function(of_second, context);
  }
  template <class... A>
  decltype(auto) first(A&&... arguments) {
    return of_first(std::forward<A>(arguments)...);
  }
  template <class... A>
  decltype(auto) second(A&&... arguments) {
    return of_second(std::forward<A>(arguments)...);
  }
  raw_state_writer* raw_state() { return nullptr; }
  void close() {
    close_function(of_first);
    close_function(of_second);
  }
};

/// An object with `map1` and `map2`.
template <class F>
struct map_object {
  F inner;

  void open(const graph::function_context& context) { open_function(inner, context); }
  template <class T>
  decltype(auto) first(T&& row) {
    return inner.map1(std::forward<T>(row));
  }
  template <class T>
  decltype(auto) second(T&& row) {
    return inner.map2(std::forward<T>(row));
  }
  raw_state_writer* raw_state() { return raw_state_of(inner); }
  void close() { close_function(inner); }
};

/// An object with `flat_map1` and `flat_map2`.
template <class F>
struct flat_map_object {
  F inner;

  void open(const graph::function_context& context) { open_function(inner, context); }
  template <class T, class Collector>
  void first(T&& row, Collector& out) {
    inner.flat_map1(std::forward<T>(row), out);
  }
  template <class T, class Collector>
  void second(T&& row, Collector& out) {
    inner.flat_map2(std::forward<T>(row), out);
  }
  raw_state_writer* raw_state() { return raw_state_of(inner); }
  void close() { close_function(inner); }
};

/// Runs `Out(First)` or `Out(Second)` for each row.
template <class First, class Second, class Out, class Functions>
class co_map_adaptor final : public graph::co_function {
public:
  explicit co_map_adaptor(Functions functions) : functions_(std::move(functions)) {}
  void open(const graph::function_context& context) override { functions_.open(context); }
  std::size_t process(std::int32_t input, const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    if (input == 0)
      return run<First>(in, from, out, [this](auto&& row) -> decltype(auto) {
        return functions_.first(std::forward<decltype(row)>(row));
      });
    return run<Second>(in, from, out, [this](auto&& row) -> decltype(auto) {
      return functions_.second(std::forward<decltype(row)>(row));
    });
  }
  graph::raw_state_writer* raw_state() override { return functions_.raw_state(); }
  void close() override { functions_.close(); }

private:
  template <class In, class Call>
  static std::size_t run(const graph::record_batch& in, std::size_t from,
                         graph::function_output& out, Call call) {
    const row_reader<In> read(in);
    const auto* timestamps = in.timestamps();
    auto& main = out.main();
    return for_each_row(in, from, out, [&](std::size_t row) {
      row_info<Out>::append(main, call(read(row)));
      end_row(main, timestamps, row);
    });
  }

  Functions functions_;
};

/// Runs `void(First, collector<Out>&)` or `void(Second, collector<Out>&)` for each row.
template <class First, class Second, class Out, class Functions>
class co_flat_map_adaptor final : public graph::co_function {
public:
  explicit co_flat_map_adaptor(Functions functions) : functions_(std::move(functions)) {}
  void open(const graph::function_context& context) override { functions_.open(context); }
  std::size_t process(std::int32_t input, const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    if (input == 0)
      return run<First>(in, from, out, [this](auto&& row, auto& emitted) {
        functions_.first(std::forward<decltype(row)>(row), emitted);
      });
    return run<Second>(in, from, out, [this](auto&& row, auto& emitted) {
      functions_.second(std::forward<decltype(row)>(row), emitted);
    });
  }
  graph::raw_state_writer* raw_state() override { return functions_.raw_state(); }
  void close() override { functions_.close(); }

private:
  template <class In, class Call>
  static std::size_t run(const graph::record_batch& in, std::size_t from,
                         graph::function_output& out, Call call) {
    const row_reader<In> read(in);
    const auto* timestamps = in.timestamps();
    collector<Out> emitted(out.main());
    return for_each_row(in, from, out, [&](std::size_t row) {
      emitted.set_timestamp(timestamp_at(timestamps, row));
      call(read(row), emitted);
    });
  }

  Functions functions_;
};

} // namespace headrace::api
