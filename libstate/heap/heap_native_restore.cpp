#include "libstate/heap/heap_native_restore.hpp"

#include "libstate/heap/row_codec.hpp"
#include "libstate/snapshot/block_codec.hpp"
#include "libstate/storage/stored_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

namespace headrace::state {

namespace {

constexpr std::size_t read_bytes = std::size_t{1} << 20U; ///< at once

error malformed(const char* what) { return {errc::malformed_message, what}; }

/// Reads blocks one after the other, in large pieces.
class block_stream {
public:
  block_stream(std::unique_ptr<readable_file> file, const state_segment& segment)
      : file_(std::move(file)), segment_(segment) {}

  bool at_end() const { return done_ == segment_.size_bytes; }
  std::uint64_t position() const { return segment_.offset + done_; }
  /// The next whole block. @errors malformed_message, storage_failed
  result<byte_view> next() {
    HEADRACE_CHECK(fill(snapshot_format::block_header_bytes));
    HEADRACE_TRY(const auto sizes, decode_block_header(byte_view(held_).substr(at_)));
    const auto size = snapshot_format::block_header_bytes + sizes.stored_bytes;
    HEADRACE_CHECK(fill(size));
    const auto block = byte_view(held_).substr(at_, size);
    at_ += size;
    done_ += size;
    return block;
  }

private:
  /// Has so many bytes behind `at_`.
  status fill(std::size_t bytes) {
    if (held_.size() - at_ >= bytes)
      return {};
    held_.erase(0, at_);
    at_ = 0;
    const auto read_to = done_ + held_.size();
    const auto left = segment_.size_bytes - read_to;
    if (held_.size() + left < bytes)
      return malformed("it ends early");
    const auto before = held_.size();
    held_.resize(before + static_cast<std::size_t>(
                              std::min<std::uint64_t>(left, std::max(bytes, read_bytes))));
    for (auto filled = before; filled < held_.size();) {
      HEADRACE_TRY(const auto got, file_->read_at(segment_.offset + read_to + filled - before,
                                                  {held_.data() + filled, held_.size() - filled}));
      if (got == 0)
        return malformed("the file ends early");
      filled += got;
    }
    return {};
  }

  std::unique_ptr<readable_file> file_;
  const state_segment& segment_;
  byte_string held_;
  std::size_t at_ = 0;
  std::uint64_t done_ = 0;
};

} // namespace

result<change_set> heap_native_reader::apply(file_system& files, const state_segment& element,
                                             std::uint64_t checksum) {
  const auto corrupt = [&](const std::string& what, std::uint64_t offset) {
    return error(errc::corrupt_snapshot, "corrupt snapshot of the heap: " + what + ", at offset " +
                                             std::to_string(offset) + " of " + element.path);
  };
  HEADRACE_TRY(auto file, open_stored(files, element.path));
  block_stream blocks(std::move(file), element);
  change_set changed;
  byte_string raw;
  std::uint64_t found = 0;
  while (!blocks.at_end()) {
    const auto offset = blocks.position();
    const auto block = blocks.next();
    if (!block && block.error().code != errc::malformed_message)
      return block.error();
    if (!block)
      return corrupt(block.error().message, offset);
    found = checksum_of(block->substr(0, snapshot_format::block_header_bytes), found);
    auto applied = decode_block(*block, raw);
    if (applied)
      applied = apply_block(raw, changed);
    if (!applied)
      return corrupt(applied.error().message, offset);
  }
  if (found != checksum)
    return corrupt("its blocks are not those that were written", element.offset);
  return changed;
}

status heap_native_reader::apply_block(byte_view raw, change_set& changed) {
  byte_reader in(raw);
  while (!in.at_end()) {
    HEADRACE_TRY(const auto id, in.get_varint());
    HEADRACE_TRY(const auto section, in.get_bytes());
    const auto into = directories_.find(id);
    if (into == directories_.end())
      continue; // of a directory that is gone
    byte_reader pieces(section);
    while (!pieces.at_end()) {
      HEADRACE_TRY(const auto piece, pieces.get<std::uint8_t>());
      if (piece == heap_native::page_piece)
        HEADRACE_CHECK(apply_page(pieces, into->second, changed[id]));
      else if (piece == heap_native::rows_piece)
        HEADRACE_CHECK(apply_rows(pieces, into->second, changed[id]));
      else
        return malformed("unknown piece");
    }
  }
  return {};
}

status heap_native_reader::apply_page(byte_reader& in, const target& into, row_set& changed) {
  const auto& layout = *into.layout;
  HEADRACE_TRY(const auto number, in.get_varint());
  HEADRACE_TRY(const auto used, in.get_varint());
  auto* const page =
      used > layout.rows_a_page ? nullptr : into.directory->restore_page(number, used);
  if (page == nullptr)
    return malformed("impossible page");
  changed = row_set::all();
  auto& header = *reinterpret_cast<page_header*>(page);
  const row_codec codec(layout);
  for (std::uint32_t i = 0; i < header.used; ++i) {
    if (header.is_live(i))
      codec.release(layout.row(page, i), into.directory->blobs());
  }
  // Live bits are set as rows come, so that what is malformed leaves a directory that can go.
  std::memset(header.live_bits(), 0, layout.rows_at - sizeof(page_header));
  header.used = static_cast<std::uint32_t>(used);
  std::uint64_t live_rows = 0;
  std::vector<std::uint64_t> live((header.used + 63) / 64);
  for (std::size_t word = 0; word < live.size(); ++word) {
    HEADRACE_TRY(live[word], in.get<std::uint64_t>());
    if (word + 1 == live.size() && header.used % 64 != 0)
      live[word] &= (std::uint64_t{1} << (header.used % 64)) - 1;
    live_rows += static_cast<std::uint64_t>(std::popcount(live[word]));
  }
  if (codec.is_plain() && live_rows == header.used) {
    HEADRACE_TRY(const auto rows, in.get_raw(static_cast<std::size_t>(used) * layout.stride));
    std::memcpy(layout.row(page, 0), rows.data(), rows.size());
    std::copy(live.begin(), live.end(), header.live_bits());
    return {};
  }
  for (std::uint32_t i = 0; i < header.used; ++i) {
    if (((live[i / 64] >> (i % 64)) & 1U) == 0)
      continue;
    HEADRACE_CHECK(codec.read(in, layout.row(page, i), into.directory->blobs()));
    header.live_bits()[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  return {};
}

status heap_native_reader::apply_rows(byte_reader& in, const target& into, row_set& changed) {
  const auto& layout = *into.layout;
  const row_codec codec(layout);
  HEADRACE_TRY(const auto count, in.get_varint());
  for (std::uint64_t i = 0; i < count; ++i) {
    HEADRACE_TRY(const auto tagged, in.get_varint());
    const auto row = tagged >> 1U;
    const auto of_page = static_cast<std::uint32_t>(row & ((1U << layout.row_bits) - 1U));
    auto* const page = of_page >= layout.rows_a_page
                           ? nullptr
                           : into.directory->restore_page(row >> layout.row_bits, of_page + 1);
    if (page == nullptr)
      return malformed("impossible row");
    if (!changed.is_all())
      changed.add(static_cast<std::uint32_t>(row));
    auto& header = *reinterpret_cast<page_header*>(page);
    auto* const at = layout.row(page, of_page);
    auto& live = header.live_bits()[of_page / 64];
    const auto bit = std::uint64_t{1} << (of_page % 64);
    if ((live & bit) != 0)
      codec.release(at, into.directory->blobs());
    live &= ~bit;
    header.used = std::max(header.used, of_page + 1);
    if ((tagged & 1U) == 0)
      continue;
    HEADRACE_CHECK(codec.read(in, at, into.directory->blobs()));
    live |= bit;
  }
  return {};
}

} // namespace headrace::state
