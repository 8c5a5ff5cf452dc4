#include "libgraph/expression/kernel/like_pattern.hpp"

#include "libgraph/expression/kernel/utf8.hpp"

namespace headrace::graph {

result<like_pattern> like_pattern::compile(std::string_view pattern, std::string_view escape) {
  if (count_points(escape) > 1)
    return error(errc::type_mismatch,
                 "escape of LIKE is longer than one letter: '" + std::string(escape) + "'");
  like_pattern out;
  run current;
  const auto last = [&]() -> piece& {
    if (current.empty())
      current.emplace_back();
    return current.back();
  };
  while (!pattern.empty()) {
    auto letter = front_point(pattern);
    pattern.remove_prefix(letter.size());
    if (!escape.empty() && letter == escape) {
      letter = pattern.empty() ? std::string_view() : front_point(pattern);
      if (letter != "%" && letter != "_" && letter != escape)
        return error(errc::type_mismatch,
                     "escape of LIKE stands before another letter than %, _ or itself: '" +
                         std::string(letter) + "'");
      pattern.remove_prefix(letter.size());
      last().text += letter;
    } else if (letter == "%") {
      out.runs_.push_back(std::move(current));
      current.clear();
    } else if (letter == "_") {
      if (current.empty() || !current.back().text.empty())
        current.emplace_back();
      ++current.back().points;
    } else {
      last().text += letter;
    }
  }
  out.runs_.push_back(std::move(current));
  return out;
}

/// How many bytes a run takes at the text's begin.
std::optional<std::size_t> like_pattern::match_at(const run& wanted, std::string_view text) {
  std::size_t at = 0;
  for (const auto& each : wanted) {
    for (std::size_t i = 0; i < each.points; ++i) {
      if (at == text.size())
        return std::nullopt;
      at += front_point(text.substr(at)).size();
    }
    if (text.substr(at, each.text.size()) != each.text)
      return std::nullopt;
    at += each.text.size();
  }
  return at;
}

std::optional<std::size_t> like_pattern::find(const run& wanted, std::string_view text,
                                              std::size_t from) {
  if (wanted.empty())
    return from;
  if (wanted.size() == 1 && wanted[0].points == 0) {
    const auto at = text.find(wanted[0].text, from);
    return at == text.npos ? std::nullopt : std::optional(at + wanted[0].text.size());
  }
  for (; from <= text.size(); ++from) {
    if (from < text.size() && is_continuation(text[from]))
      continue;
    if (const auto taken = match_at(wanted, text.substr(from)))
      return from + *taken;
  }
  return std::nullopt;
}

bool like_pattern::matches(std::string_view text) const {
  const auto first = match_at(runs_.front(), text);
  if (!first)
    return false;
  if (runs_.size() == 1)
    return *first == text.size();
  auto at = *first;
  for (std::size_t i = 1; i + 1 < runs_.size(); ++i) {
    const auto end = find(runs_[i], text, at);
    if (!end)
      return false;
    at = *end;
  }
  // The last run stands at the text's end: so many code points from there.
  const auto& last = runs_.back();
  if (last.empty())
    return true;
  std::size_t points = 0;
  std::size_t bytes = 0;
  for (const auto& each : last) {
    points += each.points;
    bytes += each.text.size();
  }
  auto begin = text.size();
  if (points == 0) {
    if (begin < at + bytes)
      return false;
    begin -= bytes;
    return match_at(last, text.substr(begin)) == bytes;
  }
  for (const auto& each : last)
    points += count_points(each.text);
  for (; points > 0; --points) {
    if (begin <= at)
      return false;
    begin -= back_point(text.substr(0, begin)).size();
  }
  if (begin < at)
    return false;
  return match_at(last, text.substr(begin)) == text.size() - begin;
}

} // namespace headrace::graph
