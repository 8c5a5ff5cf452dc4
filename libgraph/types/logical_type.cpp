#include "libgraph/types/logical_type.hpp"

#include "libactors/base/assert.hpp"

#include <limits>

namespace headrace::graph {

namespace {

constexpr int length_max = std::numeric_limits<std::int32_t>::max();
constexpr int nesting_max = 64;

bool has_precision(type_root root) {
  switch (root) {
  case type_root::decimal:
  case type_root::character:
  case type_root::varchar:
  case type_root::binary:
  case type_root::varbinary:
  case type_root::time:
  case type_root::timestamp:
  case type_root::timestamp_ltz:
    return true;
  default:
    return false;
  }
}

bool is_precision_legal(type_root root, std::uint64_t precision, std::uint64_t scale) {
  switch (root) {
  case type_root::decimal:
    return precision >= 1 && precision <= 38 && scale <= precision;
  case type_root::time:
  case type_root::timestamp:
  case type_root::timestamp_ltz:
    return precision <= 9 && scale == 0;
  default:
    return precision <= static_cast<std::uint64_t>(length_max) && scale == 0;
  }
}

/// The number of children that a type with fixed structure is written with; -1 for rows.
int written_children(type_root root) {
  switch (root) {
  case type_root::array:
  case type_root::multiset:
    return 1;
  case type_root::map:
    return 2;
  case type_root::row:
    return -1;
  default:
    return 0;
  }
}

std::string quoted(std::string_view name, char quote) {
  std::string out(1, quote);
  for (const char letter : name) {
    if (letter == quote)
      out.push_back(quote);
    out.push_back(letter);
  }
  out.push_back(quote);
  return out;
}

const std::vector<logical_type::field>& no_fields() {
  static const std::vector<logical_type::field> none;
  return none;
}

} // namespace

logical_type logical_type::of(type_root root, int precision, int scale) {
  HEADRACE_ASSERT(
      precision >= 0 && scale >= 0 &&
          (!has_precision(root) || is_precision_legal(root, static_cast<std::uint64_t>(precision),
                                                      static_cast<std::uint64_t>(scale))),
      "precision, length or scale out of range");
  logical_type out;
  out.root_ = root;
  out.precision_ = precision;
  out.scale_ = scale;
  return out;
}

logical_type logical_type::nested(type_root root, std::vector<field> fields) {
  logical_type out;
  out.root_ = root;
  out.fields_ = std::make_shared<const std::vector<field>>(std::move(fields));
  return out;
}

logical_type logical_type::boolean() { return of(type_root::boolean); }
logical_type logical_type::tinyint() { return of(type_root::tinyint); }
logical_type logical_type::smallint() { return of(type_root::smallint); }
logical_type logical_type::integer() { return of(type_root::integer); }
logical_type logical_type::bigint() { return of(type_root::bigint); }
logical_type logical_type::float32() { return of(type_root::float_); }
logical_type logical_type::float64() { return of(type_root::double_); }
logical_type logical_type::decimal(int precision, int scale) {
  return of(type_root::decimal, precision, scale);
}
logical_type logical_type::character(int length) { return of(type_root::character, length); }
logical_type logical_type::varchar(int length) { return of(type_root::varchar, length); }
logical_type logical_type::string() { return of(type_root::varchar, length_max); }
logical_type logical_type::binary(int length) { return of(type_root::binary, length); }
logical_type logical_type::varbinary(int length) { return of(type_root::varbinary, length); }
logical_type logical_type::bytes() { return of(type_root::varbinary, length_max); }
logical_type logical_type::date() { return of(type_root::date); }
logical_type logical_type::time(int precision) { return of(type_root::time, precision); }
logical_type logical_type::timestamp(int precision) { return of(type_root::timestamp, precision); }
logical_type logical_type::timestamp_ltz(int precision) {
  return of(type_root::timestamp_ltz, precision);
}
logical_type logical_type::interval_year_month() { return of(type_root::interval_year_month); }
logical_type logical_type::interval_day_time() { return of(type_root::interval_day_time); }
logical_type logical_type::null() { return of(type_root::null); }

logical_type logical_type::array(logical_type element) {
  return nested(type_root::array, {{"element", std::move(element), {}}});
}
logical_type logical_type::map(logical_type key, logical_type value) {
  return nested(type_root::map, {{"key", std::move(key), {}}, {"value", std::move(value), {}}});
}
logical_type logical_type::multiset(logical_type element) {
  return nested(type_root::multiset,
                {{"element", std::move(element), {}}, {"count", integer().not_null(), {}}});
}
logical_type logical_type::row(std::vector<field> fields) {
  return nested(type_root::row, std::move(fields));
}

logical_type logical_type::not_null() const {
  auto out = *this;
  out.nullable_ = false;
  return out;
}
logical_type logical_type::nullable() const {
  auto out = *this;
  out.nullable_ = true;
  return out;
}

physical_type logical_type::physical() const {
  switch (root_) {
  case type_root::boolean:
    return physical_type::boolean;
  case type_root::tinyint:
    return physical_type::int8;
  case type_root::smallint:
    return physical_type::int16;
  case type_root::integer:
  case type_root::date:
  case type_root::time:
  case type_root::interval_year_month:
    return physical_type::int32;
  case type_root::bigint:
  case type_root::interval_day_time:
    return physical_type::int64;
  case type_root::float_:
    return physical_type::float32;
  case type_root::double_:
    return physical_type::float64;
  case type_root::decimal:
    return physical_type::int128;
  case type_root::character:
  case type_root::varchar:
  case type_root::binary:
  case type_root::varbinary:
    return physical_type::string;
  case type_root::timestamp:
  case type_root::timestamp_ltz:
    return precision_ <= 3 ? physical_type::int64 : physical_type::timestamp_nanos;
  case type_root::array:
    return physical_type::list;
  case type_root::map:
  case type_root::multiset:
    return physical_type::map;
  case type_root::row:
    return physical_type::row;
  case type_root::null:
    break;
  }
  return physical_type::none;
}

int logical_type::width_bytes() const {
  switch (physical()) {
  case physical_type::boolean:
  case physical_type::int8:
    return 1;
  case physical_type::int16:
    return 2;
  case physical_type::int32:
  case physical_type::float32:
    return 4;
  case physical_type::int64:
  case physical_type::float64:
    return 8;
  case physical_type::int128:
  case physical_type::timestamp_nanos:
  case physical_type::string:
    return 16;
  default:
    return 0;
  }
}

std::size_t logical_type::child_count() const {
  return root_ == type_root::multiset ? 1 : storage_child_count();
}
const logical_type& logical_type::child(std::size_t index) const {
  HEADRACE_ASSERT(index < child_count(), "child index out of range");
  return (*fields_)[index].type;
}
std::size_t logical_type::storage_child_count() const { return fields_ ? fields_->size() : 0; }
const logical_type& logical_type::storage_child(std::size_t index) const {
  HEADRACE_ASSERT(index < storage_child_count(), "child index out of range");
  return (*fields_)[index].type;
}

const std::vector<logical_type::field>& logical_type::fields() const {
  return root_ == type_root::row && fields_ ? *fields_ : no_fields();
}

int logical_type::field_index(std::string_view name) const {
  const auto& all = fields();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].name == name)
      return static_cast<int>(i);
  return -1;
}

std::string logical_type::to_sql() const {
  const auto sized = [this](const char* word) {
    return std::string(word) + "(" + std::to_string(precision_) + ")";
  };
  std::string out;
  switch (root_) {
  case type_root::boolean:
    out = "BOOLEAN";
    break;
  case type_root::tinyint:
    out = "TINYINT";
    break;
  case type_root::smallint:
    out = "SMALLINT";
    break;
  case type_root::integer:
    out = "INT";
    break;
  case type_root::bigint:
    out = "BIGINT";
    break;
  case type_root::float_:
    out = "FLOAT";
    break;
  case type_root::double_:
    out = "DOUBLE";
    break;
  case type_root::decimal:
    out = "DECIMAL(" + std::to_string(precision_) + ", " + std::to_string(scale_) + ")";
    break;
  case type_root::character:
    out = sized("CHAR");
    break;
  case type_root::varchar:
    out = precision_ == length_max ? "STRING" : sized("VARCHAR");
    break;
  case type_root::binary:
    out = sized("BINARY");
    break;
  case type_root::varbinary:
    out = precision_ == length_max ? "BYTES" : sized("VARBINARY");
    break;
  case type_root::date:
    out = "DATE";
    break;
  case type_root::time:
    out = sized("TIME");
    break;
  case type_root::timestamp:
    out = sized("TIMESTAMP");
    break;
  case type_root::timestamp_ltz:
    out = sized("TIMESTAMP_LTZ");
    break;
  case type_root::interval_year_month:
    out = "INTERVAL YEAR(2) TO MONTH";
    break;
  case type_root::interval_day_time:
    out = "INTERVAL DAY(2) TO SECOND(3)";
    break;
  case type_root::array:
  case type_root::map:
  case type_root::multiset:
  case type_root::row:
    out = nested_to_sql();
    break;
  case type_root::null:
    return "NULL";
  }
  return nullable_ ? out : out + " NOT NULL";
}

std::string logical_type::nested_to_sql() const {
  std::string out = root_ == type_root::array      ? "ARRAY<"
                    : root_ == type_root::map      ? "MAP<"
                    : root_ == type_root::multiset ? "MULTISET<"
                                                   : "ROW<";
  for (std::size_t i = 0; i < child_count(); ++i) {
    const auto& each = (*fields_)[i];
    if (i > 0)
      out += ", ";
    if (root_ == type_root::row)
      out += quoted(each.name, '`') + " ";
    out += each.type.to_sql();
    if (!each.comment.empty())
      out += " " + quoted(each.comment, '\'');
  }
  return out + ">";
}

// root u8, nullable u8, precision and scale where the root has them, the number of fields for rows,
// then each child: name and comment for rows, type.
void logical_type::encode(byte_writer& out) const {
  out.put(root_);
  out.put(static_cast<std::uint8_t>(nullable_ ? 1 : 0));
  if (has_precision(root_)) {
    out.put_varint(static_cast<std::uint64_t>(precision_));
    out.put_varint(static_cast<std::uint64_t>(scale_));
  }
  if (root_ == type_root::row)
    out.put_varint(child_count());
  for (std::size_t i = 0; i < child_count(); ++i) {
    const auto& each = (*fields_)[i];
    if (root_ == type_root::row) {
      out.put_bytes(each.name);
      out.put_bytes(each.comment);
    }
    each.type.encode(out);
  }
}

result<logical_type> logical_type::decode(byte_reader& in) { return decode(in, 0); }

result<logical_type> logical_type::decode(byte_reader& in, int depth) {
  if (depth > nesting_max)
    return error(errc::malformed_message,
                 "type nested too deep: more than " + std::to_string(nesting_max));
  HEADRACE_TRY(const auto root_number, in.get<std::uint8_t>());
  HEADRACE_TRY(const auto nullable, in.get<std::uint8_t>());
  if (root_number < 1 || root_number > static_cast<std::uint8_t>(type_root::null) || nullable > 1)
    return error(errc::malformed_message, "unknown type: " + std::to_string(root_number));
  const auto root = static_cast<type_root>(root_number);
  logical_type out;
  if (has_precision(root)) {
    HEADRACE_TRY(const auto precision, in.get_varint());
    HEADRACE_TRY(const auto scale, in.get_varint());
    if (!is_precision_legal(root, precision, scale))
      return error(errc::malformed_message,
                   "precision or scale out of range: " + std::to_string(precision) + ", " +
                       std::to_string(scale));
    out = of(root, static_cast<int>(precision), static_cast<int>(scale));
  } else if (root == type_root::row) {
    HEADRACE_TRY(const auto count, in.get_varint());
    if (count > in.remaining() / 4) // name, comment, root and nullable take 4 bytes
      return error(errc::malformed_message, "too many fields: " + std::to_string(count));
    std::vector<field> fields(static_cast<std::size_t>(count));
    for (auto& each : fields) {
      HEADRACE_TRY(each.name, in.get_bytes());
      HEADRACE_TRY(each.comment, in.get_bytes());
      HEADRACE_TRY(each.type, decode(in, depth + 1));
    }
    out = row(std::move(fields));
  } else if (written_children(root) > 0) {
    HEADRACE_TRY(auto first, decode(in, depth + 1));
    if (root == type_root::map) {
      HEADRACE_TRY(auto second, decode(in, depth + 1));
      out = map(std::move(first), std::move(second));
    } else {
      out = root == type_root::array ? array(std::move(first)) : multiset(std::move(first));
    }
  } else {
    out = of(root);
  }
  out.nullable_ = nullable == 1;
  return out;
}

bool operator==(const logical_type& left, const logical_type& right) {
  if (left.root_ != right.root_ || left.nullable_ != right.nullable_ ||
      left.precision_ != right.precision_ || left.scale_ != right.scale_)
    return false;
  if (left.fields_ == right.fields_)
    return true;
  return left.fields_ && right.fields_ && *left.fields_ == *right.fields_;
}

} // namespace headrace::graph
