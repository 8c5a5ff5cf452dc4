#include "libtask/format/csv_encoder.hpp"

#include "libtask/format/decode_input.hpp"
#include "libtask/format/scalar_text.hpp"

#include <cctype>

namespace headrace::task {

using graph::column;
using graph::physical_type;

namespace {

/// No number, time or truth value can hold the delimiter or look like NULL.
bool scalars_are_plain(const csv_options& options) {
  const auto in_scalars = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::string_view("+-.: ").find(letter) != std::string_view::npos;
  };
  return !options.null_literal && !in_scalars(options.delimiter) &&
         !in_scalars(options.quote.value_or('"')) && !in_scalars(options.escape.value_or('\\'));
}

} // namespace

csv_encoder::csv_encoder(csv_options options, graph::row_type_ptr type)
    : options_(std::move(options)), type_(std::move(type)),
      scalars_are_plain_(scalars_are_plain(options_)) {
  for (const auto letter : {std::optional(options_.delimiter), std::optional('\n'),
                            std::optional('\r'), options_.quote, options_.escape}) {
    if (letter)
      is_special_[static_cast<unsigned char>(*letter)] = true;
  }
}

status csv_encoder::encode(const graph::record_batch& rows, byte_string& out) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row_at(i);
    for (std::size_t at = 0; at < rows.column_count(); ++at) {
      if (at > 0)
        out += options_.delimiter;
      if (auto written = write_field(rows.at(at), row, at == 0, out); !written)
        return error(errc::output_unusable,
                     "field `" + type_->fields()[at].name +
                         "` cannot be written as CSV: " + written.error().message);
    }
    out += '\n';
  }
  return {};
}

status csv_encoder::write_field(const column& values, std::size_t row, bool first,
                                byte_string& out) {
  if (values.is_null(row)) {
    out += options_.null_literal.value_or(std::string());
    return {};
  }
  scratch_.clear();
  const auto physical = values.type().physical();
  bool quoted = false;
  if (physical == physical_type::list || physical == physical_type::row) {
    HEADRACE_CHECK(write_nested(values, row));
    quoted = scratch_.empty() && options_.quote; // no elements, rather than NULL
  } else {
    if (physical != physical_type::string && scalars_are_plain_) {
      write_scalar(values, row, timestamp_style::sql, out); // never needs quotes
      return {};
    }
    write_scalar(values, row, timestamp_style::sql, scratch_);
    quoted = scratch_.empty() && options_.quote && !is_character(values.type());
  }
  return write_text(scratch_, quoted || needs_quotes(scratch_, first), out);
}

status csv_encoder::write_nested(const column& values, std::size_t row) {
  if (values.type().physical() == physical_type::row) {
    for (std::size_t i = 0; i < values.type().child_count(); ++i) {
      if (i > 0)
        scratch_ += options_.array_delimiter;
      HEADRACE_CHECK(write_element(values.child(i), row));
    }
    return {};
  }
  const auto* offsets = values.values<std::int32_t>();
  for (auto i = offsets[row]; i < offsets[row + 1]; ++i) {
    if (i > offsets[row])
      scratch_ += options_.array_delimiter;
    HEADRACE_CHECK(write_element(values.child(0), static_cast<std::size_t>(i)));
  }
  return {};
}

status csv_encoder::write_element(const column& values, std::size_t row) {
  if (values.is_null(row)) {
    scratch_ += options_.null_literal.value_or(std::string());
    return {};
  }
  const auto begin = scratch_.size();
  write_scalar(values, row, timestamp_style::sql, scratch_);
  const auto text = std::string_view(scratch_).substr(begin);
  if (text.find(options_.array_delimiter) != std::string_view::npos)
    return error(errc::output_unusable, "an element holds the array delimiter, choose another by "
                                        "option 'csv.array-element-delimiter': " +
                                            excerpt(text));
  return {};
}

bool csv_encoder::needs_quotes(std::string_view text, bool first) const {
  if (options_.null_literal && text == *options_.null_literal)
    return true;
  if (first && options_.allow_comments && text.starts_with('#'))
    return true;
  bool has_special = false; // without a branch for each letter
  for (const char letter : text)
    has_special |= is_special_[static_cast<unsigned char>(letter)];
  return has_special;
}

status csv_encoder::write_text(std::string_view text, bool quoted, byte_string& out) const {
  if (!quoted) {
    out += text;
    return {};
  }
  if (!options_.quote)
    return error(errc::output_unusable,
                 "it needs quotes, which option 'csv.disable-quote-character' forbids: " +
                     excerpt(text));
  out += *options_.quote;
  for (const char letter : text) {
    if (letter == *options_.quote)
      out += letter;
    else if (letter == options_.escape)
      out += letter;
    out += letter;
  }
  out += *options_.quote;
  return {};
}

} // namespace headrace::task
