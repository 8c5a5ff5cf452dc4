#include "libtask/format/json_encoder.hpp"

#include <cmath>

namespace headrace::task {

using graph::column;
using graph::physical_type;
using graph::type_root;

namespace {

/// Whether the value is written without quotes.
bool is_bare(const column& values, std::size_t row) {
  switch (values.type().root()) {
  case type_root::boolean:
  case type_root::tinyint:
  case type_root::smallint:
  case type_root::integer:
  case type_root::bigint:
  case type_root::decimal:
  case type_root::interval_year_month:
  case type_root::interval_day_time:
    return true;
  case type_root::float_:
    return std::isfinite(values.values<float>()[row]);
  case type_root::double_:
    return std::isfinite(values.values<double>()[row]);
  default:
    return false;
  }
}

} // namespace

void append_json_string(std::string_view text, byte_string& out) {
  static constexpr char digits[] = "0123456789abcdef";
  out += '"';
  std::size_t plain = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = static_cast<unsigned char>(text[i]);
    if (code >= 0x20U && code != '"' && code != '\\')
      continue;
    out += text.substr(plain, i - plain);
    plain = i + 1;
    out += '\\';
    switch (code) {
    case '"':
    case '\\':
      out += text[i];
      break;
    case '\n':
      out += 'n';
      break;
    case '\r':
      out += 'r';
      break;
    case '\t':
      out += 't';
      break;
    default:
      out += "u00";
      out += digits[code >> 4U];
      out += digits[code & 15U];
    }
  }
  out += text.substr(plain);
  out += '"';
}

json_encoder::json_encoder(json_options options, graph::row_type_ptr type)
    : options_(std::move(options)), type_(std::move(type)) {
  for (const auto& field : type_->fields()) {
    std::string name;
    append_json_string(field.name, name);
    names_.push_back(name + ":");
  }
}

status json_encoder::encode(const graph::record_batch& rows, byte_string& out) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row_at(i);
    char before = '{';
    for (std::size_t at = 0; at < rows.column_count(); ++at) {
      if (options_.ignore_null_fields && rows.at(at).is_null(row))
        continue;
      out += before;
      before = ',';
      out += names_[at];
      HEADRACE_CHECK(write_value(rows.at(at), row, out));
    }
    out += before == '{' ? "{}\n" : "}\n";
  }
  return {};
}

status json_encoder::write_value(const column& values, std::size_t row, byte_string& out) {
  if (values.is_null(row) || values.type().physical() == physical_type::none) {
    out += "null";
    return {};
  }
  switch (values.type().physical()) {
  case physical_type::list: {
    const auto* offsets = values.values<std::int32_t>();
    out += '[';
    for (auto i = offsets[row]; i < offsets[row + 1]; ++i) {
      if (i > offsets[row])
        out += ',';
      HEADRACE_CHECK(write_value(values.child(0), static_cast<std::size_t>(i), out));
    }
    out += ']';
    return {};
  }
  case physical_type::map:
    return write_map(values, row, out);
  case physical_type::row:
    return write_row(values, row, out);
  default:
    write_scalar_value(values, row, out);
    return {};
  }
}

status json_encoder::write_map(const column& values, std::size_t row, byte_string& out) {
  const auto* offsets = values.values<std::int32_t>();
  const auto& keys = values.child(0);
  char before = '{';
  for (auto i = offsets[row]; i < offsets[row + 1]; ++i) {
    const auto at = static_cast<std::size_t>(i);
    scratch_.clear();
    if (!keys.is_null(at)) {
      write_scalar(keys, at, options_.timestamps, scratch_);
    } else {
      if (options_.null_keys == null_key_mode::drop)
        continue;
      if (options_.null_keys == null_key_mode::fail)
        return error(errc::output_unusable,
                     "a map with a NULL key cannot be written as JSON; the format's option "
                     "'map-null-key.mode' = 'DROP' or 'LITERAL' says what to do with it");
      scratch_ = options_.null_key_literal;
    }
    if (options_.null_keys == null_key_mode::literal &&
        comes_again(keys, at, static_cast<std::size_t>(offsets[row + 1])))
      continue;
    out += before;
    before = ',';
    append_json_string(scratch_, out);
    out += ':';
    HEADRACE_CHECK(write_value(values.child(1), at, out));
  }
  out += before == '{' ? "{}" : "}";
  return {};
}

/// What stands for a NULL key may be another key, too: of both the later one is written.
bool json_encoder::comes_again(const column& keys, std::size_t at, std::size_t end) {
  if (scratch_ != options_.null_key_literal)
    return false;
  byte_string text;
  for (auto later = at + 1; later < end; ++later) {
    if (keys.is_null(at) == keys.is_null(later))
      continue;
    if (keys.is_null(later))
      return true;
    text.clear();
    write_scalar(keys, later, options_.timestamps, text);
    if (text == options_.null_key_literal)
      return true;
  }
  return false;
}

status json_encoder::write_row(const column& values, std::size_t row, byte_string& out) {
  const auto& fields = values.type().fields();
  char before = '{';
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (options_.ignore_null_fields && values.child(i).is_null(row))
      continue;
    out += before;
    before = ',';
    append_json_string(fields[i].name, out);
    out += ':';
    HEADRACE_CHECK(write_value(values.child(i), row, out));
  }
  out += before == '{' ? "{}" : "}";
  return {};
}

void json_encoder::write_scalar_value(const column& values, std::size_t row, byte_string& out) {
  if (is_character(values.type())) {
    append_json_string(values.string_at(row), out);
    return;
  }
  const bool bare = is_bare(values, row);
  if (!bare)
    out += '"';
  write_scalar(values, row, options_.timestamps, out);
  if (!bare)
    out += '"';
}

} // namespace headrace::task
