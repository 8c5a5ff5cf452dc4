#include "libtask/operator/match/match_rounds.hpp"

#include <algorithm>
#include <optional>

namespace headrace::task {

status match_rounds::run(std::span<const segment> keys, std::span<const std::int64_t> times_ms,
                         std::int64_t now_ms) {
  active_.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    HEADRACE_CHECK(values_.extend(*keys[i].matches));
    active_.push_back({i, keys[i].first_new, 0});
  }
  while (!active_.empty()) {
    answers_.clear();
    std::size_t left = 0;
    for (auto& key : active_) {
      const auto& of = keys[key.index];
      HEADRACE_TRY(const auto is_there, find_row(of, key));
      if (!is_there)
        continue;
      HEADRACE_CHECK(of.matches->matches.expire(times_ms[key.row], times_ms, found_));
      HEADRACE_CHECK(give(of));
      HEADRACE_CHECK(ask(of, key));
      active_[left++] = key;
    }
    active_.resize(left);
    values_.answer_all();
    for (auto& key : active_) {
      HEADRACE_CHECK(take(keys[key.index], key, times_ms));
      ++key.row;
    }
  }
  for (const auto& of : keys) {
    HEADRACE_CHECK(of.matches->matches.expire(now_ms, times_ms, found_));
    HEADRACE_CHECK(give(of));
  }
  return {};
}

result<bool> match_rounds::may_begin(std::uint32_t row) const {
  for (const auto variable : automaton_.wanted(automaton_.start())) {
    if (values_.needs_match(variable))
      return true;
    HEADRACE_TRY(const auto holds, values_.holds(variable, row));
    if (holds)
      return true;
  }
  return false;
}

result<bool> match_rounds::find_row(const segment& of, active_key& key) const {
  if (!of.matches->matches.is_idle())
    return key.row < of.end;
  for (; key.row < of.end; ++key.row) {
    HEADRACE_TRY(const auto begins, may_begin(key.row));
    if (begins)
      return true;
  }
  return false;
}

status match_rounds::ask(const segment& of, active_key& key) {
  key.first_answer = answers_.size();
  const auto variables = automaton_.variable_count();
  for (const auto& each : of.matches->matches.partials()) {
    const auto first = answers_.size();
    answers_.resize(first + variables, unasked);
    for (const auto variable : automaton_.wanted(each.state)) {
      if (!values_.needs_match(variable))
        continue;
      HEADRACE_TRY(answers_[first + variable],
                   values_.ask(variable, *of.matches, each.node, key.row));
    }
  }
  return {};
}

status match_rounds::take(const segment& of, const active_key& key,
                          std::span<const std::int64_t> times_ms) {
  std::optional<error> failure;
  const auto variables = automaton_.variable_count();
  const auto holds = [&](std::size_t partial, std::uint32_t variable) {
    auto truth =
        values_.needs_match(variable)
            ? values_.answer(variable, answers_[key.first_answer + partial * variables + variable])
            : values_.holds(variable, key.row);
    if (truth)
      return *truth;
    if (!failure)
      failure = std::move(truth).error();
    return false;
  };
  HEADRACE_CHECK(of.matches->matches.take(key.row, times_ms[key.row], holds, found_));
  if (failure)
    return *failure;
  HEADRACE_CHECK(values_.extend(*of.matches));
  return give(of);
}

status match_rounds::give(const segment& of) {
  for (const auto& each : found_)
    HEADRACE_CHECK(values_.add_match(*of.matches, each));
  found_.clear();
  return {};
}

} // namespace headrace::task
