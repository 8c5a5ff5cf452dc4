#pragma once

#include "libgraph/api/aggregate_function.hpp"
#include "libgraph/api/connectors.hpp"
#include "libgraph/api/function_traits.hpp"
#include "libgraph/api/process_function.hpp"
#include "libgraph/api/row_adaptors.hpp"
#include "libgraph/api/stream_base.hpp"
#include "libgraph/api/watermark_strategy.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace::api {

template <class Key, class T>
class keyed_stream;
template <class First, class Second>
class connected_streams;
template <class Key, class Value>
class map_state_descriptor;
template <class T>
class broadcast_stream;
template <class T, class Broadcast>
class broadcast_connected_stream;
template <class First, class Second, class Way>
class two_streams;
struct pairs_of_rows;
struct groups_of_rows;

/// A column of T: a member pointer of a described struct.
template <class T, class Pointer>
std::int32_t column_of(Pointer field) {
  const int found = field_index<T>(field);
  if (found < 0)
    throw graph::failure(
        {errc::invalid_graph, "a field is used as a column that HEADRACE_STRUCT leaves out"});
  return found;
}

/// Rows of type T on their way from one operator to others. A description, not the data: calls add
/// operators to the environment's program. Cheap to copy.
///
/// Functions are copied into each subtask; what they capture by reference is not there where they
/// run. Those that are classes may have `open(const graph::function_context&)` and `close()`.
template <class T>
class stream : public stream_base {
public:
  using value_type = T;
  stream(api::environment& env, std::int32_t index, side_outputs_ptr sides = nullptr)
      : stream_base(env, index, std::move(sides)) {}

  // ---- settings of the operator that gives this stream ----
  stream uid(std::string uid) const { return put_uid(std::move(uid)), *this; }
  stream name(std::string name) const { return put_name(std::move(name)), *this; }
  stream set_parallelism(std::int32_t parallelism) const {
    return put_parallelism(parallelism), *this;
  }
  stream set_max_parallelism(std::int32_t max_parallelism) const {
    return put_max_parallelism(max_parallelism), *this;
  }
  stream slot_sharing_group(std::string group) const {
    return put_slot_sharing_group(std::move(group)), *this;
  }
  stream start_new_chain() const { return put_chaining(graph::chaining_policy::head), *this; }
  stream disable_chaining() const { return put_chaining(graph::chaining_policy::never), *this; }

  // ---- functions ----
  /// One row from each: `Out function(T)`.
  template <class F>
  auto map(F function) const {
    using argument = argument_t<F, T>;
    using out = std::remove_cvref_t<std::invoke_result_t<F&, argument>>;
    return row_function<out, map_adaptor<argument, out, F>>("map", std::move(function));
  }
  /// Any number of rows from each: `void function(T, collector<Out>&)`, or a coroutine
  /// `generator<Out> function(T)`, which runs no further than its rows are taken.
  template <class F>
  auto flat_map(F function) const {
    using argument = argument_t<F, T>;
    if constexpr (std::is_invocable_v<F&, argument>) {
      using result = generated<std::invoke_result_t<F&, argument>>;
      static_assert(result::exists, "a flat_map of one parameter gives a generator<Out>");
      using out = typename result::type;
      return row_function<out, generator_adaptor<argument, out, F>>("flat_map",
                                                                    std::move(function));
    } else {
      static_assert(call_traits<F>::is_known, "with `auto` parameters, say flat_map<Out>(…)");
      using out = typename collected<typename call_traits<F>::template parameter<1>>::type;
      return flat_map<out>(std::move(function));
    }
  }
  template <class Out, class F>
  stream<Out> flat_map(F function) const {
    using argument = argument_t<F, T>;
    return row_function<Out, flat_map_adaptor<argument, Out, F>>("flat_map", std::move(function));
  }
  /// The rows for which `bool function(T)` holds.
  template <class F>
  stream filter(F function) const {
    using argument = argument_t<F, T>;
    const auto ref = program().add(
        factory_of<graph::filter_function, filter_adaptor<argument, F>>(std::move(function)));
    return {environment(), add_operator("filter", graph::filter_spec{ref}, row_type())};
  }
  /// `function` is a process_function<T, Out>.
  template <class F>
  auto process(F function) const {
    using out = typename F::output_type;
    static_assert(std::is_same_v<typename F::input_type, T>, "the function is for other rows");
    auto sides = std::make_shared<side_outputs>();
    const auto ref = program().add(
        factory_of<graph::row_function, process_adaptor<F>>(std::move(function), sides));
    return stream<out>(
        environment(),
        add_operator("process", graph::row_function_spec{ref}, row_info<out>::type()), sides);
  }
  /// What the operator emits to a tag.
  template <class Side>
  stream<Side> side_output(const output_tag<Side>& tag) const {
    return {environment(),
            add_side_output(tag.name(), type_key_of<Side>(), row_info<Side>::type())};
  }

  // ---- keys ----
  /// By fields of T: `key_by(&order::customer)`; several make a tuple.
  template <class First, class... More>
    requires std::is_member_object_pointer_v<First>
  auto key_by(First first, More... more) const {
    using key = std::conditional_t<sizeof...(More) == 0, typename member_pointer<First>::member,
                                   std::tuple<typename member_pointer<First>::member,
                                              typename member_pointer<More>::member...>>;
    return keyed<key>({column_of<T>(first), column_of<T>(more)...});
  }
  /// By elements of a tuple or pair: `key_by<0>()`.
  template <std::size_t First, std::size_t... More>
  auto key_by() const {
    using types = typename fields_of<T>::types;
    using key = std::conditional_t<
        sizeof...(More) == 0, std::tuple_element_t<First, types>,
        std::tuple<std::tuple_element_t<First, types>, std::tuple_element_t<More, types>...>>;
    return keyed<key>({static_cast<std::int32_t>(First), static_cast<std::int32_t>(More)...});
  }
  /// By what a function makes of a row; computed once, carried as hidden columns.
  template <class F>
    requires(!std::is_member_object_pointer_v<F>)
  auto key_by(F function) const {
    using argument = argument_t<F, T>;
    using key = std::remove_cvref_t<std::invoke_result_t<F&, argument>>;
    auto fields = row_type().fields();
    const auto keys = row_info<key>::type();
    std::vector<std::int32_t> columns;
    for (const auto& each : keys.fields()) {
      columns.push_back(static_cast<std::int32_t>(fields.size()));
      fields.push_back({"key$" + each.name, each.type, {}});
    }
    const auto ref = program().add(
        factory_of<graph::row_function, key_adaptor<argument, key, F>>(std::move(function)));
    const auto index = add_operator("key", graph::row_function_spec{ref},
                                    graph::logical_type::row(std::move(fields)).not_null());
    return stream(environment(), index).template keyed<key>(std::move(columns));
  }

  // ---- windows of all rows, in one subtask ----
  /// As keyed_stream::window; window functions get an all_window_context.
  template <class Windows>
  auto window_all(Windows windows) const;
  /// As keyed_stream::count_window.
  auto count_window_all(std::int64_t rows) const;
  auto count_window_all(std::int64_t rows, std::int64_t slide) const;

  // ---- ways to subtasks ----
  template <class... Others>
  stream union_with(const Others&... others) const {
    static_assert((std::is_same_v<Others, stream> && ...), "a union is of streams of one type");
    return {environment(), add_union({index(), others.index()...})};
  }
  /// Both into one operator: see connected_streams.
  template <class Other>
  connected_streams<T, Other> connect(const stream<Other>& other) const;
  template <class Other>
  broadcast_connected_stream<T, Other> connect(const broadcast_stream<Other>& other) const;
  /// Pairs of rows of one key and window, or all of them together: see two_streams.
  template <class Other>
  two_streams<T, Other, pairs_of_rows> join(const stream<Other>& other) const;
  template <class Other>
  two_streams<T, Other, groups_of_rows> co_group(const stream<Other>& other) const;
  stream forward() const { return partitioned(graph::partitioner_kind::forward); }
  stream rebalance() const { return partitioned(graph::partitioner_kind::rebalance); }
  stream rescale() const { return partitioned(graph::partitioner_kind::rescale); }
  stream shuffle() const { return partitioned(graph::partitioner_kind::shuffle); }
  stream broadcast() const { return partitioned(graph::partitioner_kind::broadcast); }
  /// To be connected with a stream whose subtasks keep what the rows say in these states (Flink's
  /// broadcast state pattern).
  template <class Key, class Value, class... More>
  broadcast_stream<T> broadcast(const map_state_descriptor<Key, Value>& state,
                                const More&... more) const;
  stream global() const { return partitioned(graph::partitioner_kind::global); }
  /// `std::uint32_t function(T, std::uint32_t subtasks)` names the subtask of each row.
  template <class F>
  stream partition_custom(F function) const {
    using argument = argument_t<F, T>;
    const auto ref =
        program().add(factory_of<graph::custom_partitioner, partitioner_adaptor<argument, F>>(
            std::move(function)));
    return {environment(), add_partition(graph::partitioner_kind::custom, {}, ref)};
  }

  // ---- time ----
  stream assign_timestamps_and_watermarks(const watermark_strategy<T>& strategy) const {
    graph::watermarks_spec spec{strategy.spec(program())};
    return {environment(), add_operator("timestamps", std::move(spec), row_type())};
  }

  // ---- ends ----
  /// Prints each row on the standard output of the task executor.
  stream_sink print(std::string label = {}) const {
    graph::option_map options;
    if (!label.empty())
      options["print-identifier"] = std::move(label);
    return {environment(), add_sink({"print", std::move(options), {}}, "print")};
  }
  /// Gives the rows to the client that runs the job.
  stream_sink collect(std::string name = "collect") const {
    return {environment(), add_sink({"collect", {}, {}}, std::move(name))};
  }
  stream_sink sink_to(const any_sink& sink) const {
    return {environment(), add_sink({sink.name, sink.options, {}}, sink.name)};
  }
  stream_sink sink_to(const sink_of<T>& sink) const {
    graph::connector_spec connector{sink.name, sink.options, {}};
    if (sink.factory)
      connector.provider =
          program().add([make = sink.factory] { return graph::any_function(make()); });
    return {environment(), add_sink(std::move(connector), sink.name)};
  }

private:
  template <class>
  friend class stream;

  template <class Out, class Adaptor, class F>
  stream<Out> row_function(const char* name, F function) const {
    const auto ref = program().add(factory_of<graph::row_function, Adaptor>(std::move(function)));
    return {environment(),
            add_operator(name, graph::row_function_spec{ref}, row_info<Out>::type())};
  }
  template <class Key>
  keyed_stream<Key, T> keyed(std::vector<std::int32_t> columns) const {
    auto index = add_partition(graph::partitioner_kind::hash, columns);
    return {environment(), index, std::move(columns)};
  }
  stream partitioned(graph::partitioner_kind kind) const {
    return {environment(), add_partition(kind)};
  }
};

template <class T>
stream<T> environment::from_source(source_of<T> source, std::string name) {
  return from_source(std::move(source), watermark_strategy<T>::no_watermarks(), std::move(name));
}

template <class T>
stream<T> environment::from_source(source_of<T> source, const watermark_strategy<T>& watermarks,
                                   std::string name) {
  graph::connector_spec connector{source.name, std::move(source.options), {}};
  if (source.factory)
    connector.provider =
        program_.add([make = std::move(source.factory)] { return graph::any_function(make()); });
  if (name.empty())
    name = "source: " + source.name;
  return {*this, add_source(std::move(connector), watermarks.spec(program_), row_info<T>::type(),
                            source.parallelism, std::move(name))};
}

} // namespace headrace::api
