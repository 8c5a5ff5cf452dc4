#pragma once

#include "libactors/base/ids.hpp"
#include "libactors/transport/frame.hpp"
#include "schema/transport.capnp.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace::actors {

/// Rises when what is on the wire changes.
inline constexpr std::uint32_t transport_protocol_version = 1;

using schema::ConnectionClass;
using schema::RefusalReason;

/// What a node says of itself, and what it expects of others.
struct node_identity {
  std::uint32_t protocol_version = transport_protocol_version;
  std::string product_version;
  std::string cluster_id;
  node_id node;
  std::string host;       ///< empty: reached at the address that it is seen from
  std::uint16_t port = 0; ///< 0: does not listen
  byte_string secret;     ///< empty: none
};

/// How far the conversation of two nodes has come; each side names its half of it by a number,
/// which it draws anew whenever it gives the other up.
struct conversation {
  std::uint64_t session = 0;
  std::uint64_t peer_session = 0; ///< 0: none is known
  std::uint64_t received = 0;     ///< sequence number of the last message that has arrived
};

/// What the other side has said of itself.
struct peer_hello {
  node_id node;
  ConnectionClass connection_class = ConnectionClass::CONTROL;
  std::string host;
  std::uint16_t port = 0;
  conversation state;
};

/// Why a connection was not made.
struct refusal {
  RefusalReason reason = RefusalReason::MALFORMED;
  /// In words for the log of this side; `registration_refused` when dialing again does not help
  /// (another version, another cluster, a wrong secret), else `connection_refused` or `peer_lost`.
  error why;
  bool by_peer = false; ///< the other side has refused
};
outgoing_frame make_refusal(RefusalReason reason, const std::string& words);

/// Opens one connection: who is there, of which version and cluster, does it know the secret.
///
///     dials                     listens
///       │ hello ──────────────────▶ │  checks versions, cluster
///       │ ◀────────────────── hello │
///     checks the same              │
///       │ proof ──────────────────▶ │  checks the code; `is_proved`: the owner admits it or not
///       │ ◀──────────────── welcome │  `is_open`
///     checks the code, `is_open`
///
/// The codes are HMAC-SHA256 under the shared secret over both hellos, whose nonces are fresh; the
/// one who dials proves itself first. Who refuses says why in a last frame. Pure: reads no clock.
class handshake {
public:
  struct step {
    std::vector<outgoing_frame> send;
    std::optional<refusal> refused; ///< the connection closes after what is to be sent
  };

  /// The side that listens. @param nonce  32 fresh bytes
  handshake(const node_identity& own, byte_string nonce);
  /// The side that dials. @param expected  the node that should be there; none: whoever is there
  handshake(const node_identity& own, byte_string nonce, ConnectionClass wanted,
            const conversation& so_far, const node_id& expected);

  /// Begins: the one who dials speaks first.
  step begin();
  step on_frame(const incoming_frame& frame);
  /// The owner lets the proved peer in, and says where the conversation stands.
  step admit(const conversation& so_far);
  /// The owner does not let it in.
  step refuse(RefusalReason reason, error why);

  bool dials() const { return dials_; }
  /// Valid from the peer's hello on.
  const peer_hello& peer() const { return peer_; }
  bool has_hello() const { return state_ >= state::await_proof; }
  /// On the side that listens: the peer waits for `admit` or `refuse`.
  bool is_proved() const { return state_ == state::await_admission; }
  bool is_open() const { return state_ == state::open; }

private:
  enum class state : std::uint8_t {
    begin,
    await_hello,
    await_proof,
    await_admission,
    await_welcome,
    open,
    refused,
  };

  outgoing_frame make_hello();
  byte_string code_of(byte_view side, byte_view more) const;
  status read_hello(const incoming_frame& frame);
  std::optional<refusal> check_hello(schema::Hello::Reader hello);
  step on_hello(const incoming_frame& frame);
  step on_proof(const incoming_frame& frame);
  step on_welcome(const incoming_frame& frame);
  step on_refusal(const incoming_frame& frame);

  node_identity own_;
  byte_string nonce_;
  bool dials_;
  ConnectionClass wanted_ = ConnectionClass::CONTROL;
  conversation so_far_;
  node_id expected_;
  state state_ = state::begin;
  peer_hello peer_;
  byte_string own_hello_;
  byte_string peer_hello_;
};

} // namespace headrace::actors
