#include "apps/client/remote_cluster.hpp"

#include "apps/client/http_get.hpp"
#include "libactors/base/version.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace headrace::client {

namespace {

/// Listens on loopback, and answers one connection.
class answering_peer {
public:
  /// @param answer  empty: closes without one
  explicit answering_peer(std::string answer) {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(here);
    auto* address = reinterpret_cast<sockaddr*>(&here);
    REQUIRE(::bind(listening_, address, size) == 0);
    REQUIRE(::listen(listening_, 1) == 0);
    REQUIRE(::getsockname(listening_, address, &size) == 0);
    port_ = ntohs(here.sin_port);
    thread_ = std::thread([this, answer = std::move(answer)] {
      const int taken = ::accept(listening_, nullptr, nullptr);
      char asked[4096];
      static_cast<void>(!::read(taken, &asked[0], sizeof(asked)));
      static_cast<void>(!::write(taken, answer.data(), answer.size()));
      ::close(taken);
    });
  }
  ~answering_peer() {
    thread_.join();
    ::close(listening_);
  }
  answering_peer(const answering_peer&) = delete;
  answering_peer& operator=(const answering_peer&) = delete;
  actors::host_port where() const { return {"127.0.0.1", port_}; }

private:
  int listening_ = ::socket(AF_INET, SOCK_STREAM, 0);
  std::uint16_t port_ = 0;
  std::thread thread_;
};

} // namespace

TEST_SUITE("client/remote_cluster") {
TEST_CASE("a target is a host and the REST port, either of which may be left out") {
  CHECK(*parse_target("10.0.0.1:80") == actors::host_port{"10.0.0.1", 80});
  CHECK(*parse_target("somewhere") == actors::host_port{"somewhere", 8081});
  CHECK(*parse_target(":9000") == actors::host_port{"127.0.0.1", 9000});
  CHECK(*parse_target("[::1]:80") == actors::host_port{"::1", 80});
  CHECK(*parse_target("[fe80::1]") == actors::host_port{"fe80::1", 8081});
  for (const auto* wrong : {"host:", "host:0", "host:70000", "host:port", "host:80x", "::1",
                            "::1:80", "[::1", "[::1]80", "[::1]:", "[::1]x"})
    CHECK(parse_target(wrong).error().code == errc::bad_usage);
}

TEST_CASE("where no cluster listens, the words say what to do") {
  const auto files = make_local_file_system();
  const auto made = remote_cluster::connect({}, *files, {"127.0.0.1", 1}); // nobody may have it
  REQUIRE(!made);
  CHECK(made.error().message.find("no cluster answers at 127.0.0.1:1; start one with") == 0);
  CHECK(remote_cluster::is_away(made.error()));
}

TEST_CASE("a peer that closes without an answer is lost, not something else") {
  const answering_peer peer("");

  const auto page = http_get(peer.where(), "/x", std::chrono::milliseconds(10'000));

  REQUIRE_FALSE(page);
  CHECK(page.error().code == errc::peer_lost);
  CHECK(page.error().message.find("connection was closed without an answer") == 0);
  CHECK(remote_cluster::is_away(page.error()));
}

TEST_CASE("a client of another cluster is told the cluster's id and how to give it") {
  const std::string page = R"({"version": ")" + std::string(version()) +
                           R"(", "cluster-id": "nc4", "jobmanager": {"rpc-address": "127.0.0.1",)"
                           R"( "rpc-port": 1}})";
  const answering_peer peer("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(page.size()) +
                            "\r\nConnection: close\r\n\r\n" + page);
  const auto files = make_local_file_system();

  const auto made = remote_cluster::connect({}, *files, peer.where());

  REQUIRE(!made);
  CHECK(made.error().code == errc::registration_refused);
  CHECK(made.error().message == "other cluster: " + to_string(peer.where()) +
                                    " has cluster.id 'nc4', this client 'default'; give it with "
                                    "-D cluster.id=nc4, or --config with the cluster's file");
}
} // TEST_SUITE("client/remote_cluster")

} // namespace headrace::client
