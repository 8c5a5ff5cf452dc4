#include "libtask/format/csv_options.hpp"

#include "libgraph/connector/option_set.hpp"

#include <array>

namespace headrace::task {
namespace {

constexpr std::array options{
    option_declaration{"field-delimiter", option_type::text, ",", "stands between two fields"},
    option_declaration{"quote-character", option_type::text, "\"",
                       "encloses fields that hold delimiters, quotes or line breaks"},
    option_declaration{"disable-quote-character", option_type::boolean, "false",
                       "whether quotes are letters as others"},
    option_declaration{"escape-character", option_type::text, "",
                       "takes its meaning from the character behind it; by default there is none"},
    option_declaration{"null-literal", option_type::text, "",
                       "an unquoted field of this text is NULL; empty fields that are no strings "
                       "are NULL without it"},
    option_declaration{"array-element-delimiter", option_type::text, ";",
                       "stands between elements of an array or of a nested row"},
    option_declaration{"ignore-first-line", option_type::boolean, "false",
                       "whether the first line of each file is a header"},
    option_declaration{"allow-comments", option_type::boolean, "false",
                       "whether lines that start with '#' are left out"},
    option_declaration{"allow-quoted-newlines", option_type::boolean, "false",
                       "whether quoted fields may hold line breaks; a file is then read by one "
                       "reader"},
    option_declaration{"ignore-parse-errors", option_type::boolean, "false",
                       "whether fields that cannot be read are NULL, and records that are none are "
                       "left out and counted, not an error"},
    option_declaration{"ignore-malformed-records", option_type::boolean, "false",
                       "whether records with such fields are left out and counted as a whole"},
};

} // namespace

std::span<const option_declaration> csv_options::declared() { return options; }

result<csv_options> csv_options::parse(const graph::option_map& given) {
  HEADRACE_TRY(const auto set, graph::option_set::parse("format 'csv'", options, given));
  csv_options out;
  HEADRACE_TRY(out.delimiter, set.get_char("field-delimiter"));
  if (set.get_bool("disable-quote-character"))
    out.quote.reset();
  else {
    HEADRACE_TRY(out.quote, set.get_char("quote-character"));
  }
  if (set.has("escape-character")) {
    HEADRACE_TRY(out.escape, set.get_char("escape-character"));
  }
  if (set.has("null-literal"))
    out.null_literal = set.get_text("null-literal");
  HEADRACE_TRY(out.array_delimiter, set.get_char("array-element-delimiter"));
  out.has_header = set.get_bool("ignore-first-line");
  out.allow_comments = set.get_bool("allow-comments");
  out.allow_newlines = set.get_bool("allow-quoted-newlines");
  const bool skips_records = set.get_bool("ignore-malformed-records");
  const bool ignores_errors = set.get_bool("ignore-parse-errors");
  out.on_malformed = skips_records || ignores_errors ? graph::malformed_policy::skip
                                                     : graph::malformed_policy::fail;
  out.nulls_fields = ignores_errors && !skips_records;
  if (out.delimiter == '\n' || out.delimiter == '\r' || out.quote == '\n' || out.escape == '\n' ||
      out.delimiter == out.quote || out.delimiter == out.escape)
    return error(errc::bad_option_value,
                 "bad options of format 'csv': 'csv.field-delimiter', 'csv.quote-character' and "
                 "'csv.escape-character' must differ, and none may be a line break");
  return out;
}

} // namespace headrace::task
