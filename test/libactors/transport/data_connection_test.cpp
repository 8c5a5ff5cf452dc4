#include "test/libactors/transport/testing_certificates.hpp"
#include "test/libactors/transport/testing_nodes.hpp"
#include "test/libactors/transport/testing_proxy.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <poll.h>

using namespace headrace;
using namespace headrace::actors;
using headrace::testing::open_descriptors;
using headrace::testing::start;
using headrace::testing::testing_ca;
using headrace::testing::testing_process;
using std::chrono::seconds;

namespace {

/// Keeps frames until the test takes them.
class kept_frames final : public frame_receiver {
public:
  void on_frame(incoming_frame what) override {
    const std::lock_guard lock(guard_);
    frames_.push_back(std::move(what));
    changed_.notify_all();
  }
  void on_drained() override {
    const std::lock_guard lock(guard_);
    ++drained_;
    changed_.notify_all();
  }
  void on_closed(const error& cause) override {
    const std::lock_guard lock(guard_);
    closed_ = cause;
    changed_.notify_all();
  }
  incoming_frame take() {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return !frames_.empty(); });
    auto out = std::move(frames_.front());
    frames_.pop_front();
    return out;
  }
  void await_drained() {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return drained_ > 0; });
    drained_ = 0;
  }
  error await_closed() {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return closed_.has_value(); });
    return *closed_;
  }

private:
  std::mutex guard_;
  std::condition_variable changed_;
  std::deque<incoming_frame> frames_;
  int drained_ = 0;
  std::optional<error> closed_;
};

struct data_pair {
  explicit data_pair(const rpc_settings& first = {}, const rpc_settings& second = {})
      : one(first), two(second) {
    one.rpc->accept_data([this](auto&, auto&) { return at_one; });
    two.rpc->accept_data([this](auto&, auto& connection) {
      back.set_value(connection);
      return at_two;
    });
    REQUIRE(one.meet(two));
    std::promise<result<std::shared_ptr<frame_connection>>> made;
    one.rpc->connect_data(two.id(),
                          [&](auto connection) { made.set_value(std::move(connection)); });
    auto connection = made.get_future().get();
    REQUIRE_MESSAGE(connection, (connection ? std::string() : to_string(connection.error())));
    there = *connection;
  }

  std::shared_ptr<kept_frames> at_one = std::make_shared<kept_frames>();
  std::shared_ptr<kept_frames> at_two = std::make_shared<kept_frames>();
  std::promise<std::shared_ptr<frame_connection>> back;
  testing_process one;
  testing_process two;
  std::shared_ptr<frame_connection> there;
};

outgoing_frame numbered(std::uint16_t number, std::size_t piece_bytes, int pieces) {
  outgoing_frame out;
  out.kind = static_cast<frame_kind>(256 + number);
  out.header = "frame " + std::to_string(number);
  for (int i = 0; i < pieces; ++i) {
    auto held = std::make_shared<byte_string>(piece_bytes, static_cast<char>('a' + i));
    out.body.push_back({.view = *held, .owner = held});
  }
  return out;
}

/// Sends frames as fast as the connection takes them, and checks that all come.
void stream(data_pair& pair, std::uint16_t frames, std::size_t piece_bytes, int pieces) {
  std::thread sender([&] {
    for (std::uint16_t i = 0; i < frames; ++i) {
      while (true) {
        const auto sent = pair.there->send(numbered(i, piece_bytes, pieces));
        if (sent) {
          break;
        }
        REQUIRE(sent.error().code == errc::queue_full);
        pair.at_one->await_drained();
      }
    }
  });
  for (std::uint16_t i = 0; i < frames; ++i) {
    const auto got = pair.at_two->take();
    REQUIRE(static_cast<int>(got.kind) == 256 + i);
    REQUIRE(got.header == "frame " + std::to_string(i));
    REQUIRE(got.body.size() == piece_bytes * static_cast<std::size_t>(pieces));
    REQUIRE(reinterpret_cast<std::uintptr_t>(got.body.view().data()) % 64 == 0);
    REQUIRE(got.body.view().back() == 'a' + pieces - 1);
  }
  sender.join();
}

} // namespace

TEST_SUITE("actors/transport/data_connection") {

TEST_CASE("frames arrive whole, in order and aligned; a full queue drains") {
  data_pair pair;
  stream(pair, 1'000, 50'000, 5);
}

TEST_CASE("a frame that the other side would not take is an error here") {
  data_pair pair;
  for (auto frame : {numbered(1, limits::frame_body_bytes_max + 1, 1),
                     numbered(1, limits::frame_body_bytes_max / 2 + 1, 2)}) {
    const auto sent = pair.there->send(std::move(frame));
    REQUIRE(!sent);
    CHECK(sent.error().code == errc::message_too_large);
  }
  auto frame = numbered(1, limits::frame_body_bytes_max, 1);
  CHECK(pair.there->send(frame));
  CHECK(pair.at_two->take().body.size() == limits::frame_body_bytes_max);
  frame.header = byte_string(limits::frame_header_bytes_max + 1, 'h');
  CHECK(!pair.there->send(std::move(frame)));
}

TEST_CASE("the other side sends over the same connection") {
  data_pair pair;
  const auto back = pair.back.get_future().get();

  CHECK(back->send(numbered(1, 10, 1)));

  CHECK(pair.at_one->take().header == "frame 1");
}

TEST_CASE("the other side's end closes the connection, and sending fails") {
  data_pair pair;
  pair.back.get_future().get()->abort({errc::task_canceled, "not needed any more"});

  CHECK(pair.at_one->await_closed().code == errc::connection_failed);
  CHECK(pair.at_two->await_closed().code == errc::task_canceled);
  const auto sent = pair.there->send(numbered(1, 10, 1));
  REQUIRE(!sent);
  CHECK(sent.error().code == errc::peer_lost);
}

TEST_CASE("what was sent before a close arrives") {
  data_pair pair;
  for (std::uint16_t i = 0; i < 100; ++i) {
    CHECK(pair.there->send(numbered(i, 100'000, 1)));
  }
  pair.there->close({errc::none, "done"});

  pair.at_two->await_closed();
  for (int i = 0; i < 100; ++i) {
    CHECK(pair.at_two->take().header == "frame " + std::to_string(i));
  }
}

TEST_CASE("a node that takes no data says so") {
  testing_process one;
  testing_process two;
  REQUIRE(one.meet(two));
  std::promise<result<std::shared_ptr<frame_connection>>> made;
  one.rpc->connect_data(two.id(), [&](auto connection) { made.set_value(std::move(connection)); });

  CHECK(!made.get_future().get());
}

TEST_CASE("control and data go over TLS when both have certificates of the CA") {
  const testing_ca ca;
  rpc_settings first;
  first.tls = ca.issue("first");
  rpc_settings second;
  second.tls = ca.issue("second");
  data_pair pair(first, second);
  start(*pair.two.under, "adder", [](auto&) {});

  CHECK(pair.one.ask(pair.two.at("adder"), 1));
  stream(pair, 300, 50'000, 5);
  for (int i = 0; i < 100; ++i) {
    CHECK(pair.one.ask(pair.two.at("adder"), i));
  }
}

TEST_CASE("one side speaks TLS and the other does not: both are told so") {
  const testing_ca ca;
  rpc_settings with;
  with.tls = ca.issue("with");
  testing_process tls(with);
  testing_process plain;
  for (auto [from, to] : {std::pair(&plain, &tls), std::pair(&tls, &plain)}) {
    const auto met = from->meet(*to);
    REQUIRE(!met);
    CHECK_MESSAGE(met.error().code == errc::registration_refused, to_string(met.error()));
    CHECK_MESSAGE(met.error().message.find("security.ssl.internal.enabled") != std::string::npos,
                  to_string(met.error()));
    CHECK(to->log.await("security.ssl.internal.enabled"));
  }
}

TEST_CASE("a connection that closes within the TLS handshake may be dialed again") {
  const testing_ca ca;
  rpc_settings with;
  with.tls = ca.issue("with");
  testing_process one(with);
  auto listening = listen_on(*numeric_address({"127.0.0.1", 0}));
  REQUIRE(listening);
  const host_port where{"127.0.0.1", port_of(*listening)};
  std::thread closing([&] { // reads the greeting, so that the other side sees an end and no reset
    pollfd knock{listening->get(), POLLIN, 0};
    ::poll(&knock, 1, 10'000);
    const socket_handle accepted(::accept(listening->get(), nullptr, nullptr));
    std::array<char, 4096> greeting{};
    static_cast<void>(::recv(accepted.get(), greeting.data(), greeting.size(), 0));
    *listening = socket_handle();
  });
  const auto met = one.rpc->connect_and_wait(where, std::chrono::seconds(10));
  closing.join();
  REQUIRE(!met);
  CHECK_MESSAGE(met.error().code == errc::connection_failed, to_string(met.error()));
}

TEST_CASE("a certificate of another CA, or none, is refused in words") {
  const testing_ca ca;
  const testing_ca other;
  rpc_settings right;
  right.tls = ca.issue("right");
  testing_process one(right);
  rpc_settings wrong;
  wrong.tls = other.issue("wrong");
  testing_process stranger(wrong);
  testing_process plain;

  const auto met = stranger.meet(one);
  REQUIRE(!met);
  CHECK(met.error().code == errc::registration_refused);
  CHECK(met.error().message.find("certificate") != std::string::npos);
  rpc_settings mixed = right; // trusts the right CA, but shows the wrong certificate
  mixed.tls.certificate = wrong.tls.certificate;
  mixed.tls.key = wrong.tls.key;
  testing_process impostor(mixed);
  const auto refused = impostor.meet(one);
  REQUIRE(!refused);
  CHECK(refused.error().message.find("TLS") != std::string::npos);
  CHECK(one.log.await("certificate"));
}

TEST_CASE("connections that are refused leave no socket open") {
  const testing_ca ca;
  const testing_ca other;
  rpc_settings right;
  right.tls = ca.issue("right");
  rpc_settings mixed = right;
  const auto wrong = other.issue("wrong");
  mixed.tls.certificate = wrong.certificate;
  mixed.tls.key = wrong.key;
  const auto before = open_descriptors();
  for (int i = 0; i < 10; ++i) {
    testing_process one(right);
    testing_process impostor(mixed);
    testing_process plain;
    CHECK(!impostor.meet(one));
    CHECK(!one.meet(impostor));
    CHECK(!plain.meet(one));
    CHECK(!one.meet(plain));
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("files that do not fit are an error that names them") {
  const testing_ca ca;
  auto files = ca.issue("node");
  const auto code = [](const tls_files& given) {
    const auto loaded = tls_context::load(given);
    return loaded ? std::string() : loaded.error().message;
  };
  CHECK(code(files).empty());
  CHECK(code({files.certificate, files.key, ""}).find("three files") != std::string::npos);
  CHECK(code({"/none", files.key, files.ca}).find("/none") != std::string::npos);
  CHECK(code({files.certificate, ca.issue("other").key, files.ca}).find("other.key") !=
        std::string::npos);
}

} // TEST_SUITE("actors/transport/data_connection")
