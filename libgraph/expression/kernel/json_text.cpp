#include "libgraph/expression/kernel/function_kernel.hpp"
#include "libgraph/expression/kernel/json_document.hpp"
#include "libgraph/expression/kernel/utf8.hpp"
#include "libgraph/expression/kernel/value_printer.hpp"
#include "libgraph/types/value_text.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

// Texts as JSON and back.
namespace headrace::graph {
namespace {

using text = std::string_view;

constexpr text escaped_letters = "\"\\/\b\f\n\r\t";
constexpr text escapes = "\"\\/bfnrt";

void append_escaped(char32_t unit, std::string& out) {
  constexpr text digits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4)
    out += digits[unit >> static_cast<unsigned>(shift) & 15U];
}

/// What is not ASCII is escaped, too (beyond the first 65,536 code points as two halves), and '/'.
bool quote(text_result& out, text from) {
  std::string quoted;
  append_json_text(from, quoted);
  for (text rest = quoted; !rest.empty();) {
    const auto point = take_point(rest);
    if (point < 0x80) {
      out.text += point == '/' ? "\\" : "";
      out.text += static_cast<char>(point);
    } else if (point < 0x10000) {
      append_escaped(point, out.text);
    } else {
      append_escaped(0xD800 + ((point - 0x10000) >> 10U), out.text);
      append_escaped(0xDC00 + ((point - 0x10000) & 0x3FFU), out.text);
    }
  }
  return true;
}

std::optional<char32_t> take_hex(text& from) {
  if (from.size() < 4)
    return std::nullopt;
  char32_t out = 0;
  for (const char each : from.substr(0, 4)) {
    const auto lower = static_cast<char>(each | 0x20);
    if (each >= '0' && each <= '9')
      out = out * 16 + static_cast<char32_t>(each - '0');
    else if (lower >= 'a' && lower <= 'f')
      out = out * 16 + static_cast<char32_t>(lower - 'a' + 10);
    else
      return std::nullopt;
  }
  from.remove_prefix(4);
  return out;
}

/// Appends what a string literal says; false when it is none.
bool append_unquoted(text inside, std::string& out) {
  while (!inside.empty()) {
    const char letter = inside[0];
    inside.remove_prefix(1);
    if (letter == '"' || static_cast<unsigned char>(letter) < 0x20)
      return false;
    if (letter != '\\') {
      out += letter;
      continue;
    }
    if (inside.empty())
      return false;
    const char escape = inside[0];
    inside.remove_prefix(1);
    if (const auto at = escapes.find(escape); at != text::npos) {
      out += escaped_letters[at];
      continue;
    }
    auto point = escape == 'u' ? take_hex(inside) : std::nullopt;
    if (!point)
      return false;
    // Two halves of one code point.
    if (*point >= 0xD800 && *point < 0xDC00 && inside.starts_with("\\u")) {
      auto behind = inside.substr(2);
      if (const auto low = take_hex(behind); low && *low >= 0xDC00 && *low < 0xE000) {
        point = 0x10000 + ((*point - 0xD800) << 10U) + (*low - 0xDC00);
        inside = behind;
      }
    }
    append_point_utf8(*point, out);
  }
  return true;
}

/// What is no string literal stays as it is.
bool unquote(text_result& out, text from) {
  if (from.size() >= 2 && from.front() == '"' && from.back() == '"' &&
      append_unquoted(from.substr(1, from.size() - 2), out.text))
    return true;
  out.text = from;
  return true;
}

void append_value(const column& values, std::size_t row, const time_zone& zone, std::string& out);

void append_items(const column& values, std::size_t row, const time_zone& zone, std::string& out) {
  const auto* offsets = values.values<std::int32_t>() + row;
  out += '[';
  for (auto i = offsets[0]; i < offsets[1]; ++i) {
    out += i > offsets[0] ? "," : "";
    append_value(values.child(0), static_cast<std::size_t>(i), zone, out);
  }
  out += ']';
}

/// Members by their names; `append(place)` writes the value of one.
template <class Append>
void append_members(std::vector<std::pair<std::string, std::size_t>>& members, std::string& out,
                    Append append) {
  std::stable_sort(members.begin(), members.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  out += '{';
  for (std::size_t i = 0; i < members.size(); ++i) {
    out += i > 0 ? "," : "";
    append_json_text(members[i].first, out);
    out += ':';
    append(members[i].second);
  }
  out += '}';
}

void append_entries(const column& values, std::size_t row, const time_zone& zone,
                    std::string& out) {
  const auto* offsets = values.values<std::int32_t>() + row;
  std::vector<std::pair<std::string, std::size_t>> members;
  for (auto i = offsets[0]; i < offsets[1]; ++i) {
    const auto at = static_cast<std::size_t>(i);
    auto& [key, place] = members.emplace_back();
    place = at;
    if (!values.child(0).is_null(at))
      append_cast_text(values.child(0), at, zone, key);
  }
  append_members(members, out,
                 [&](std::size_t at) { append_value(values.child(1), at, zone, out); });
}

void append_value(const column& values, std::size_t row, const time_zone& zone, std::string& out) {
  if (values.is_null(row)) {
    out += "null";
    return;
  }
  const auto& type = values.type();
  switch (type.root()) {
  case type_root::boolean:
    out += values.values<std::uint8_t>()[row] != 0 ? "true" : "false";
    return;
  case type_root::tinyint:
  case type_root::smallint:
  case type_root::integer:
  case type_root::bigint:
  case type_root::decimal:
    append_cast_text(values, row, zone, out);
    return;
  case type_root::float_:
  case type_root::double_: {
    std::string shown;
    append_cast_text(values, row, zone, shown);
    if (shown.find_first_of("Ny") == shown.npos)
      append_json_number(shown, out);
    else
      append_json_text(shown, out); // NaN and Infinity are no numbers of JSON
    return;
  }
  case type_root::binary:
  case type_root::varbinary:
    out += '"';
    append_base64(values.string_at(row), out);
    out += '"';
    return;
  case type_root::array:
    append_items(values, row, zone, out);
    return;
  case type_root::map:
  case type_root::multiset:
    append_entries(values, row, zone, out);
    return;
  case type_root::row: {
    std::vector<std::pair<std::string, std::size_t>> members;
    for (std::size_t i = 0; i < type.child_count(); ++i)
      members.emplace_back(type.fields()[i].name, i);
    append_members(members, out,
                   [&](std::size_t i) { append_value(values.child(i), row, zone, out); });
    return;
  }
  default: {
    std::string shown;
    append_cast_text(values, row, zone, shown);
    append_json_text(shown, out);
  }
  }
}

/// A value as JSON; NULL stays NULL, inside of others it is null.
result<kernel> make_json_string(const kernel_request& request) {
  if (request.arguments.size() != 1 || request.type.physical() != physical_type::string)
    return unfit(request);
  return kernel([zone = request.zone](kernel_frame& frame) {
    const auto& from = frame.arguments[0];
    text_writer writer(frame);
    validity_writer validity(frame, joined_validity(frame));
    std::string made;
    for_each_row(frame.rows, [&](std::size_t row) {
      if (validity.is_null(row)) {
        writer.put_empty(row);
        return;
      }
      made.clear();
      append_value(*from.values, from.is_constant ? 0 : row, *zone, made);
      writer.put(row, made);
    });
    return writer.finish(frame.type, frame.rows.total, validity.finish());
  });
}

/// What one value of JSON_OBJECT and JSON_ARRAY is appended as, by its letter: 'j' is JSON already,
/// 't' a text that must be.
bool append_part(char letter, const operand& from, std::size_t row, const time_zone& zone,
                 json_document& document, kernel_frame& frame, std::string& out) {
  const auto at = from.is_constant ? 0 : row;
  if (letter == 'v' || from.values->is_null(at)) {
    append_value(*from.values, at, zone, out);
    return true;
  }
  const auto json = from.values->string_at(at);
  if (letter == 't' && !document.parse(json)) {
    frame.fail("no JSON", json);
    return false;
  }
  if (letter == 't')
    document.append_json(0, out);
  else
    out += json;
  return true;
}

/// First the letters of the binder (libgraph/sql/bind/bind_json.cpp), then values, each behind its
/// key when it is an object.
template <bool IsObject>
result<kernel> make_json(const kernel_request& request) {
  constexpr std::size_t step = IsObject ? 2 : 1;
  if (request.arguments.empty() || request.constants[0] == nullptr)
    return unfit(request);
  const std::string letters(request.constants[0]->string_at(0));
  if (request.arguments.size() != 1 + (letters.size() - 1) * step)
    return unfit(request);
  return kernel([letters, zone = request.zone,
                 document = std::make_shared<json_document>()](kernel_frame& frame) {
    text_writer writer(frame);
    std::string made;
    std::vector<std::size_t> order(letters.size() - 1);
    std::iota(order.begin(), order.end(), 1);
    const auto key = [&](std::size_t i, std::size_t row) {
      return reader<text>(frame.arguments[i * step - 1])[row];
    };
    for_each_row(frame.rows, [&](std::size_t row) {
      // Members come by their names.
      if (IsObject)
        std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
          return key(left, row) < key(right, row);
        });
      made = IsObject ? '{' : '[';
      for (const auto i : order) {
        const auto& value = frame.arguments[i * step];
        const bool is_null = value.values->is_null(value.is_constant ? 0 : row);
        if (is_null && letters[0] == 'A')
          continue;
        made += made.size() > 1 ? "," : "";
        if (IsObject) {
          append_json_text(key(i, row), made);
          made += ':';
        }
        append_part(letters[i], value, row, *zone, *document, frame, made);
      }
      made += IsObject ? '}' : ']';
      writer.put(row, made);
    });
    return writer.finish(frame.type, frame.rows.total, nullptr);
  });
}

constexpr kernel_entry entries[] = {
    {"JSON_ARRAY", ".", make_json<false>, false, true},
    {"JSON_OBJECT", ".", make_json<true>, false, true},
    {"JSON_QUOTE", "s", text_of<quote>},
    {"JSON_STRING", ".", make_json_string},
    {"JSON_UNQUOTE", "s", text_of<unquote>},
};

} // namespace

std::span<const kernel_entry> json_text_kernels() { return entries; }

} // namespace headrace::graph
