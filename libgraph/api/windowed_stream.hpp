#pragma once

#include "libgraph/api/aggregate_function.hpp"
#include "libgraph/api/stream.hpp"
#include "libgraph/api/window.hpp"
#include "libgraph/api/window/general_windowed_stream.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace headrace::api {

/// The calls of `sum`, `min`, `max` (one a column, the others `first`) or `min_by`, `max_by`.
graph::aggregation built_in_aggregation(graph::aggregate_kind kind, std::int32_t column,
                                        std::size_t columns);

/// Rows of type T by key and window. Each result leaves when its window fires, with the window's
/// last millisecond as event time.
template <class Key, class T>
class windowed_stream : public stream_base {
public:
  windowed_stream(const stream_base& keyed, std::vector<std::int32_t> key_columns,
                  graph::window_spec window)
      : stream_base(keyed), key_columns_(std::move(key_columns)), window_(window) {}

  /// A window stays for so long after its end; late rows make it fire again.
  windowed_stream allowed_lateness(std::chrono::milliseconds lateness) const {
    auto out = *this;
    out.window_.allowed_lateness_ms = lateness.count();
    return out;
  }
  /// Rows that come too late go to the result's `side_output(tag)` instead of being dropped.
  windowed_stream side_output_late_data(const output_tag<T>& tag) const {
    auto out = *this;
    out.late_tag_ = tag.name();
    return out;
  }

  /// The same windows with a trigger of another kind, or one of one's own.
  template <class Trigger>
  auto trigger(Trigger trigger) const {
    return general().trigger(std::move(trigger));
  }
  /// The same windows with an evictor.
  template <class Evictor>
  auto evictor(Evictor evictor) const {
    return general().evictor(std::move(evictor));
  }

  // As those of keyed_stream, but once a window.
  template <class Field>
  stream<T> sum(Field T::*field) const {
    return built_in("window sum", graph::aggregate_kind::sum, column_of<T>(field));
  }
  template <class Field>
  stream<T> min(Field T::*field) const {
    return built_in("window min", graph::aggregate_kind::min, column_of<T>(field));
  }
  template <class Field>
  stream<T> max(Field T::*field) const {
    return built_in("window max", graph::aggregate_kind::max, column_of<T>(field));
  }
  template <class Field>
  stream<T> min_by(Field T::*field) const {
    return built_in("window min_by", graph::aggregate_kind::min_by, column_of<T>(field));
  }
  template <class Field>
  stream<T> max_by(Field T::*field) const {
    return built_in("window max_by", graph::aggregate_kind::max_by, column_of<T>(field));
  }
  template <class F>
  stream<T> reduce(F function) const {
    using logic = reduce_aggregate<T, F>;
    return result<T>("window reduce", aggregate_ref<logic>(logic(std::move(function))));
  }
  /// `F` is an aggregate_function<T, …>.
  template <class F>
  auto aggregate(F function) const {
    static_assert(std::is_same_v<typename F::input_type, T>, "the function is for other rows");
    using logic = user_aggregate<F>;
    return result<typename F::output_type>("window aggregate",
                                           aggregate_ref<logic>(logic(std::move(function))));
  }
  /// The result of an aggregate with its key and window: a window_process_function, or
  /// `void function(window_context<Key>&, const Result&, collector<Out>&)`.
  template <class F, class W>
  auto aggregate(F function, W window_function) const {
    static_assert(std::is_same_v<typename F::input_type, T>, "the function is for other rows");
    using logic = user_aggregate<F>;
    if constexpr (window_process_object<W>)
      return general().aggregate(std::move(function), std::move(window_function));
    else
      return with_window<typename F::output_type>(
          "window aggregate", aggregate_ref<logic>(logic(std::move(function))),
          row_info<typename F::output_type>::type(), std::move(window_function));
  }
  template <class F, class W>
  auto reduce(F function, W window_function) const {
    using logic = reduce_aggregate<T, F>;
    if constexpr (window_process_object<W>)
      return general().reduce(std::move(function), std::move(window_function));
    else
      return with_window<T>("window reduce", aggregate_ref<logic>(logic(std::move(function))),
                            row_info<T>::type(), std::move(window_function));
  }
  /// All rows of a window: a window_process_function, or `void function(window_context<Key>&, const
  /// window_rows<T>&, collector<Out>&)`. They are kept until it fires; prefer an aggregate where
  /// one will do.
  template <class W>
  auto process(W window_function) const {
    if constexpr (window_process_object<W>) {
      return general().process(std::move(window_function));
    } else {
      const auto ref = program().add(factory_of<graph::aggregate_function, list_aggregate<T>>());
      return with_window<window_rows<T>>("window process", ref, list_aggregate<T>::result_type(),
                                         std::move(window_function));
    }
  }

private:
  using assigner_type = time_windows<graph::time_domain::event>;
  general_windowed_stream<Key, T, assigner_type, event_time_trigger> general() const {
    window_settings<T> settings;
    settings.allowed_lateness_ms = window_.allowed_lateness_ms;
    if (!late_tag_.empty())
      settings.late.emplace(late_tag_);
    return {*this,        key_columns_,       assigner_type(window_), event_time_trigger(),
            no_evictor(), std::move(settings)};
  }
  template <class Logic>
  graph::function_ref aggregate_ref(Logic logic) const {
    return program().add(
        factory_of<graph::aggregate_function, aggregate_adaptor<Logic>>(std::move(logic)));
  }
  stream<T> built_in(const char* name, graph::aggregate_kind kind, std::int32_t column) const {
    auto spec = base_spec();
    spec.aggregates = built_in_aggregation(kind, column, row_info<T>::columns);
    return finished<T>(name, std::move(spec), std::make_shared<side_outputs>());
  }
  template <class Out>
  stream<Out> result(const char* name, graph::function_ref function) const {
    auto spec = base_spec();
    spec.aggregates.function = function;
    return finished<Out>(name, std::move(spec), std::make_shared<side_outputs>());
  }
  template <class Given, class W>
  auto with_window(const char* name, graph::function_ref function, graph::logical_type given,
                   W window_function) const {
    static_assert(call_traits<W>::is_known && call_traits<W>::size == 3,
                  "a window function takes (window_context<Key>&, rows or result, "
                  "collector<Out>&), none of them auto");
    using out = typename collected<typename call_traits<W>::template parameter<2>>::type;
    auto sides = std::make_shared<side_outputs>();
    auto spec = base_spec();
    spec.aggregates.function = function;
    spec.aggregates.result_type = std::move(given);
    spec.window_function =
        program().add(factory_of<graph::window_function, window_adaptor<Key, Given, out, W>>(
            std::move(window_function), sides));
    return finished<out>(name, std::move(spec), sides);
  }
  graph::window_aggregate_spec base_spec() const {
    graph::window_aggregate_spec spec;
    spec.key_columns = key_columns_;
    spec.window = window_;
    return spec;
  }
  template <class Out>
  stream<Out> finished(const char* name, graph::window_aggregate_spec spec,
                       side_outputs_ptr sides) const {
    std::vector<graph::logical_type> side_types;
    if (!late_tag_.empty()) { // with hidden key columns, if any
      spec.late_side = static_cast<std::int32_t>(sides->add(late_tag_, type_key_of<T>()));
      side_types.push_back(row_type());
    }
    stream<Out> out(
        environment(),
        add_operator(name, std::move(spec), row_info<Out>::type(), std::move(side_types)),
        std::move(sides));
    if constexpr (std::is_same_v<Key, no_key>)
      out.set_parallelism(1);
    return out;
  }

  std::vector<std::int32_t> key_columns_;
  graph::window_spec window_;
  std::string late_tag_;
};

} // namespace headrace::api
