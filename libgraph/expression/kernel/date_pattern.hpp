#pragma once

#include "libgraph/types/logical_type.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::graph {

/// A pattern of Java's DateTimeFormatter, with English names: y u M L d D E a H h k K m s S n Q G,
/// 'text', and [optional] parts.
class date_pattern {
public:
  /// @errors type_mismatch  a letter that has no meaning here, a quote that does not end
  static result<date_pattern> compile(std::string_view pattern);

  /// Writes a point: nanoseconds since 1970 by the clock that is shown.
  void format(int128 nanos, std::string& out) const;
  /// Reads the text; what the pattern leaves out is that of 1970-01-01 00:00:00. A day up to the
  /// 31st that the month has not is its last one. Nothing when the text does not follow the
  /// pattern, or goes on behind it.
  std::optional<int128> parse(std::string_view text) const;
  /// The same of a text that may go on.
  std::optional<int128> parse_begin(std::string_view text) const;

private:
  struct item {
    char letter = 0; ///< 0: the text; '[' and ']': an optional part
    int count = 0;   ///< of the letter
    std::string text;
  };
  struct fields;

  std::optional<int128> parse(std::string_view text, bool may_go_on) const;
  std::optional<std::size_t> parse_items(std::size_t from, std::size_t to, std::string_view text,
                                         std::size_t at, fields& into) const;
  bool parse_item(const item& wanted, std::string_view text, std::size_t& at, fields& into,
                  bool is_followed) const;
  std::size_t end_of_option(std::size_t begin) const;

  std::vector<item> items_;
};

} // namespace headrace::graph
