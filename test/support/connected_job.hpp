#pragma once

#include "test/support/windowed_job.hpp"
#include "libgraph/api/headrace.hpp"

#include <cstdint>
#include <string>

namespace headrace::testing {

// A job of connected streams in event time: clicks with bonuses, which are alike, by key; and
// clicks with rules that are broadcast. Its result does not depend on the order in which its inputs
// come.

inline constexpr std::int64_t bonus_worth = 1'000'000;

/// Sums the values of each key and second; those of bonuses are worth more.
class sum_of_both final
    : public api::keyed_co_process_function<std::int64_t, click, click, finding> {
public:
  void open(api::open_context& context) override {
    sums_ = context.map<std::int64_t, std::int64_t>("sums");
  }
  void process1(const click& in, context_type& context, api::collector<finding>&) override {
    add(in, in.value, context);
  }
  void process2(const click& in, context_type& context, api::collector<finding>&) override {
    add(in, in.value * bonus_worth, context);
  }
  void on_timer(std::int64_t time_ms, context_type& context,
                api::collector<finding>& out) override {
    out.emit({2, context.key(), time_ms - second + 1, sums_.get(time_ms).value_or(-1)});
    sums_.remove(time_ms);
  }

private:
  static constexpr std::int64_t second = 1000;
  void add(const click& in, std::int64_t value, context_type& context) {
    const auto end = in.time_ms - in.time_ms % second + second - 1;
    sums_.put(end, sums_.get(end).value_or(0) + value);
    context.register_event_timer(end);
  }
  api::map_state<std::int64_t, std::int64_t> sums_;
};

/// Of rules by the time from which they hold.
inline const api::map_state_descriptor<std::int64_t, click> held_rules{"rules"};

/// Multiplies the values of a key and time by the factor that the latest rule of then has.
class value_by_rule final
    : public api::keyed_broadcast_process_function<std::int64_t, click, click, finding> {
public:
  void open(api::open_context& context) override {
    values_ = context.map<std::int64_t, std::int64_t>("values");
  }
  void process(const click& in, read_only_context_type& context,
               api::collector<finding>&) override {
    values_.put(in.time_ms, values_.get(in.time_ms).value_or(0) + in.value);
    context.register_event_timer(in.time_ms);
  }
  void process_broadcast(const click& in, context_type& context,
                         api::collector<finding>&) override {
    context.state(held_rules).put(in.time_ms, in);
  }
  void on_timer(std::int64_t time_ms, read_only_context_type& context,
                api::collector<finding>& out) override {
    std::int64_t factor = 1;
    std::int64_t from_ms = -1;
    context.state(held_rules).for_each([&](std::int64_t rule_ms, const click& rule) {
      if (rule_ms <= time_ms && rule_ms > from_ms) {
        from_ms = rule_ms;
        factor = rule.value;
      }
    });
    out.emit({3, context.key(), time_ms, values_.get(time_ms).value_or(-1) * factor});
    values_.remove(time_ms);
  }

private:
  api::map_state<std::int64_t, std::int64_t> values_;
};

/// Reads bonuses below /bonuses and rules below /rules.
inline api::stream<finding> find_connected(api::environment& env,
                                           const api::stream<click>& clicks) {
  const auto keyed = clicks.key_by(&click::key);
  const auto bonuses = read_clicks(env, "/bonuses", "500").uid("bonuses");
  const auto rules = read_clicks(env, "/rules", "50").set_parallelism(1).uid("rules");
  const auto sums = keyed.connect(bonuses.key_by(&click::key)).process(sum_of_both()).uid("sums");
  const auto valued = keyed.connect(rules.broadcast(held_rules)).process(value_by_rule());
  return sums.union_with(valued.uid("values"));
}

} // namespace headrace::testing
