#include "libactors/transport/handshake.hpp"

#include "libactors/message/ids_codec.hpp"
#include "libactors/message/message.hpp"
#include "libactors/transport/authentication.hpp"

#include <utility>

namespace headrace::actors {
namespace {

constexpr byte_view dialing_side = "headrace dials";
constexpr byte_view listening_side = "headrace listens";

template <class S>
outgoing_frame frame_of(frame_kind kind, message_builder<S>& made) {
  const auto whole = made.finish();
  const auto bytes = whole.untyped().words().asBytes();
  return {.kind = kind,
          .header = byte_string(reinterpret_cast<const char*>(bytes.begin()), bytes.size()),
          .body = {}};
}

byte_string bytes_of(capnp::Data::Reader in) {
  return {reinterpret_cast<const char*>(in.begin()), in.size()};
}
capnp::Data::Reader data_of(byte_view in) {
  return {reinterpret_cast<const kj::byte*>(in.data()), in.size()};
}

/// Whether asking again does not help. The other reasons pass.
bool is_final(RefusalReason reason) {
  switch (reason) {
  case RefusalReason::MALFORMED:
  case RefusalReason::VERSION:
  case RefusalReason::CLUSTER:
  case RefusalReason::SECRET:
  case RefusalReason::SELF:
    return true;
  default:
    return false;
  }
}
errc failure_code_of(RefusalReason reason) {
  return is_final(reason) ? errc::registration_refused : errc::connection_refused;
}

handshake::step refused(RefusalReason reason, error why) {
  handshake::step out;
  out.send.push_back(make_refusal(reason, why.message));
  out.refused = refusal{.reason = reason, .why = std::move(why), .by_peer = false};
  return out;
}
handshake::step malformed(error why) {
  auto words = "handshake is malformed: " + why.message;
  return refused(RefusalReason::MALFORMED,
                 {failure_code_of(RefusalReason::MALFORMED), std::move(words), std::move(why)});
}

std::string version_text(std::uint32_t protocol, const std::string& product) {
  return "Headrace " + product + " (protocol " + std::to_string(protocol) + ')';
}

/// What the listening side's code covers beside the hellos.
byte_string welcome_text(std::uint64_t session, std::uint64_t received) {
  byte_string out;
  byte_writer writer(out);
  writer.put(session);
  writer.put(received);
  return out;
}

} // namespace

outgoing_frame make_refusal(RefusalReason reason, const std::string& words) {
  constexpr std::size_t words_max = 1'000;
  message_builder<schema::Refusal> made;
  made->setReason(reason);
  made->setWords(words.substr(0, words_max));
  return frame_of(frame_kind::refusal, made);
}

handshake::handshake(const node_identity& own, byte_string nonce)
    : own_(own), nonce_(std::move(nonce)), dials_(false), state_(state::await_hello) {}

handshake::handshake(const node_identity& own, byte_string nonce, ConnectionClass wanted,
                     const conversation& so_far, const node_id& expected)
    : own_(own), nonce_(std::move(nonce)), dials_(true), wanted_(wanted), so_far_(so_far),
      expected_(expected) {}

outgoing_frame handshake::make_hello() {
  message_builder<schema::Hello> made;
  made->setProtocolVersion(own_.protocol_version);
  made->setProductVersion(own_.product_version);
  made->setClusterId(own_.cluster_id);
  write(made->initNode(), own_.node);
  made->setConnectionClass(wanted_);
  made->setHost(own_.host);
  made->setPort(own_.port);
  made->setNonce(data_of(nonce_));
  made->setHasSecret(!own_.secret.empty());
  made->setSession(so_far_.session);
  made->setPeerSession(so_far_.peer_session);
  made->setReceived(so_far_.received);
  auto frame = frame_of(frame_kind::hello, made);
  own_hello_ = frame.header;
  return frame;
}

handshake::step handshake::begin() {
  step out;
  if (dials_) {
    out.send.push_back(make_hello());
    state_ = state::await_hello;
  }
  return out;
}

byte_string handshake::code_of(byte_view side, byte_view more) const {
  if (own_.secret.empty()) {
    return {};
  }
  byte_string text;
  byte_writer writer(text);
  writer.put_bytes(side);
  writer.put_bytes(dials_ ? own_hello_ : peer_hello_);
  writer.put_bytes(dials_ ? peer_hello_ : own_hello_);
  writer.put_bytes(more);
  return hmac_sha256(own_.secret, text);
}

handshake::step handshake::on_frame(const incoming_frame& frame) {
  if (frame.kind == frame_kind::refusal) {
    return on_refusal(frame);
  }
  const auto take = [&](frame_kind wanted, step (handshake::*action)(const incoming_frame&)) {
    if (frame.kind != wanted || frame.body.size() != 0) {
      state_ = state::refused;
      return malformed({errc::malformed_message,
                        "frame of kind " + std::to_string(static_cast<unsigned>(frame.kind)) +
                            " came before the connection was open"});
    }
    auto out = (this->*action)(frame);
    if (out.refused) {
      state_ = state::refused;
    }
    return out;
  };
  switch (state_) {
  case state::await_hello:
    return take(frame_kind::hello, &handshake::on_hello);
  case state::await_proof:
    return take(frame_kind::proof, &handshake::on_proof);
  case state::await_welcome:
    return take(frame_kind::welcome, &handshake::on_welcome);
  case state::begin:
  case state::await_admission:
  case state::open:
  case state::refused:
    break;
  }
  state_ = state::refused;
  return malformed({errc::malformed_message, "frame came out of turn"});
}

/// Reads the header of a frame as an S, and hands it to `read`.
template <class S, class Read>
static status read_header(const incoming_frame& frame, Read&& read) {
  HEADRACE_TRY(auto checked, validate_message(type_id_of<S>(), frame.header));
  const message<S> typed(std::move(checked));
  return checked_read([&]() -> status { return read(*typed.view()); });
}

std::optional<refusal> handshake::check_hello(schema::Hello::Reader hello) {
  const auto no = [](RefusalReason reason, std::string words) {
    return refusal{
        .reason = reason, .why = {failure_code_of(reason), std::move(words)}, .by_peer = false};
  };
  const std::string product = hello.getProductVersion().cStr();
  if (hello.getProtocolVersion() != own_.protocol_version || product != own_.product_version) {
    return no(RefusalReason::VERSION,
              "other version: one node is " + version_text(hello.getProtocolVersion(), product) +
                  ", the other is " + version_text(own_.protocol_version, own_.product_version) +
                  "; run the same version on all nodes of a cluster");
  }
  const std::string cluster = hello.getClusterId().cStr();
  if (cluster != own_.cluster_id) {
    return no(RefusalReason::CLUSTER, "other cluster: one node has cluster.id '" + cluster +
                                          "', the other has '" + own_.cluster_id + "'");
  }
  if (peer_.node.is_none() || hello.getNonce().size() < 16) {
    return no(RefusalReason::MALFORMED, "handshake is malformed: hello without node or nonce");
  }
  if (peer_.node == own_.node) {
    return no(RefusalReason::SELF, "node has dialed itself: " + to_string(own_.node));
  }
  if (hello.getHasSecret() != !own_.secret.empty()) {
    return no(RefusalReason::SECRET,
              std::string("wrong secret: one node has a security.shared-secret and the other has "
                          "none: give all nodes of a cluster the same"));
  }
  return std::nullopt;
}

handshake::step handshake::on_hello(const incoming_frame& frame) {
  std::optional<refusal> unfit;
  const auto read = read_header<schema::Hello>(frame, [&](schema::Hello::Reader hello) -> status {
    peer_ = {.node = read_id<node_id>(hello.getNode()),
             .connection_class = hello.getConnectionClass(),
             .host = hello.getHost().cStr(),
             .port = hello.getPort(),
             .state = {.session = hello.getSession(),
                       .peer_session = hello.getPeerSession(),
                       .received = hello.getReceived()}};
    unfit = check_hello(hello);
    return {};
  });
  if (!read) {
    return malformed(read.error());
  }
  if (unfit) {
    return refused(unfit->reason, std::move(unfit->why));
  }
  peer_hello_ = frame.header;
  step out;
  if (!dials_) {
    wanted_ = peer_.connection_class;
    if (wanted_ != ConnectionClass::CONTROL && wanted_ != ConnectionClass::DATA) {
      return malformed({errc::malformed_message, "connection of an unknown class"});
    }
    out.send.push_back(make_hello());
    state_ = state::await_proof;
    return out;
  }
  if (!expected_.is_none() && peer_.node != expected_) {
    return refused(RefusalReason::STALE_SESSION,
                   {errc::peer_lost, "node has come back as a new instance: was " +
                                         to_string(expected_) + ", is " + to_string(peer_.node)});
  }
  message_builder<schema::Proof> made;
  made->setCode(data_of(code_of(dialing_side, {})));
  out.send.push_back(frame_of(frame_kind::proof, made));
  state_ = state::await_welcome;
  return out;
}

handshake::step handshake::on_proof(const incoming_frame& frame) {
  byte_string code;
  const auto read = read_header<schema::Proof>(frame, [&](schema::Proof::Reader proof) -> status {
    code = bytes_of(proof.getCode());
    return {};
  });
  if (!read) {
    return malformed(read.error());
  }
  if (!equal_in_constant_time(code, code_of(dialing_side, {}))) {
    return refused(RefusalReason::SECRET, {errc::registration_refused,
                                           "wrong secret: security.shared-secret of the two "
                                           "nodes differs: give all nodes of a cluster the same"});
  }
  state_ = state::await_admission;
  return {};
}

handshake::step handshake::admit(const conversation& so_far) {
  HEADRACE_ASSERT(is_proved(), "only who has proved itself is let in");
  message_builder<schema::Welcome> made;
  made->setSession(so_far.session);
  made->setReceived(so_far.received);
  made->setCode(data_of(code_of(listening_side, welcome_text(so_far.session, so_far.received))));
  step out;
  out.send.push_back(frame_of(frame_kind::welcome, made));
  state_ = state::open;
  return out;
}

handshake::step handshake::refuse(RefusalReason reason, error why) {
  state_ = state::refused;
  return refused(reason, std::move(why));
}

handshake::step handshake::on_welcome(const incoming_frame& frame) {
  byte_string code;
  const auto read =
      read_header<schema::Welcome>(frame, [&](schema::Welcome::Reader welcome) -> status {
        code = bytes_of(welcome.getCode());
        peer_.state.session = welcome.getSession();
        peer_.state.received = welcome.getReceived();
        return {};
      });
  if (!read) {
    return malformed(read.error());
  }
  const auto expected =
      code_of(listening_side, welcome_text(peer_.state.session, peer_.state.received));
  if (!equal_in_constant_time(code, expected)) {
    return refused(RefusalReason::SECRET,
                   {errc::registration_refused, "wrong secret: the node that was dialed does not "
                                                "know this cluster's security.shared-secret"});
  }
  state_ = state::open;
  return {};
}

handshake::step handshake::on_refusal(const incoming_frame& frame) {
  refusal said{.reason = RefusalReason::MALFORMED, .why = {}, .by_peer = true};
  std::string words = "no reason is given";
  const auto read =
      read_header<schema::Refusal>(frame, [&](schema::Refusal::Reader refusal) -> status {
        said.reason = refusal.getReason();
        words = refusal.getWords().cStr();
        return {};
      });
  if (!read) {
    words = read.error().message;
  }
  state_ = state::refused;
  said.why = error(failure_code_of(said.reason), "refused by the peer: " + words);
  step out;
  out.refused = std::move(said);
  return out;
}

} // namespace headrace::actors
