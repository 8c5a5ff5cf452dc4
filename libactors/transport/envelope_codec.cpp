#include "libactors/transport/envelope_codec.hpp"

#include "libactors/message/message.hpp"
#include "libactors/rpc/address_codec.hpp"
#include "schema/transport.capnp.h"

#include <utility>

namespace headrace::actors {
namespace {

/// An error's texts are cut, so that its words fit into a frame.
constexpr std::size_t error_text_bytes_max = std::size_t{64} << 10U;

shared_bytes share_words(const any_message& held) {
  const auto bytes = held.words().asBytes();
  return {.view = {reinterpret_cast<const char*>(bytes.begin()), bytes.size()},
          .owner = std::make_shared<const any_message>(held)};
}

template <class S>
byte_string header_of(message_builder<S>& made) {
  const auto whole = made.finish();
  const auto bytes = whole.untyped().words().asBytes();
  return {reinterpret_cast<const char*>(bytes.begin()), bytes.size()};
}

/// Checks the bytes as an S, and has it read.
template <class S, class Read>
auto read_checked(byte_view bytes, Read&& read)
    -> decltype(read(std::declval<typename S::Reader>())) {
  HEADRACE_TRY(auto checked, validate_message(type_id_of<S>(), bytes));
  const message<S> typed(std::move(checked));
  return checked_read([&] { return read(*typed.view()); });
}

byte_view words_after_numbers(const incoming_frame& frame) {
  const byte_view header(frame.header);
  return header.substr(std::min(header.size(), sequence_numbers::size_bytes));
}

void cut_texts(error& failure) {
  if (failure.message.size() > error_text_bytes_max) {
    failure.message.resize(error_text_bytes_max);
  }
  for (auto& cause : failure.causes) {
    cut_texts(cause);
  }
}

status check(const address& where) {
  if (where.endpoint.size() > limits::endpoint_name_bytes_max) {
    return error(errc::malformed_message, "name of an endpoint is too long: " +
                                              std::to_string(where.endpoint.size()) + " bytes");
  }
  return {};
}

} // namespace

byte_string encode(const sequence_numbers& numbers) {
  byte_string out;
  byte_writer writer(out);
  writer.put(numbers.sequence);
  writer.put(numbers.acknowledged);
  return out;
}

result<sequence_numbers> decode_numbers(byte_view header) {
  byte_reader reader(header);
  sequence_numbers out;
  HEADRACE_TRY(out.sequence, reader.get<std::uint64_t>());
  HEADRACE_TRY(out.acknowledged, reader.get<std::uint64_t>());
  return out;
}

result<outbox::item> encode_envelope(const envelope& what) {
  HEADRACE_CHECK(check(what.to));
  HEADRACE_CHECK(check(what.from));
  message_builder<schema::EnvelopeHeader> made;
  made->setKind(static_cast<schema::EnvelopeKind>(what.kind));
  write(made->initTo(), what.to);
  write(made->initFrom(), what.from);
  made->setCorrelation(what.correlation);
  write(made->initFence(), what.fence);
  outbox::item out;
  if (what.kind == envelope_kind::failure) {
    auto failure = what.failure;
    cut_texts(failure);
    message_builder<schema::Error> words;
    write(*words, failure);
    out.body = share_words(words.finish().untyped());
  } else if (!what.payload.is_empty()) {
    made->setTypeId(what.payload.type_id());
    out.body = share_words(what.payload);
  }
  if (out.body.view.size() > limits::message_bytes_max) {
    return error(errc::message_too_large,
                 "message too large: " + std::to_string(out.body.view.size()) +
                     " bytes of at most " + std::to_string(limits::message_bytes_max));
  }
  out.kind = frame_kind::envelope;
  out.header = header_of(made);
  const std::hash<std::string> hash;
  out.flow = mix64(hash(what.from.endpoint) ^ mix64(hash(what.to.endpoint))) | 1U;
  return out;
}

result<arrived_envelope> decode_envelope(const incoming_frame& frame, const node_id& from_node,
                                         const node_id& own) {
  std::uint64_t type_id = 0;
  HEADRACE_TRY(auto out, read_checked<schema::EnvelopeHeader>(
                             words_after_numbers(frame),
                             [&](schema::EnvelopeHeader::Reader header) -> result<envelope> {
                               type_id = header.getTypeId();
                               const auto kind = static_cast<std::uint16_t>(header.getKind());
                               if (kind > static_cast<std::uint16_t>(envelope_kind::failure)) {
                                 return error(errc::malformed_message,
                                              "envelope of an unknown kind");
                               }
                               return envelope{.kind = static_cast<envelope_kind>(kind),
                                               .to = read_address(header.getTo()),
                                               .from = read_address(header.getFrom()),
                                               .correlation = header.getCorrelation(),
                                               .fence = read_id<fencing_token>(header.getFence()),
                                               .payload = {},
                                               .failure = {}};
                             }));
  HEADRACE_CHECK(check(out.to));
  HEADRACE_CHECK(check(out.from));
  if (out.to.node != own) {
    return error(errc::malformed_message, "envelope is for another node: " + to_string(out.to));
  }
  if (out.from.node != from_node) {
    return error(errc::malformed_message, "envelope is of another node: " + to_string(out.from));
  }
  error unfit;
  if (out.kind == envelope_kind::failure) {
    auto words =
        read_checked<schema::Error>(frame.body.view(), [&](schema::Error::Reader in) -> status {
          out.failure = read_error(in);
          return {};
        });
    if (!words) {
      out.failure = std::move(words).error(); // whatever it says, the ask has failed
    }
    if (out.failure.code == errc::none) {
      out.failure.code = errc::internal;
    }
  } else if (auto payload = validate_message(type_id, frame.body.view())) {
    out.payload = std::move(*payload);
  } else {
    unfit = std::move(payload).error();
  }
  return arrived_envelope{.what = std::move(out), .unfit = std::move(unfit)};
}

outbox::item encode_watch(const address& endpoint) {
  message_builder<schema::WatchEndpoint> made;
  write(made->initEndpoint(), endpoint);
  outbox::item out;
  out.kind = frame_kind::watch;
  out.header = header_of(made);
  return out;
}

result<address> decode_watch(const incoming_frame& frame) {
  HEADRACE_TRY(auto out, read_checked<schema::WatchEndpoint>(
                             words_after_numbers(frame),
                             [](schema::WatchEndpoint::Reader words) -> result<address> {
                               return read_address(words.getEndpoint());
                             }));
  HEADRACE_CHECK(check(out));
  return out;
}

outbox::item encode_ended(const ended_endpoint& what) {
  constexpr std::size_t words_max = 1'000;
  message_builder<schema::EndpointEnded> made;
  write(made->initEndpoint(), what.endpoint);
  // In the header, so without causes, and short.
  write(made->initCause(), error(what.cause.code, what.cause.message.substr(0, words_max)));
  outbox::item out;
  out.kind = frame_kind::ended;
  out.header = header_of(made);
  return out;
}

result<ended_endpoint> decode_ended(const incoming_frame& frame) {
  return read_checked<schema::EndpointEnded>(
      words_after_numbers(frame),
      [](schema::EndpointEnded::Reader words) -> result<ended_endpoint> {
        return ended_endpoint{.endpoint = read_address(words.getEndpoint()),
                              .cause = read_error(words.getCause())};
      });
}

outgoing_frame make_heartbeat(std::uint64_t received) {
  outgoing_frame out;
  out.kind = frame_kind::heartbeat;
  byte_writer(out.header).put(received);
  return out;
}

result<std::uint64_t> decode_heartbeat(const incoming_frame& frame) {
  return byte_reader(frame.header).get<std::uint64_t>();
}

outgoing_frame make_goodbye(const std::string& cause) {
  constexpr std::size_t words_max = 1'000;
  message_builder<schema::Goodbye> made;
  made->setCause(cause.substr(0, words_max));
  outgoing_frame out;
  out.kind = frame_kind::goodbye;
  out.header = header_of(made);
  return out;
}

std::string decode_goodbye(const incoming_frame& frame) {
  const auto said = read_checked<schema::Goodbye>(
      frame.header, [](schema::Goodbye::Reader words) -> result<std::string> {
        return std::string(words.getCause().cStr());
      });
  return said ? *said : "without words";
}

} // namespace headrace::actors
