#include "libstate/snapshot/snapshot_writer.hpp"

#include "libstate/key/key_schema.hpp"
#include "libstate/snapshot/block_codec.hpp"
#include "libactors/base/assert.hpp"

#include <memory>

namespace headrace::state {

namespace {

std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1U ^ static_cast<std::uint64_t>(value >> 63);
}

} // namespace

snapshot_writer::snapshot_writer(state_output& out, snapshot_header header)
    : out_(&out), header_(std::move(header)), keys_are_fixed_(have_fixed_keys(header_)),
      start_(out.position()), next_group_(header_.groups.first) {
  groups_.reserve(static_cast<std::size_t>(header_.groups.size()));
}

status snapshot_writer::write_header() {
  byte_string body;
  byte_writer to(body);
  encode(header_, to);
  byte_string preamble(snapshot_format::magic);
  byte_writer front(preamble);
  front.put(snapshot_format::version);
  front.put(static_cast<std::uint32_t>(body.size()));
  header_checksum_ = checksum_of(body, snapshot_format::version);
  front.put(header_checksum_);
  HEADRACE_CHECK(out_->append(preamble));
  has_header_ = true;
  return out_->append(body);
}

status snapshot_writer::begin_group(std::int32_t group) {
  HEADRACE_ASSERT(group >= next_group_ && header_.groups.contains(group), "key groups ascend");
  if (!has_header_)
    HEADRACE_CHECK(write_header());
  HEADRACE_CHECK(end_chunk());
  for (; next_group_ <= group; ++next_group_)
    groups_.push_back({blocks_.size(), raw_.size()});
  return {};
}

status snapshot_writer::add(const snapshot_row& row) {
  if (!has_header_)
    HEADRACE_CHECK(write_header());
  if (chunk_rows_ > 0 &&
      (row.state != chunk_of_.state || row.space != chunk_of_.space ||
       row.key_is_null != chunk_of_.key_is_null || chunk_.size() >= snapshot_format::chunk_bytes))
    HEADRACE_CHECK(end_chunk());
  const auto& state = header_.states[row.state];
  byte_writer to(chunk_);
  if (!keys_are_fixed_[row.state])
    to.put_bytes(row.key);
  else if (!row.key_is_null)
    to.put_raw(row.key);
  if (state.kind == table_kind::map)
    to.put_bytes(row.entry_key);
  if (state.ttl_ms > 0)
    to.put(row.stamp_ms);
  if (state.layout.is_variable())
    to.put_bytes(row.value);
  else
    to.put_raw(row.value);
  chunk_of_.state = row.state;
  chunk_of_.space = row.space;
  chunk_of_.key_is_null = row.key_is_null;
  ++chunk_rows_;
  return {};
}

status snapshot_writer::end_chunk() {
  if (chunk_rows_ == 0)
    return {};
  byte_writer to(raw_);
  to.put(static_cast<std::uint8_t>(chunk_of_.key_is_null ? 1 : 0));
  to.put_varint(chunk_of_.state);
  to.put_varint(zigzag(chunk_of_.space));
  to.put_varint(chunk_rows_);
  to.put_bytes(chunk_);
  chunk_.clear();
  chunk_rows_ = 0;
  return raw_.size() < snapshot_format::block_bytes ? status() : end_block();
}

status snapshot_writer::end_block() {
  if (raw_.empty())
    return {};
  encode_block(raw_, stored_);
  blocks_.push_back({out_->position() - start_, static_cast<std::uint32_t>(raw_.size()),
                     stored_checksum(stored_)});
  raw_.clear();
  return out_->append(stored_);
}

result<state_segment> snapshot_writer::finish() {
  if (!has_header_)
    HEADRACE_CHECK(write_header());
  HEADRACE_CHECK(end_chunk());
  for (; next_group_ < header_.groups.end; ++next_group_)
    groups_.push_back({blocks_.size(), raw_.size()});
  HEADRACE_CHECK(end_block());
  HEADRACE_TRY(const auto checksum, write_footer());
  return state_segment{out_->path(), start_, out_->position() - start_, checksum};
}

result<std::uint64_t> snapshot_writer::write_footer() {
  const std::uint64_t offset = out_->position() - start_;
  byte_string footer;
  byte_writer to(footer);
  to.put_varint(blocks_.size());
  std::uint64_t before = 0;
  for (const auto& one : blocks_) {
    to.put_varint(one.offset - before);
    to.put_varint(one.raw_bytes);
    to.put(one.checksum);
    before = one.offset;
  }
  to.put_varint(groups_.size());
  for (const auto& one : groups_) {
    to.put_varint(one.block);
    to.put_varint(one.offset);
  }
  HEADRACE_ASSERT(footer.size() <= snapshot_format::header_bytes_max, "a footer has its size");
  byte_string trailer;
  byte_writer end(trailer);
  end.put(offset);
  end.put(static_cast<std::uint32_t>(footer.size()));
  end.put(snapshot_format::version);
  end.put(checksum_of(footer, checksum_of(trailer)));
  end.put_raw(snapshot_format::end_magic);
  HEADRACE_CHECK(out_->append(footer));
  HEADRACE_CHECK(out_->append(trailer));
  return checksum_of(trailer, header_checksum_);
}

} // namespace headrace::state
