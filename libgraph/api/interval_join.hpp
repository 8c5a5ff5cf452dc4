#pragma once

#include "libgraph/api/connected_streams.hpp"
#include "libgraph/api/interval_rows.hpp"
#include "libgraph/api/pairs_of_rows.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace headrace::api {

/// What a function is told about a pair of rows.
class process_join_context {
public:
  process_join_context(process_context& inner, std::int64_t left_ms, std::int64_t right_ms)
      : inner_(&inner), left_ms_(left_ms), right_ms_(right_ms) {}

  std::int64_t left_timestamp() const { return left_ms_; }
  std::int64_t right_timestamp() const { return right_ms_; }
  /// The later one of both, which what is emitted gets.
  std::int64_t timestamp() const { return std::max(left_ms_, right_ms_); }
  template <class T>
  void output(const output_tag<T>& tag, const std::type_identity_t<T>& value) {
    inner_->output(tag, value);
  }

private:
  process_context* inner_;
  std::int64_t left_ms_;
  std::int64_t right_ms_;
};

/// Makes rows of pairs of rows. A copy runs in each subtask.
template <class First, class Second, class Out>
class process_join_function {
public:
  using first_type = First;
  using second_type = Second;
  using output_type = Out;
  using context_type = process_join_context;

  virtual ~process_join_function() = default;
  virtual void open(open_context&) {}
  virtual void process(const First& left, const Second& right, context_type& context,
                       collector<Out>& out) = 0;
  virtual void close() {}
};

/// A lambda as such a function: `Out function(const First&, const Second&)`, or
/// `void function(const First&, const Second&, collector<Out>&)`.
template <class First, class Second, class Out, class F>
class join_call final : public process_join_function<First, Second, Out> {
public:
  explicit join_call(F function) : function_(std::move(function)) {}
  void process(const First& left, const Second& right, process_join_context&,
               collector<Out>& out) override {
    if constexpr (std::is_invocable_v<F&, const First&, const Second&, collector<Out>&>)
      function_(left, right, out);
    else
      out.emit(function_(left, right));
  }

private:
  F function_;
};

/// How far the event time of the right row may be from that of the left one, and where rows go that
/// come behind the watermark.
template <class First, class Second>
struct interval_join_settings {
  std::int64_t lower_ms = 0;
  std::int64_t upper_ms = 0;
  std::optional<output_tag<First>> late_left;
  std::optional<output_tag<Second>> late_right;
};

/// Keeps the rows of both sides for as long as others may meet them. `F` is the final type of a
/// process_join_function.
template <class Key, class F>
class interval_join_function final
    : public keyed_co_process_function<Key, typename F::first_type, typename F::second_type,
                                       typename F::output_type> {
public:
  using first = typename F::first_type;
  using second = typename F::second_type;
  using out = collector<typename F::output_type>;
  using context_type = keyed_process_context<Key>;

  interval_join_function(F function, interval_join_settings<first, second> settings)
      : function_(std::move(function)), settings_(std::move(settings)) {}
  void open(open_context& context) override {
    // About five buckets are looked at for a row.
    const auto width = std::max<std::int64_t>((settings_.upper_ms - settings_.lower_ms + 1) / 4, 1);
    left_.open(context, "left", width);
    right_.open(context, "right", width);
    function_.F::open(context);
  }
  void process1(const first& row, context_type& context, out& emitted) override {
    if (is_late(row, context, settings_.late_left))
      return;
    const auto time = context.timestamp();
    context.register_event_timer(left_.add(row, time) + settings_.upper_ms);
    right_.visit(time + settings_.lower_ms, time + settings_.upper_ms,
                 [&](const second& other, std::int64_t other_ms) {
                   join(row, time, other, other_ms, context, emitted);
                 });
  }
  void process2(const second& row, context_type& context, out& emitted) override {
    if (is_late(row, context, settings_.late_right))
      return;
    const auto time = context.timestamp();
    context.register_event_timer(right_.add(row, time) - settings_.lower_ms);
    left_.visit(time - settings_.upper_ms, time - settings_.lower_ms,
                [&](const first& other, std::int64_t other_ms) {
                  join(other, other_ms, row, time, context, emitted);
                });
  }
  void on_timer(std::int64_t time_ms, context_type&, out&) override {
    left_.drop(time_ms - settings_.upper_ms);
    right_.drop(time_ms + settings_.lower_ms);
  }
  void close() override { function_.F::close(); }

private:
  template <class T>
  static bool is_late(const T& row, context_type& context, const std::optional<output_tag<T>>& to) {
    if (!context.has_timestamp())
      throw graph::failure({errc::type_mismatch, "interval join of rows without timestamps: assign "
                                                 "timestamps and watermarks before it"});
    if (context.timestamp() >= context.current_watermark())
      return false;
    if (to)
      context.output(*to, row);
    return true;
  }
  void join(const first& left, std::int64_t left_ms, const second& right, std::int64_t right_ms,
            context_type& context, out& emitted) {
    process_join_context of_pair(context, left_ms, right_ms);
    const auto own = context.timestamp();
    context.set_timestamp(of_pair.timestamp());
    emitted.set_timestamp(of_pair.timestamp());
    function_.F::process(left, right, of_pair, emitted);
    context.set_timestamp(own);
  }

  F function_;
  interval_join_settings<first, second> settings_;
  interval_rows<first> left_;
  interval_rows<second> right_;
};

/// Pairs of rows of two keyed streams whose event times are near to each other: made by
/// `keyed_stream::interval_join`.
template <class Key, class First, class Second>
class interval_joined_streams {
public:
  interval_joined_streams(keyed_stream<Key, First> first, keyed_stream<Key, Second> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  /// The right row is from `lower` to `upper` behind the left one, both included.
  interval_joined_streams between(std::chrono::milliseconds lower,
                                  std::chrono::milliseconds upper) const {
    auto out = *this;
    out.settings_.lower_ms = lower.count();
    out.settings_.upper_ms = upper.count();
    return out;
  }
  interval_joined_streams lower_bound_exclusive() const {
    auto out = *this;
    ++out.settings_.lower_ms;
    return out;
  }
  interval_joined_streams upper_bound_exclusive() const {
    auto out = *this;
    --out.settings_.upper_ms;
    return out;
  }
  /// Rows behind the watermark go to the result's `side_output(tag)` instead of being dropped.
  interval_joined_streams side_output_left_late_data(const output_tag<First>& tag) const {
    auto out = *this;
    out.settings_.late_left = tag;
    return out;
  }
  interval_joined_streams side_output_right_late_data(const output_tag<Second>& tag) const {
    auto out = *this;
    out.settings_.late_right = tag;
    return out;
  }
  /// A process_join_function, or a function as join_call has it.
  /// @throws graph::failure  (invalid_graph) no time is within the bounds
  template <class F>
  auto process(F function) const {
    if (settings_.lower_ms > settings_.upper_ms)
      throw graph::failure({errc::invalid_graph, "the lower bound of an interval join is above "
                                                 "the upper one"});
    if constexpr (requires { typename F::context_type; }) {
      static_assert(std::is_same_v<typename F::first_type, First> &&
                        std::is_same_v<typename F::second_type, Second>,
                    "the function is for other rows");
      return first_.connect(second_)
          .process(interval_join_function<Key, F>(std::move(function), settings_))
          .name("interval join");
    } else {
      using out = typename pairs_of_rows::output<First, Second, F>::type;
      return process(join_call<First, Second, out, F>(std::move(function)));
    }
  }

private:
  keyed_stream<Key, First> first_;
  keyed_stream<Key, Second> second_;
  interval_join_settings<First, Second> settings_;
};

template <class Key, class T>
template <class Other>
interval_joined_streams<Key, T, Other>
keyed_stream<Key, T>::interval_join(const keyed_stream<Key, Other>& other) const {
  return {*this, other};
}

} // namespace headrace::api
