#pragma once

#include "libgraph/connector/format.hpp"
#include "libactors/base/option.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headrace::graph {

/// The options given to one connector or format, checked against what it declares and read with
/// their declared types. A value; keeps no view of `given`, but the declarations must outlive it
/// (they are constants).
class option_set {
public:
  /// @param owner  what errors say, e.g. "connector 'file'"
  /// @errors unknown_option    names the nearest declared key
  /// @errors bad_option_value  names the key, what was given and what is allowed
  static result<option_set> parse(std::string_view owner,
                                  std::span<const option_declaration> declared,
                                  const option_map& given);

  /// Given, or has a default.
  bool has(std::string_view key) const { return text(key).has_value(); }
  /// @errors bad_option_value  the option is needed and was not given
  result<std::string> need_text(std::string_view key) const;
  // Each needs a declaration of its type, and a value (given or default).
  std::string get_text(std::string_view key) const;
  bool get_bool(std::string_view key) const;
  std::int64_t get_int(std::string_view key) const;
  double get_real(std::string_view key) const;
  std::chrono::milliseconds get_duration(std::string_view key) const;
  std::uint64_t get_memory_size(std::string_view key) const;
  /// A text of one character; "\\t", "\\n", "\\0", "\\\\" and "\\u0001" are understood.
  /// @errors bad_option_value
  result<char> get_char(std::string_view key) const;

private:
  std::optional<std::string_view> text(std::string_view key) const;

  std::string owner_;
  std::span<const option_declaration> declared_;
  option_map values_;
};

/// Splits off the options that start with `prefix` and a dot, without both ("csv.null-literal" →
/// "null-literal"); the others stay in `options`.
option_map take_prefixed(option_map& options, std::string_view prefix);

/// Reads "250 ms", "5 s", "1 min", "2 h", "1 d"; a bare number means milliseconds.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
/// Reads "64mb", "1 g", "512 kb"; a bare number means bytes.
std::optional<std::uint64_t> parse_memory_size(std::string_view text);

} // namespace headrace::graph
