#pragma once

#include <span>
#include <string_view>

namespace headrace {

/// A name that an option had in earlier releases of Flink, which scripts and files still use.
struct old_option_key {
  std::string_view old;
  std::string_view current;
};

/// All of them, sorted by the old name.
std::span<const old_option_key> all_old_option_keys();

/// What an option is called now: of another name than an old one that name itself.
std::string_view current_option_key(std::string_view key);

} // namespace headrace
