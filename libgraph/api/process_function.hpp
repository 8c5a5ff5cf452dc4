#pragma once

#include "libgraph/api/collector.hpp"
#include "libgraph/api/metrics.hpp"
#include "libgraph/api/raw_state.hpp"
#include "libgraph/api/row_adaptors.hpp"
#include "libgraph/api/row_info.hpp"
#include "libgraph/api/state_handle.hpp"
#include "libgraph/function/failure.hpp"
#include "libgraph/function/function.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace headrace::api {

/// What a function learns, and the states that it gets, when it opens.
class open_context {
public:
  explicit open_context(const graph::function_context& inner) : inner_(&inner) {}

  const std::string& task_name() const { return inner_->task_name; }
  std::int32_t subtask() const { return inner_->subtask; }
  std::int32_t parallelism() const { return inner_->parallelism; }
  std::int32_t attempt() const { return inner_->attempt; }
  const headrace::logger& log() const { return inner_->log; }

  // States by name, unique within the function. `ttl` 0: a value never expires.
  // @throws graph::failure  incompatible_state: a restored state of the name has another type
  template <class T>
  value_state<T> value(const std::string& name, std::chrono::milliseconds ttl = {}) {
    return value_state<T>(states().value(describe<T>(name, graph::state_kind::value, ttl)));
  }
  template <class T>
  list_state<T> list(const std::string& name, std::chrono::milliseconds ttl = {}) {
    return list_state<T>(states().list(describe<T>(name, graph::state_kind::list, ttl)));
  }
  template <class K, class V>
  map_state<K, V> map(const std::string& name, std::chrono::milliseconds ttl = {}) {
    auto descriptor = describe<V>(name, graph::state_kind::map, ttl);
    descriptor.key_type = info_of<K>::type();
    return map_state<K, V>(states().map(descriptor));
  }
  template <class T>
  reducing_state<T> reducing(const std::string& name, typename reducing_state<T>::combine function,
                             std::chrono::milliseconds ttl = {}) {
    return {states().value(describe<T>(name, graph::state_kind::reducing, ttl)),
            std::move(function)};
  }
  template <class Aggregate>
  aggregating_state<Aggregate> aggregating(const std::string& name, Aggregate function = {},
                                           std::chrono::milliseconds ttl = {}) {
    return {states().value(describe<typename Aggregate::accumulator_type>(
                name, graph::state_kind::aggregating, ttl)),
            std::move(function)};
  }

  // Metrics by name. What is asked for again is the same one.
  // @throws graph::failure  bad_usage: it is of another kind, or there are too many
  api::counter counter(const std::string& name) {
    return api::counter(metric(graph::metric_kind::counter, name));
  }
  api::gauge gauge(const std::string& name) {
    return api::gauge(metric(graph::metric_kind::gauge, name));
  }
  api::histogram histogram(const std::string& name) {
    return api::histogram(metric(graph::metric_kind::histogram, name));
  }
  // Accumulators: names are those of the job. What they have taken before a failure is not
  // restored.
  template <class T>
  accumulator<T> sum_accumulator(const std::string& name) {
    return accumulator<T>(
        metric(pick<T>(graph::metric_kind::long_sum, graph::metric_kind::double_sum), name));
  }
  template <class T>
  accumulator<T> min_accumulator(const std::string& name) {
    return accumulator<T>(
        metric(pick<T>(graph::metric_kind::long_min, graph::metric_kind::double_min), name));
  }
  template <class T>
  accumulator<T> max_accumulator(const std::string& name) {
    return accumulator<T>(
        metric(pick<T>(graph::metric_kind::long_max, graph::metric_kind::double_max), name));
  }
  accumulator<double> average_accumulator(const std::string& name) {
    return accumulator<double>(metric(graph::metric_kind::average, name));
  }

  // States of the operator, without key, for functions on any stream; each subtask has its own.
  /// At another parallelism the elements of all are dealt out. Flink's operator list state.
  template <class T>
  list_state<T> operator_list(const std::string& name) {
    return list_state<T>(
        operator_states().split_list(describe<T>(name, graph::state_kind::list, {})));
  }
  /// After a restore each subtask has the elements of all. Flink's union list state.
  template <class T>
  list_state<T> operator_union_list(const std::string& name) {
    return list_state<T>(
        operator_states().union_list(describe<T>(name, graph::state_kind::list, {})));
  }

  /// What the function's own `write_raw_state` (raw_state_writer) wrote into the checkpoint that it
  /// begins with: streams of this subtask's key groups, and partitions. Valid in `open` only.
  const graph::restored_raw_state& raw_state() const;

  /// Of an async function: where it may run what blocks (see run_async).
  /// @throws graph::failure  (invalid_graph) the function is none
  graph::blocking_steps& blocking() const;

  /// For adaptors. @throws graph::failure  (invalid_graph) there are none
  graph::operator_state_provider& operator_states() const;

private:
  template <class T>
  static graph::metric_kind pick(graph::metric_kind of_integers, graph::metric_kind of_reals) {
    return std::is_same_v<T, double> ? of_reals : of_integers;
  }
  graph::user_metric& metric(graph::metric_kind kind, const std::string& name) const;
  graph::state_provider& states() const;
  template <class T>
  static graph::state_descriptor describe(const std::string& name, graph::state_kind kind,
                                          std::chrono::milliseconds ttl) {
    byte_string default_value;
    if constexpr (has_fields<T>)
      default_value = encoded(T{});
    return {name, kind, info_of<T>::type(), {}, ttl.count(), std::move(default_value)};
  }

  const graph::function_context* inner_;
};

/// What a process function may ask and do while a row is processed.
class process_context {
public:
  process_context(side_collector sides, std::int64_t timestamp_ms)
      : sides_(sides), timestamp_ms_(timestamp_ms) {}

  /// The event time of the row or timer; `no_timestamp` when it has none.
  std::int64_t timestamp() const { return timestamp_ms_; }
  bool has_timestamp() const { return timestamp_ms_ != no_timestamp; }
  /// Emits to a side output, with the event time of the row.
  template <class T>
  void output(const output_tag<T>& tag, const std::type_identity_t<T>& value) {
    sides_.emit(tag, value, timestamp_ms_);
  }

  /// For adaptors.
  void set_timestamp(std::int64_t timestamp_ms) { timestamp_ms_ = timestamp_ms; }

private:
  side_collector sides_;
  std::int64_t timestamp_ms_;
};

/// What a keyed process function may ask and do, on a row and on a timer.
template <class Key>
class keyed_process_context : public process_context {
public:
  keyed_process_context(side_collector sides, row_reader<Key> key, graph::keyed_context& keyed)
      : process_context(sides, no_timestamp), key_(std::move(key)), keyed_(&keyed) {}

  Key key() const { return key_(row_); }
  /// Under which the key's raw state is written (raw_state_output).
  std::int32_t current_key_group() const { return keyed_->current_key_group(); }
  std::int64_t current_watermark() const { return keyed_->current_watermark(); }
  std::int64_t current_processing_time() const { return keyed_->current_processing_time(); }
  /// Timers of the current key: one a time and domain, however often registered.
  void register_event_timer(std::int64_t time_ms) { keyed_->register_event_timer(time_ms); }
  void register_processing_timer(std::int64_t time_ms) {
    keyed_->register_processing_timer(time_ms);
  }
  void delete_event_timer(std::int64_t time_ms) { keyed_->delete_event_timer(time_ms); }
  void delete_processing_timer(std::int64_t time_ms) { keyed_->delete_processing_timer(time_ms); }
  /// In `on_timer`: which kind of timer fired.
  graph::time_domain domain() const { return domain_; }

  /// For adaptors.
  void set_row(std::size_t row) { row_ = row; }
  void set_domain(graph::time_domain domain) { domain_ = domain; }

private:
  row_reader<Key> key_;
  graph::keyed_context* keyed_;
  std::size_t row_ = 0;
  graph::time_domain domain_ = graph::time_domain::event;
};

/// Turns rows into rows, with side outputs. A copy runs in each subtask.
template <class In, class Out>
class process_function {
public:
  using input_type = In;
  using output_type = Out;
  using context_type = process_context;

  virtual ~process_function() = default;
  virtual void open(open_context&) {}
  virtual void process(const In& in, context_type& context, collector<Out>& out) = 0;
  virtual void close() {}
};

/// Turns rows of a keyed stream into rows, with states and timers of the row's key. A copy runs in
/// each subtask.
template <class Key, class In, class Out>
class keyed_process_function {
public:
  using key_type = Key;
  using input_type = In;
  using output_type = Out;
  using context_type = keyed_process_context<Key>;

  virtual ~keyed_process_function() = default;
  virtual void open(open_context&) {}
  virtual void process(const In& in, context_type& context, collector<Out>& out) = 0;
  virtual void on_timer([[maybe_unused]] std::int64_t time_ms, context_type&, collector<Out>&) {}
  virtual void close() {}
};

/// Runs a process_function. `F` is its final type, so its calls need no look-up.
template <class F>
class process_adaptor final : public graph::row_function {
public:
  process_adaptor(F function, side_outputs_ptr sides)
      : function_(std::move(function)), sides_(std::move(sides)) {}
  void open(const graph::function_context& context) override {
    open_context opening(context);
    function_.F::open(opening);
  }
  std::size_t process(const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    const row_reader<typename F::input_type> read(in);
    const auto* timestamps = in.timestamps();
    collector<typename F::output_type> emitted(out.main());
    process_context context(side_collector(sides_.get(), out), no_timestamp);
    return for_each_row(in, from, out, [&](std::size_t row) {
      const auto time = timestamp_at(timestamps, row);
      emitted.set_timestamp(time);
      context.set_timestamp(time);
      function_.F::process(read(row), context, emitted);
    });
  }
  graph::raw_state_writer* raw_state() override { return raw_state_of(function_); }
  void close() override { function_.F::close(); }

private:
  F function_;
  side_outputs_ptr sides_;
};

/// Runs a keyed_process_function; `key_columns` say where the key lies in its input.
template <class F>
class keyed_process_adaptor final : public graph::keyed_process_function {
public:
  using key_type = typename F::key_type;
  using context_type = keyed_process_context<key_type>;

  keyed_process_adaptor(F function, std::vector<std::int32_t> key_columns, side_outputs_ptr sides)
      : function_(std::move(function)), key_columns_(std::move(key_columns)),
        sides_(std::move(sides)) {}
  void open(const graph::function_context& context) override {
    open_context opening(context);
    function_.F::open(opening);
  }
  std::size_t process(const graph::record_batch& in, std::size_t from, graph::keyed_context& keyed,
                      graph::function_output& out) override {
    const row_reader<typename F::input_type> read(in);
    const auto* timestamps = in.timestamps();
    collector<typename F::output_type> emitted(out.main());
    context_type context(side_collector(sides_.get(), out), row_reader<key_type>(in, key_columns_),
                         keyed);
    return for_each_indexed_row(in, from, out, [&](std::size_t row, std::size_t index) {
      const auto time = timestamp_at(timestamps, row);
      emitted.set_timestamp(time);
      context.set_timestamp(time);
      context.set_row(row);
      keyed.set_row(index);
      function_.F::process(read(row), context, emitted);
    });
  }
  void on_timer(std::int64_t time_ms, graph::time_domain domain, const graph::record_batch& keys,
                std::size_t row, graph::keyed_context& keyed,
                graph::function_output& out) override {
    const auto time = domain == graph::time_domain::event ? time_ms : no_timestamp;
    collector<typename F::output_type> emitted(out.main());
    emitted.set_timestamp(time);
    context_type context(side_collector(sides_.get(), out), row_reader<key_type>(keys), keyed);
    context.set_timestamp(time);
    context.set_row(row);
    context.set_domain(domain);
    function_.F::on_timer(time_ms, context, emitted);
  }
  graph::raw_state_writer* raw_state() override { return raw_state_of(function_); }
  void close() override { function_.F::close(); }

private:
  F function_;
  std::vector<std::int32_t> key_columns_;
  side_outputs_ptr sides_;
};

} // namespace headrace::api
