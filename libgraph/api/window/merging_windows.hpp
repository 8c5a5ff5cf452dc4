#pragma once

#include "libgraph/api/window/window_state.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace headrace::api {

/// The windows of a key that merge, and under which window each one's rows are kept: that of the
/// first of those that it was merged from, so that a window that only grows moves nothing.
/// `load` takes those of the current key, `store` writes them back.
template <class Window>
class merging_windows {
public:
  using entry = std::pair<Window, Window>; ///< a window, and the one that its state is under
  using list_info = info_of<std::vector<entry>>;

  /// What a new window has done to those that are there.
  struct merge_result {
    Window window; ///< that the new one is part of
    Window state;
    std::vector<Window> merged; ///< those that are one now, the result itself left out
    std::vector<Window> states; ///< of those, but for `state`
  };

  void open(graph::state_provider& states) {
    access_ =
        &states.value({"merging-windows", graph::state_kind::value, list_info::type(), {}, 0, {}});
  }
  void load() {
    entries_.clear();
    is_changed_ = false;
    const auto held = access_->get();
    if (!held)
      return;
    binary_reader in(*held);
    for (auto left = in.get_count(); left > 0; --left)
      entries_.push_back(info_of<entry>::decode(in));
  }
  void store() {
    if (!is_changed_)
      return;
    if (entries_.empty())
      return access_->clear();
    scratch_.clear();
    list_info::encode(scratch_, entries_);
    access_->put(scratch_);
  }

  /// Valid until the next call.
  const merge_result& add(const Window& added) {
    result_.window = added;
    result_.merged.clear();
    result_.states.clear();
    for (const auto& [window, state] : entries_) {
      if (window.intersects(added))
        result_.window = result_.window.cover(window);
    }
    const auto is_merged = [&](const entry& each) { return each.first.intersects(added); };
    for (const auto& each : entries_) {
      if (!is_merged(each))
        continue;
      result_.states.push_back(each.second);
      if (!(each.first == result_.window))
        result_.merged.push_back(each.first);
    }
    if (result_.states.empty()) {
      result_.state = added;
    } else {
      result_.state = result_.states.front();
      result_.states.erase(result_.states.begin());
      if (result_.merged.empty())
        return result_; // within one that is there
    }
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(), is_merged), entries_.end());
    entries_.emplace_back(result_.window, result_.state);
    is_changed_ = true;
    return result_;
  }
  /// Where the rows of a window are; null: there is no such window.
  const Window* state_of(const Window& window) const {
    const auto found = find(window);
    return found == entries_.end() ? nullptr : &found->second;
  }
  void retire(const Window& window) {
    const auto found = find(window);
    if (found == entries_.end())
      return;
    entries_.erase(found);
    is_changed_ = true;
  }

private:
  auto find(const Window& window) const {
    return std::find_if(entries_.begin(), entries_.end(),
                        [&](const entry& each) { return each.first == window; });
  }

  graph::value_access* access_ = nullptr;
  std::vector<entry> entries_;
  bool is_changed_ = false;
  merge_result result_;
  byte_string scratch_;
};

} // namespace headrace::api
