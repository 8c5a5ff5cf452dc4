#include "libgraph/sql/parse/source_text.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

constexpr std::size_t excerpt_columns_max = 100;
constexpr std::size_t columns_before_caret = 60;

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

std::size_t count_columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !is_continuation(byte); }));
}

/// Drops `count` code points at the front.
std::string_view without_columns(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() && count > 0) {
    ++at;
    while (at < text.size() && is_continuation(text[at]))
      ++at;
    --count;
  }
  return text.substr(at);
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char byte : text)
    out.push_back(byte >= 0 && byte < ' ' ? ' ' : byte);
  return out;
}

} // namespace

std::size_t code_point_bytes(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const auto first = byte(0);
  if (first < 0x80)
    return 1;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + size > text.size())
    return 0;
  for (std::size_t i = 1; i < size; ++i)
    if (!is_continuation(text[at + i]))
      return 0;
  const bool is_overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool is_no_character =
      (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
  return is_overlong || is_no_character ? 0 : size;
}

std::string excerpt(std::string_view text, source_span at) {
  if (!at.is_known() || at.begin > text.size())
    return {};
  const auto before = text.substr(0, at.begin).rfind('\n');
  const auto line_begin = before == std::string_view::npos ? 0 : before + 1;
  const auto line_end = std::min(text.find('\n', at.begin), text.size());
  auto line = text.substr(line_begin, line_end - line_begin);
  auto caret = count_columns(text.substr(line_begin, at.begin - line_begin));
  const auto marked_end = std::clamp<std::size_t>(at.end, at.begin, line_end);
  auto marks =
      std::max<std::size_t>(count_columns(text.substr(at.begin, marked_end - at.begin)), 1);

  std::string lead;
  if (caret > columns_before_caret && count_columns(line) > excerpt_columns_max) {
    line = without_columns(line, caret - columns_before_caret);
    caret = columns_before_caret + 3;
    lead = "...";
  }
  std::string tail;
  if (count_columns(line) > excerpt_columns_max) {
    line = line.substr(0, line.size() - without_columns(line, excerpt_columns_max).size());
    tail = "...";
  }
  marks = std::min(marks, excerpt_columns_max);

  const auto number = std::to_string(at.line);
  std::string out = "  " + number + " | " + lead + printable(line) + tail + "\n";
  out += "  " + std::string(number.size(), ' ') + " | " + std::string(caret, ' ') +
         std::string(marks, '^');
  return out;
}

void name_views(std::vector<diagnostic>& findings, const view_texts& views) {
  for (auto& each : findings) {
    if (each.at.view == 0 || each.at.view > views.size() || !each.view.empty())
      continue;
    each.view = views[each.at.view - 1].name;
    each.text = views[each.at.view - 1].text;
  }
}

std::string to_string(const diagnostic& finding, std::string_view text) {
  if (!finding.at.is_known())
    return finding.message;
  auto out = (finding.view.empty() ? "" : "in view " + finding.view + ", ") + "line " +
             std::to_string(finding.at.line) + ", column " + std::to_string(finding.at.column) +
             ": " + finding.message;
  const auto& shown_text = finding.view.empty() ? text : std::string_view(finding.text);
  if (const auto shown = excerpt(shown_text, finding.at); !shown.empty())
    out += "\n" + shown;
  return out;
}

std::string to_string(const std::vector<diagnostic>& findings, std::string_view text) {
  std::string out;
  for (const auto& each : findings)
    out += (out.empty() ? "" : "\n") + to_string(each, text);
  return out;
}

} // namespace headrace::sql
