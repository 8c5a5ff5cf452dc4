#pragma once

#include "libtask/format/scalar_text.hpp"
#include "libgraph/connector/format.hpp"
#include "libactors/base/option.hpp"

#include <span>
#include <string>

namespace headrace::task {

/// What becomes of a map's NULL key, which JSON has no place for.
enum class null_key_mode : std::uint8_t { fail, drop, literal };

/// How JSON is written and read. A value.
struct json_options {
  bool fail_on_missing_field = false;
  timestamp_style timestamps = timestamp_style::sql; ///< as written; both are read
  bool ignore_null_fields = false;
  null_key_mode null_keys = null_key_mode::fail;
  std::string null_key_literal = "null";
  graph::malformed_policy on_malformed = graph::malformed_policy::fail;
  bool nulls_fields = false; ///< what cannot be read is NULL, where its type has that

  /// What `parse` takes.
  static std::span<const option_declaration> declared();
  /// @param format  what errors name
  /// @errors unknown_option, bad_option_value
  static result<json_options> parse(const graph::option_map& given,
                                    std::string_view format = "json");
};

} // namespace headrace::task
