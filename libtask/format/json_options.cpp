#include "libtask/format/json_options.hpp"

#include "libgraph/connector/option_set.hpp"

#include <array>

namespace headrace::task {
namespace {

constexpr std::array options{
    option_declaration{"fail-on-missing-field", option_type::boolean, "false",
                       "whether a record without one of the fields is malformed; else it is NULL"},
    option_declaration{"ignore-parse-errors", option_type::boolean, "false",
                       "whether fields that cannot be read are NULL, and records that are none are "
                       "left out and counted, not an error"},
    option_declaration{"ignore-malformed-records", option_type::boolean, "false",
                       "whether records with such fields are left out and counted as a whole"},
    option_declaration{
        "timestamp-format.standard", option_type::text, "SQL",
        "how timestamps are written: '2024-02-29 12:34:56.789' or with a 'T' between; "
        "both are read",
        std::nullopt, std::nullopt, "SQL|ISO-8601"},
    option_declaration{"encode.ignore-null-fields", option_type::boolean, "false",
                       "whether fields that are NULL are not written"},
    option_declaration{"encode.decimal-as-plain-number", option_type::boolean, "true",
                       "decimals are always written without exponent; taken so that scripts of "
                       "others run"},
    option_declaration{"map-null-key.mode", option_type::text, "FAIL",
                       "what becomes of an entry of a map whose key is NULL", std::nullopt,
                       std::nullopt, "FAIL|DROP|LITERAL"},
    option_declaration{"map-null-key.literal", option_type::text, "null",
                       "stands for a NULL key when the mode is LITERAL"},
};

} // namespace

std::span<const option_declaration> json_options::declared() { return options; }

result<json_options> json_options::parse(const graph::option_map& given, std::string_view format) {
  HEADRACE_TRY(const auto set,
               graph::option_set::parse("format '" + std::string(format) + "'", options, given));
  json_options out;
  out.fail_on_missing_field = set.get_bool("fail-on-missing-field");
  const bool skips_records = set.get_bool("ignore-malformed-records");
  const bool ignores_errors = set.get_bool("ignore-parse-errors");
  out.on_malformed = skips_records || ignores_errors ? graph::malformed_policy::skip
                                                     : graph::malformed_policy::fail;
  out.nulls_fields = ignores_errors && !skips_records;
  out.timestamps = set.get_text("timestamp-format.standard") == "SQL" ? timestamp_style::sql
                                                                      : timestamp_style::iso_8601;
  out.ignore_null_fields = set.get_bool("encode.ignore-null-fields");
  const auto mode = set.get_text("map-null-key.mode");
  out.null_keys = mode == "FAIL"   ? null_key_mode::fail
                  : mode == "DROP" ? null_key_mode::drop
                                   : null_key_mode::literal;
  out.null_key_literal = set.get_text("map-null-key.literal");
  return out;
}

} // namespace headrace::task
