#include "libgraph/sql/bind/type_rules.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

constexpr int precision_max = 38;
constexpr int fraction_min = 6; ///< what is kept behind the point when digits run out

struct digits {
  int precision = 0;
  int scale = 0;
};

/// The digits of an exact number.
digits digits_of(const logical_type& type) {
  switch (type.root()) {
  case type_root::tinyint:
    return {3, 0};
  case type_root::smallint:
    return {5, 0};
  case type_root::integer:
    return {10, 0};
  case type_root::bigint:
    return {19, 0};
  default:
    return {type.precision(), type.scale()};
  }
}

logical_type bounded_decimal(int precision, int scale) {
  if (precision > precision_max) {
    const int whole = precision - scale;
    scale = std::max(precision_max - whole, std::min(scale, fraction_min));
    precision = precision_max;
  }
  return logical_type::decimal(precision, scale);
}

logical_type decimal_result(operator_kind kind, digits left, digits right) {
  const int whole_left = left.precision - left.scale;
  const int whole_right = right.precision - right.scale;
  const int scale = std::max(left.scale, right.scale);
  switch (kind) {
  case operator_kind::times:
    return bounded_decimal(left.precision + right.precision + 1, left.scale + right.scale);
  case operator_kind::divide: {
    const int quotient = std::max(fraction_min, left.scale + right.precision + 1);
    return bounded_decimal(whole_left + right.scale + quotient, quotient);
  }
  case operator_kind::modulo:
    return bounded_decimal(std::max(std::min(whole_left, whole_right) + scale, 1), scale);
  default:
    return bounded_decimal(std::max(whole_left, whole_right) + scale + 1, scale);
  }
}

logical_type with_null(logical_type type, bool is_nullable) {
  return is_nullable ? type.nullable() : type.not_null();
}

std::optional<logical_type> common_number(const logical_type& left, const logical_type& right) {
  const auto is_approximate = [](const logical_type& type) {
    return type.root() == type_root::float_ || type.root() == type_root::double_;
  };
  const auto is_decimal = [](const logical_type& type) {
    return type.root() == type_root::decimal;
  };
  if (is_approximate(left) || is_approximate(right)) {
    const bool is_single = left.root() != type_root::double_ &&
                           right.root() != type_root::double_ && !is_decimal(left) &&
                           !is_decimal(right);
    return is_single ? logical_type::float32() : logical_type::float64();
  }
  if (is_decimal(left) || is_decimal(right)) {
    const auto one = digits_of(left);
    const auto other = digits_of(right);
    const int scale = std::max(one.scale, other.scale);
    return bounded_decimal(
        std::max(one.precision - one.scale, other.precision - other.scale) + scale, scale);
  }
  return left.root() < right.root() ? right : left;
}

/// Of two types that are not NULL, nullability apart.
std::optional<logical_type> common_pair(const logical_type& left, const logical_type& right) {
  const auto one = left.root();
  const auto other = right.root();
  if (is_same_but_null(left, right))
    return left;
  if (is_numeric(one) && is_numeric(other))
    return common_number(left, right);
  if (is_character(one) && is_character(other))
    return logical_type::varchar(std::max(left.precision(), right.precision()));
  if (is_binary(one) && is_binary(other))
    return logical_type::varbinary(std::max(left.precision(), right.precision()));
  if (is_timestamp(one) && is_timestamp(other)) {
    const int precision = std::max(left.precision(), right.precision());
    return one == type_root::timestamp_ltz || other == type_root::timestamp_ltz
               ? logical_type::timestamp_ltz(precision)
               : logical_type::timestamp(precision);
  }
  if (one == type_root::date && is_timestamp(other))
    return right;
  if (other == type_root::date && is_timestamp(one))
    return left;
  if (one == type_root::time && other == type_root::time)
    return logical_type::time(std::max(left.precision(), right.precision()));
  if (one != other || left.child_count() != right.child_count() || left.child_count() == 0)
    return std::nullopt;
  std::vector<logical_type> children;
  for (std::size_t i = 0; i < left.child_count(); ++i) {
    const logical_type both[] = {left.child(i), right.child(i)};
    auto child = common_type(both);
    if (!child)
      return std::nullopt;
    children.push_back(std::move(*child));
  }
  switch (one) {
  case type_root::array:
    return logical_type::array(std::move(children[0]));
  case type_root::multiset:
    return logical_type::multiset(std::move(children[0]));
  case type_root::map:
    return logical_type::map(std::move(children[0]), std::move(children[1]));
  default: {
    auto fields = left.fields();
    for (std::size_t i = 0; i < fields.size(); ++i)
      fields[i].type = std::move(children[i]);
    return logical_type::row(std::move(fields));
  }
  }
}

class type_resolver {
public:
  explicit type_resolver(std::vector<diagnostic>& findings) : findings_(findings) {}

  std::optional<logical_type> resolve(const type_name& written) {
    auto out = resolve_base(written);
    if (out && written.is_not_null)
      return out->not_null();
    return out;
  }

private:
  std::optional<logical_type> fail(const type_name& at, std::string message,
                                   diagnostic_kind kind = diagnostic_kind::invalid) {
    findings_.push_back({kind, std::move(message), at.at});
    return std::nullopt;
  }

  /// The number in parentheses, or what holds without one.
  std::optional<int> number(const type_name& from, int usual, int least, int most,
                            std::string_view what) {
    const auto given = from.precision ? static_cast<int>(*from.precision) : usual;
    if (given >= least && given <= most)
      return given;
    fail(from, std::string(what) + " is out of range: " + std::to_string(given) + ", allowed are " +
                   std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
  }

  std::optional<logical_type> resolve_base(const type_name& from) {
    constexpr int length_max = 0x7FFFFFFF;
    switch (from.word) {
    case type_word::boolean:
      return logical_type::boolean();
    case type_word::tinyint:
      return logical_type::tinyint();
    case type_word::smallint:
      return logical_type::smallint();
    case type_word::integer:
      return logical_type::integer();
    case type_word::bigint:
      return logical_type::bigint();
    case type_word::float_:
      return logical_type::float32();
    case type_word::double_:
      return logical_type::float64();
    case type_word::decimal: {
      const auto precision = number(from, 10, 1, precision_max, "precision of DECIMAL");
      if (!precision)
        return std::nullopt;
      const int scale = from.scale ? static_cast<int>(*from.scale) : 0;
      if (scale > *precision)
        return fail(from, "scale of DECIMAL is larger than its precision: " +
                              std::to_string(scale) + " and " + std::to_string(*precision));
      return logical_type::decimal(*precision, scale);
    }
    case type_word::character:
      return sized(from, 1, length_max, "length of CHAR", logical_type::character);
    case type_word::varchar:
      return sized(from, length_max, length_max, "length of VARCHAR", logical_type::varchar);
    case type_word::string:
      return logical_type::string();
    case type_word::binary:
      return sized(from, 1, length_max, "length of BINARY", logical_type::binary);
    case type_word::varbinary:
      return sized(from, length_max, length_max, "length of VARBINARY", logical_type::varbinary);
    case type_word::bytes:
      return logical_type::bytes();
    case type_word::date:
      return logical_type::date();
    case type_word::time:
      return timed(from, 0, "precision of TIME", logical_type::time);
    case type_word::timestamp:
      return timed(from, 6, "precision of TIMESTAMP", logical_type::timestamp);
    case type_word::timestamp_ltz:
      return timed(from, 6, "precision of TIMESTAMP_LTZ", logical_type::timestamp_ltz);
    case type_word::interval:
      return from.interval && from.interval->from <= interval_unit::month
                 ? logical_type::interval_year_month()
                 : logical_type::interval_day_time();
    case type_word::array:
    case type_word::map:
    case type_word::multiset:
    case type_word::row:
      return resolve_nested(from);
    case type_word::null:
      return logical_type::null();
    case type_word::timestamp_tz:
      return fail(from, "TIMESTAMP WITH TIME ZONE is not supported, TIMESTAMP_LTZ is",
                  diagnostic_kind::unsupported);
    default:
      return fail(from, "type is not supported", diagnostic_kind::unsupported);
    }
  }

  std::optional<logical_type> sized(const type_name& from, int usual, int most,
                                    std::string_view what, logical_type (*make)(int)) {
    const auto length = number(from, usual, 1, most, what);
    return length ? std::optional(make(*length)) : std::nullopt;
  }
  std::optional<logical_type> timed(const type_name& from, int usual, std::string_view what,
                                    logical_type (*make)(int)) {
    constexpr int nanoseconds = 9;
    const auto precision = number(from, usual, 0, nanoseconds, what);
    return precision ? std::optional(make(*precision)) : std::nullopt;
  }

  std::optional<logical_type> resolve_nested(const type_name& from) {
    std::vector<logical_type::field> fields;
    bool is_sound = true;
    for (const auto& each : from.children) {
      auto type = resolve(each.type);
      auto label = each.label ? each.label->text : std::string();
      if (each.label && std::any_of(fields.begin(), fields.end(),
                                    [&](const auto& other) { return other.name == label; })) {
        findings_.push_back(
            {diagnostic_kind::duplicate_name, "field is there twice: " + label, each.label->at});
        is_sound = false;
      }
      if (!type)
        is_sound = false;
      else
        fields.push_back({std::move(label), std::move(*type), each.comment.value_or("")});
    }
    if (!is_sound)
      return std::nullopt;
    switch (from.word) {
    case type_word::array:
      return logical_type::array(std::move(fields[0].type));
    case type_word::multiset:
      return logical_type::multiset(std::move(fields[0].type));
    case type_word::map:
      return logical_type::map(std::move(fields[0].type), std::move(fields[1].type));
    default:
      return logical_type::row(std::move(fields));
    }
  }

  std::vector<diagnostic>& findings_;
};

} // namespace

bool is_exact_integer(type_root root) {
  return root >= type_root::tinyint && root <= type_root::bigint;
}
bool is_numeric(type_root root) { return root >= type_root::tinyint && root <= type_root::decimal; }
bool is_character(type_root root) {
  return root == type_root::character || root == type_root::varchar;
}
bool is_binary(type_root root) { return root == type_root::binary || root == type_root::varbinary; }
bool is_timestamp(type_root root) {
  return root == type_root::timestamp || root == type_root::timestamp_ltz;
}
bool is_interval(type_root root) {
  return root == type_root::interval_year_month || root == type_root::interval_day_time;
}

std::optional<logical_type> resolve_type(const type_name& written,
                                         std::vector<diagnostic>& findings) {
  return type_resolver(findings).resolve(written);
}

bool is_same_but_null(const logical_type& left, const logical_type& right) {
  return left.nullable() == right.nullable();
}

std::optional<logical_type> common_type(std::span<const logical_type> types) {
  std::optional<logical_type> out;
  bool is_nullable = false;
  for (const auto& each : types) {
    is_nullable |= each.is_nullable();
    if (each.root() == type_root::null)
      continue;
    out = out ? common_pair(*out, each) : each;
    if (!out)
      return std::nullopt;
  }
  return with_null(out.value_or(logical_type::null()), is_nullable);
}

bool holds_digits(const logical_type& decimal, const logical_type& of) {
  if (of.root() == type_root::null)
    return true;
  const auto digits = digits_of(of);
  return digits.scale <= decimal.scale() &&
         digits.precision - digits.scale <= decimal.precision() - decimal.scale();
}

logical_type decimal_of(const logical_type& integer) {
  return logical_type::decimal(digits_of(integer).precision, 0);
}

std::optional<logical_type> arithmetic_type(operator_kind kind, const logical_type& left,
                                            const logical_type& right) {
  const bool is_nullable = left.is_nullable() || right.is_nullable();
  const auto one = left.root();
  const auto other = right.root();
  const bool is_sum = kind == operator_kind::plus || kind == operator_kind::minus;
  if (one == type_root::null || other == type_root::null)
    return (one == type_root::null ? right : left).nullable();
  if (is_numeric(one) && is_numeric(other)) {
    const bool is_approximate = one == type_root::float_ || one == type_root::double_ ||
                                other == type_root::float_ || other == type_root::double_;
    if (!is_approximate && (one == type_root::decimal || other == type_root::decimal))
      return with_null(decimal_result(kind, digits_of(left), digits_of(right)), is_nullable);
    // A remainder is as small as what was divided by.
    if (kind == operator_kind::modulo)
      return with_null(right, is_nullable);
    // Of the two approximate types Flink takes the first one's.
    if (one == type_root::float_ && other == type_root::double_)
      return with_null(left, is_nullable);
    return with_null(*common_number(left, right), is_nullable);
  }
  const auto is_time = [](type_root root) {
    return is_timestamp(root) || root == type_root::date || root == type_root::time;
  };
  if (is_sum && is_time(one) && is_interval(other))
    return with_null(left, is_nullable);
  if (kind == operator_kind::plus && is_interval(one) && is_time(other))
    return with_null(right, is_nullable);
  if (is_sum && is_interval(one) && one == other)
    return with_null(left, is_nullable);
  if (kind == operator_kind::times && is_interval(one) && is_numeric(other))
    return with_null(left, is_nullable);
  if (kind == operator_kind::times && is_numeric(one) && is_interval(other))
    return with_null(right, is_nullable);
  if (kind == operator_kind::divide && is_interval(one) && is_numeric(other))
    return with_null(left, is_nullable);
  return std::nullopt;
}

bool is_comparable(const logical_type& left, const logical_type& right) {
  const logical_type both[] = {left, right};
  if (common_type(both))
    return true;
  // A text is read as a time where it meets one.
  const auto reads = [](const logical_type& text, const logical_type& time) {
    return is_character(text.root()) &&
           (is_timestamp(time.root()) || time.root() == type_root::date ||
            time.root() == type_root::time);
  };
  return reads(left, right) || reads(right, left);
}

bool is_implicitly_castable(const logical_type& from, const logical_type& to) {
  const auto one = from.root();
  const auto other = to.root();
  if (one == type_root::null || is_same_but_null(from, to))
    return true;
  if (is_exact_integer(one) && is_exact_integer(other))
    return one <= other;
  if (is_numeric(one) && is_numeric(other))
    return other == type_root::double_ || other == type_root::decimal ||
           (other == type_root::float_ && one != type_root::double_);
  if ((is_character(one) && is_character(other)) || (is_binary(one) && is_binary(other)) ||
      (is_timestamp(one) && is_timestamp(other)))
    return true;
  if (is_timestamp(one) && (other == type_root::date || other == type_root::time))
    return true;
  if (one != other || from.child_count() != to.child_count())
    return false;
  for (std::size_t i = 0; i < from.child_count(); ++i)
    if (!is_implicitly_castable(from.child(i), to.child(i)))
      return false;
  return true;
}

bool is_castable(const logical_type& from, const logical_type& to) {
  const auto one = from.root();
  const auto other = to.root();
  if (one == type_root::null || is_same_but_null(from, to) || is_character(other))
    return other != type_root::null || one == type_root::null;
  const auto is_number_or_flag = [](type_root root) {
    return is_numeric(root) || root == type_root::boolean;
  };
  const auto is_date_or_time = [](type_root root) {
    return is_timestamp(root) || root == type_root::date || root == type_root::time;
  };
  if (is_character(one))
    return is_number_or_flag(other) || is_binary(other) || is_date_or_time(other);
  if (is_number_or_flag(one) && is_number_or_flag(other))
    return true;
  if (is_binary(one) && is_binary(other))
    return true;
  if (is_date_or_time(one) && is_date_or_time(other))
    return !(one == type_root::date && other == type_root::time) &&
           !(one == type_root::time && other == type_root::date);
  // An interval of one unit is a number of them.
  if ((is_interval(one) && is_exact_integer(other)) ||
      (is_exact_integer(one) && is_interval(other)))
    return true;
  if (is_interval(one) && one == other)
    return true;
  if (one != other || from.child_count() != to.child_count())
    return false;
  for (std::size_t i = 0; i < from.child_count(); ++i)
    if (!is_castable(from.child(i), to.child(i)))
      return false;
  return true;
}

} // namespace headrace::sql
