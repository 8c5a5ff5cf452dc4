#include "libactors/transport/frame.hpp"

#include <cstring>
#include <new>

namespace headrace::actors {
namespace {

void put_u32(char* out, std::uint32_t value) { std::memcpy(out, &value, sizeof value); }
std::uint32_t get_u32(const char* in) {
  std::uint32_t value = 0;
  std::memcpy(&value, in, sizeof value);
  return value;
}

} // namespace

std::size_t outgoing_frame::body_bytes() const {
  std::size_t total = 0;
  for (const auto& piece : body) {
    total += piece.view.size();
  }
  return total;
}

std::size_t outgoing_frame::size_bytes() const {
  return frame_prefix::size_bytes + header.size() + body_bytes();
}

aligned_bytes::aligned_bytes(std::size_t size)
    : data_(static_cast<char*>(::operator new (size, std::align_val_t{alignment})),
            [](char* gone) { ::operator delete (gone, std::align_val_t{alignment}); }),
      size_(size) {}

void frame_prefix::encode(char* out) const {
  put_u32(out, magic);
  put_u32(out + 4, static_cast<std::uint32_t>(kind)); // the upper half is unused
  put_u32(out + 8, header_bytes);
  put_u32(out + 12, body_bytes);
}

status frame_prefix::check_magic(byte_view in) {
  if (in.size() < sizeof magic || get_u32(in.data()) == magic) {
    return {};
  }
  if (begins_tls(in)) {
    return error(errc::malformed_message,
                 "bytes are TLS, and this node speaks without: nodes of one cluster have the same "
                 "security.ssl.internal.enabled");
  }
  if (in.starts_with("HTTP")) {
    return error(errc::malformed_message,
                 "what listens there speaks HTTP: jobmanager.rpc.port is the port of the nodes, "
                 "6123 where nothing is set, and not rest.port");
  }
  for (const byte_view method : {"GET ", "POST", "PUT ", "PATC", "DELE", "HEAD", "OPTI"}) {
    if (in.starts_with(method)) {
      return error(errc::malformed_message,
                   "bytes are an HTTP request, and this is the port of the nodes: the job manager "
                   "answers HTTP at rest.port");
    }
  }
  return error(errc::malformed_message, "bytes are no frame of Headrace");
}

bool frame_prefix::begins_tls(byte_view in) {
  // RFC 8446, section 5.1: a record of the kind handshake or alert, and 3 as the major version.
  return in.size() >= 2 && (in[0] == '\x16' || in[0] == '\x15') && in[1] == '\x03';
}

result<frame_prefix> frame_prefix::decode(byte_view in) {
  HEADRACE_CHECK(check_magic(in));
  if (in.size() < size_bytes) {
    return error(errc::malformed_message, "frame ends early");
  }
  const auto kind = get_u32(in.data() + 4);
  if (kind > 0xffffU) {
    return error(errc::malformed_message, "frame has flags that are not known");
  }
  return frame_prefix{.kind = static_cast<frame_kind>(kind),
                      .header_bytes = get_u32(in.data() + 8),
                      .body_bytes = get_u32(in.data() + 12)};
}

frame_prefix prefix_of(const outgoing_frame& frame) {
  return {.kind = frame.kind,
          .header_bytes = static_cast<std::uint32_t>(frame.header.size()),
          .body_bytes = static_cast<std::uint32_t>(frame.body_bytes())};
}

} // namespace headrace::actors
