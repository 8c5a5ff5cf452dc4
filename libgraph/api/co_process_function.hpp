#pragma once

#include "libgraph/api/process_function.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace headrace::api {

/// Turns rows of two connected streams into rows, with side outputs. A copy runs in each subtask;
/// rows of either input come in their order, those of one among those of the other in none.
template <class First, class Second, class Out>
class co_process_function {
public:
  using first_type = First;
  using second_type = Second;
  using output_type = Out;
  using context_type = process_context;

  virtual ~co_process_function() = default;
  virtual void open(open_context&) {}
  virtual void process1(const First& in, context_type& context, collector<Out>& out) = 0;
  virtual void process2(const Second& in, context_type& context, collector<Out>& out) = 0;
  virtual void close() {}
};

/// Turns rows of two connected keyed streams into rows. States and timers are of the row's key,
/// whichever input it is of.
template <class Key, class First, class Second, class Out>
class keyed_co_process_function {
public:
  using key_type = Key;
  using first_type = First;
  using second_type = Second;
  using output_type = Out;
  using context_type = keyed_process_context<Key>;

  virtual ~keyed_co_process_function() = default;
  virtual void open(open_context&) {}
  virtual void process1(const First& in, context_type& context, collector<Out>& out) = 0;
  virtual void process2(const Second& in, context_type& context, collector<Out>& out) = 0;
  virtual void on_timer([[maybe_unused]] std::int64_t time_ms, context_type&, collector<Out>&) {}
  virtual void close() {}
};

/// Runs a co_process_function. `F` is its final type, so its calls need no look-up.
template <class F>
class co_process_adaptor final : public graph::co_function {
public:
  using out_type = typename F::output_type;

  co_process_adaptor(F function, side_outputs_ptr sides)
      : function_(std::move(function)), sides_(std::move(sides)) {}
  void open(const graph::function_context& context) override {
    open_context opening(context);
    function_.F::open(opening);
  }
  std::size_t process(std::int32_t input, const graph::record_batch& in, std::size_t from,
                      graph::function_output& out) override {
    if (input == 0)
      return run<typename F::first_type>(in, from, out,
                                         [this](const auto& row, auto& context, auto& emitted) {
                                           function_.F::process1(row, context, emitted);
                                         });
    return run<typename F::second_type>(in, from, out,
                                        [this](const auto& row, auto& context, auto& emitted) {
                                          function_.F::process2(row, context, emitted);
                                        });
  }
  graph::raw_state_writer* raw_state() override { return raw_state_of(function_); }
  void close() override { function_.F::close(); }

private:
  template <class In, class Call>
  std::size_t run(const graph::record_batch& in, std::size_t from, graph::function_output& out,
                  Call call) {
    const row_reader<In> read(in);
    const auto* timestamps = in.timestamps();
    collector<out_type> emitted(out.main());
    process_context context(side_collector(sides_.get(), out), no_timestamp);
    return for_each_row(in, from, out, [&](std::size_t row) {
      const auto time = timestamp_at(timestamps, row);
      emitted.set_timestamp(time);
      context.set_timestamp(time);
      call(read(row), context, emitted);
    });
  }

  F function_;
  side_outputs_ptr sides_;
};

/// Where the key lies in each of two inputs.
struct co_key_columns {
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> second; ///< of no row, where the second input is broadcast
};

/// Calls `call(row, context, emitted)` for rows of a keyed input, with the state of each one's key.
template <class In, class Out, class Context, class Call>
std::size_t run_keyed_rows(const graph::record_batch& in, std::size_t from,
                           graph::keyed_context& keyed, graph::function_output& out,
                           Context& context, Call call) {
  const row_reader<In> read(in);
  const auto* timestamps = in.timestamps();
  collector<Out> emitted(out.main());
  return for_each_indexed_row(in, from, out, [&](std::size_t row, std::size_t index) {
    const auto time = timestamp_at(timestamps, row);
    emitted.set_timestamp(time);
    context.set_timestamp(time);
    context.set_row(row);
    keyed.set_row(index);
    call(read(row), context, emitted);
  });
}

/// Runs `on_timer` of a keyed function, for the key at `row`.
template <class F, class Context>
void run_timer(F& function, std::int64_t time_ms, graph::time_domain domain, std::size_t row,
               graph::function_output& out, Context& context) {
  const auto time = domain == graph::time_domain::event ? time_ms : no_timestamp;
  collector<typename F::output_type> emitted(out.main());
  emitted.set_timestamp(time);
  context.set_timestamp(time);
  context.set_row(row);
  context.set_domain(domain);
  function.F::on_timer(time_ms, context, emitted);
}

/// Runs a keyed_co_process_function.
template <class F>
class keyed_co_process_adaptor final : public graph::keyed_co_function {
public:
  using key_type = typename F::key_type;
  using out_type = typename F::output_type;
  using context_type = keyed_process_context<key_type>;

  keyed_co_process_adaptor(F function, co_key_columns columns, side_outputs_ptr sides)
      : function_(std::move(function)), columns_(std::move(columns)), sides_(std::move(sides)) {}
  void open(const graph::function_context& context) override {
    open_context opening(context);
    function_.F::open(opening);
  }
  std::size_t process(std::int32_t input, const graph::record_batch& in, std::size_t from,
                      graph::keyed_context& keyed, graph::function_output& out) override {
    context_type context(side_collector(sides_.get(), out),
                         row_reader<key_type>(in, input == 0 ? columns_.first : columns_.second),
                         keyed);
    if (input == 0)
      return run_keyed_rows<typename F::first_type, out_type>(
          in, from, keyed, out, context, [this](const auto& row, auto& of_row, auto& emitted) {
            function_.F::process1(row, of_row, emitted);
          });
    return run_keyed_rows<typename F::second_type, out_type>(
        in, from, keyed, out, context, [this](const auto& row, auto& of_row, auto& emitted) {
          function_.F::process2(row, of_row, emitted);
        });
  }
  void on_timer(std::int64_t time_ms, graph::time_domain domain, const graph::record_batch& keys,
                std::size_t row, graph::keyed_context& keyed,
                graph::function_output& out) override {
    context_type context(side_collector(sides_.get(), out), row_reader<key_type>(keys), keyed);
    run_timer(function_, time_ms, domain, row, out, context);
  }
  graph::raw_state_writer* raw_state() override { return raw_state_of(function_); }
  void close() override { function_.F::close(); }

private:
  F function_;
  co_key_columns columns_;
  side_outputs_ptr sides_;
};

} // namespace headrace::api
