#pragma once

#include "libgraph/api/row_adaptors.hpp"
#include "libgraph/api/window/assigners.hpp"
#include "libgraph/api/window/merging_windows.hpp"
#include "libgraph/api/window/window_process_function.hpp"
#include "libgraph/api/window/window_settings.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace headrace::api {

/// Windows in general: any assigner, trigger, kind of contents (see window_contents.hpp) and
/// function behind it, each compiled into the loop over rows. What it keeps is states of keys, by
/// window; its timers are those of keys. Made for keyed_process_operator.
template <class Key, class T, class Assigner, class Trigger, class Contents, class Function>
class window_operator final : public graph::keyed_process_function {
public:
  using window_type = typename Assigner::window_type;
  using out_type = typename Function::output_type;
  using context_type = window_process_context<Key, window_type>;
  static constexpr bool merges = Assigner::is_merging;
  static_assert(!merges || merging_trigger<Trigger, window_type>,
                "windows that merge need a trigger that has on_merge");

  window_operator(Assigner assigner, Trigger trigger, Contents contents, Function function,
                  window_settings<T> settings, std::vector<std::int32_t> key_columns,
                  side_outputs_ptr sides)
      : assigner_(std::move(assigner)), trigger_(std::move(trigger)),
        contents_(std::move(contents)), function_(std::move(function)),
        settings_(std::move(settings)), key_columns_(std::move(key_columns)),
        sides_(std::move(sides)), is_event_time_(assigner_.is_event_time()) {}

  void open(const graph::function_context& context) override {
    auto& states = *context.keyed_state;
    const auto type = info_of<window_type>::type();
    timers_.open(states);
    contents_.open(states, type);
    if constexpr (merges)
      merging_.open(states);
    window_states of_trigger(states, type, scope_, "trigger.");
    trigger_.open(of_trigger);
    window_states of_function(states, type, scope_, "window.",
                              merges ? "windows that merge have no states of their own: use those "
                                       "of the key (global_state)"
                                     : "");
    function_.open(context, of_function);
  }

  std::size_t process(const graph::record_batch& in, std::size_t from, graph::keyed_context& keyed,
                      graph::function_output& out) override {
    const row_reader<T> read(in);
    const row_reader<Key> read_key(in, key_columns_);
    const auto* timestamps = in.timestamps();
    auto now = start(keyed, read_key, 0, out);
    return for_each_indexed_row(in, from, out, [&](std::size_t row, std::size_t index) {
      now.row = row;
      keyed.set_row(index);
      take(read(row), timestamp_at(timestamps, row), now);
    });
  }

  void on_timer(std::int64_t time_ms, graph::time_domain domain, const graph::record_batch& keys,
                std::size_t row, graph::keyed_context& keyed,
                graph::function_output& out) override {
    const row_reader<Key> read_key(keys);
    auto now = start(keyed, read_key, row, out);
    timers_.take(domain, time_ms, due_);
    if constexpr (merges)
      merging_.load();
    for (const auto& window : due_)
      fire_timers(time_ms, domain, window, now);
    if constexpr (merges)
      merging_.store();
  }
  void close() override { function_.close(); }

private:
  /// What one call is given.
  struct run {
    graph::keyed_context& keyed;
    const row_reader<Key>& read_key;
    std::size_t row;
    collector<out_type> emitted;
    side_collector sides;
    trigger_context context;
  };
  run start(graph::keyed_context& keyed, const row_reader<Key>& read_key, std::size_t row,
            graph::function_output& out) {
    timers_.bind(keyed);
    return {keyed,
            read_key,
            row,
            collector<out_type>(out.main()),
            side_collector(sides_.get(), out),
            trigger_context(timers_, scope_)};
  }

  void take(const T& value, std::int64_t time_ms, run& now) {
    if (is_event_time_ && time_ms == no_timestamp)
      throw graph::failure({errc::type_mismatch,
                            "event-time window over rows without timestamps: assign timestamps and "
                            "watermarks before it"});
    assigned_.clear();
    assigner_.assign(value, is_event_time_ ? time_ms : now.keyed.current_processing_time(),
                     assigned_);
    bool is_skipped = true;
    if constexpr (merges)
      merging_.load();
    for (const auto& each : assigned_) {
      auto window = each;
      if constexpr (merges)
        window = merge(each, now);
      is_skipped = !add(value, time_ms, window, now) && is_skipped;
    }
    if constexpr (merges)
      merging_.store();
    if (is_skipped && settings_.late && is_event_time_ &&
        settings_.later(time_ms) <= now.keyed.current_watermark())
      now.sides.emit(*settings_.late, value, time_ms);
  }

  /// @returns whether it was not too late for the window
  bool add(const T& value, std::int64_t time_ms, const window_type& window, run& now) {
    if (is_late(window, now)) {
      if constexpr (merges)
        merging_.retire(window);
      return false;
    }
    enter(window);
    contents_.add(space_, value, time_ms);
    conclude(trigger_.on_element(value, time_ms, window, now.context), window, now);
    const auto cleanup = cleanup_ms(window);
    if (cleanup != window_settings<T>::never_ms)
      timers_.add(own_domain(), cleanup, scope_.current());
    return true;
  }

  /// With the timers that this registers and that are due: they come before the window's end.
  void fire_timers(std::int64_t time_ms, graph::time_domain domain, const window_type& window,
                   run& now) {
    timers_.note_new();
    fire_timer(time_ms, domain, window, now);
    const auto due_ms = domain == graph::time_domain::event ? now.keyed.current_watermark()
                                                            : now.keyed.current_processing_time();
    const auto last_ms = window.max_timestamp();
    const auto until_ms = std::min(due_ms, time_ms < last_ms ? last_ms : cleanup_ms(window));
    while (const auto next_ms = timers_.take_noted(until_ms))
      if (timers_.remove(domain, *next_ms, scope_.current()))
        fire_timer(*next_ms, domain, window, now);
  }

  void fire_timer(std::int64_t time_ms, graph::time_domain domain, const window_type& window,
                  run& now) {
    if (!enter(window))
      return; // it was merged into another one
    conclude(domain == graph::time_domain::event
                 ? trigger_.on_event_time(time_ms, window, now.context)
                 : trigger_.on_processing_time(time_ms, window, now.context),
             window, now);
    if (domain != own_domain() || time_ms != cleanup_ms(window))
      return;
    contents_.clear(space_);
    trigger_.clear(window, now.context);
    if constexpr (Function::clears) {
      auto context = context_of(window, now);
      function_.clear(context);
    }
    if constexpr (merges)
      merging_.retire(window);
  }

  void conclude(trigger_result result, const window_type& window, run& now) {
    if (fires(result))
      contents_.give(space_, window, now.keyed, [&](const auto& given) {
        now.emitted.set_timestamp(result_timestamp(window));
        auto context = context_of(window, now);
        function_.process(context, given, now.emitted);
      });
    if (purges(result))
      contents_.clear(space_);
  }

  /// Brings the windows together that a new one joins. @returns what it is part of
  window_type merge(const window_type& added, run& now) {
    const auto& merged = merging_.add(added);
    if (merged.merged.empty())
      return merged.window;
    scope_.set(merged.window);
    scope_.set_merged(merged.merged);
    trigger_.on_merge(merged.window, now.context);
    for (const auto& each : merged.merged) {
      scope_.set(each);
      trigger_.clear(each, now.context);
      timers_.remove(own_domain(), cleanup_ms(each), scope_.current());
    }
    const auto into = encoded(merged.state);
    for (const auto& each : merged.states)
      contents_.merge(into, encoded(each));
    return merged.window;
  }

  /// Makes a window the one at hand. @returns whether there is such a one
  bool enter(const window_type& window) {
    scope_.set(window);
    if constexpr (merges) {
      const auto* state = merging_.state_of(window);
      if (state == nullptr)
        return false;
      space_.clear();
      info_of<window_type>::encode(space_, *state);
    } else {
      space_.assign(scope_.current());
    }
    return true;
  }

  context_type context_of(const window_type& window, run& now) const {
    return context_type(now.read_key(now.row), window, now.sides, now.keyed);
  }
  graph::time_domain own_domain() const {
    return is_event_time_ ? graph::time_domain::event : graph::time_domain::processing;
  }
  std::int64_t cleanup_ms(const window_type& window) const {
    return is_event_time_ ? settings_.later(window.max_timestamp()) : window.max_timestamp();
  }
  bool is_late(const window_type& window, run& now) const {
    return is_event_time_ && cleanup_ms(window) <= now.keyed.current_watermark();
  }

  Assigner assigner_;
  Trigger trigger_;
  Contents contents_;
  Function function_;
  window_settings<T> settings_;
  std::vector<std::int32_t> key_columns_;
  side_outputs_ptr sides_;
  bool is_event_time_;
  window_scope scope_;
  window_timers timers_;
  merging_windows<window_type> merging_; ///< not opened where windows do not merge
  byte_string space_;                    ///< where the contents of the window at hand are
  std::vector<window_type> assigned_;
  std::vector<window_type> due_;
};

} // namespace headrace::api
