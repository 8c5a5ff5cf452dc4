#include "apps/client/text_table.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace headrace::client {

namespace {

/// Code points.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

} // namespace

std::string shown_name(std::string_view name) {
  constexpr std::size_t bytes_max = 200;
  std::string out;
  for (const char byte : name.substr(0, bytes_max))
    out += static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f ? '?' : byte;
  if (name.size() > bytes_max)
    out += "...";
  return out;
}

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size())
        out.append(widths[i] - width_of(row[i]) + 2, ' ');
    }
    out += '\n';
  }
  return out;
}

std::string describe_duration(std::int64_t ms) {
  if (ms < 0)
    return "-";
  char text[48];
  if (ms < 60'000)
    std::snprintf(&text[0], sizeof(text), "%.1f s", static_cast<double>(ms) / 1'000.0);
  else if (ms < 3'600'000)
    std::snprintf(&text[0], sizeof(text), "%lld min %02lld s", static_cast<long long>(ms / 60'000),
                  static_cast<long long>(ms / 1'000 % 60));
  else
    std::snprintf(&text[0], sizeof(text), "%lld h %02lld min",
                  static_cast<long long>(ms / 3'600'000), static_cast<long long>(ms / 60'000 % 60));
  return &text[0];
}

std::string describe_share(float share) {
  return std::to_string(static_cast<int>(share * 100.0F + 0.5F)) + " %";
}

std::string describe_count(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + ' ' + std::string(what) + (count == 1 ? "" : "s");
}

} // namespace headrace::client
