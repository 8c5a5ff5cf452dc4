#include "libactors/transport/handshake.hpp"

#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"
#include "libactors/transport/authentication.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::actors;

namespace {

node_identity identity(std::uint64_t id, const byte_string& secret = "secret") {
  return {.protocol_version = transport_protocol_version,
          .product_version = "0.1.0",
          .cluster_id = "test",
          .node = {1, id},
          .host = "host" + std::to_string(id),
          .port = 6123,
          .secret = secret};
}

handshake dialer(const node_identity& own, const node_id& expected = {}) {
  return {own, byte_string(32, 'd'), ConnectionClass::CONTROL, {.session = 11}, expected};
}
handshake listener(const node_identity& own) { return {own, byte_string(32, 'l')}; }

incoming_frame arrive(const outgoing_frame& sent) {
  return {.kind = sent.kind, .header = sent.header, .body = {}};
}

} // namespace

TEST_SUITE("actors/transport/handshake") {

TEST_CASE("both sides know who is there, and where the conversation stands") {
  auto dials = dialer(identity(1));
  auto listens = listener(identity(2));

  auto hello = dials.begin();
  auto answer = listens.on_frame(arrive(hello.send.at(0)));
  auto proof = dials.on_frame(arrive(answer.send.at(0)));
  CHECK(!listens.is_proved());
  CHECK(listens.on_frame(arrive(proof.send.at(0))).send.empty());
  REQUIRE(listens.is_proved());
  CHECK(listens.peer().node == node_id{1, 1});
  CHECK(listens.peer().host == "host1");
  CHECK(listens.peer().state.session == 11);
  auto welcome = listens.admit({.session = 22, .peer_session = 11, .received = 5});
  CHECK(listens.is_open());
  CHECK(!dials.is_open());
  dials.on_frame(arrive(welcome.send.at(0)));

  REQUIRE(dials.is_open());
  CHECK(dials.peer().node == node_id{1, 2});
  CHECK(dials.peer().state.session == 22);
  CHECK(dials.peer().state.received == 5);
}

TEST_CASE("a code of an earlier connection opens no other one") {
  auto dials = dialer(identity(1));
  auto listens = listener(identity(2));
  auto hello = dials.begin();
  auto answer = listens.on_frame(arrive(hello.send.at(0)));
  auto proof = dials.on_frame(arrive(answer.send.at(0)));
  handshake again(identity(2), byte_string(32, 'm')); // another nonce

  again.on_frame(arrive(hello.send.at(0)));
  const auto step = again.on_frame(arrive(proof.send.at(0)));

  REQUIRE(step.refused);
  CHECK(step.refused->reason == RefusalReason::SECRET);
  CHECK(step.send.at(0).kind == frame_kind::refusal);
}

TEST_CASE("the one who was dialed must know the secret too") {
  auto dials = dialer(identity(1));
  auto impostor = listener(identity(2, "guess"));
  auto hello = dials.begin();
  auto answer = impostor.on_frame(arrive(hello.send.at(0)));
  dials.on_frame(arrive(answer.send.at(0)));
  // It lets everyone in, but can only make up the code.
  auto other = dialer(identity(1, "guess"));
  other.begin();
  auto guessed = other.on_frame(arrive(answer.send.at(0)));
  impostor.on_frame(arrive(guessed.send.at(0)));

  if (impostor.is_proved()) {
    const auto welcome = impostor.admit({.session = 1});
    const auto step = dials.on_frame(arrive(welcome.send.at(0)));
    REQUIRE(step.refused);
    CHECK(step.refused->reason == RefusalReason::SECRET);
  }
  CHECK(!dials.is_open());
}

TEST_CASE("another instance at the address is told apart") {
  auto dials = dialer(identity(1), {1, 3});
  auto listens = listener(identity(2));
  auto hello = dials.begin();
  auto answer = listens.on_frame(arrive(hello.send.at(0)));

  const auto step = dials.on_frame(arrive(answer.send.at(0)));

  REQUIRE(step.refused);
  CHECK(step.refused->reason == RefusalReason::STALE_SESSION);
  CHECK(!step.refused->by_peer);
}

TEST_CASE("a node that dials itself is told so") {
  auto dials = dialer(identity(1));
  auto listens = listener(identity(1));
  auto hello = dials.begin();

  const auto step = listens.on_frame(arrive(hello.send.at(0)));

  REQUIRE(step.refused);
  CHECK(step.refused->reason == RefusalReason::SELF);
  const auto told = dials.on_frame(arrive(step.send.at(0)));
  REQUIRE(told.refused);
  CHECK(told.refused->by_peer);
  CHECK(told.refused->why.message.find("dialed itself") != std::string::npos);
}

TEST_CASE("a refusal that lasts is told from one that passes, on both sides") {
  struct refusal_case {
    RefusalReason reason;
    errc code;
  };
  for (const auto& each : {refusal_case{RefusalReason::VERSION, errc::registration_refused},
                           refusal_case{RefusalReason::CLUSTER, errc::registration_refused},
                           refusal_case{RefusalReason::SECRET, errc::registration_refused},
                           refusal_case{RefusalReason::OVERLOAD, errc::connection_refused},
                           refusal_case{RefusalReason::STOPPING, errc::connection_refused},
                           refusal_case{RefusalReason::DUPLICATE, errc::connection_refused}}) {
    CAPTURE(static_cast<int>(each.reason));
    auto dials = dialer(identity(1));
    dials.begin();

    const auto told = dials.on_frame(arrive(make_refusal(each.reason, "because")));

    REQUIRE(told.refused);
    CHECK(told.refused->why.code == each.code);
  }
  auto other = identity(1);
  other.cluster_id = "other";
  auto dials = dialer(other);
  auto listens = listener(identity(2));
  const auto step = listens.on_frame(arrive(dials.begin().send.at(0)));
  REQUIRE(step.refused);
  CHECK(step.refused->why.code == errc::registration_refused);
}

TEST_CASE("frames out of turn and bytes that are no message are refused") {
  for (const auto kind : {frame_kind::proof, frame_kind::welcome, frame_kind::envelope,
                          frame_kind::heartbeat, frame_kind::hello}) {
    CAPTURE(static_cast<int>(kind));
    auto listens = listener(identity(2));
    const auto step = listens.on_frame({.kind = kind, .header = "garbage!", .body = {}});
    REQUIRE(step.refused);
    CHECK(step.refused->reason == RefusalReason::MALFORMED);
    CHECK(step.refused->why.message.size() > std::string("handshake is malformed: ").size());
    CHECK(listens.on_frame({.kind = kind, .header = "garbage!", .body = {}}).refused);
    CHECK(!listens.is_open());
  }
}

TEST_CASE("flipped bits never open a connection") {
  const auto random = make_seeded_random(headrace::testing::seed());
  for (int run = 0; run < 2'000; ++run) {
    auto dials = dialer(identity(1));
    auto listens = listener(identity(2));
    const auto flip = random->below(3);
    const auto damage = [&](std::uint64_t which, outgoing_frame frame) {
      if (which == flip) {
        auto& letter = frame.header[random->below(frame.header.size())];
        letter = static_cast<char>(letter ^ (1 << random->below(8)));
      }
      return arrive(frame);
    };
    const auto hello = dials.begin().send.at(0);
    auto answer = listens.on_frame(damage(0, hello));
    if (answer.refused) {
      continue;
    }
    auto proof = dials.on_frame(damage(1, answer.send.at(0)));
    if (proof.refused) {
      continue;
    }
    listens.on_frame(damage(2, proof.send.at(0)));
    // Padding that nobody reads may be flipped in the proof; in a hello the code covers all.
    CHECK((flip == 2 || !listens.is_proved()));
  }
}

TEST_CASE("the code is HMAC-SHA256") { // RFC 4231, case 2
  const auto code = hmac_sha256("Jefe", "what do ya want for nothing?");
  CHECK(code.substr(0, 4) == byte_string("\x5b\xdc\xc1\x46", 4));
  CHECK(code.size() == 32);
  CHECK(equal_in_constant_time(code, code));
  CHECK(!equal_in_constant_time(code, code.substr(1)));
  CHECK(!equal_in_constant_time(code, byte_string(32, 'x')));
}

} // TEST_SUITE("actors/transport/handshake")
