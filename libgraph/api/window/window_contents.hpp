#pragma once

#include "libgraph/api/aggregate_function.hpp"
#include "libgraph/api/window.hpp"
#include "libgraph/api/window/window_state.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace headrace::api {

// What windows keep of their rows, by key and `space`: the encoded window. Each kind has
//
//     given_type                    what a window function gets
//     open(states, window_type)
//     add(space, row, time_ms)
//     merge(into, from)             the second has nothing then
//     clear(space)
//     give(space, window, keyed, call)   calls call(const given_type&), if there is something

/// An accumulator as a value of states: encoded, or the bytes of the object as they are.
template <class Accumulator>
struct accumulator_bytes {
  static graph::logical_type type() {
    if constexpr (streamable<Accumulator>)
      return type_info<Accumulator>::type();
    else
      return graph::logical_type::binary(static_cast<int>(sizeof(Accumulator))).not_null();
  }
  static byte_string default_value() {
    byte_string out;
    if constexpr (has_fields<Accumulator>)
      out = encoded(Accumulator{});
    return out;
  }
  static void write(byte_string& out, const Accumulator& value) {
    out.clear();
    if constexpr (streamable<Accumulator>)
      type_info<Accumulator>::encode(out, value);
    else
      out.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  static Accumulator read(byte_view bytes) {
    if constexpr (streamable<Accumulator>)
      return decoded<Accumulator>(bytes);
    else
      return binary_reader(bytes).get<Accumulator>();
  }
};

/// Rows folded as they come. `Logic` is that of aggregate_adaptor.
template <class Logic>
class folded_contents {
public:
  using row_type = typename Logic::input_type;
  using accumulator = typename Logic::accumulator_type;
  using given_type = typename Logic::output_type;
  using bytes = accumulator_bytes<accumulator>;
  static_assert(streamable<accumulator> || is_fixed_accumulator<accumulator>(),
                "describe the accumulator with HEADRACE_STRUCT: it is too large or not trivially "
                "copyable, so it must be encoded");

  explicit folded_contents(Logic logic) : logic_(std::move(logic)) {}
  void open(graph::state_provider& states, const graph::logical_type& window_type) {
    held_ = &states.map({"window-contents", graph::state_kind::map, bytes::type(), window_type, 0,
                         bytes::default_value()});
  }
  void add(byte_view space, const row_type& row, std::int64_t) {
    if (const auto held = held_->get(space)) {
      auto value = bytes::read(*held);
      logic_.add(row, value);
      bytes::write(scratch_, value);
    } else {
      bytes::write(scratch_, logic_.begin(row));
    }
    held_->put(space, scratch_);
  }
  void merge(byte_view into, byte_view from) {
    const auto gone = held_->get(from);
    if (!gone)
      return;
    const byte_string moved(*gone);
    if (const auto held = held_->get(into)) {
      auto value = bytes::read(*held);
      logic_.merge(value, bytes::read(moved));
      bytes::write(scratch_, value);
    } else {
      scratch_ = moved;
    }
    held_->put(into, scratch_);
    held_->remove(from);
  }
  void clear(byte_view space) { held_->remove(space); }
  template <class Window, class Call>
  void give(byte_view space, const Window&, graph::keyed_context&, Call&& call) {
    if (const auto held = held_->get(space))
      call(logic_.result(bytes::read(*held)));
  }

private:
  Logic logic_;
  graph::map_access* held_ = nullptr;
  byte_string scratch_;
};

/// Encoded rows one after the other, for window_rows.
template <class T>
class encoded_rows {
public:
  void begin(std::size_t size) {
    bytes_.clear();
    byte_writer(bytes_).put(static_cast<std::uint64_t>(size));
  }
  void add(byte_view row) { bytes_.append(row); }
  void add(const T& row) { type_info<T>::encode(bytes_, row); }
  window_rows<T> rows() const { return window_rows<T>(bytes_); }

private:
  byte_string bytes_;
};

/// All rows.
template <class T>
class listed_contents {
public:
  using row_type = T;
  using given_type = window_rows<T>;

  void open(graph::state_provider& states, const graph::logical_type& window_type) {
    list_.open(states, "window-contents", info_of<T>::type(), window_type,
               accumulator_bytes<T>::default_value());
  }
  void add(byte_view space, const T& row, std::int64_t) {
    accumulator_bytes<T>::write(scratch_, row);
    list_.add(space, scratch_);
  }
  void merge(byte_view into, byte_view from) { list_.merge(into, from); }
  void clear(byte_view space) { list_.clear(space); }
  template <class Window, class Call>
  void give(byte_view space, const Window&, graph::keyed_context&, Call&& call) {
    const auto [first, end] = list_.bounds_of(space);
    if (first == end)
      return;
    given_.begin(static_cast<std::size_t>(end - first));
    for (auto place = first; place < end; ++place)
      given_.add(list_.at(space, place));
    call(given_.rows());
  }

private:
  window_list list_;
  byte_string scratch_;
  encoded_rows<T> given_;
};

} // namespace headrace::api
