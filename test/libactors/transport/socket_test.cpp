#include "libactors/transport/socket.hpp"

#include <doctest/doctest.h>

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace headrace::actors {
namespace {

/// Leaves the process no descriptor to open, until it goes.
class descriptor_famine {
public:
  descriptor_famine() {
    getrlimit(RLIMIT_NOFILE, &before_);
    taken_.emplace_back(::dup(0));
    auto few = before_;
    few.rlim_cur = static_cast<rlim_t>(taken_.back().get()) + 1;
    setrlimit(RLIMIT_NOFILE, &few);
    while (true) { // those below, which others have left free
      socket_handle one(::dup(0));
      if (one.is_none())
        break;
      taken_.push_back(std::move(one));
    }
  }
  ~descriptor_famine() { setrlimit(RLIMIT_NOFILE, &before_); }

private:
  rlimit before_{};
  std::vector<socket_handle> taken_;
};

bool is_readable(const socket_handle& what, int patience_ms) {
  pollfd asked{what.get(), POLLIN, 0};
  return ::poll(&asked, 1, patience_ms) == 1;
}

TEST_SUITE("actors/transport/socket") {

TEST_CASE("without a descriptor left, who knocks is sent away, and nobody waits at the door") {
  const auto listening = listen_on(*numeric_address({"127.0.0.1", 0}));
  REQUIRE(listening);
  connection_acceptor door;
  const auto own = numeric_address({"127.0.0.1", port_of(*listening)});
  const auto client = begin_connect(*own);
  const auto other = begin_connect(*own);
  REQUIRE(client);
  REQUIRE(other);
  {
    const descriptor_famine famine;
    for (int i = 0; i < 2; ++i) {
      REQUIRE(is_readable(*listening, 10'000));
      CHECK(door.accept(listening->get()).is_none());
    }
    CHECK_FALSE(is_readable(*listening, 0));
  }
  for (const auto* turned_away : {&*client, &*other}) {
    char byte = 0;
    REQUIRE(is_readable(*turned_away, 10'000));
    CHECK(::read(turned_away->get(), &byte, 1) == 0);
  }

  const auto later = begin_connect(*own);
  REQUIRE(is_readable(*listening, 10'000));
  CHECK_FALSE(door.accept(listening->get()).is_none());
}

} // TEST_SUITE("actors/transport/socket")

} // namespace
} // namespace headrace::actors
