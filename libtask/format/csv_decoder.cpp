#include "libtask/format/csv_decoder.hpp"

#include "libtask/format/decode_input.hpp"

#include <algorithm>

namespace headrace::task {

using graph::batch_builder;
using graph::column_builder;
using graph::logical_type;
using graph::physical_type;

csv_decoder::csv_decoder(csv_options options, graph::row_type_ptr record,
                         const logical_type& produced)
    : options_(std::move(options)), record_(std::move(record)) {
  const bool is_all = produced == *record_;
  for (const auto& field : record_->fields()) {
    auto& plan = fields_.emplace_back(field.type);
    plan.column = is_all ? static_cast<int>(fields_.size() - 1) : produced.field_index(field.name);
    plan.is_nested = !is_scalar(field.type);
    for (std::size_t i = 0; plan.is_nested && i < field.type.child_count(); ++i)
      plan.elements.emplace_back(field.type.child(i));
  }
}

result<graph::decoded> csv_decoder::decode(byte_view input, bool last,
                                           const graph::decode_origin& origin, std::size_t rows_max,
                                           const graph::buffer_ptr& owner, batch_builder& out) {
  graph::decoded done;
  const auto skipped_bytes = header_bytes(input, last, origin);
  if (!skipped_bytes)
    return done;
  const auto header = *skipped_bytes;
  done.bytes = header;
  done.lines = options_.has_header && header > 0 && input[header - 1] == '\n' ? 1 : 0;
  shared_ = lies_in(input, owner);
  if (shared_) {
    for (const auto& field : fields_) {
      if (field.column >= 0 && field.value.is_character())
        out.column(static_cast<std::size_t>(field.column)).share(owner);
    }
  }
  csv_scanner in(input.substr(header), last, options_);
  const auto lines_before = done.lines;
  while (out.size() < rows_max && !in.at_end()) {
    switch (decode_record(in, out)) {
    case record_end::row:
      out.end_row();
      break;
    case record_end::no_record:
      break;
    case record_end::incomplete:
      out.discard_row();
      return done;
    case record_end::malformed: {
      out.discard_row();
      if (options_.on_malformed == graph::malformed_policy::fail) {
        const auto at = header + fault_.at;
        const auto before = input.substr(0, at);
        const auto line_begin = before.rfind('\n') == byte_view::npos ? 0 : before.rfind('\n') + 1;
        const auto lines =
            static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
        return malformed_record(origin, {done.bytes, lines, at - line_begin + 1}, fault_.reason);
      }
      if (!in.skip_record())
        return done;
      ++done.skipped;
      note_malformed(origin, input, done.bytes, header + in.at(), fault_.reason);
      break;
    }
    }
    done.bytes = header + in.at();
    done.lines = lines_before + in.lines();
  }
  return done;
}

/// Bytes of the byte order mark and of the header; nothing when the header's end is not there yet.
std::optional<std::size_t> csv_decoder::header_bytes(byte_view input, bool last,
                                                     const graph::decode_origin& origin) const {
  if (origin.offset != 0)
    return 0;
  const auto mark = byte_order_mark_bytes(input, origin);
  if (!options_.has_header)
    return mark;
  const auto end = input.find('\n', mark);
  if (end != byte_view::npos)
    return end + 1;
  return last ? std::optional(input.size()) : std::nullopt;
}

csv_decoder::record_end csv_decoder::decode_record(csv_scanner& in, batch_builder& out) {
  const auto columns = fields_.size();
  const auto begin = in.at();
  if (options_.allow_comments && in.peek() == '#')
    return in.skip_line() ? record_end::no_record : record_end::incomplete;
  if (columns > 1 && in.skip_empty_line())
    return record_end::no_record;
  csv_field field;
  std::size_t fields = 0;
  for (auto end = field_end::delimiter; end == field_end::delimiter; ++fields) {
    end = in.next(field);
    if (end == field_end::incomplete)
      return record_end::incomplete;
    if (end == field_end::malformed)
      return fail_record(field.begin, in.fault());
    if (fields < columns && !append(fields_[fields], field, out) &&
        !append_null_instead(fields_[fields], out)) [[unlikely]]
      return fail_record(field.begin, describe(fields, field));
  }
  if (fields == columns)
    return record_end::row;
  const auto found = fields;
  while (fields < columns && append_null_instead(fields_[fields], out))
    ++fields;
  if (fields >= columns && options_.nulls_fields)
    return record_end::row;
  return fail_record(begin, std::to_string(columns) + " fields expected, " + std::to_string(found) +
                                " found");
}

csv_decoder::record_end csv_decoder::fail_record(std::size_t at, std::string reason) {
  fault_ = {std::move(reason), at};
  return record_end::malformed;
}

bool csv_decoder::is_null(const scalar_reader& value, std::string_view text) const {
  if (options_.null_literal && text == *options_.null_literal)
    return true;
  return text.empty() && !value.is_character();
}

bool csv_decoder::append(field_plan& plan, const csv_field& field, batch_builder& out) const {
  if (plan.column < 0)
    return true;
  auto& to = out.column(static_cast<std::size_t>(plan.column));
  if ((field.text.empty() || options_.null_literal) && !field.is_quoted &&
      is_null(plan.value, field.text)) {
    if (!plan.value.type().is_nullable())
      return false;
    to.append_null();
    return true;
  }
  if (plan.is_nested)
    return append_nested(plan, field.text, to);
  return plan.value.append(field.text, shared_ && !field.is_copy, to);
}

bool csv_decoder::append_null_instead(const field_plan& plan, batch_builder& out) const {
  if (!options_.nulls_fields)
    return false;
  if (plan.column < 0)
    return true;
  if (!plan.value.type().is_nullable())
    return false;
  auto& to = out.column(static_cast<std::size_t>(plan.column));
  to.truncate(out.size());
  to.append_null();
  return true;
}

bool csv_decoder::append_nested(field_plan& plan, std::string_view text,
                                column_builder& out) const {
  const bool is_row = plan.value.type().physical() == physical_type::row;
  std::size_t elements = 0;
  if (!is_row)
    out.begin_list();
  for (bool more = is_row || !text.empty(); more; ++elements) {
    const auto end = std::min(text.find(options_.array_delimiter), text.size());
    const auto element = text.substr(0, end);
    more = end < text.size();
    text.remove_prefix(more ? end + 1 : end);
    if (is_row && elements >= plan.elements.size())
      return false;
    const auto child = is_row ? elements : 0;
    auto& value = plan.elements[child];
    if (is_null(value, element) && value.type().is_nullable())
      out.child(child).append_null();
    else if (!value.append(element, false, out.child(child)))
      return false;
  }
  if (!is_row)
    out.end_list();
  else if (elements != plan.elements.size())
    return false;
  else
    out.end_row();
  return true;
}

std::string csv_decoder::describe(std::size_t field_index, const csv_field& field) const {
  const auto& wanted = record_->fields()[field_index];
  return "field `" + wanted.name + "` wants " + wanted.type.to_sql() + ", found " +
         excerpt(field.text);
}

status check_csv_type(const logical_type& type) {
  if (type.child_count() == 0)
    return error(errc::type_mismatch, "format 'csv' needs at least one column");
  for (const auto& column : type.fields()) {
    const auto& its = column.type;
    bool fits = is_scalar(its);
    if (its.physical() == physical_type::list || its.physical() == physical_type::row) {
      fits = its.child_count() > 0;
      for (std::size_t i = 0; i < its.child_count(); ++i)
        fits &= is_scalar(its.child(i));
    }
    if (!fits)
      return error(errc::type_mismatch,
                   "format 'csv' has no place for column `" + column.name + "` " + its.to_sql() +
                       ": scalars, and arrays and rows of scalars fit; format 'json' takes all");
  }
  return {};
}

} // namespace headrace::task
