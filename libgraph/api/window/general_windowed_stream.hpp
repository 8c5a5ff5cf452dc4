#pragma once

#include "libgraph/api/aggregate_function.hpp"
#include "libgraph/api/stream.hpp"
#include "libgraph/api/window/evicting_contents.hpp"
#include "libgraph/api/window/window_operator.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace::api {

/// No rows are taken out of windows.
struct no_evictor {};

// `sum`, `min`, `max` and their like as functions of reduce: see keyed_stream.
template <class T, class Field>
struct sum_of_field {
  Field T::*field;
  T operator()(T left, const T& right) const {
    left.*field = static_cast<Field>(left.*field + right.*field);
    return left;
  }
};
/// @tparam IsLeast  else the greatest; @tparam IsWhole  the row, else its field
template <class T, class Field, bool IsLeast, bool IsWhole>
struct extreme_of_field {
  Field T::*field;
  T operator()(T left, const T& right) const {
    if (IsLeast ? right.*field < left.*field : left.*field < right.*field) {
      if constexpr (IsWhole)
        left = right;
      else
        left.*field = right.*field;
    }
    return left;
  }
};

/// Rows of type T by key and window, with any assigner, trigger and evictor. Each result has the
/// window's last millisecond as event time; those of windows without end have none.
template <class Key, class T, class Assigner, class Trigger, class Evictor = no_evictor>
class general_windowed_stream : public stream_base {
public:
  general_windowed_stream(const stream_base& keyed, std::vector<std::int32_t> key_columns,
                          Assigner assigner, Trigger trigger, Evictor evictor = {},
                          window_settings<T> settings = {})
      : stream_base(keyed), key_columns_(std::move(key_columns)), assigner_(std::move(assigner)),
        trigger_(std::move(trigger)), evictor_(std::move(evictor)), settings_(std::move(settings)) {
  }

  /// Instead of the one that the windows have by themselves.
  template <class Other>
  general_windowed_stream<Key, T, Assigner, Other, Evictor> trigger(Other trigger) const {
    return {*this, key_columns_, assigner_, std::move(trigger), evictor_, settings_};
  }
  /// Takes rows out of windows that fire. All rows are kept then, also by reduce and aggregate.
  template <class Other>
  general_windowed_stream<Key, T, Assigner, Trigger, Other> evictor(Other evictor) const {
    return {*this, key_columns_, assigner_, trigger_, std::move(evictor), settings_};
  }
  /// A window of event time stays for so long after its end.
  general_windowed_stream allowed_lateness(std::chrono::milliseconds lateness) const {
    auto out = *this;
    out.settings_.allowed_lateness_ms = lateness.count();
    return out;
  }
  /// Rows that come too late go to the result's `side_output(tag)` instead of being dropped.
  general_windowed_stream side_output_late_data(const output_tag<T>& tag) const {
    auto out = *this;
    out.settings_.late = tag;
    return out;
  }

  // As those of windowed_stream.
  template <class Field>
  stream<T> sum(Field T::*field) const {
    return reduce(sum_of_field<T, Field>{field});
  }
  template <class Field>
  stream<T> min(Field T::*field) const {
    return reduce(extreme_of_field<T, Field, true, false>{field});
  }
  template <class Field>
  stream<T> max(Field T::*field) const {
    return reduce(extreme_of_field<T, Field, false, false>{field});
  }
  template <class Field>
  stream<T> min_by(Field T::*field) const {
    return reduce(extreme_of_field<T, Field, true, true>{field});
  }
  template <class Field>
  stream<T> max_by(Field T::*field) const {
    return reduce(extreme_of_field<T, Field, false, true>{field});
  }
  template <class F>
  stream<T> reduce(F function) const {
    return folded("window reduce", reduce_aggregate<T, F>(std::move(function)), window_result<T>());
  }
  template <class F, class W>
  auto reduce(F function, W window_function) const {
    return folded("window reduce", reduce_aggregate<T, F>(std::move(function)),
                  called<T>(std::move(window_function)));
  }
  template <class F>
  auto aggregate(F function) const {
    static_assert(std::is_same_v<typename F::input_type, T>, "the function is for other rows");
    return folded("window aggregate", user_aggregate<F>(std::move(function)),
                  window_result<typename F::output_type>());
  }
  template <class F, class W>
  auto aggregate(F function, W window_function) const {
    static_assert(std::is_same_v<typename F::input_type, T>, "the function is for other rows");
    return folded("window aggregate", user_aggregate<F>(std::move(function)),
                  called<typename F::output_type>(std::move(window_function)));
  }
  /// All rows of a window: a window_process_function, or `void function(window_context<Key>&, const
  /// window_rows<T>&, collector<Out>&)`.
  template <class W>
  auto process(W window_function) const {
    auto then = called<window_rows<T>>(std::move(window_function));
    if constexpr (is_evicting)
      return finished("window process",
                      evicting_contents<Evictor, evicted_rows<T>>(evictor_, evicted_rows<T>()),
                      std::move(then));
    else
      return finished("window process", listed_contents<T>(), std::move(then));
  }

private:
  static constexpr bool is_evicting = !std::is_same_v<Evictor, no_evictor>;

  template <class Given, class W>
  static auto called(W function) {
    if constexpr (window_process_object<W>) {
      static_assert(std::is_same_v<typename W::given_type, Given>,
                    "the window function is given something else");
      static_assert(std::is_same_v<typename W::key_type, Key>, "the function is for other keys");
      return window_object<W>{std::move(function)};
    } else {
      static_assert(call_traits<W>::is_known && call_traits<W>::size == 3,
                    "a window function takes (window_context<Key>&, rows or result, "
                    "collector<Out>&), none of them auto");
      return window_call<W>{std::move(function)};
    }
  }
  template <class Logic, class Function>
  auto folded(const char* name, Logic logic, Function function) const {
    if constexpr (is_evicting)
      return finished(name,
                      evicting_contents<Evictor, evicted_fold<Logic>>(
                          evictor_, evicted_fold<Logic>(std::move(logic))),
                      std::move(function));
    else
      return finished(name, folded_contents<Logic>(std::move(logic)), std::move(function));
  }
  template <class Contents, class Function>
  auto finished(const char* name, Contents contents, Function function) const {
    using out = typename Function::output_type;
    using made = window_operator<Key, T, Assigner, Trigger, Contents, Function>;
    auto sides = std::make_shared<side_outputs>();
    const auto ref = program().add(factory_of<graph::keyed_process_function, made>(
        assigner_, trigger_, std::move(contents), std::move(function), settings_, key_columns_,
        sides));
    stream<out> result(
        environment(),
        add_operator(name, graph::keyed_process_spec{ref, key_columns_}, row_info<out>::type()),
        sides);
    if constexpr (std::is_same_v<Key, no_key>)
      result.set_parallelism(1);
    return result;
  }

  std::vector<std::int32_t> key_columns_;
  Assigner assigner_;
  Trigger trigger_;
  Evictor evictor_;
  window_settings<T> settings_;
};

} // namespace headrace::api
