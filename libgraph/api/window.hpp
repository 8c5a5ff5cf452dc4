#pragma once

#include "libgraph/api/collector.hpp"
#include "libgraph/api/function_traits.hpp"
#include "libgraph/api/row_info.hpp"
#include "libgraph/function/function.hpp"
#include "libgraph/spec/operator_spec.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

namespace headrace::api {

/// Windows of a fixed size that do not overlap; `offset` moves their starts from multiples of it.
graph::window_spec tumbling_event_time(std::chrono::milliseconds size,
                                       std::chrono::milliseconds offset = {});
/// Windows of a fixed size that start every `slide`.
graph::window_spec sliding_event_time(std::chrono::milliseconds size,
                                      std::chrono::milliseconds slide,
                                      std::chrono::milliseconds offset = {});
/// One window, which fires when the (bounded) input has ended.
graph::window_spec end_of_stream();

/// A span of time, milliseconds, the end not included.
struct window {
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;

  /// The one window of all rows.
  static constexpr window global() {
    return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  }
  std::int64_t max_timestamp() const {
    return end_ms == std::numeric_limits<std::int64_t>::max() ? end_ms : end_ms - 1;
  }
  /// Whether they overlap or touch: sessions that do are one.
  bool intersects(const window& other) const {
    return start_ms <= other.end_ms && other.start_ms <= end_ms;
  }
  window cover(const window& other) const {
    return {std::min(start_ms, other.start_ms), std::max(end_ms, other.end_ms)};
  }
  friend bool operator==(const window&, const window&) = default;
};
HEADRACE_STRUCT(window, start_ms, end_ms)

/// The key of rows that are all together: of `window_all`.
enum class no_key : std::int8_t { all = 0 };

/// The event time of what a window gives: its last millisecond; none of a window without end.
template <class Window>
std::int64_t result_timestamp(const Window& window) {
  const auto last = window.max_timestamp();
  return last == std::numeric_limits<std::int64_t>::max() ? no_timestamp : last;
}

/// What a window function is told beside the rows.
template <class Key, class Window = window>
class window_context {
public:
  window_context(Key key, Window window, side_collector sides)
      : key_(std::move(key)), window_(std::move(window)), sides_(sides) {}

  const Key& key() const { return key_; }
  const Window& window() const { return window_; }
  template <class T>
  void output(const output_tag<T>& tag, const std::type_identity_t<T>& value) {
    sides_.emit(tag, value, result_timestamp(window_));
  }

private:
  Key key_;
  Window window_;
  side_collector sides_;
};
using all_window_context = window_context<no_key>;

/// The rows of one key in one window, in the order they came; decoded as one walks. Walk as often
/// as needed. Valid during the call.
template <class T>
class window_rows {
public:
  static constexpr std::size_t header_bytes = sizeof(std::uint64_t); ///< the number of rows

  class iterator {
  public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    iterator(binary_reader in, std::size_t left) : in_(in), left_(left) { step(); }
    const T& operator*() const { return value_; }
    const T* operator->() const { return &value_; }
    iterator& operator++() {
      --left_;
      step();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return left_ == 0; }

  private:
    void step() {
      if (left_ > 0)
        value_ = type_info<T>::decode(in_);
    }
    binary_reader in_;
    std::size_t left_;
    T value_{};
  };

  explicit window_rows(byte_view encoded)
      : body_(encoded.substr(header_bytes)), size_(binary_reader(encoded).get<std::uint64_t>()) {}
  std::size_t size() const { return static_cast<std::size_t>(size_); }
  iterator begin() const { return iterator(binary_reader(body_), size()); }
  std::default_sentinel_t end() const { return {}; }

private:
  byte_view body_;
  std::uint64_t size_;
};

/// Keeps all rows of a window, encoded one after the other behind their number; its result is one
/// column of these bytes, for window_rows.
template <class T>
class list_aggregate final : public graph::aggregate_function {
public:
  static graph::logical_type result_type() {
    return graph::logical_type::row({{"rows", graph::logical_type::bytes().not_null(), {}}})
        .not_null();
  }

  graph::logical_type accumulator_type() const override {
    return graph::logical_type::array(info_of<T>::type()).not_null();
  }
  std::size_t fixed_bytes() const override { return 0; }
  void add_fixed(const graph::record_batch&, std::span<const std::uint32_t>,
                 std::span<std::byte* const>, std::span<const std::uint8_t>) override {}
  void merge_fixed(std::byte*, const std::byte*) override {}
  void result_fixed(const graph::record_batch&, std::span<const std::byte* const>,
                    graph::batch_builder&) override {}
  void add_variable(const graph::record_batch& in, std::uint32_t row,
                    byte_string& accumulator) override {
    if (accumulator.empty())
      accumulator.resize(window_rows<T>::header_bytes, '\0');
    add_count(accumulator, 1);
    const row_reader<T> read(in);
    type_info<T>::encode(accumulator, read(row));
  }
  void merge_variable(byte_string& into, byte_view from) override {
    if (into.empty()) {
      into = from;
      return;
    }
    add_count(into, binary_reader(from).get<std::uint64_t>());
    into.append(from.substr(window_rows<T>::header_bytes));
  }
  void result_variable(const graph::record_batch&, std::size_t, byte_view accumulator,
                       graph::batch_builder& out) override {
    out.column(0).append_string(accumulator);
    out.end_row();
  }

private:
  static void add_count(byte_string& accumulator, std::uint64_t by) {
    auto count = binary_reader(accumulator).get<std::uint64_t>();
    count += by;
    std::memcpy(accumulator.data(), &count, sizeof(count));
  }
};

/// Runs `void(window_context<Key>&, rows or result, collector<Out>&)` for each key's result.
/// `Given` is window_rows<T>, or the result type of an aggregate.
template <class Key, class Given, class Out, class F>
class window_adaptor final : public graph::window_function {
public:
  window_adaptor(F function, side_outputs_ptr sides)
      : function_(std::move(function)), sides_(std::move(sides)) {}
  void process(const graph::record_batch& keys, std::size_t first_key, std::int64_t start_ms,
               std::int64_t end_ms, const graph::record_batch& rows,
               graph::function_output& out) override {
    const row_reader<Key> read_key(keys);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      window_context<Key> context(read_key(first_key + i), {start_ms, end_ms},
                                  side_collector(sides_.get(), out));
      collector<Out> emitted(out.main());
      emitted.set_timestamp(result_timestamp(context.window()));
      function_(context, given(rows, rows.row_at(i)), emitted);
    }
  }

private:
  template <class G>
  struct reading {
    static G get(const graph::record_batch& rows, std::size_t row) {
      return row_reader<G>(rows)(row);
    }
  };
  template <class T>
  struct reading<window_rows<T>> {
    static window_rows<T> get(const graph::record_batch& rows, std::size_t row) {
      return window_rows<T>(rows.at(0).string_at(row));
    }
  };
  static Given given(const graph::record_batch& rows, std::size_t row) {
    return reading<Given>::get(rows, row);
  }

  F function_;
  side_outputs_ptr sides_;
};

} // namespace headrace::api
