#pragma once

#include "libactors/base/result.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headrace::sql {

/// A key of Flink's that scripts SET, and that changes nothing here.
struct flink_setting {
  std::string_view key;     ///< ends with ".*": all that begin so
  std::string_view because; ///< why not: completes "it has no effect: "
  /// The values that mean what Headrace does anyway, separated by '|'; empty: any does.
  std::string_view accepted = {};
};

/// All of them, sorted by key.
std::span<const flink_setting> all_flink_settings();

/// Whether a key is one of them, or begins as one.
bool is_flink_setting(std::string_view key);

/// What is to be said to the one who sets a key of Flink's that has no effect. Nothing: it is none.
/// @errors bad_option_value  the value asks for what Headrace does not do
result<std::optional<std::string>> pass_over_setting(std::string_view key, std::string_view value);

/// The key that an unknown one may be meant for, among options and those of Flink's; empty: none.
std::string_view nearest_setting(std::string_view key);

} // namespace headrace::sql
