#pragma once

#include "libactors/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headrace {

/// What an option may hold; durations are milliseconds, sizes are bytes. A path is made absolute
/// when it is set: processes that stand elsewhere are to find the same.
enum class option_type : std::uint8_t { boolean, integer, real, text, path, duration, memory_size };

/// Declares one option: once, with type, default, range and description. `docs/options.md` is made
/// from all declarations.
struct option_declaration {
  std::string_view key;
  option_type type;
  std::string_view default_text; ///< empty: no default
  std::string_view description;
  std::optional<std::int64_t> least = std::nullopt;
  std::optional<std::int64_t> most = std::nullopt;
  std::string_view one_of = {}; ///< allowed texts, separated by '|'; empty: any
};

/// Every option that the product knows, sorted by key.
const std::vector<option_declaration>& all_options();

/// Settings by key: validated when set, read with their declared type. A value.
class configuration {
public:
  /// @errors unknown_option    names the nearest known key
  /// @errors bad_option_value  names the key, what was given, and what is allowed
  status set(std::string_view key, std::string_view value);
  /// Reads YAML: nested maps or dotted keys. Later calls override. @errors bad_configuration_file
  status merge_yaml(std::string_view text, const std::string& origin);

  bool is_set(std::string_view key) const;
  bool get_bool(std::string_view key) const;
  std::int64_t get_int(std::string_view key) const;
  double get_real(std::string_view key) const;
  std::string get_text(std::string_view key) const;
  /// Absolute; empty: not set.
  std::string get_path(std::string_view key) const;
  /// Accepts "10 s", "100ms", "1 min", "2 h", "1 d", a bare number means milliseconds.
  std::chrono::milliseconds get_duration(std::string_view key) const;
  /// Accepts "64mb", "1 g", "512 kb", a bare number means bytes (1 kb = 1024).
  std::uint64_t get_memory_size(std::string_view key) const;

  const std::map<std::string, std::string, std::less<>>& values() const { return values_; }
  friend bool operator==(const configuration&, const configuration&) = default;

private:
  std::map<std::string, std::string, std::less<>> values_;
};

} // namespace headrace
