#pragma once

#include "libgraph/api/broadcast_process_function.hpp"
#include "libgraph/api/keyed_stream.hpp"
#include "libgraph/api/stream.hpp"

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace::api {

/// A stream of which each subtask gets all rows, and the states that it fills there: made by
/// `stream::broadcast(descriptors…)`, to be connected with another stream.
template <class T>
class broadcast_stream : public stream_base {
public:
  using value_type = T;
  broadcast_stream(const stream<T>& rows, broadcast_states states)
      : stream_base(rows), states_(std::move(states)) {}
  /// For the API.
  const broadcast_states& states() const { return states_; }

private:
  broadcast_states states_;
};

/// A stream connected with one that is broadcast: made by `stream::connect`.
template <class T, class Broadcast>
class broadcast_connected_stream : public stream_base {
public:
  broadcast_connected_stream(const stream<T>& rows, broadcast_stream<Broadcast> broadcast)
      : stream_base(rows), broadcast_(std::move(broadcast)) {}

  /// `function` is a broadcast_process_function<T, Broadcast, Out>.
  template <class F>
  auto process(F function) const {
    using out = typename F::output_type;
    static_assert(std::is_same_v<typename F::input_type, T> &&
                      std::is_same_v<typename F::broadcast_type, Broadcast>,
                  "the function is for other rows");
    auto sides = std::make_shared<side_outputs>();
    const auto ref = program().add(factory_of<graph::co_function, broadcast_process_adaptor<F>>(
        std::move(function), broadcast_.states(), sides));
    return stream<out>(environment(),
                       add_co_operator(broadcast_, "broadcast_process",
                                       graph::co_process_spec{ref, {}, {}, true},
                                       row_info<out>::type()),
                       sides);
  }

private:
  broadcast_stream<Broadcast> broadcast_;
};

/// The same of a keyed stream: made by `keyed_stream::connect`.
template <class Key, class T, class Broadcast>
class keyed_broadcast_connected_stream : public stream_base {
public:
  keyed_broadcast_connected_stream(const keyed_stream<Key, T>& rows,
                                   broadcast_stream<Broadcast> broadcast)
      : stream_base(rows), key_columns_(rows.key_columns()), broadcast_(std::move(broadcast)) {}

  /// `function` is a keyed_broadcast_process_function<Key, T, Broadcast, Out>.
  template <class F>
  auto process(F function) const {
    using out = typename F::output_type;
    static_assert(std::is_same_v<typename F::input_type, T> &&
                      std::is_same_v<typename F::broadcast_type, Broadcast>,
                  "the function is for other rows");
    static_assert(std::is_same_v<typename F::key_type, Key>, "the function is for other keys");
    auto sides = std::make_shared<side_outputs>();
    const auto ref =
        program().add(factory_of<graph::keyed_co_function, keyed_broadcast_process_adaptor<F>>(
            std::move(function), broadcast_.states(), key_columns_, sides));
    return stream<out>(environment(),
                       add_co_operator(broadcast_, "keyed_broadcast_process",
                                       graph::co_process_spec{ref, key_columns_, {}, true},
                                       row_info<out>::type()),
                       sides);
  }

private:
  std::vector<std::int32_t> key_columns_;
  broadcast_stream<Broadcast> broadcast_;
};

template <class T>
template <class Key, class Value, class... More>
broadcast_stream<T> stream<T>::broadcast(const map_state_descriptor<Key, Value>& state,
                                         const More&... more) const {
  broadcast_states states;
  states.add(state);
  (states.add(more), ...);
  return {broadcast(), std::move(states)};
}

template <class T>
template <class Other>
broadcast_connected_stream<T, Other>
stream<T>::connect(const broadcast_stream<Other>& other) const {
  return {*this, other};
}

template <class Key, class T>
template <class Other>
keyed_broadcast_connected_stream<Key, T, Other>
keyed_stream<Key, T>::connect(const broadcast_stream<Other>& other) const {
  return {*this, other};
}

} // namespace headrace::api
