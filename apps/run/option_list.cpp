#include "apps/run/option_list.hpp"

#include "libactors/base/option.hpp"

#include <algorithm>

namespace headrace::run {

namespace {

std::string_view name_of(option_type type) {
  switch (type) {
  case option_type::boolean:
    return "true or false";
  case option_type::integer:
    return "whole number";
  case option_type::real:
    return "number";
  case option_type::text:
    return "text";
  case option_type::path:
    return "path";
  case option_type::duration:
    return "duration";
  case option_type::memory_size:
    return "size";
  }
  return "";
}

std::string in_unit(std::int64_t value, option_type type) {
  if (type == option_type::duration)
    return std::to_string(value) + " ms";
  if (type == option_type::memory_size)
    return std::to_string(value >> 20U) + " mb";
  return std::to_string(value);
}

std::string describe(const option_declaration& option) {
  std::string out =
      "- **`" + std::string(option.key) + "`**: " + std::string(option.description) + ". *";
  if (option.one_of.empty()) {
    out += name_of(option.type);
  } else {
    std::string allowed(option.one_of);
    std::replace(allowed.begin(), allowed.end(), '|', ' ');
    out += "one of " + allowed;
  }
  if (option.least)
    out += ", at least " + in_unit(*option.least, option.type);
  if (option.most)
    out += ", at most " + in_unit(*option.most, option.type);
  if (!option.default_text.empty())
    out += "; default " + std::string(option.default_text);
  return out + "*\n";
}

} // namespace

std::string list_options() {
  std::string out =
      "# Options\n\n"
      "Set in a file (`--config headrace.yaml`) or one by one (`-D key=value`). Durations are\n"
      "written as `10 s`, `100 ms`, `5 min`, sizes as `64 mb`, `2 g`. `headrace options` prints\n"
      "this list.\n\n";
  for (const auto& option : all_options())
    out += describe(option);
  return out;
}

} // namespace headrace::run
