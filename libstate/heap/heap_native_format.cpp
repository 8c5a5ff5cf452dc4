#include "libstate/heap/heap_native_format.hpp"

#include "libstate/snapshot/block_codec.hpp"
#include "libstate/storage/stored_file.hpp"

#include <utility>

namespace headrace::state {

namespace {

constexpr std::string_view magic = "HRHEAP01";
constexpr std::uint32_t version = 1;
constexpr std::size_t head_bytes = 28;
constexpr std::uint64_t body_bytes_max = std::uint64_t{1} << 30U;

byte_string encode_body(const heap_native& snapshot) {
  byte_string header;
  byte_writer header_to(header);
  encode(snapshot.header, header_to);
  byte_string body;
  byte_writer to(body);
  to.put_bytes(header);
  to.put_varint(snapshot.directories.size());
  for (const auto& one : snapshot.directories) {
    to.put_varint(one.id);
    to.put_varint(one.state);
    to.put(one.part);
    to.put(one.space);
    to.put_varint(one.pages);
    to.put_varint(one.first_used);
    to.put(one.null_row);
  }
  to.put_varint(snapshot.elements.size());
  for (const auto& one : snapshot.elements) {
    to.put(one.checksum);
    to.put_varint(one.rows);
  }
  to.put_varint(snapshot.inline_bytes);
  return body;
}

result<heap_native::directory> decode_directory(byte_reader& in) {
  heap_native::directory out;
  HEADRACE_TRY(out.id, in.get_varint());
  HEADRACE_TRY(const auto state, in.get_varint());
  HEADRACE_TRY(out.part, in.get<std::uint8_t>());
  HEADRACE_TRY(out.space, in.get<std::int64_t>());
  HEADRACE_TRY(const auto pages, in.get_varint());
  HEADRACE_TRY(const auto first_used, in.get_varint());
  HEADRACE_TRY(out.null_row, in.get<std::uint32_t>());
  constexpr std::uint64_t most = 0xffffffffU;
  if (state > most || pages > most || first_used > most || out.part > 1)
    return error(errc::malformed_message, "impossible directory");
  out.state = static_cast<std::uint32_t>(state);
  out.pages = static_cast<std::uint32_t>(pages);
  out.first_used = static_cast<std::uint32_t>(first_used);
  return out;
}

result<heap_native> decode_body(byte_view body) {
  byte_reader in(body);
  heap_native out;
  HEADRACE_TRY(const auto header, in.get_bytes());
  HEADRACE_TRY(out.header, decode_snapshot_header(header));
  HEADRACE_TRY(const auto directories, in.get_varint());
  for (std::uint64_t i = 0; i < directories; ++i) { // the body's bytes end it
    HEADRACE_TRY(auto one, decode_directory(in));
    if (one.state >= out.header.states.size())
      return error(errc::malformed_message, "directory of an unknown state");
    out.directories.push_back(one);
  }
  HEADRACE_TRY(const auto elements, in.get_varint());
  for (std::uint64_t i = 0; i < elements; ++i) {
    heap_native::element one;
    HEADRACE_TRY(one.checksum, in.get<std::uint64_t>());
    HEADRACE_TRY(one.rows, in.get_varint());
    out.elements.push_back(one);
  }
  HEADRACE_TRY(out.inline_bytes, in.get_varint());
  if (!in.at_end())
    return error(errc::malformed_message, "bytes behind the body");
  return out;
}

error corrupt(std::string what, const state_segment& segment) {
  return {errc::corrupt_snapshot,
          "corrupt snapshot of the heap: " + std::move(what) + ", in " + segment.path};
}

status read_exactly(readable_file& file, const state_segment& segment, std::uint64_t offset,
                    std::uint64_t size, byte_string& out) {
  if (offset > segment.size_bytes || size > segment.size_bytes - offset)
    return corrupt("impossible size", segment);
  out.resize(static_cast<std::size_t>(size));
  for (std::size_t done = 0; done < out.size();) {
    HEADRACE_TRY(const auto got, file.read_at(segment.offset + offset + done,
                                              {out.data() + done, out.size() - done}));
    if (got == 0)
      return corrupt("the file ends early", segment);
    done += got;
  }
  return {};
}

} // namespace

result<state_segment> write_heap_native(const heap_native& snapshot, byte_view behind,
                                        state_output& out) {
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
  HEADRACE_CHECK(out.append(behind));
  return state_segment{out.path(), start, out.position() - start, checksum};
}

result<heap_native> read_heap_native(file_system& files, const keyed_state_handle& handle) {
  const auto& segment = handle.segment;
  HEADRACE_TRY(const auto file, open_stored(files, segment.path));
  byte_string head;
  HEADRACE_CHECK(read_exactly(*file, segment, 0, head_bytes, head));
  if (byte_view(head).substr(0, magic.size()) != magic)
    return corrupt("it does not begin as one", segment);
  byte_reader fields(byte_view(head).substr(magic.size()));
  HEADRACE_TRY(const auto found_version, fields.get<std::uint32_t>());
  HEADRACE_TRY(const auto size, fields.get<std::uint64_t>());
  HEADRACE_TRY(const auto checksum, fields.get<std::uint64_t>());
  if (found_version != version)
    return error(errc::unsupported_snapshot_version,
                 "unsupported snapshot version: " + std::to_string(found_version) + " instead of " +
                     std::to_string(version) + ", in " + segment.path);
  HEADRACE_CHECK(check_found(segment, checksum));
  if (size > body_bytes_max)
    return corrupt("impossible size", segment);
  byte_string body;
  HEADRACE_CHECK(read_exactly(*file, segment, head_bytes, size, body));
  if (checksum != checksum_of(body, version))
    return corrupt("checksum does not fit", segment);
  auto decoded = decode_body(body);
  if (!decoded)
    return corrupt(decoded.error().message, segment);
  const auto expected = handle.shared.size() + (decoded->inline_bytes > 0 ? 1U : 0U);
  if (decoded->elements.size() != expected ||
      decoded->inline_bytes != segment.size_bytes - head_bytes - size)
    return corrupt("it lists other files than the checkpoint", segment);
  return decoded;
}

state_segment inline_element(const heap_native& snapshot, const state_segment& whole) {
  return {whole.path, whole.offset + whole.size_bytes - snapshot.inline_bytes,
          snapshot.inline_bytes};
}

} // namespace headrace::state
