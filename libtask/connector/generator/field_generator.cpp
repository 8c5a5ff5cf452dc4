#include "libtask/connector/generator/field_generator.hpp"

#include "libgraph/connector/option_set.hpp"
#include "libgraph/types/value_text.hpp"
#include "libactors/base/ids.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace headrace::task {
namespace {

using graph::int128;
using graph::logical_type;
using graph::type_root;

constexpr std::string_view field_prefix = "fields.#.";
constexpr std::array of_fields{
    option_declaration{"fields.#.kind", option_type::text, "random", "how values come about",
                       std::nullopt, std::nullopt, "random|sequence"},
    option_declaration{"fields.#.start", option_type::integer, "", "first value of the sequence"},
    option_declaration{"fields.#.end", option_type::integer, "",
                       "last value of the sequence, which ends the source"},
    option_declaration{"fields.#.min", option_type::real, "",
                       "least random number; the type's by default"},
    option_declaration{"fields.#.max", option_type::real, "",
                       "greatest random number; the type's by default"},
    option_declaration{"fields.#.length", option_type::integer, "100", "letters of random text", 0,
                       1 << 20},
    option_declaration{"fields.#.var-len", option_type::boolean, "false",
                       "whether texts have a random length up to that"},
    option_declaration{"fields.#.max-past", option_type::duration, "0",
                       "random timestamps lie so far back at most", 0},
    option_declaration{"fields.#.null-rate", option_type::real, "0", "share of NULLs", 0, 1},
};

/// The same by the names behind "fields.#.".
std::span<const option_declaration> without_prefix() {
  static const auto stripped = [] {
    auto out = of_fields;
    for (auto& each : out)
      each.key.remove_prefix(field_prefix.size());
    return out;
  }();
  return stripped;
}

/// Range of whole numbers that the type holds.
std::pair<std::int64_t, std::int64_t> range_of(const logical_type& type) {
  const auto of = []<class T>(T) {
    return std::pair<std::int64_t, std::int64_t>(std::numeric_limits<T>::min(),
                                                 std::numeric_limits<T>::max());
  };
  switch (type.root()) {
  case type_root::tinyint:
    return of(std::int8_t{});
  case type_root::smallint:
    return of(std::int16_t{});
  case type_root::integer:
    return of(std::int32_t{});
  case type_root::boolean:
    return {0, 1};
  case type_root::time:
    return {0, 86'399'999};
  case type_root::date:
    return {0, 36'523}; // up to the end of 2069
  case type_root::interval_year_month:
    return {0, 1200};
  case type_root::decimal: {
    std::int64_t most = 1;
    for (int i = 0; i < std::min(type.precision(), 18); ++i)
      most *= 10;
    return {1 - most, most - 1};
  }
  default:
    return of(std::int64_t{});
  }
}

/// A number of [least, most] from random bits.
std::int64_t within(std::int64_t least, std::int64_t most, std::uint64_t dice) {
  const auto span = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
  const auto step = span == 0 ? dice : dice % span;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + step);
}

double unit(std::uint64_t dice) { return static_cast<double>(dice >> 11U) * 0x1p-53; }

bool is_whole(const logical_type& type) {
  switch (type.root()) {
  case type_root::tinyint:
  case type_root::smallint:
  case type_root::integer:
  case type_root::bigint:
  case type_root::boolean:
  case type_root::date:
  case type_root::time:
  case type_root::decimal:
  case type_root::interval_year_month:
  case type_root::interval_day_time:
    return true;
  default:
    return false;
  }
}

void append_whole(const logical_type& type, std::int64_t value, graph::column_builder& out) {
  switch (type.physical()) {
  case graph::physical_type::boolean:
    return out.append(static_cast<std::uint8_t>(value & 1));
  case graph::physical_type::int8:
    return out.append(static_cast<std::int8_t>(value));
  case graph::physical_type::int16:
    return out.append(static_cast<std::int16_t>(value));
  case graph::physical_type::int32:
    return out.append(static_cast<std::int32_t>(value));
  case graph::physical_type::int128:
    return out.append(int128{value});
  default:
    return out.append(value);
  }
}

/// Hexadecimal letters.
std::string random_text(std::uint64_t length, std::uint64_t dice) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out(length, '\0');
  std::uint64_t bits = dice;
  for (std::uint64_t i = 0; i < length; ++i) {
    if (i % 16 == 0)
      bits = mix64(dice + i + 1);
    out[i] = digits[bits & 15U];
    bits >>= 4U;
  }
  return out;
}

/// Fields have options of their own; the row may be NULL.
result<field_generator> parse_row(const logical_type::field& field,
                                  const graph::option_map& options) {
  auto of_children = options;
  graph::option_map own;
  if (auto rate = of_children.extract("null-rate"); !rate.empty())
    own.insert(std::move(rate));
  HEADRACE_TRY(const auto set,
               graph::option_set::parse("field `" + field.name + "` of source 'generator'",
                                        without_prefix(), own));
  HEADRACE_TRY(auto sorted, options_by_field(of_children, field.type));
  field_generator out;
  out.null_rate = field.type.is_nullable() ? set.get_real("null-rate") : 0;
  for (const auto& each : field.type.fields()) {
    HEADRACE_TRY(auto child, field_generator::parse(each, sorted[each.name]));
    out.children.push_back(std::move(child));
  }
  return out;
}

error bad_range(const logical_type::field& field, const std::string& what) {
  return {errc::bad_option_value,
          "bad options of field `" + field.name + "` of source 'generator': " + what};
}

/// A number that an option gives, as the type's whole number: of decimals without the point.
/// @errors bad_option_value  none of the type, or none that is generated
result<std::int64_t> whole_number(const logical_type::field& field, const std::string& key,
                                  const std::string& text) {
  const auto& type = field.type;
  const int scale = type.root() == type_root::decimal ? type.scale() : 0;
  const auto [least, most] = range_of(type);
  const auto shown = [&, scale](std::int64_t value) {
    std::string out;
    graph::append_decimal(value, scale, out);
    return out;
  };
  const auto value = graph::parse_decimal(text, 38, scale);
  if (value && *value >= least && *value <= most)
    return static_cast<std::int64_t>(*value);
  return bad_range(field, "'" + key + "' is '" + text + "', values of " + type.nullable().to_sql() +
                              " are made from " + shown(least) + " to " + shown(most));
}

/// What bounds random numbers and sequences.
status parse_bounds(const logical_type::field& field, const graph::option_set& set,
                    field_generator& out) {
  const auto& type = field.type;
  const auto [least, most] = range_of(type);
  out.least_integer = least;
  out.most_integer = most;
  out.least = 0;
  out.most = 1;
  const bool is_real = type.root() == type_root::float_ || type.root() == type_root::double_;
  for (const std::string key : {"min", "max"}) {
    if (!set.has(key))
      continue;
    if (is_whole(type)) {
      HEADRACE_TRY((key == "min" ? out.least_integer : out.most_integer),
                   whole_number(field, key, set.get_text(key)));
      continue;
    }
    if (!is_real)
      return bad_range(field, "'" + key + "' is of numbers, not of " + type.nullable().to_sql());
    const auto value = set.get_real(key);
    const double end = type.root() == type_root::float_ ? std::numeric_limits<float>::max()
                                                        : std::numeric_limits<double>::max();
    if (!(std::abs(value) <= end))
      return bad_range(field, "'" + key + "' is '" + set.get_text(key) + "', which is no " +
                                  type.nullable().to_sql());
    (key == "min" ? out.least : out.most) = value;
  }
  if (out.least_integer > out.most_integer || out.least > out.most)
    return bad_range(field, "'min' is greater than 'max'");
  if (!out.is_sequence)
    return {};
  const bool is_text = type.physical() == graph::physical_type::string;
  if (!is_whole(type) && !is_text)
    return bad_range(field, "a sequence needs a whole number or a text, not " + type.to_sql());
  const auto place = [&](const std::string& key) -> result<std::int64_t> {
    if (is_text)
      return set.get_int(key);
    return whole_number(field, key, set.get_text(key));
  };
  if (set.has("start")) {
    HEADRACE_TRY(out.start, place("start"));
  }
  if (set.has("end")) {
    HEADRACE_TRY(out.end, place("end"));
  }
  if (out.end && *out.end < out.start)
    return bad_range(field, "'end' is less than 'start'");
  return {};
}

/// A number between both, which may lie so far apart that their distance is none.
double between(double least, double most, double share) {
  const auto distance = most - least;
  return std::isfinite(distance) ? least + distance * share : least * (1 - share) + most * share;
}

} // namespace

std::span<const option_declaration> field_generator::declared() { return of_fields; }

result<std::map<std::string, graph::option_map>> options_by_field(const graph::option_map& options,
                                                                  const logical_type& row) {
  std::map<std::string, graph::option_map> out;
  for (const auto& [key, value] : options) {
    auto dot = key.rfind('.');
    while (dot != std::string::npos && dot > 0 && row.field_index(key.substr(0, dot)) < 0)
      dot = key.rfind('.', dot - 1);
    if (dot == std::string::npos || dot == 0)
      return error(errc::unknown_option, "unknown option of source 'generator': 'fields." + key +
                                             "', there is no field `" +
                                             key.substr(0, key.rfind('.')) + "`");
    out[key.substr(0, dot)].emplace(key.substr(dot + 1), value);
  }
  return out;
}

result<field_generator> field_generator::parse(const logical_type::field& field,
                                               const graph::option_map& options) {
  const auto& type = field.type;
  if (type.root() == type_root::row)
    return parse_row(field, options);
  HEADRACE_TRY(const auto set,
               graph::option_set::parse("field `" + field.name + "` of source 'generator'",
                                        without_prefix(), options));
  field_generator out;
  const auto physical = type.physical();
  if (physical == graph::physical_type::list || physical == graph::physical_type::map ||
      physical == graph::physical_type::none)
    return error(errc::type_mismatch, "source 'generator' makes scalars and rows of them, not "
                                      "field `" +
                                          field.name + "` " + type.to_sql());
  out.is_sequence = set.get_text("kind") == "sequence";
  HEADRACE_CHECK(parse_bounds(field, set, out));
  out.length = static_cast<std::uint64_t>(set.get_int("length"));
  if (type.root() == type_root::character || type.root() == type_root::varchar ||
      type.root() == type_root::binary || type.root() == type_root::varbinary) {
    const auto most = static_cast<std::uint64_t>(std::max(type.precision(), 0));
    if (options.contains("length") && out.length > most)
      return bad_range(field, "'length' is " + std::to_string(out.length) + ", more than " +
                                  type.nullable().to_sql() + " has");
    out.length = std::min(out.length, most);
  }
  out.varies_length = set.get_bool("var-len");
  out.past_max_ms = set.get_duration("max-past").count();
  out.null_rate = type.is_nullable() ? set.get_real("null-rate") : 0;
  return out;
}

void field_generator::append(const logical_type& type, std::uint64_t index, std::uint64_t dice,
                             std::int64_t now_ms, graph::column_builder& out) const {
  if (null_rate > 0 && unit(mix64(dice ^ 0x6e756c6cU)) < null_rate)
    return out.append_null();
  if (type.root() == type_root::row) {
    for (std::size_t i = 0; i < children.size(); ++i)
      children[i].append(type.child(i), index, mix64(dice ^ mix64(i + 1)), now_ms, out.child(i));
    return out.end_row();
  }
  if (is_sequence) {
    const auto value = static_cast<std::int64_t>(static_cast<std::uint64_t>(start) + index);
    if (type.physical() != graph::physical_type::string)
      return append_whole(type, value, out);
    std::string text;
    graph::append_integer(value, text);
    return out.append_string(text);
  }
  if (is_whole(type))
    return append_whole(type, within(least_integer, most_integer, dice), out);
  switch (type.root()) {
  case type_root::float_:
    return out.append(static_cast<float>(between(least, most, unit(dice))));
  case type_root::double_:
    return out.append(between(least, most, unit(dice)));
  case type_root::timestamp:
  case type_root::timestamp_ltz: {
    const auto time_ms = now_ms - within(0, past_max_ms, dice);
    if (type.precision() <= 3)
      return out.append(time_ms);
    return out.append(int128{time_ms} * 1'000'000);
  }
  default:
    return out.append_string(random_text(
        varies_length
            ? static_cast<std::uint64_t>(within(0, static_cast<std::int64_t>(length), mix64(dice)))
            : length,
        dice));
  }
}

} // namespace headrace::task
