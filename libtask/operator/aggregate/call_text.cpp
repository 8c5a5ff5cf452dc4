#include "libtask/operator/aggregate/call_text.hpp"

#include <algorithm>

namespace headrace::task {
namespace {

constexpr std::string_view distinct_word = "DISTINCT ";

/// Texts of types, which may have commas in brackets.
std::vector<std::string> split_types(std::string_view text) {
  std::vector<std::string> out;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char each = text[at];
    depth += each == '(' || each == '<' ? 1 : each == ')' || each == '>' ? -1 : 0;
    if (each != ',' || depth != 0)
      continue;
    out.emplace_back(text.substr(begin, at - begin));
    begin = std::min(at + 2, text.size());
  }
  out.emplace_back(text.substr(begin));
  return out;
}

} // namespace

std::optional<told_call> read_call_text(std::string_view text) {
  const auto open = text.find('(');
  if (open == std::string_view::npos || open == 0 || !text.ends_with(')'))
    return std::nullopt;
  told_call out;
  out.function = text.substr(0, open);
  auto types = text.substr(open + 1, text.size() - open - 2);
  if (types == "*")
    return out;
  out.is_distinct = types.starts_with(distinct_word);
  if (out.is_distinct)
    types.remove_prefix(distinct_word.size());
  out.arguments = split_types(types);
  return out;
}

std::string call_state_name(std::size_t number, const std::string& function,
                            std::span<const std::string> arguments) {
  constexpr std::size_t bytes_max = 200;
  auto name = std::to_string(number) + "-" + function;
  for (const auto& each : arguments)
    name += "-" + each;
  name.resize(std::min(name.size(), bytes_max));
  return name;
}

} // namespace headrace::task
