#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::graph {

/// The roots of Flink's logical types. Numbers are on the wire and in snapshots: never reused.
enum class type_root : std::uint8_t {
  boolean = 1,
  tinyint = 2,
  smallint = 3,
  integer = 4,
  bigint = 5,
  float_ = 6,
  double_ = 7,
  decimal = 8,    ///< precision 1–38, scale 0–precision
  character = 9,  ///< CHAR(length)
  varchar = 10,   ///< VARCHAR(length); STRING is VARCHAR(2147483647)
  binary = 11,    ///< BINARY(length)
  varbinary = 12, ///< BYTES is VARBINARY(2147483647)
  date = 13,      ///< days since 1970-01-01
  time = 14,      ///< milliseconds of the day
  timestamp = 15, ///< precision 0–9
  timestamp_ltz = 16,
  interval_year_month = 17, ///< months
  interval_day_time = 18,   ///< milliseconds
  array = 19,               ///< children: element
  map = 20,                 ///< children: key, value
  multiset = 21,            ///< children: element; stored as map to INT NOT NULL
  row = 22,                 ///< children with names
  null = 23,
};

/// How values of a type lie in memory.
enum class physical_type : std::uint8_t {
  none,    ///< type NULL: no values
  boolean, ///< one byte, 0 or 1
  int8,
  int16,
  int32,
  int64,
  int128, ///< 16-byte aligned, little endian
  float32,
  float64,
  string,          ///< 16-byte views over shared buffers (string_slot)
  timestamp_nanos, ///< timestamps of precision 4–9: int128 nanoseconds
  list,
  map,
  row,
};

__extension__ using int128 = __int128;

/// One logical type of Flink, nullable unless said otherwise. An immutable value; children are
/// shared. Timestamps of precision 0–3 are int64 milliseconds, finer ones timestamp_nanos.
class logical_type {
public:
  struct field;

  static logical_type boolean();
  static logical_type tinyint();
  static logical_type smallint();
  static logical_type integer();
  static logical_type bigint();
  static logical_type float32();
  static logical_type float64();
  static logical_type decimal(int precision, int scale);
  static logical_type character(int length);
  static logical_type varchar(int length);
  static logical_type string();
  static logical_type binary(int length);
  static logical_type varbinary(int length);
  static logical_type bytes();
  static logical_type date();
  static logical_type time(int precision);
  static logical_type timestamp(int precision);
  static logical_type timestamp_ltz(int precision);
  static logical_type interval_year_month();
  static logical_type interval_day_time();
  static logical_type null();
  static logical_type array(logical_type element);
  static logical_type map(logical_type key, logical_type value);
  static logical_type multiset(logical_type element);
  static logical_type row(std::vector<field> fields);

  logical_type not_null() const;
  logical_type nullable() const;

  type_root root() const { return root_; }
  bool is_nullable() const { return nullable_; }
  int precision() const { return precision_; } ///< or length of CHAR, VARCHAR, BINARY, VARBINARY
  int scale() const { return scale_; }
  physical_type physical() const;
  /// Bytes a value takes in a fixed-width column; 0 for list, map, row, none.
  int width_bytes() const;

  std::size_t child_count() const;
  const logical_type& child(std::size_t index) const;
  /// The children that a column of the type has: as `child`, and the count of a multiset too.
  std::size_t storage_child_count() const;
  const logical_type& storage_child(std::size_t index) const;
  /// The fields of a row; empty for other types.
  const std::vector<field>& fields() const;
  /// Returns the index of the named field, or -1.
  int field_index(std::string_view name) const;

  /// SQL's notation, e.g. "ROW<`word` STRING, `count` BIGINT NOT NULL>".
  std::string to_sql() const;
  void encode(byte_writer& out) const;
  /// @errors malformed_message  also when nesting is deeper than 64
  static result<logical_type> decode(byte_reader& in);

  friend bool operator==(const logical_type& left, const logical_type& right);

private:
  static logical_type of(type_root root, int precision = 0, int scale = 0);
  static logical_type nested(type_root root, std::vector<field> fields);
  static result<logical_type> decode(byte_reader& in, int depth);
  std::string nested_to_sql() const;

  type_root root_ = type_root::null;
  bool nullable_ = true;
  int precision_ = 0;
  int scale_ = 0;
  std::shared_ptr<const std::vector<field>> fields_; ///< children; names only for rows
};

struct logical_type::field {
  std::string name;
  logical_type type;
  std::string comment;
  friend bool operator==(const field&, const field&) = default;
};

} // namespace headrace::graph
