#include "apps/client/remote_cluster.hpp"

#include <doctest/doctest.h>

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
} // TEST_SUITE("client/remote_cluster")

} // namespace headrace::client
