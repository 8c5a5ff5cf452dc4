#include "libstate/snapshot/snapshot_reader.hpp"

#include "libstate/key/key_schema.hpp"
#include "libstate/snapshot/block_codec.hpp"
#include "libstate/storage/stored_file.hpp"

#include <algorithm>

namespace headrace::state {

namespace {

std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}

template <class T>
T load(byte_view from, std::size_t offset) {
  T out;
  std::memcpy(&out, from.data() + offset, sizeof(T));
  return out;
}

} // namespace

error snapshot_reader::corrupt(std::string what) const {
  return {errc::corrupt_snapshot, "corrupt snapshot: " + std::move(what) + ", in " + segment_.path};
}

result<std::unique_ptr<snapshot_reader>> snapshot_reader::open(file_system& files,
                                                               const state_segment& segment) {
  HEADRACE_TRY(auto file, open_stored(files, segment.path));
  return open(std::move(file), segment);
}

result<std::unique_ptr<snapshot_reader>> snapshot_reader::open(std::unique_ptr<readable_file> file,
                                                               const state_segment& segment) {
  std::unique_ptr<snapshot_reader> made(new snapshot_reader);
  made->segment_ = segment;
  made->file_ = std::move(file);
  const auto size = made->file_->size_bytes();
  if (segment.offset > size || segment.size_bytes > size - segment.offset)
    return made->corrupt("file is cut off at " + std::to_string(size) + " bytes of " +
                         std::to_string(segment.offset) + " + " +
                         std::to_string(segment.size_bytes));
  HEADRACE_CHECK(made->load_header());
  HEADRACE_CHECK(made->load_footer());
  return made;
}

status snapshot_reader::read_exactly(std::uint64_t offset, std::size_t size, byte_string& out) {
  if (offset > segment_.size_bytes || size > segment_.size_bytes - offset)
    return corrupt("it ends early, at offset " + std::to_string(offset));
  out.resize(size);
  std::size_t done = 0;
  while (done < size) {
    HEADRACE_TRY(const auto got,
                 file_->read_at(segment_.offset + offset + done, {out.data() + done, size - done}));
    if (got == 0)
      return corrupt("the file ends early, at offset " + std::to_string(offset + done));
    done += got;
  }
  return {};
}

status snapshot_reader::load_header() {
  byte_string preamble;
  HEADRACE_CHECK(read_exactly(0, snapshot_format::preamble_bytes, preamble));
  if (byte_view(preamble).substr(0, snapshot_format::magic.size()) != snapshot_format::magic)
    return corrupt("it does not begin as one");
  version_ = load<std::uint32_t>(preamble, 8);
  if (version_ < snapshot_format::oldest_version || version_ > snapshot_format::version)
    return error(errc::unsupported_snapshot_version,
                 "unsupported snapshot version: " + std::to_string(version_) + " instead of " +
                     std::to_string(snapshot_format::oldest_version) + " to " +
                     std::to_string(snapshot_format::version) + ", in " + segment_.path);
  const auto size = load<std::uint32_t>(preamble, 12);
  if (size > snapshot_format::header_bytes_max)
    return corrupt("impossible size of the header, " + std::to_string(size));
  byte_string body;
  HEADRACE_CHECK(read_exactly(snapshot_format::preamble_bytes, size, body));
  header_checksum_ = load<std::uint64_t>(preamble, 16);
  if (header_checksum_ != checksum_of(body, version_))
    return corrupt("checksum of the header does not fit");
  auto header = decode_snapshot_header(body);
  if (!header)
    return corrupt("header, " + header.error().message);
  header_ = *std::move(header);
  keys_are_fixed_ = have_fixed_keys(header_);
  return {};
}

status snapshot_reader::load_footer() {
  byte_string trailer;
  if (segment_.size_bytes < snapshot_format::trailer_bytes)
    return corrupt("it ends early");
  const auto trailer_offset = segment_.size_bytes - snapshot_format::trailer_bytes;
  HEADRACE_CHECK(read_exactly(trailer_offset, snapshot_format::trailer_bytes, trailer));
  if (byte_view(trailer).substr(24) != snapshot_format::end_magic)
    return corrupt("it does not end as one");
  const auto offset = load<std::uint64_t>(trailer, 0);
  const auto size = load<std::uint32_t>(trailer, 8);
  if (size > snapshot_format::header_bytes_max || offset > trailer_offset ||
      trailer_offset - offset != size)
    return corrupt("impossible place of the footer");
  byte_string footer;
  HEADRACE_CHECK(read_exactly(offset, size, footer));
  if (load<std::uint64_t>(trailer, 16) !=
      checksum_of(footer, checksum_of(byte_view(trailer).substr(0, 16))))
    return corrupt("checksum of the footer does not fit");
  HEADRACE_CHECK(check_found(segment_, checksum_of(trailer, header_checksum_)));
  auto decoded = decode_footer(footer, offset);
  if (!decoded)
    return corrupt("footer, " + decoded.error().message);
  return {};
}

status snapshot_reader::decode_footer(byte_view footer, std::uint64_t footer_offset) {
  const auto impossible = [](std::string_view what) {
    return error(errc::malformed_message, "impossible " + std::string(what));
  };
  byte_reader in(footer);
  HEADRACE_TRY(const auto block_count, in.get_varint());
  if (block_count > in.remaining() / 2)
    return impossible("number of blocks");
  std::uint64_t offset = 0;
  for (std::uint64_t i = 0; i < block_count; ++i) {
    HEADRACE_TRY(const auto further, in.get_varint());
    HEADRACE_TRY(const auto raw_bytes, in.get_varint());
    std::uint64_t checksum = 0;
    if (version_ >= 2) {
      HEADRACE_TRY(checksum, in.get<std::uint64_t>());
    }
    if (further > footer_offset - offset || raw_bytes > snapshot_format::raw_bytes_max)
      return impossible("place of a block");
    offset += further;
    if (!blocks_.empty())
      blocks_.back().end = offset;
    blocks_.push_back({offset, footer_offset, raw_bytes, checksum});
  }
  HEADRACE_TRY(const auto group_count, in.get_varint());
  if (group_count != static_cast<std::uint64_t>(header_.groups.size()))
    return impossible("number of key groups");
  place before{0, 0};
  for (std::uint64_t i = 0; i < group_count; ++i) {
    HEADRACE_TRY(const auto number, in.get_varint());
    HEADRACE_TRY(const auto at, in.get_varint());
    const bool is_end = number == blocks_.size() && at == 0;
    if (number < before.block || (number == before.block && at < before.offset) ||
        (!is_end && (number >= blocks_.size() || at > blocks_[number].raw_bytes)))
      return impossible("place of a key group");
    before = {number, at};
    groups_.push_back(before);
  }
  if (!in.at_end())
    return impossible("bytes behind it");
  return {};
}

status snapshot_reader::load_block(std::uint64_t number) {
  if (loaded_ == number)
    return {};
  loaded_ = ~std::uint64_t{0};
  const auto& one = blocks_[number];
  HEADRACE_CHECK(read_exactly(one.offset, static_cast<std::size_t>(one.end - one.offset), stored_));
  const auto decoded = decode_block(stored_, raw_);
  const bool is_own = version_ < 2 || (decoded && stored_checksum(stored_) == one.checksum);
  if (!decoded || !is_own || raw_.size() != one.raw_bytes)
    return corrupt((decoded ? "it is not the one that was written" : decoded.error().message) +
                   ", block " + std::to_string(number) + " at offset " +
                   std::to_string(segment_.offset + one.offset));
  loaded_ = number;
  return {};
}

status snapshot_reader::read_group(std::int32_t group, snapshot_visitor& visitor) {
  if (!header_.groups.contains(group))
    return {};
  const auto index = static_cast<std::size_t>(group - header_.groups.first);
  const auto first = groups_[index];
  const auto end = index + 1 < groups_.size() ? groups_[index + 1] : place{blocks_.size(), 0};
  for (auto number = first.block; number <= end.block && number < blocks_.size(); ++number) {
    const auto from = number == first.block ? first.offset : 0;
    const auto to = number == end.block ? end.offset : blocks_[number].raw_bytes;
    if (from >= to)
      continue;
    HEADRACE_CHECK(load_block(number));
    HEADRACE_CHECK(read_chunks(number, byte_view(raw_).substr(from, to - from), visitor));
  }
  return {};
}

status snapshot_reader::read_chunks(std::uint64_t number, byte_view raw,
                                    snapshot_visitor& visitor) {
  const auto malformed = [&](std::string_view what) {
    return corrupt(std::string(what) + ", block " + std::to_string(number) + " at offset " +
                   std::to_string(segment_.offset + blocks_[number].offset));
  };
  byte_reader in(raw);
  while (!in.at_end()) {
    const auto flags = in.get<std::uint8_t>();
    const auto state = in.get_varint();
    const auto space = in.get_varint();
    const auto count = in.get_varint();
    const auto bytes = in.get_bytes();
    if (!flags || !state || !space || !count || !bytes || *flags > 1 ||
        *state >= header_.states.size() || *count > bytes->size() + 1)
      return malformed("malformed chunk");
    snapshot_row row;
    row.state = static_cast<std::uint32_t>(*state);
    row.space = unzigzag(*space);
    row.key_is_null = *flags == 1;
    if (row.key_is_null && !keys_are_fixed_[row.state])
      return malformed("malformed chunk");
    byte_reader rows(*bytes);
    auto read = read_rows(rows, *count, row, visitor);
    if (!read && read.error().code == errc::malformed_message)
      return malformed("malformed row");
    HEADRACE_CHECK(std::move(read));
    if (!rows.at_end())
      return malformed("bytes behind the last row");
  }
  return {};
}

status snapshot_reader::read_rows(byte_reader& rows, std::uint64_t count, snapshot_row& row,
                                  snapshot_visitor& visitor) {
  const auto& state = header_.states[row.state];
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!keys_are_fixed_[row.state]) {
      HEADRACE_TRY(row.key, rows.get_bytes());
    } else if (!row.key_is_null) {
      HEADRACE_TRY(row.key, rows.get_raw(sizeof(std::uint64_t)));
    }
    if (state.kind == table_kind::map) {
      HEADRACE_TRY(row.entry_key, rows.get_bytes());
    }
    if (state.ttl_ms > 0) {
      HEADRACE_TRY(row.stamp_ms, rows.get<std::int64_t>());
    }
    if (state.layout.is_variable()) {
      HEADRACE_TRY(row.value, rows.get_bytes());
    } else {
      HEADRACE_TRY(row.value, rows.get_raw(state.layout.fixed_bytes));
    }
    HEADRACE_CHECK(visitor.on_row(row));
  }
  return {};
}

} // namespace headrace::state
