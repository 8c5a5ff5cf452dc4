#pragma once

#include "libgraph/api/window/window_state.hpp"
#include "libgraph/function/function.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::api {

/// Timers of keys and windows, over those of keys: which windows a key's timer is for stands in a
/// map by domain and time. One a window, time and domain, however often registered.
class window_timers {
public:
  void open(graph::state_provider& states);
  /// Who keeps the keys' timers during a call of the operator.
  void bind(graph::keyed_context& keyed) {
    keyed_ = &keyed;
    is_noting_ = false;
  }
  graph::keyed_context& keyed() const { return *keyed_; }

  void add(graph::time_domain domain, std::int64_t time_ms, byte_view window);
  /// @returns whether there was one
  bool remove(graph::time_domain domain, std::int64_t time_ms, byte_view window);
  /// From now on, until `bind`, remembers the times of timers that are new.
  void note_new() {
    noted_.clear();
    is_noting_ = true;
  }
  /// The earliest of those that is not after `until_ms`, which is forgotten then.
  std::optional<std::int64_t> take_noted(std::int64_t until_ms);
  /// The windows of a timer that fires, which it is of no more.
  template <class Window>
  void take(graph::time_domain domain, std::int64_t time_ms, std::vector<Window>& windows) {
    windows.clear();
    const auto held = windows_->get(name_of(domain, time_ms));
    if (!held)
      return;
    binary_reader whole(*held);
    for (binary_reader each(whole.get_bytes()); !each.at_end();)
      windows.push_back(decoded<Window>(each.get_bytes()));
    windows_->remove(name_);
  }

private:
  byte_view name_of(graph::time_domain domain, std::int64_t time_ms);
  /// Writes the windows in `held` but `left_out`, and then `added`. @returns whether there are any
  bool rewrite(byte_view held, byte_view left_out, byte_view added);
  void put();

  graph::map_access* windows_ = nullptr;
  graph::keyed_context* keyed_ = nullptr;
  byte_string name_;
  byte_string body_;
  byte_string written_;
  bool is_noting_ = false;
  std::vector<std::int64_t> noted_;
};

} // namespace headrace::api
