#include "test/libactors/transport/testing_proxy.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace headrace::testing {
namespace {

using actors::socket_handle;

socket_handle connect_to(std::uint16_t port) {
  socket_handle made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  where.sin_port = htons(port);
  if (::connect(made.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
    return {};
  }
  return made;
}

void reset(socket_handle& gone) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(gone.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  gone = {};
}

} // namespace

struct testing_proxy::pair {
  socket_handle ends[2];
  bool is_over = false;
};

testing_proxy::testing_proxy(std::uint16_t to_port) : to_port_(to_port) {
  auto made = actors::listen_on(*actors::numeric_address({"127.0.0.1", 0}));
  REQUIRE(made);
  listening_ = std::move(*made);
  port_ = actors::port_of(listening_);
  thread_ = std::thread([this] { run(); });
}

testing_proxy::~testing_proxy() {
  is_ending_ = true;
  thread_.join();
}

void testing_proxy::reset_all() {
  const int wanted = ++resets_wanted_;
  while (resets_done_ < wanted) {
    std::this_thread::yield();
  }
}

void testing_proxy::accept_one() {
  socket_handle near(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  auto far = connect_to(to_port_);
  if (near.is_none() || far.is_none()) {
    return;
  }
  auto made = std::make_unique<pair>();
  made->ends[0] = std::move(near);
  made->ends[1] = std::move(far);
  pairs_.push_back(std::move(made));
}

void testing_proxy::pass(pair& between) {
  for (int side = 0; side < 2; ++side) {
    std::array<char, 65'536> bytes{};
    const auto got = ::recv(between.ends[side].get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) {
      between.is_over = true;
      return;
    }
    if (got <= 0 || is_held_) {
      continue;
    }
    for (ssize_t sent = 0; sent < got;) {
      const auto part = ::send(between.ends[1 - side].get(), bytes.data() + sent,
                               static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
      if (part < 0) {
        between.is_over = true;
        return;
      }
      sent += part;
    }
  }
}

void testing_proxy::run() {
  while (!is_ending_) {
    std::vector<pollfd> waits = {{.fd = listening_.get(), .events = POLLIN, .revents = 0}};
    for (const auto& each : pairs_) {
      for (const auto& end : each->ends) {
        waits.push_back({.fd = end.get(), .events = POLLIN, .revents = 0});
      }
    }
    ::poll(waits.data(), waits.size(), 1);
    if (waits[0].revents != 0) {
      accept_one();
    }
    for (auto& each : pairs_) {
      pass(*each);
    }
    if (const int wanted = resets_wanted_; resets_done_ < wanted) {
      for (auto& each : pairs_) {
        reset(each->ends[0]);
        reset(each->ends[1]);
      }
      pairs_.clear();
      resets_done_ = wanted;
    }
    std::erase_if(pairs_, [](const auto& each) { return each->is_over; });
  }
}

raw_socket::raw_socket(std::uint16_t to_port) : socket_(connect_to(to_port)) {
  REQUIRE(!socket_.is_none());
}

bool raw_socket::send(const std::string& bytes) {
  return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

std::string raw_socket::read_to_end(std::size_t bytes_max) {
  std::string out;
  std::array<char, 4'096> bytes{};
  while (out.size() < bytes_max) {
    const auto got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) {
      break;
    }
    out.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return out;
}

} // namespace headrace::testing
