#pragma once

#include "libgraph/api/co_adaptors.hpp"
#include "libgraph/api/co_process_function.hpp"
#include "libgraph/api/keyed_stream.hpp"
#include "libgraph/api/stream.hpp"

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace headrace::api {

/// Two streams, of rows that may differ, into one operator whose functions share what they keep:
/// made by `stream::connect`. Cheap to copy.
template <class First, class Second>
class connected_streams : public stream_base {
public:
  connected_streams(stream<First> first, stream<Second> second)
      : stream_base(first), first_(std::move(first)), second_(std::move(second)) {}

  /// One row from each: `Out first(First)` and `Out second(Second)`.
  template <class F, class G>
  auto map(F first, G second) const {
    using left = argument_t<F, First>;
    using right = argument_t<G, Second>;
    using out = std::remove_cvref_t<std::invoke_result_t<F&, left>>;
    static_assert(std::is_same_v<out, std::remove_cvref_t<std::invoke_result_t<G&, right>>>,
                  "both functions give rows of one type");
    return functions<out, co_map_adaptor<left, right, out, function_pair<F, G>>>(
        "co_map", function_pair<F, G>{std::move(first), std::move(second)});
  }
  /// The same of an object that has `Out map1(First)` and `Out map2(Second)`, which may share what
  /// they keep.
  template <class F>
  auto map(F function) const {
    using out = std::remove_cvref_t<decltype(function.map1(std::declval<First>()))>;
    static_assert(
        std::is_same_v<out, std::remove_cvref_t<decltype(function.map2(std::declval<Second>()))>>,
        "map1 and map2 give rows of one type");
    return functions<out, co_map_adaptor<First, Second, out, map_object<F>>>(
        "co_map", map_object<F>{std::move(function)});
  }
  /// Any number of rows from each: `void first(First, collector<Out>&)` and
  /// `void second(Second, collector<Out>&)`.
  template <class F, class G>
  auto flat_map(F first, G second) const {
    static_assert(call_traits<F>::is_known && call_traits<G>::is_known,
                  "of functions with `auto` parameters the rows are not known: name their types");
    using left = argument_t<F, First>;
    using right = argument_t<G, Second>;
    using out = typename collected<typename call_traits<F>::template parameter<1>>::type;
    static_assert(
        std::is_same_v<out,
                       typename collected<typename call_traits<G>::template parameter<1>>::type>,
        "both functions give rows of one type");
    return functions<out, co_flat_map_adaptor<left, right, out, function_pair<F, G>>>(
        "co_flat_map", function_pair<F, G>{std::move(first), std::move(second)});
  }
  /// The same of an object that has `flat_map1` and `flat_map2`.
  template <class F>
  auto flat_map(F function) const {
    using traits = method_traits<decltype(&F::flat_map1)>;
    using out = typename collected<typename traits::template parameter<1>>::type;
    return functions<out, co_flat_map_adaptor<First, Second, out, flat_map_object<F>>>(
        "co_flat_map", flat_map_object<F>{std::move(function)});
  }
  /// `function` is a co_process_function<First, Second, Out>.
  template <class F>
  auto process(F function) const {
    using out = typename F::output_type;
    static_assert(std::is_same_v<typename F::first_type, First> &&
                      std::is_same_v<typename F::second_type, Second>,
                  "the function is for other rows");
    auto sides = std::make_shared<side_outputs>();
    const auto ref = program().add(
        factory_of<graph::co_function, co_process_adaptor<F>>(std::move(function), sides));
    return stream<out>(environment(),
                       add_co_operator(second_, "co_process", graph::co_process_spec{ref, {}},
                                       row_info<out>::type()),
                       sides);
  }
  /// Both streams by their keys, which are of one type: as `stream::key_by` takes them.
  template <class F, class G>
  auto key_by(F first, G second) const {
    return first_.key_by(std::move(first)).connect(second_.key_by(std::move(second)));
  }

private:
  template <class Out, class Adaptor, class F>
  stream<Out> functions(const char* name, F function) const {
    const auto ref = program().add(factory_of<graph::co_function, Adaptor>(std::move(function)));
    return {environment(),
            add_co_operator(second_, name, graph::co_process_spec{ref, {}}, row_info<Out>::type())};
  }

  stream<First> first_;
  stream<Second> second_;
};

/// The same of keyed streams: made by `keyed_stream::connect`. Rows of one key meet in one subtask,
/// of whichever stream they are.
template <class Key, class First, class Second>
class keyed_connected_streams : public stream_base {
public:
  keyed_connected_streams(const keyed_stream<Key, First>& first,
                          const keyed_stream<Key, Second>& second)
      : stream_base(first), second_(second), columns_{first.key_columns(), second.key_columns()} {}

  /// `function` is a keyed_co_process_function<Key, First, Second, Out>.
  template <class F>
  auto process(F function) const {
    using out = typename F::output_type;
    static_assert(std::is_same_v<typename F::first_type, First> &&
                      std::is_same_v<typename F::second_type, Second>,
                  "the function is for other rows");
    static_assert(std::is_same_v<typename F::key_type, Key>, "the function is for other keys");
    auto sides = std::make_shared<side_outputs>();
    const auto ref =
        program().add(factory_of<graph::keyed_co_function, keyed_co_process_adaptor<F>>(
            std::move(function), columns_, sides));
    return stream<out>(environment(),
                       add_co_operator(second_, "keyed_co_process",
                                       graph::co_process_spec{ref, columns_.first, columns_.second},
                                       row_info<out>::type()),
                       sides);
  }

private:
  keyed_stream<Key, Second> second_;
  co_key_columns columns_;
};

template <class T>
template <class Other>
connected_streams<T, Other> stream<T>::connect(const stream<Other>& other) const {
  return {*this, other};
}

template <class Key, class T>
template <class Other>
keyed_connected_streams<Key, T, Other>
keyed_stream<Key, T>::connect(const keyed_stream<Key, Other>& other) const {
  return {*this, other};
}

} // namespace headrace::api
