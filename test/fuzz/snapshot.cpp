// Feeds bytes to everything that reads stored state. The first byte chooses: a whole snapshot file;
// a block's content, in a file whose checksums fit; a header; a manifest with a fitting checksum;
// the handles of a message.

#include "libstate/checkpoint/completed_checkpoint.hpp"
#include "libstate/snapshot/block_codec.hpp"
#include "libstate/snapshot/snapshot_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

namespace {

using namespace headrace;
using namespace headrace::state;

class memory_file final : public readable_file {
public:
  explicit memory_file(byte_string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size_bytes() const override { return bytes_.size(); }
  result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    if (offset >= bytes_.size())
      return std::size_t{0};
    const auto count = std::min(out.size(), bytes_.size() - static_cast<std::size_t>(offset));
    std::memcpy(out.data(), bytes_.data() + offset, count);
    return count;
  }

private:
  byte_string bytes_;
};

class touching_visitor final : public snapshot_visitor {
public:
  status on_row(const snapshot_row& row) override {
    sum += checksum_of(row.key) + checksum_of(row.entry_key) + checksum_of(row.value);
    return {};
  }
  std::uint64_t sum = 0;
};

void read_file(byte_string bytes) {
  const state_segment segment{"fuzzed", 0, bytes.size()};
  const auto reader =
      snapshot_reader::open(std::make_unique<memory_file>(std::move(bytes)), segment);
  if (!reader)
    return;
  touching_visitor visitor;
  const auto groups = (*reader)->header().groups;
  for (auto group = groups.first; group < groups.end; ++group) {
    if (!(*reader)->read_group(group, visitor))
      return;
  }
}

state_description state_of(table_kind kind, std::size_t fixed_bytes, std::int64_t ttl_ms) {
  state_description out;
  out.name = "s";
  out.kind = kind;
  out.layout.fixed_bytes = fixed_bytes;
  out.ttl_ms = ttl_ms;
  return out;
}

/// A file of one block with this content, all of it in the first of two key groups.
byte_string file_of(byte_view content, bool keys_are_fixed) {
  snapshot_header header;
  header.key_type = graph::logical_type::row(
      {{"k", keys_are_fixed ? graph::logical_type::bigint() : graph::logical_type::string(), ""}});
  header.groups = {0, 2};
  header.states = {state_of(table_kind::operator_rows, 16, 0), state_of(table_kind::map, 0, 1000),
                   state_of(table_kind::list, 0, 0)};
  byte_string body;
  byte_writer body_out(body);
  encode(header, body_out);
  byte_string file(snapshot_format::magic);
  byte_writer out(file);
  out.put(snapshot_format::version);
  out.put(static_cast<std::uint32_t>(body.size()));
  out.put(checksum_of(body, snapshot_format::version));
  out.put_raw(body);
  const std::uint64_t block_offset = file.size();
  byte_string block;
  encode_block(content, block);
  out.put_raw(block);
  const std::uint64_t footer_offset = file.size();
  byte_string footer;
  byte_writer footer_out(footer);
  for (const std::uint64_t value : {std::uint64_t{1}, block_offset, std::uint64_t{content.size()}})
    footer_out.put_varint(value);
  footer_out.put(stored_checksum(block));
  for (const std::uint64_t value : {2, 0, 0, 1, 0})
    footer_out.put_varint(value);
  byte_string trailer;
  byte_writer trailer_out(trailer);
  trailer_out.put(footer_offset);
  trailer_out.put(static_cast<std::uint32_t>(footer.size()));
  trailer_out.put(snapshot_format::version);
  trailer_out.put(checksum_of(footer, checksum_of(trailer)));
  trailer_out.put_raw(snapshot_format::end_magic);
  out.put_raw(footer);
  out.put_raw(trailer);
  return file;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const byte_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
  case 0:
    read_file(byte_string(bytes));
    break;
  case 1:
  case 2:
    read_file(file_of(bytes, data[0] % 6 == 1));
    break;
  case 3:
    static_cast<void>(decode_snapshot_header(bytes).has_value());
    break;
  case 4: {
    byte_string manifest("HRMETA01");
    byte_writer out(manifest);
    out.put(std::uint32_t{1});
    out.put(checksum_of(bytes, 1));
    out.put_raw(bytes);
    static_cast<void>(decode_manifest(manifest, "/fuzzed").has_value());
    break;
  }
  default: {
    byte_reader in(bytes);
    static_cast<void>(decode_task_state_snapshot(in).has_value());
  }
  }
  return 0;
}
