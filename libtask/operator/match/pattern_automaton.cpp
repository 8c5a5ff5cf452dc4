#include "libtask/operator/match/pattern_automaton.hpp"

#include <algorithm>

namespace headrace::task {

pattern_automaton::pattern_automaton(const graph::match_spec& spec)
    : variables_(spec.variables.size()), within_ms_(spec.within_ms), skip_(spec.skip),
      skip_variable_(static_cast<std::uint32_t>(std::max(spec.skip_variable, 0))) {
  auto follower = add_state(); // the final one
  for (auto i = spec.variables.size(); i-- > 0;)
    follower = add_variable(spec.variables[i], static_cast<std::uint32_t>(i), follower);
  start_ = follower;
  for (std::uint32_t i = 0; i < states_.size(); ++i)
    find_wanted(i);
}

void pattern_automaton::take(std::uint32_t from, std::uint32_t target, std::uint32_t variable) {
  states_[from].edges.push_back({true, target, variable, {}});
}

void pattern_automaton::go_on(std::uint32_t from, std::uint32_t target) {
  states_[from].edges.push_back({false, target, 0, {}});
}

void pattern_automaton::forbid(std::uint32_t from, std::uint32_t variable) {
  for (auto& each : states_[from].edges)
    each.forbidden.push_back(variable);
}

/// The order in which the edges of a state are added is the one in which they are tried, and with
/// it decides which of several readings of the same rows comes first.
std::uint32_t pattern_automaton::add_variable(const graph::pattern_variable& from,
                                              std::uint32_t index, std::uint32_t follower) {
  const auto least = std::max(from.repeat_min, 1);
  auto most = from.repeat_max;
  auto next = follower;
  if (most < 0) {
    next = add_state();
    go_on(next, follower);
    if (from.is_greedy)
      forbid(follower, index);
    take(next, next, index);
    most = least;
  } else if (from.is_greedy && least != most) {
    forbid(follower, index);
  }
  const auto add_repetition = [&](bool may_be_left_out) {
    const auto made = add_state();
    take(made, next, index);
    if (may_be_left_out)
      go_on(made, follower);
    next = made;
  };
  for (auto i = least; i < most; ++i)
    add_repetition(true);
  for (auto i = 1; i < least; ++i)
    add_repetition(false);
  add_repetition(from.repeat_min == 0);
  return next;
}

void pattern_automaton::find_wanted(std::uint32_t from) {
  auto& wanted = states_[from].wanted;
  struct place {
    std::uint32_t of = 0;
    bool is_behind = false; ///< behind what took the row: it is asked whether the match may end
    bool operator==(const place&) const = default;
  };
  std::vector<place> all{{from, false}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = all[i];
    for (const auto& each : states_[at.of].edges) {
      if (at.is_behind && each.takes)
        continue;
      if (each.takes)
        wanted.push_back(each.variable);
      wanted.insert(wanted.end(), each.forbidden.begin(), each.forbidden.end());
      const place next{each.target, at.is_behind || each.takes};
      if (std::find(all.begin(), all.end(), next) == all.end())
        all.push_back(next);
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
}

} // namespace headrace::task
