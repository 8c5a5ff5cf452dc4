#pragma once

#include "libgraph/api/async_results.hpp"
#include "libgraph/api/async_retry_strategy.hpp"
#include "libgraph/api/process_function.hpp"
#include "libgraph/api/row_info.hpp"
#include "libgraph/api/state_handle.hpp"
#include "libgraph/function/function.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace headrace::api {

/// Turns rows into rows by calls that end later. A copy runs in each subtask, whose thread calls
/// it, and is never to be held up: what blocks goes through `run_async`, or into threads of the
/// function's own, which end in `close`.
template <class In, class Out>
class async_function {
public:
  using input_type = In;
  using output_type = Out;

  virtual ~async_function() = default;
  virtual void open(open_context&) {}
  /// Begins a call for a row. After a restore rows come again whose results had not left before.
  virtual void async_invoke(const In& in, result_future<Out> result) = 0;
  /// The row's time is over, all its calls together; none is made again. May end the call that is
  /// awaited: one that does not goes on waiting for it. The job fails unless this is overridden.
  virtual void timeout(const In& /*in*/, result_future<Out> result) { result.fail_for_timeout(); }
  virtual void close() {}
};

/// Runs `call` on a thread of the executor, which all tasks share with what is written and read of
/// state, and ends a call with what it gives: a row, or a vector of rows. What it throws is the
/// failure.
/// @param on  `open_context::blocking`, kept since `open`; called in `async_invoke` or `timeout`
template <class Out, class Call>
void run_async(graph::blocking_steps& on, Call call, result_future<Out> result) {
  on.run([call = std::move(call), result = std::move(result)]() mutable {
    try {
      using given = std::remove_cvref_t<std::invoke_result_t<Call&>>;
      if constexpr (std::is_same_v<given, std::vector<Out>>) {
        result.complete(call());
      } else {
        std::vector<Out> rows;
        rows.push_back(call());
        result.complete(std::move(rows));
      }
    } catch (const std::exception& failure) {
      result.complete_exceptionally(failure.what());
    } catch (...) {
      result.complete_exceptionally("threw what is no std::exception");
    }
  });
}

/// Runs an async_function. `F` is its final type, so its calls need no look-up.
template <class F>
class async_adaptor final : public graph::async_function {
public:
  using in_type = typename F::input_type;
  using out_type = typename F::output_type;

  async_adaptor(F function, std::optional<async_retry_strategy<out_type>> retry)
      : function_(std::move(function)), retry_(std::move(retry)) {}

  void open(const graph::function_context& context, std::function<void()> wake) override {
    results_ = std::make_shared<async_results<out_type>>(std::move(wake));
    open_context opening(context);
    stored_ = opening.operator_list<stored>("rows in flight");
    function_.F::open(opening);
  }
  graph::restored_async_rows restore() override {
    graph::restored_async_rows out;
    graph::batch_builder rows(
        std::make_shared<const graph::logical_type>(row_info<in_type>::type()));
    const auto count = stored_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto [behind_ms, timestamp_ms, row] = stored_.at(i);
      row_info<in_type>::append(rows, row);
      rows.end_row(timestamp_ms);
      out.behind_ms.push_back(behind_ms);
    }
    if (count > 0)
      out.rows = rows.finish();
    return out;
  }
  void invoke(const graph::record_batch& in, std::span<const std::uint32_t> rows,
              std::span<const graph::async_call> calls) override {
    const row_reader<in_type> read(in);
    results_->watch(true);
    for (std::size_t i = 0; i < rows.size(); ++i)
      function_.F::async_invoke(read(rows[i]), result_future<out_type>(results_, calls[i]));
    results_->watch(false);
  }
  void time_out(const graph::record_batch& in, std::uint32_t row, graph::async_call call) override {
    function_.F::timeout(row_reader<in_type>(in)(row), result_future<out_type>(results_, call));
  }
  bool has_ended() const override { return results_->has_ended(); }
  void take_ended(std::vector<graph::ended_async_call>& out) override {
    results_->take(ended_);
    for (auto& one : ended_) {
      const bool has_results = one.outcome == graph::async_outcome::results;
      const bool wants_retry =
          retry_ && one.outcome != graph::async_outcome::timed_out &&
          (has_results ? retry_->wants_retry(one.rows) : retry_->wants_retry(one.failure));
      out.push_back({one.call, taken_.add(std::move(one.rows)), one.outcome, wants_retry,
                     std::move(one.failure)});
    }
    ended_.clear();
  }
  std::size_t emit(std::span<const graph::leaving_async_results> leaving, std::size_t from,
                   graph::function_output& out) override {
    collector<out_type> emitted(out.main());
    while (from < leaving.size() && !out.is_full()) {
      const auto stop = std::min(leaving.size(), from + rows_between_checks);
      for (; from < stop && out.main_size() < out.rows_max(); ++from) {
        const auto& one = leaving[from];
        emitted.set_timestamp(one.has_timestamp ? one.timestamp_ms : no_timestamp);
        for (const auto& row : taken_.at(one.results))
          emitted.emit(row);
        taken_.drop(one.results);
      }
    }
    return from;
  }
  void drop(std::uint32_t results) override { taken_.drop(results); }
  void store(std::span<const graph::async_row> rows) override {
    stored_.clear();
    for (const auto& one : rows)
      stored_.add({one.behind_ms, timestamp_at(one.in->timestamps(), one.row),
                   row_reader<in_type>(*one.in)(one.row)});
  }
  void close() override {
    if (results_ != nullptr)
      results_->close();
    function_.F::close();
  }

private:
  /// The watermark before it, its event time, and the row.
  using stored = std::tuple<std::int64_t, std::int64_t, in_type>;

  F function_;
  std::optional<async_retry_strategy<out_type>> retry_;
  std::shared_ptr<async_results<out_type>> results_;
  std::vector<typename async_results<out_type>::ended> ended_;
  taken_async_results<out_type> taken_;
  list_state<stored> stored_;
};

} // namespace headrace::api
