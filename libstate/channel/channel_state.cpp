#include "libstate/channel/channel_state.hpp"

#include "libstate/snapshot/block_codec.hpp"
#include "libstate/snapshot/snapshot_format.hpp"
#include "libstate/storage/stored_file.hpp"
#include "libgraph/data/batch_codec.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace headrace::state {

namespace {

constexpr std::string_view end_magic = "HRCHANND";
constexpr std::uint32_t version = 2;
constexpr std::uint32_t oldest_version = 1; ///< channels have no checksum
constexpr std::size_t trailer_bytes = 32;
constexpr std::uint64_t footer_bytes_max = 64ULL << 20U;
constexpr std::uint8_t batch_kind = 1;
constexpr std::uint8_t watermark_kind = 2;

std::uint64_t footer_checksum(byte_view footer, std::uint64_t offset, std::uint32_t of_version) {
  return checksum_of(footer, offset ^ (std::uint64_t{of_version} << 56U));
}

/// Of the blocks of a channel: goes on from that of those before.
std::uint64_t chain_checksum(byte_view block, std::uint64_t before) {
  return checksum_of(block.substr(0, snapshot_format::block_header_bytes), before);
}

/// Cuts elements into blocks.
class block_output {
public:
  explicit block_output(state_output& out) : out_(out) {}

  status put(const graph::stream_element& element) {
    byte_writer to(raw_);
    if (const auto* mark = std::get_if<graph::watermark>(&element)) {
      to.put(watermark_kind);
      to.put(mark->time_ms);
    } else if (const auto* rows = std::get_if<graph::record_batch>(&element)) {
      to.put(batch_kind);
      to.put_bytes(graph::encode_batch(*rows));
    }
    return raw_.size() < snapshot_format::block_bytes ? status() : flush();
  }
  status flush() {
    if (raw_.empty())
      return {};
    encode_block(raw_, stored_);
    raw_.clear();
    checksum_ = chain_checksum(stored_, checksum_);
    return out_.append(stored_);
  }
  /// Ends a channel. @returns the checksum of its blocks
  result<std::uint64_t> end_channel() {
    HEADRACE_CHECK(flush());
    return std::exchange(checksum_, std::uint64_t{0});
  }

private:
  state_output& out_;
  byte_string raw_;
  byte_string stored_;
  std::uint64_t checksum_ = 0;
};

/// The edges of some channels, each once.
class edge_table {
public:
  std::uint64_t index_of(const channel_content& channel) {
    for (std::size_t i = 0; i < edges_.size(); ++i)
      if (edges_[i]->place.result == channel.place.result)
        return i;
    edges_.push_back(&channel);
    return edges_.size() - 1;
  }
  void encode(byte_writer& out) const {
    out.put_varint(edges_.size());
    for (const auto* edge : edges_) {
      out.put(edge->place.result.high);
      out.put(edge->place.result.low);
      edge->type->encode(out);
    }
  }

private:
  std::vector<const channel_content*> edges_;
};

result<graph::stream_element> decode_element(byte_reader& in, const graph::row_type_ptr& type) {
  HEADRACE_TRY(const auto kind, in.get<std::uint8_t>());
  if (kind == watermark_kind) {
    HEADRACE_TRY(const auto time_ms, in.get<std::int64_t>());
    return graph::stream_element(graph::watermark{time_ms});
  }
  if (kind != batch_kind)
    return error(errc::malformed_message, "unknown kind of an element: " + std::to_string(kind));
  HEADRACE_TRY(const auto bytes, in.get_bytes());
  HEADRACE_TRY(auto rows, graph::decode_batch(type, bytes));
  return graph::stream_element(std::move(rows));
}

} // namespace

bool is_kept_in_flight(const graph::stream_element& element) {
  return std::holds_alternative<graph::record_batch>(element) ||
         std::holds_alternative<graph::watermark>(element);
}

result<state_segment> write_channel_state(snapshot_target& target,
                                          const std::vector<channel_content>& channels) {
  HEADRACE_TRY(auto* const out, target.output());
  state_segment segment{out->path(), out->position(), 0};
  edge_table edges;
  byte_string entries;
  byte_writer to(entries);
  to.put_varint(channels.size());
  block_output blocks(*out);
  for (const auto& channel : channels) {
    const auto offset = out->position() - segment.offset;
    for (const auto& element : channel.elements)
      HEADRACE_CHECK(blocks.put(element));
    HEADRACE_TRY(const auto checksum, blocks.end_channel());
    to.put_varint(edges.index_of(channel));
    to.put(static_cast<std::uint8_t>(channel.place.at_producer ? 1 : 0));
    to.put(channel.place.producer);
    to.put(channel.place.consumer);
    to.put_varint(offset);
    to.put_varint(out->position() - segment.offset - offset);
    to.put(checksum);
  }
  byte_string footer;
  byte_writer end(footer);
  edges.encode(end);
  end.put_raw(entries);
  const std::uint64_t offset = out->position() - segment.offset;
  segment.checksum = footer_checksum(footer, offset, version);
  const auto size = static_cast<std::uint32_t>(footer.size());
  end.put(offset);
  end.put(size);
  end.put(version);
  end.put(segment.checksum);
  end.put_raw(end_magic);
  HEADRACE_CHECK(out->append(footer));
  segment.size_bytes = out->position() - segment.offset;
  return segment;
}

result<channel_state_reader> channel_state_reader::open(file_system& files,
                                                        const state_segment& from) {
  HEADRACE_TRY(auto file, open_stored(files, from.path));
  channel_state_reader out(std::move(file), from);
  HEADRACE_CHECK(out.read_footer());
  return out;
}

error channel_state_reader::corrupt(const std::string& what) const {
  return {errc::corrupt_snapshot, "corrupt in-flight data: " + what + ", at offset " +
                                      std::to_string(segment_.offset) + " in " + segment_.path};
}

status channel_state_reader::read_at(std::uint64_t offset, std::uint64_t size, byte_string& into) {
  if (offset > segment_.size_bytes || size > segment_.size_bytes - offset)
    return corrupt("a part beyond its end");
  const auto file_bytes = file_->size_bytes();
  if (segment_.offset > file_bytes || offset + size > file_bytes - segment_.offset)
    return corrupt("file is cut off at " + std::to_string(file_bytes) + " bytes");
  into.resize(static_cast<std::size_t>(size));
  for (std::size_t done = 0; done < into.size();) {
    HEADRACE_TRY(const auto got, file_->read_at(segment_.offset + offset + done,
                                                {into.data() + done, into.size() - done}));
    if (got == 0)
      return corrupt("file ends early");
    done += got;
  }
  return {};
}

status channel_state_reader::read_footer() {
  byte_string trailer;
  if (segment_.size_bytes < trailer_bytes)
    return corrupt("too short");
  HEADRACE_CHECK(read_at(segment_.size_bytes - trailer_bytes, trailer_bytes, trailer));
  byte_reader in(trailer);
  HEADRACE_TRY(const auto offset, in.get<std::uint64_t>());
  HEADRACE_TRY(const auto size, in.get<std::uint32_t>());
  HEADRACE_TRY(const auto found_version, in.get<std::uint32_t>());
  HEADRACE_TRY(const auto checksum, in.get<std::uint64_t>());
  HEADRACE_TRY(const auto magic, in.get_raw(end_magic.size()));
  if (magic != end_magic)
    return corrupt("it does not end as such");
  if (found_version < oldest_version || found_version > version)
    return error(errc::unsupported_snapshot_version,
                 "unsupported version of in-flight data: " + std::to_string(found_version) +
                     " instead of " + std::to_string(oldest_version) + " to " +
                     std::to_string(version) + ", in " + segment_.path);
  if (size > footer_bytes_max || offset != segment_.size_bytes - trailer_bytes - size)
    return corrupt("impossible place of its footer");
  byte_string footer;
  HEADRACE_CHECK(read_at(offset, size, footer));
  if (checksum != footer_checksum(footer, offset, found_version))
    return corrupt("checksum of its footer does not fit");
  HEADRACE_CHECK(check_found(segment_, checksum));
  if (auto decoded = decode_footer(footer, found_version >= 2); !decoded)
    return corrupt(decoded.error().message);
  return {};
}

status channel_state_reader::decode_footer(byte_view footer, bool has_checksums) {
  byte_reader in(footer);
  const auto count = [&in]() -> result<std::size_t> {
    HEADRACE_TRY(const auto some, in.get_varint());
    if (some > in.remaining())
      return error(errc::malformed_message, "impossible count");
    return static_cast<std::size_t>(some);
  };
  std::vector<std::pair<result_id, graph::row_type_ptr>> edges;
  HEADRACE_TRY(const auto edge_count, count());
  for (std::size_t i = 0; i < edge_count; ++i) {
    auto& edge = edges.emplace_back();
    HEADRACE_TRY(edge.first.high, in.get<std::uint64_t>());
    HEADRACE_TRY(edge.first.low, in.get<std::uint64_t>());
    HEADRACE_TRY(auto type, graph::logical_type::decode(in));
    edge.second = std::make_shared<const graph::logical_type>(std::move(type));
  }
  HEADRACE_TRY(const auto entry_count, count());
  for (std::size_t i = 0; i < entry_count; ++i) {
    entry one;
    HEADRACE_TRY(const auto edge, in.get_varint());
    if (edge >= edges.size())
      return error(errc::malformed_message, "unknown edge");
    std::tie(one.place.result, one.type) = edges[static_cast<std::size_t>(edge)];
    HEADRACE_TRY(const auto at_producer, in.get<std::uint8_t>());
    one.place.at_producer = at_producer != 0;
    HEADRACE_TRY(one.place.producer, in.get<std::int32_t>());
    HEADRACE_TRY(one.place.consumer, in.get<std::int32_t>());
    HEADRACE_TRY(one.offset, in.get_varint());
    HEADRACE_TRY(one.size_bytes, in.get_varint());
    if (has_checksums) {
      HEADRACE_TRY(one.checksum, in.get<std::uint64_t>());
    }
    if (one.place.producer < 0 || one.place.consumer < 0)
      return error(errc::malformed_message, "impossible subtask");
    entries_.push_back(std::move(one));
  }
  return in.at_end() ? status() : error(errc::malformed_message, "bytes behind its end");
}

result<std::vector<graph::stream_element>> channel_state_reader::read(std::size_t index) {
  const auto& from = entries_[index];
  byte_string stored;
  HEADRACE_CHECK(read_at(from.offset, from.size_bytes, stored));
  std::vector<graph::stream_element> out;
  byte_string raw;
  std::uint64_t found = 0;
  for (byte_view left = stored; !left.empty();) {
    const auto sizes = decode_block_header(left);
    if (!sizes)
      return corrupt(sizes.error().message);
    const auto size = snapshot_format::block_header_bytes + sizes->stored_bytes;
    if (const auto decoded = decode_block(left.substr(0, size), raw); !decoded)
      return corrupt(decoded.error().message);
    found = chain_checksum(left, found);
    left.remove_prefix(std::min(size, left.size()));
    byte_reader in(raw);
    while (!in.at_end()) {
      auto element = decode_element(in, from.type);
      if (!element)
        return corrupt(element.error().message);
      out.push_back(*std::move(element));
    }
  }
  if (from.checksum && *from.checksum != found)
    return corrupt("blocks of a channel are not those that were written");
  return out;
}

} // namespace headrace::state
