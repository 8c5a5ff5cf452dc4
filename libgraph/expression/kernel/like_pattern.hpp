#pragma once

#include "libactors/base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::graph {

/// A pattern of LIKE: '%' stands for any text, '_' for one code point.
class like_pattern {
public:
  /// @param escape  one code point, or empty: none
  /// @errors type_mismatch  an escape that is longer, or that stands before another letter
  static result<like_pattern> compile(std::string_view pattern, std::string_view escape);
  bool matches(std::string_view text) const;

private:
  /// What stands between two '%': texts, each behind so many '_'.
  struct piece {
    std::size_t points = 0;
    std::string text;
  };
  using run = std::vector<piece>;

  static std::optional<std::size_t> match_at(const run& wanted, std::string_view text);
  /// Where a run ends that begins at or behind `from`; nothing: nowhere.
  static std::optional<std::size_t> find(const run& wanted, std::string_view text,
                                         std::size_t from);

  std::vector<run> runs_; ///< one more than there are '%'
};

} // namespace headrace::graph
