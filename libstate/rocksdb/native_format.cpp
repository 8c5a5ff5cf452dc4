#include "libstate/rocksdb/native_format.hpp"

#include "libstate/snapshot/block_codec.hpp"
#include "libstate/storage/stored_file.hpp"

#include <utility>

namespace headrace::state {

namespace {

constexpr std::string_view magic = "HRROCKS1";
constexpr std::uint32_t version = 1;
constexpr std::size_t head_bytes = 28;
constexpr std::uint64_t body_bytes_max = std::uint64_t{1} << 30U;

byte_string encode_body(const native_snapshot& snapshot) {
  byte_string header;
  byte_writer header_to(header);
  encode(snapshot.header, header_to);
  byte_string body;
  byte_writer to(body);
  to.put_bytes(header);
  for (const auto& one : snapshot.states) {
    to.put_bytes(one.family);
    to.put_bytes(one.counts);
  }
  to.put_varint(snapshot.checksums.size());
  for (const auto one : snapshot.checksums)
    to.put(one);
  to.put_bytes(snapshot.manifest_name);
  to.put_bytes(snapshot.manifest);
  return body;
}

/// Whether it may name a file of the database's own directory.
bool is_plain_name(byte_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == byte_view::npos;
}

result<native_snapshot> decode_body(byte_view body) {
  byte_reader in(body);
  native_snapshot out;
  HEADRACE_TRY(const auto header, in.get_bytes());
  HEADRACE_TRY(out.header, decode_snapshot_header(header));
  for (std::size_t i = 0; i < out.header.states.size(); ++i) {
    HEADRACE_TRY(const auto family, in.get_bytes());
    HEADRACE_TRY(const auto counts, in.get_bytes());
    out.states.push_back({std::string(family), byte_string(counts)});
  }
  HEADRACE_TRY(const auto files, in.get_varint());
  if (files > in.remaining() / sizeof(std::uint64_t))
    return error(errc::malformed_message, "impossible number of files");
  for (std::uint64_t i = 0; i < files; ++i) {
    HEADRACE_TRY(const auto checksum, in.get<std::uint64_t>());
    out.checksums.push_back(checksum);
  }
  HEADRACE_TRY(const auto name, in.get_bytes());
  HEADRACE_TRY(const auto manifest, in.get_bytes());
  if (!is_plain_name(name) || !in.at_end())
    return error(errc::malformed_message, "impossible manifest");
  out.manifest_name = std::string(name);
  out.manifest = byte_string(manifest);
  return out;
}

error corrupt(std::string what, const state_segment& segment) {
  return {errc::corrupt_snapshot,
          "corrupt snapshot of RocksDB: " + std::move(what) + ", in " + segment.path};
}

status read_segment(file_system& files, const state_segment& segment, byte_string& stored) {
  if (segment.size_bytes < head_bytes || segment.size_bytes > body_bytes_max)
    return corrupt("impossible size", segment);
  HEADRACE_TRY(const auto file, open_stored(files, segment.path));
  stored.resize(static_cast<std::size_t>(segment.size_bytes));
  for (std::size_t done = 0; done < stored.size();) {
    HEADRACE_TRY(const auto got, file->read_at(segment.offset + done,
                                               {stored.data() + done, stored.size() - done}));
    if (got == 0)
      return corrupt("the file ends early", segment);
    done += got;
  }
  return {};
}

} // namespace

result<state_segment> write_native(const native_snapshot& snapshot, state_output& out) {
  const auto body = encode_body(snapshot);
  byte_string stored(magic);
  byte_writer to(stored);
  to.put(version);
  to.put(std::uint64_t{body.size()});
  const auto checksum = checksum_of(body, version);
  to.put(checksum);
  to.put_raw(body);
  const auto start = out.position();
  HEADRACE_CHECK(out.append(stored));
  return state_segment{out.path(), start, out.position() - start, checksum};
}

result<native_snapshot> read_native(file_system& files, const keyed_state_handle& handle) {
  byte_string stored;
  HEADRACE_CHECK(read_segment(files, handle.segment, stored));
  if (byte_view(stored).substr(0, magic.size()) != magic)
    return corrupt("it does not begin as one", handle.segment);
  byte_reader head(byte_view(stored).substr(magic.size()));
  HEADRACE_TRY(const auto found_version, head.get<std::uint32_t>());
  HEADRACE_TRY(const auto size, head.get<std::uint64_t>());
  HEADRACE_TRY(const auto checksum, head.get<std::uint64_t>());
  if (found_version != version)
    return error(errc::unsupported_snapshot_version,
                 "unsupported snapshot version: " + std::to_string(found_version) + " instead of " +
                     std::to_string(version) + ", in " + handle.segment.path);
  HEADRACE_CHECK(check_found(handle.segment, checksum));
  const auto body = byte_view(stored).substr(head_bytes);
  if (size != body.size() || checksum != checksum_of(body, version))
    return corrupt("checksum does not fit", handle.segment);
  auto decoded = decode_body(body);
  if (!decoded)
    return corrupt(decoded.error().message, handle.segment);
  if (decoded->checksums.size() != handle.shared.size())
    return corrupt("it lists other files than the checkpoint", handle.segment);
  for (const auto& file : handle.shared) {
    if (!is_plain_name(file.name))
      return corrupt("impossible name of a file", handle.segment);
  }
  return decoded;
}

} // namespace headrace::state
