#include "libtask/format/decode_input.hpp"

namespace headrace::task {
namespace {
constexpr std::size_t excerpt_bytes_max = 48;
} // namespace

error malformed_record(const graph::decode_origin& origin, const record_place& place,
                       const std::string& reason) {
  std::string where = origin.file.empty() ? "input" : origin.file;
  if (origin.line != 0)
    where += ":" + std::to_string(origin.line + place.lines) + ":" + std::to_string(place.column);
  else
    where += ", record at byte " + std::to_string(origin.offset + place.record_offset) +
             ", column " + std::to_string(place.column);
  return {errc::malformed_record, "malformed record: " + where + ": " + reason};
}

void note_malformed(const graph::decode_origin& origin, byte_view input, std::size_t begin,
                    std::size_t end, const std::string& reason) {
  if (origin.left_out == nullptr)
    return;
  while (end > begin && (input[end - 1] == '\n' || input[end - 1] == '\r'))
    --end;
  origin.left_out->push_back({begin, end - begin, reason});
}

status check_produced(const graph::logical_type& record, const graph::logical_type& produced,
                      bool within_rows) {
  for (const auto& field : produced.fields()) {
    const auto index = record.field_index(field.name);
    const auto* whole = index < 0 ? nullptr : &record.child(static_cast<std::size_t>(index));
    const bool is_part = whole != nullptr && within_rows &&
                         whole->root() == graph::type_root::row &&
                         field.type.root() == graph::type_root::row &&
                         whole->is_nullable() == field.type.is_nullable();
    if (is_part)
      HEADRACE_CHECK(check_produced(*whole, field.type, within_rows));
    else if (whole == nullptr || *whole != field.type)
      return error(errc::type_mismatch, "a record of type " + record.to_sql() + " has no field `" +
                                            field.name + "` of type " + field.type.to_sql());
  }
  return {};
}

std::string excerpt(std::string_view found) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "'";
  for (const char letter : found.substr(0, excerpt_bytes_max)) {
    const auto code = static_cast<unsigned char>(letter);
    if (code >= 0x20U && code != 0x7fU) {
      out += letter;
    } else {
      out += "\\x";
      out += digits[code >> 4U];
      out += digits[code & 15U];
    }
  }
  out += found.size() > excerpt_bytes_max ? "…'" : "'";
  return out;
}

} // namespace headrace::task
