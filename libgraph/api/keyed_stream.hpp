#pragma once

#include "libgraph/api/stream.hpp"
#include "libgraph/api/windowed_stream.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace headrace::api {

template <class Key, class First, class Second>
class keyed_connected_streams;
template <class Key, class T, class Broadcast>
class keyed_broadcast_connected_stream;
template <class Key, class First, class Second>
class interval_joined_streams;

/// Rows of type T with a key: all rows of a key meet in one subtask, which has states and timers
/// for it.
template <class Key, class T>
class keyed_stream : public stream_base {
public:
  using key_type = Key;
  using value_type = T;
  keyed_stream(api::environment& env, std::int32_t index, std::vector<std::int32_t> key_columns)
      : stream_base(env, index), key_columns_(std::move(key_columns)) {}

  /// For each row the key's rows so far, combined: `T function(T, T)`.
  template <class F>
  stream<T> reduce(F function) const {
    return aggregated<T, aggregate_adaptor<reduce_aggregate<T, F>>>(
        "reduce", reduce_aggregate<T, F>(std::move(function)));
  }
  /// For each row the result over the key's rows so far. `F` is an aggregate_function<T, …>.
  template <class F>
  auto aggregate(F function) const {
    static_assert(std::is_same_v<typename F::input_type, T>, "the function is for other rows");
    return aggregated<typename F::output_type, aggregate_adaptor<user_aggregate<F>>>(
        "aggregate", user_aggregate<F>(std::move(function)));
  }

  // For each row the key's first row with the field replaced by its sum, least or greatest value
  // so far; or, by the field, the whole row that has that value.
  template <class Field>
  stream<T> sum(Field T::*field) const {
    return built_in("sum", graph::aggregate_kind::sum, column_of<T>(field));
  }
  template <class Field>
  stream<T> min(Field T::*field) const {
    return built_in("min", graph::aggregate_kind::min, column_of<T>(field));
  }
  template <class Field>
  stream<T> max(Field T::*field) const {
    return built_in("max", graph::aggregate_kind::max, column_of<T>(field));
  }
  template <class Field>
  stream<T> min_by(Field T::*field) const {
    return built_in("min_by", graph::aggregate_kind::min_by, column_of<T>(field));
  }
  template <class Field>
  stream<T> max_by(Field T::*field) const {
    return built_in("max_by", graph::aggregate_kind::max_by, column_of<T>(field));
  }
  /// Of tuples and pairs: by the element's index.
  template <std::size_t Element>
  stream<T> sum() const {
    return built_in("sum", graph::aggregate_kind::sum, element<Element>());
  }
  template <std::size_t Element>
  stream<T> min() const {
    return built_in("min", graph::aggregate_kind::min, element<Element>());
  }
  template <std::size_t Element>
  stream<T> max() const {
    return built_in("max", graph::aggregate_kind::max, element<Element>());
  }

  /// `function` is a keyed_process_function<Key, T, Out>.
  template <class F>
  auto process(F function) const {
    using out = typename F::output_type;
    static_assert(std::is_same_v<typename F::input_type, T>, "the function is for other rows");
    static_assert(std::is_same_v<typename F::key_type, Key>, "the function is for other keys");
    auto sides = std::make_shared<side_outputs>();
    const auto ref =
        program().add(factory_of<graph::keyed_process_function, keyed_process_adaptor<F>>(
            std::move(function), key_columns_, sides));
    return stream<out>(environment(),
                       add_operator("keyed_process", graph::keyed_process_spec{ref, key_columns_},
                                    row_info<out>::type()),
                       sides);
  }

  /// Both into one operator: see keyed_connected_streams.
  template <class Other>
  keyed_connected_streams<Key, T, Other> connect(const keyed_stream<Key, Other>& other) const;
  template <class Other>
  keyed_broadcast_connected_stream<Key, T, Other>
  connect(const broadcast_stream<Other>& other) const;

  /// Pairs of rows whose event times are near to each other: see interval_joined_streams.
  template <class Other>
  interval_joined_streams<Key, T, Other> interval_join(const keyed_stream<Key, Other>& other) const;

  windowed_stream<Key, T> window(graph::window_spec window) const {
    return {*this, key_columns_, window};
  }
  /// Windows of any kind: sessions, by the clock, global, one's own (see window_assigner).
  template <window_assigner Assigner>
  auto window(Assigner assigner) const {
    auto trigger = assigner.default_trigger();
    using made = general_windowed_stream<Key, T, Assigner, decltype(trigger)>;
    return made(*this, key_columns_, std::move(assigner), std::move(trigger));
  }
  /// Windows of so many rows.
  auto count_window(std::int64_t rows) const {
    return window(global_windows()).trigger(purging(count_trigger(checked_count(rows))));
  }
  /// The last `rows` rows with every `slide`-th.
  auto count_window(std::int64_t rows, std::int64_t slide) const {
    return window(global_windows())
        .evictor(count_evictor(static_cast<std::size_t>(checked_count(rows))))
        .trigger(count_trigger(checked_count(slide)));
  }

  /// For the API: where the key lies in a row.
  const std::vector<std::int32_t>& key_columns() const { return key_columns_; }

private:
  template <std::size_t Element>
  static std::int32_t element() {
    static_assert(has_fields<T> && Element < fields_of<T>::size, "no such element");
    return static_cast<std::int32_t>(Element);
  }
  stream<T> built_in(const char* name, graph::aggregate_kind kind, std::int32_t column) const {
    graph::keyed_aggregate_spec spec{key_columns_,
                                     built_in_aggregation(kind, column, row_info<T>::columns)};
    return {environment(), add_operator(name, std::move(spec), row_info<T>::type())};
  }
  template <class Out, class Adaptor, class Logic>
  stream<Out> aggregated(const char* name, Logic logic) const {
    graph::keyed_aggregate_spec spec{key_columns_, {}};
    spec.aggregates.function =
        program().add(factory_of<graph::aggregate_function, Adaptor>(std::move(logic)));
    return {environment(), add_operator(name, std::move(spec), row_info<Out>::type())};
  }

  std::vector<std::int32_t> key_columns_;
};

/// The same key for all rows.
template <class T>
struct one_key {
  no_key operator()(const T&) const { return no_key::all; }
};

template <class T>
template <class Windows>
auto stream<T>::window_all(Windows windows) const {
  return key_by(one_key<T>()).window(std::move(windows));
}
template <class T>
auto stream<T>::count_window_all(std::int64_t rows) const {
  return key_by(one_key<T>()).count_window(rows);
}
template <class T>
auto stream<T>::count_window_all(std::int64_t rows, std::int64_t slide) const {
  return key_by(one_key<T>()).count_window(rows, slide);
}

} // namespace headrace::api
