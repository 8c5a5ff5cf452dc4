#include "libgraph/data/batch_codec.hpp"
#include "libgraph/data/batch_layout.hpp"

namespace headrace::graph {

namespace {

using batch_layout::align;

error malformed(const char* what) {
  return {errc::malformed_message, std::string("malformed batch: ") + what};
}

/// Hands out the sections of the body, each checked to lie within it.
class section_reader {
public:
  section_reader(byte_view body, std::shared_ptr<const void> owner)
      : body_(body), owner_(std::move(owner)) {}

  std::size_t remaining() const { return body_.size() - at_; }

  result<buffer_ptr> take(std::size_t size) {
    if (size > remaining() || align(size) > remaining())
      return malformed("a section beyond the end");
    auto out = buffer::wrap(body_.substr(at_, size), owner_);
    at_ += align(size);
    return buffer_ptr(std::move(out));
  }

private:
  byte_view body_;
  std::shared_ptr<const void> owner_;
  std::size_t at_ = 0;
};

result<column_ptr> read_column(const logical_type& type, byte_reader& header,
                               section_reader& sections) {
  column::parts parts;
  HEADRACE_TRY(const auto rows, header.get_varint());
  HEADRACE_TRY(const auto has_validity, header.get<std::uint8_t>());
  if (rows > batch_rows_max || has_validity > 1)
    return malformed("too many rows or an unknown flag");
  parts.size = static_cast<std::size_t>(rows);
  if (has_validity == 1) {
    HEADRACE_TRY(parts.validity, sections.take((parts.size + 7) / 8));
  }
  const auto values_bytes = batch_layout::values_bytes(type, parts.size);
  if (values_bytes > 0 || type.width_bytes() > 0) {
    HEADRACE_TRY(parts.values, sections.take(values_bytes));
  }
  if (type.physical() == physical_type::string) {
    HEADRACE_TRY(const auto count, header.get_varint());
    if (count > header.remaining())
      return malformed("too many sections");
    for (std::uint64_t i = 0; i < count; ++i) {
      HEADRACE_TRY(const auto size, header.get_varint());
      HEADRACE_TRY(auto section, sections.take(static_cast<std::size_t>(size)));
      parts.data.push_back(std::move(section));
    }
  }
  for (std::size_t i = 0; i < type.storage_child_count(); ++i) {
    HEADRACE_TRY(auto child, read_column(type.storage_child(i), header, sections));
    parts.children.push_back(std::move(child));
  }
  return column::make(type, std::move(parts));
}

bool are_kinds(const buffer& kinds) {
  unsigned all = 0;
  for (std::size_t i = 0; i < kinds.size_bytes(); ++i)
    all |= kinds.as<std::uint8_t>()[i];
  return all <= static_cast<unsigned>(row_kind::delete_);
}

result<record_batch> read_batch(row_type_ptr type, byte_reader& header, section_reader& sections) {
  HEADRACE_TRY(const auto row_count, header.get_varint());
  HEADRACE_TRY(const auto flags, header.get<std::uint8_t>());
  if (row_count > batch_rows_max ||
      flags > (batch_layout::has_timestamps | batch_layout::has_kinds))
    return malformed("too many rows or an unknown flag");
  const auto rows = static_cast<std::size_t>(row_count);
  buffer_ptr timestamps;
  buffer_ptr kinds;
  if ((flags & batch_layout::has_timestamps) != 0) {
    HEADRACE_TRY(timestamps, sections.take(rows * sizeof(std::int64_t)));
  }
  if ((flags & batch_layout::has_kinds) != 0) {
    HEADRACE_TRY(kinds, sections.take(rows));
    if (!are_kinds(*kinds))
      return malformed("unknown row kind");
  }
  std::vector<column_ptr> columns;
  for (const auto& each : type->fields()) {
    HEADRACE_TRY(auto values, read_column(each.type, header, sections));
    if (values->size() != rows)
      return malformed("a column of another size");
    HEADRACE_CHECK(values->validate());
    columns.push_back(std::move(values));
  }
  if (!header.at_end() || sections.remaining() != batch_layout::padding_bytes)
    return malformed("bytes that belong to no column");
  return record_batch(std::move(type), rows, std::move(columns))
      .with_timestamps(std::move(timestamps))
      .with_kinds(std::move(kinds));
}

} // namespace

result<record_batch> decode_batch(row_type_ptr type, byte_view bytes,
                                  std::shared_ptr<const void> owner) {
  if (owner == nullptr ||
      reinterpret_cast<std::uintptr_t>(bytes.data()) % batch_layout::alignment_bytes != 0) {
    auto copy = buffer::allocate(bytes.size());
    if (!bytes.empty())
      std::memcpy(copy->mutable_data(), bytes.data(), bytes.size());
    bytes = {copy->as<char>(), bytes.size()};
    owner = std::move(copy);
  }
  byte_reader prefix(bytes);
  HEADRACE_TRY(const auto magic, prefix.get<std::uint32_t>());
  HEADRACE_TRY(const auto header_size, prefix.get<std::uint32_t>());
  if (magic != batch_layout::magic)
    return malformed("another format or version");
  HEADRACE_TRY(const auto description, prefix.get_raw(header_size));
  const auto body_at = align(bytes.size() - prefix.remaining());
  if (body_at > bytes.size())
    return malformed("no body");
  byte_reader header(description);
  section_reader sections(bytes.substr(body_at), std::move(owner));
  return read_batch(std::move(type), header, sections);
}

} // namespace headrace::graph
