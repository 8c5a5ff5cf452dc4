#include "apps/client/live_table.hpp"

#include "apps/client/text_table.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace headrace::client {
namespace {

constexpr std::int64_t shortest_pause_us = 100'000;
constexpr std::int64_t pause_a_cost = 9;

/// Without what would move the cursor or change the terminal.
std::string printable(std::string_view text) {
  std::string out(text);
  for (char& each : out)
    if (static_cast<unsigned char>(each) < 0x20U || each == '\x7f')
      each = ' ';
  return out;
}

/// At most so many code points; what is cut ends in "…".
std::string cut(std::string_view line, std::size_t columns) {
  std::size_t seen = 0;
  std::size_t last_but_one = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if ((static_cast<unsigned char>(line[i]) & 0xC0U) == 0x80U)
      continue;
    if (seen + 1 == columns)
      last_but_one = i;
    if (seen++ == columns)
      return std::string(line.substr(0, last_but_one)) + "…";
  }
  return std::string(line);
}

} // namespace

std::size_t live_table::rows_max(const terminal_size& size) {
  // The names, the line that tells of more, and the one that the cursor stands in.
  return size.lines > 4 ? size.lines - 3 : 1;
}

std::string live_table::clear() {
  if (drawn_ == 0)
    return {};
  return "\x1b[" + std::to_string(std::exchange(drawn_, 0)) + "F\x1b[J";
}

std::string live_table::draw(const std::vector<std::string>& names,
                             const std::vector<text_row>& rows, std::size_t more,
                             const terminal_size& size) {
  auto out = clear();
  const auto shown = std::min(rows.size(), rows_max(size));
  std::vector<std::vector<std::string>> cells{names};
  for (std::size_t i = 0; i < shown; ++i) {
    cells.emplace_back();
    for (const auto& each : rows[i])
      cells.back().push_back(printable(each.value_or("<NULL>")));
  }
  for (auto& each : cells[0])
    each = printable(each);
  const auto text = text_table(cells);
  const auto add = [&](std::string_view line) {
    out += cut(line, std::max<std::size_t>(size.columns, 2)) + "\n";
    ++drawn_;
  };
  for (const auto line : split_text(std::string_view(text).substr(0, text.size() - 1), '\n'))
    add(line);
  if (const auto left = more + rows.size() - shown; left > 0)
    add("… " + describe_count(left, "more row"));
  return out;
}

void drawing_pace::drawn(std::int64_t begun_us, std::int64_t ended_us) {
  next_us_ = ended_us + std::max(shortest_pause_us, pause_a_cost * (ended_us - begun_us));
}

} // namespace headrace::client
