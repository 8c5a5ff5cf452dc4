#include "apps/client/remote_cluster.hpp"

#include "apps/client/http_get.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace headrace::client {

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
  const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(here);
  auto* address = reinterpret_cast<sockaddr*>(&here);
  REQUIRE(::bind(listening, address, size) == 0);
  REQUIRE(::listen(listening, 1) == 0);
  REQUIRE(::getsockname(listening, address, &size) == 0);
  std::thread peer([listening] {
    const int taken = ::accept(listening, nullptr, nullptr);
    char asked[4096];
    static_cast<void>(!::read(taken, &asked[0], sizeof(asked)));
    ::close(taken);
  });

  const auto page =
      http_get({"127.0.0.1", ntohs(here.sin_port)}, "/x", std::chrono::milliseconds(10'000));

  peer.join();
  ::close(listening);
  REQUIRE_FALSE(page);
  CHECK(page.error().code == errc::peer_lost);
  CHECK(page.error().message.find("connection was closed without an answer") == 0);
  CHECK(remote_cluster::is_away(page.error()));
}
} // TEST_SUITE("client/remote_cluster")

} // namespace headrace::client
