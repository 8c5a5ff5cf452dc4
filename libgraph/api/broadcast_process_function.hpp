#pragma once

#include "libgraph/api/broadcast_state.hpp"
#include "libgraph/api/co_process_function.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::api {

/// What a function may ask and do for a row that is not broadcast. `Base` is the context of a
/// process function.
template <class Base>
class read_only_broadcast_context : public Base {
public:
  template <class... Arguments>
  explicit read_only_broadcast_context(const broadcast_states& states, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), states_(&states) {}

  /// A state that the stream was broadcast with, for reading.
  template <class K, class V>
  const broadcast_state<K, V>& state(const map_state_descriptor<K, V>& descriptor) const {
    return states_->at(descriptor);
  }

private:
  const broadcast_states* states_;
};

/// What a function may ask and do for a row that is broadcast.
class broadcast_context : public process_context {
public:
  broadcast_context(const broadcast_states& states, side_collector sides)
      : process_context(sides, no_timestamp), states_(&states) {}

  /// A state that the stream was broadcast with.
  template <class K, class V>
  broadcast_state<K, V>& state(const map_state_descriptor<K, V>& descriptor) const {
    return states_->at(descriptor);
  }

private:
  const broadcast_states* states_;
};

/// The same, where the stream that is connected has keys.
template <class Key>
class keyed_broadcast_context : public broadcast_context {
public:
  keyed_broadcast_context(const broadcast_states& states, side_collector sides,
                          graph::keyed_context& keyed)
      : broadcast_context(states, sides), keyed_(&keyed) {}

  std::int64_t current_watermark() const { return keyed_->current_watermark(); }
  std::int64_t current_processing_time() const { return keyed_->current_processing_time(); }

  /// Calls `function(key, state)` for each key of this subtask that has something in a keyed state,
  /// which it may change; so it may the key's other states. The order is not defined. All of it is
  /// one step of the operator: barriers and other rows wait.
  template <class State, class F>
  void apply_to_keyed_state(State& state, F&& function) {
    applied<State, F> to{state, function, std::nullopt};
    keyed_->for_each_key(state.access(), &applied<State, F>::visit, &to);
  }

private:
  template <class State, class F>
  struct applied {
    State& state;
    F& function;
    std::optional<row_reader<Key>> keys;

    static void visit(void* self, const graph::record_batch& keys, std::size_t row) {
      auto& to = *static_cast<applied*>(self);
      if (row == 0)
        to.keys.emplace(keys);
      if (!to.state.is_empty()) // else it has expired
        to.function((*to.keys)(row), to.state);
    }
  };

  graph::keyed_context* keyed_;
};

/// Turns rows into rows as what another stream told, which each subtask got all of, says.
template <class In, class Broadcast, class Out>
class broadcast_process_function {
public:
  using input_type = In;
  using broadcast_type = Broadcast;
  using output_type = Out;
  using read_only_context_type = read_only_broadcast_context<process_context>;
  using context_type = broadcast_context;

  virtual ~broadcast_process_function() = default;
  virtual void open(open_context&) {}
  virtual void process(const In& in, read_only_context_type& context, collector<Out>& out) = 0;
  /// What is done to the states must be the same in each subtask.
  virtual void process_broadcast(const Broadcast& in, context_type& context,
                                 collector<Out>& out) = 0;
  virtual void close() {}
};

/// The same for a keyed stream, with states and timers of its rows' keys. In `process_broadcast` no
/// key is current: states of keys are reached by `apply_to_keyed_state`.
template <class Key, class In, class Broadcast, class Out>
class keyed_broadcast_process_function {
public:
  using key_type = Key;
  using input_type = In;
  using broadcast_type = Broadcast;
  using output_type = Out;
  using read_only_context_type = read_only_broadcast_context<keyed_process_context<Key>>;
  using context_type = keyed_broadcast_context<Key>;

  virtual ~keyed_broadcast_process_function() = default;
  virtual void open(open_context&) {}
  virtual void process(const In& in, read_only_context_type& context, collector<Out>& out) = 0;
  virtual void process_broadcast(const Broadcast& in, context_type& context,
                                 collector<Out>& out) = 0;
  virtual void on_timer([[maybe_unused]] std::int64_t time_ms, read_only_context_type&,
                        collector<Out>&) {}
  virtual void close() {}
};

/// Calls `call(row, context, emitted)` for rows without keys.
template <class In, class Out, class Context, class Call>
std::size_t run_rows(const graph::record_batch& in, std::size_t from, graph::function_output& out,
                     Context& context, Call call) {
  const row_reader<In> read(in);
  const auto* timestamps = in.timestamps();
  collector<Out> emitted(out.main());
  return for_each_row(in, from, out, [&](std::size_t row) {
    const auto time = timestamp_at(timestamps, row);
    emitted.set_timestamp(time);
    context.set_timestamp(time);
    call(read(row), context, emitted);
  });
}

/// Runs a broadcast_process_function: input 1 is what is broadcast.
template <class F>
class broadcast_process_adaptor final : public graph::co_function {
public:
  using out_type = typename F::output_type;

  broadcast_process_adaptor(F function, broadcast_states states, side_outputs_ptr sides)
      : function_(std::move(function)), states_(std::move(states)), sides_(std::move(sides)) {}
  void open(const graph::function_context& context) override {
    open_context opening(context);
    states_.open(opening.operator_states());
    function_.F::open(opening);
  }
  std::size_t process(std::int32_t input, const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    const side_collector sides(sides_.get(), out);
    if (input == 0) {
      typename F::read_only_context_type context(states_, sides, no_timestamp);
      return run_rows<typename F::input_type, out_type>(
          in, from, out, context, [this](const auto& row, auto& of_row, auto& emitted) {
            function_.F::process(row, of_row, emitted);
          });
    }
    typename F::context_type context(states_, sides);
    return run_rows<typename F::broadcast_type, out_type>(
        in, from, out, context, [this](const auto& row, auto& of_row, auto& emitted) {
          function_.F::process_broadcast(row, of_row, emitted);
        });
  }
  graph::raw_state_writer* raw_state() override { return raw_state_of(function_); }
  void close() override { function_.F::close(); }

private:
  F function_;
  broadcast_states states_;
  side_outputs_ptr sides_;
};

/// Runs a keyed_broadcast_process_function.
template <class F>
class keyed_broadcast_process_adaptor final : public graph::keyed_co_function {
public:
  using key_type = typename F::key_type;
  using out_type = typename F::output_type;
  using read_only_context_type = typename F::read_only_context_type;

  keyed_broadcast_process_adaptor(F function, broadcast_states states,
                                  std::vector<std::int32_t> key_columns, side_outputs_ptr sides)
      : function_(std::move(function)), states_(std::move(states)),
        key_columns_(std::move(key_columns)), sides_(std::move(sides)) {}
  void open(const graph::function_context& context) override {
    open_context opening(context);
    states_.open(opening.operator_states());
    function_.F::open(opening);
  }
  std::size_t process(std::int32_t input, const graph::record_batch& in, std::size_t from,
                      graph::keyed_context& keyed, graph::function_output& out) override {
    const side_collector sides(sides_.get(), out);
    if (input == 0) {
      read_only_context_type context(states_, sides, row_reader<key_type>(in, key_columns_), keyed);
      return run_keyed_rows<typename F::input_type, out_type>(
          in, from, keyed, out, context, [this](const auto& row, auto& of_row, auto& emitted) {
            function_.F::process(row, of_row, emitted);
          });
    }
    typename F::context_type context(states_, sides, keyed);
    return run_rows<typename F::broadcast_type, out_type>(
        in, from, out, context, [this](const auto& row, auto& of_row, auto& emitted) {
          function_.F::process_broadcast(row, of_row, emitted);
        });
  }
  void on_timer(std::int64_t time_ms, graph::time_domain domain, const graph::record_batch& keys,
                std::size_t row, graph::keyed_context& keyed,
                graph::function_output& out) override {
    read_only_context_type context(states_, side_collector(sides_.get(), out),
                                   row_reader<key_type>(keys), keyed);
    run_timer(function_, time_ms, domain, row, out, context);
  }
  graph::raw_state_writer* raw_state() override { return raw_state_of(function_); }
  void close() override { function_.F::close(); }

private:
  F function_;
  broadcast_states states_;
  std::vector<std::int32_t> key_columns_;
  side_outputs_ptr sides_;
};

} // namespace headrace::api
