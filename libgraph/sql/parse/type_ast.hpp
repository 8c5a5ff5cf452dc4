#pragma once

#include "libgraph/sql/parse/box.hpp"
#include "libgraph/sql/parse/source_text.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace::sql {

struct name {
  std::string text;
  source_span at;
  friend bool operator==(const name&, const name&) = default;
};

/// `catalog.database.table`, `table.column.field`: at least one part.
struct qualified_name {
  std::vector<name> parts;
  source_span at;
  friend bool operator==(const qualified_name&, const qualified_name&) = default;
};

enum class type_word : std::uint8_t {
  boolean,
  tinyint,
  smallint,
  integer,
  bigint,
  float_,
  double_,
  decimal,
  character,
  varchar, ///< without a length it is what STRING is
  string,
  binary,
  varbinary,
  bytes,
  date,
  time,
  timestamp,
  timestamp_ltz,
  timestamp_tz, ///< WITH TIME ZONE: written, but no type of the dialect
  interval,
  array,
  map,
  multiset,
  row,
  null,
  raw,
  structured,
  variant,
  bitmap,
  descriptor,
  named, ///< a user's type
};

enum class interval_unit : std::uint8_t { year, quarter, month, week, day, hour, minute, second };

/// `YEAR(2) TO MONTH`, `SECOND(3, 2)`, `DAY TO SECOND(3)`.
struct interval_qualifier {
  interval_unit from = interval_unit::second;
  std::optional<interval_unit> to;
  std::optional<std::uint32_t> precision; ///< digits of the first unit
  std::optional<std::uint32_t> fraction;  ///< digits of a fraction of a second
  source_span at;
  friend bool operator==(const interval_qualifier&, const interval_qualifier&) = default;
};

struct type_field;

/// A type as it is written. What the numbers may be is the binder's business.
struct type_name {
  type_word word = type_word::null;
  std::optional<std::uint32_t> precision; ///< or length
  std::optional<std::uint32_t> scale;
  bool is_not_null = false;
  std::vector<type_field> children; ///< element; key, value; fields of ROW and STRUCTURED
  std::optional<interval_qualifier> interval;
  std::vector<std::string> texts; ///< RAW: class and serializer; STRUCTURED: class
  std::optional<qualified_name> named;
  source_span at;
  friend bool operator==(const type_name&, const type_name&);
};

struct type_field {
  std::optional<name> label; ///< only in ROW and STRUCTURED
  type_name type;
  std::optional<std::string> comment;
  friend bool operator==(const type_field&, const type_field&) = default;
};

inline bool operator==(const type_name& left, const type_name& right) {
  return left.word == right.word && left.precision == right.precision &&
         left.scale == right.scale && left.is_not_null == right.is_not_null &&
         left.children == right.children && left.interval == right.interval &&
         left.texts == right.texts && left.named == right.named;
}

} // namespace headrace::sql
