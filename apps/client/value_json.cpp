#include "apps/client/value_json.hpp"

#include "libtask/format/scalar_text.hpp"

#include <algorithm>
#include <cstring>
#include <variant>

namespace headrace::client {
namespace {

using graph::logical_type;
using graph::physical_type;
using graph::type_root;
using json = nlohmann::ordered_json;

/// A number of up to 38 digits, with a point.
std::string decimal_text(graph::int128 value, int scale) {
  const bool is_negative = value < 0;
  std::string digits;
  do {
    const auto digit = static_cast<int>(value % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    value /= 10;
  } while (value != 0);
  while (digits.size() <= static_cast<std::size_t>(scale))
    digits += '0';
  std::reverse(digits.begin(), digits.end());
  if (scale > 0)
    digits.insert(digits.size() - static_cast<std::size_t>(scale), ".");
  return (is_negative ? "-" : "") + digits;
}

bool is_binary(const logical_type& type) {
  return type.root() == type_root::binary || type.root() == type_root::varbinary;
}

json text_json(byte_view text, const logical_type& type) {
  return is_binary(type) ? json(hex_of(text)) : json(std::string(text));
}

/// Of a fixed-width value in memory.
json scalar_json(const char* at, const logical_type& type) {
  const auto load = [at]<class T>(T out) {
    std::memcpy(&out, at, sizeof(T));
    return out;
  };
  switch (type.physical()) {
  case physical_type::boolean:
    return load(std::uint8_t{}) != 0;
  case physical_type::int8:
    return load(std::int8_t{});
  case physical_type::int16:
    return load(std::int16_t{});
  case physical_type::int32:
    return load(std::int32_t{});
  case physical_type::int64:
    return load(std::int64_t{});
  case physical_type::float32:
    return load(float{});
  case physical_type::float64:
    return load(double{});
  case physical_type::int128:
  case physical_type::timestamp_nanos:
    return decimal_text(load(graph::int128{}), type.scale());
  default:
    return nullptr;
  }
}

result<json> decode(byte_reader& in, const logical_type& type) {
  if (type.is_nullable()) {
    HEADRACE_TRY(const auto is_there, in.get<std::uint8_t>());
    if (is_there == 0)
      return json(nullptr);
  }
  switch (type.physical()) {
  case physical_type::none:
    return json(nullptr);
  case physical_type::string: {
    HEADRACE_TRY(const auto text, in.get_bytes());
    return text_json(text, type);
  }
  case physical_type::row: {
    json out = json::object();
    for (const auto& field : type.fields()) {
      HEADRACE_TRY(out[field.name], decode(in, field.type));
    }
    return out;
  }
  case physical_type::list:
  case physical_type::map: {
    HEADRACE_TRY(const auto count, in.get_varint());
    if (count > in.remaining())
      return error(errc::malformed_message, "impossible number of elements");
    json out = json::array();
    for (std::uint64_t i = 0; i < count; ++i) {
      HEADRACE_TRY(auto first, decode(in, type.storage_child(0)));
      if (type.physical() == physical_type::list) {
        out.push_back(std::move(first));
        continue;
      }
      HEADRACE_TRY(auto second, decode(in, type.storage_child(1)));
      out.push_back(json::array({std::move(first), std::move(second)}));
    }
    return out;
  }
  default: {
    HEADRACE_TRY(const auto raw, in.get_raw(static_cast<std::size_t>(type.width_bytes())));
    return scalar_json(raw.data(), type);
  }
  }
}

json column_json(const graph::column& in, std::size_t row);

/// The values of an array, or the pairs of a map.
json entries_json(const graph::column& in, std::size_t row) {
  json out = json::array();
  const auto* offsets = in.values<std::int32_t>();
  for (auto i = offsets[row]; i < offsets[row + 1]; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (in.type().physical() == physical_type::list)
      out.push_back(column_json(in.child(0), at));
    else
      out.push_back(json::array({column_json(in.child(0), at), column_json(in.child(1), at)}));
  }
  return out;
}

/// Numbers and booleans as they are, all else as one text.
json column_json(const graph::column& in, std::size_t row) {
  const auto& type = in.type();
  if (in.is_null(row))
    return nullptr;
  switch (type.root()) {
  case type_root::date:
  case type_root::time:
  case type_root::timestamp:
  case type_root::timestamp_ltz: {
    std::string text;
    task::write_scalar(in, row, task::timestamp_style::iso_8601, text);
    return text;
  }
  default:
    break;
  }
  switch (type.physical()) {
  case physical_type::none:
    return nullptr;
  case physical_type::string:
    return text_json(in.string_at(row), type);
  case physical_type::list:
  case physical_type::map:
    return entries_json(in, row);
  case physical_type::row: {
    json out = json::object();
    for (std::size_t i = 0; i < type.fields().size(); ++i)
      out[type.fields()[i].name] = column_json(in.child(i), row);
    return out;
  }
  default:
    return scalar_json(in.values<char>() + row * static_cast<std::size_t>(type.width_bytes()),
                       type);
  }
}

json content_json(std::monostate /*none*/) { return nullptr; }
json content_json(bool flag) { return flag; }
json content_json(std::int64_t number) { return number; }
json content_json(const std::string& text) { return text; }
json content_json(const task::stored_value::raw& raw) { return hex_of(raw.bytes); }
json content_json(const task::stored_value::cell& cell) {
  return column_json(*cell.column, cell.row);
}
json content_json(const task::stored_value::list& list) {
  json out = json::array();
  for (const auto& each : list)
    out.push_back(stored_json(each));
  return out;
}
json content_json(const task::stored_value::object& object) {
  json out = json::object();
  for (const auto& [name, value] : object)
    out[name] = stored_json(value);
  return out;
}

} // namespace

std::string hex_of(byte_view bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "0x";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
  return out;
}

json value_json(byte_view encoded, const logical_type& type) {
  byte_reader in(encoded);
  auto decoded = decode(in, type);
  return decoded && in.at_end() ? *std::move(decoded) : json(hex_of(encoded));
}

json elements_json(byte_view encoded, const logical_type& type, bool has_stamps) {
  json out = json::array();
  byte_reader in(encoded);
  while (!in.at_end()) {
    if (has_stamps && !in.get<std::int64_t>())
      return hex_of(encoded);
    const auto element = in.get_bytes();
    if (!element)
      return hex_of(encoded);
    out.push_back(value_json(*element, type));
  }
  return out;
}

json times_json(byte_view encoded) {
  json out = json::array();
  byte_reader in(encoded);
  while (in.remaining() >= sizeof(std::int64_t))
    out.push_back(*in.get<std::int64_t>());
  return out;
}

json stored_json(const task::stored_value& value) {
  return std::visit([](const auto& content) { return content_json(content); }, value.content);
}

json row_json(const graph::record_batch& rows, std::size_t row) {
  json out = json::object();
  const auto& fields = rows.type()->fields();
  for (std::size_t i = 0; i < fields.size(); ++i)
    out[fields[i].name] = column_json(rows.at(i), row);
  return out;
}

} // namespace headrace::client
