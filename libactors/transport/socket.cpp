#include "libactors/transport/socket.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace headrace::actors {
namespace {

constexpr int listen_backlog = 512;

struct address_list_deleter {
  void operator()(addrinfo* gone) const { freeaddrinfo(gone); }
};

result<socket_address> look_up(const host_port& where, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* raw = nullptr;
  const auto port = std::to_string(where.port);
  const int failed = getaddrinfo(where.host.c_str(), port.c_str(), &hints, &raw);
  const std::unique_ptr<addrinfo, address_list_deleter> found(raw);
  if (failed != 0 || !found) {
    return error(errc::connection_failed,
                 "cannot find host '" + where.host + "': " + gai_strerror(failed));
  }
  // Whoever listens at a name and whoever dials it must mean the same one of its addresses.
  const addrinfo* chosen = found.get();
  for (const auto* each = found.get(); each != nullptr; each = each->ai_next) {
    if (each->ai_family == AF_INET) {
      chosen = each;
      break;
    }
  }
  socket_address out;
  out.length = chosen->ai_addrlen;
  std::memcpy(&out.storage, chosen->ai_addr, chosen->ai_addrlen);
  return out;
}

int accept_waiting(int listening) {
  return ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int take_descriptor() { return ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); }

const sockaddr* raw(const socket_address& where) {
  return reinterpret_cast<const sockaddr*>(&where.storage);
}

} // namespace

socket_handle& socket_handle::operator=(socket_handle&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

socket_handle::~socket_handle() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

error socket_error(const char* doing, int number) {
  const auto code = number == ECONNREFUSED ? errc::connection_refused : errc::connection_failed;
  return {code, std::string(doing) + ": " + std::generic_category().message(number)};
}

std::optional<socket_address> numeric_address(const host_port& where) {
  auto found = look_up(where, AI_NUMERICHOST);
  return found ? std::optional(*found) : std::nullopt;
}

result<socket_address> resolve(const host_port& where) { return look_up(where, 0); }

bool is_loopback(const socket_address& where) {
  if (where.storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &where.storage, sizeof v4);
    return (ntohl(v4.sin_addr.s_addr) >> 24U) == 127U;
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, &where.storage, sizeof v6);
  return where.storage.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

bool is_loopback(const std::string& host) {
  const auto numeric = numeric_address({host, 1});
  return numeric && is_loopback(*numeric);
}

bool is_wildcard(const std::string& host) {
  const auto numeric = numeric_address({host, 1});
  if (!numeric) {
    return false;
  }
  if (numeric->storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &numeric->storage, sizeof v4);
    return v4.sin_addr.s_addr == htonl(INADDR_ANY);
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, &numeric->storage, sizeof v6);
  return numeric->storage.ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr);
}

result<socket_handle> listen_on(const socket_address& where) {
  socket_handle made(
      ::socket(where.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (made.is_none() || ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(made.get(), raw(where), where.length) != 0 ||
      ::listen(made.get(), listen_backlog) != 0) {
    auto failed = socket_error("cannot listen", errno);
    failed.code = errc::connection_failed;
    return failed;
  }
  return made;
}

connection_acceptor::connection_acceptor() : reserve_(take_descriptor()) {}

socket_handle connection_acceptor::accept(int listening) {
  socket_handle accepted(accept_waiting(listening));
  if (accepted.is_none() && (errno == EMFILE || errno == ENFILE)) {
    reserve_ = socket_handle();
    { const socket_handle refused(accept_waiting(listening)); }
    reserve_ = socket_handle(take_descriptor()); // none: the next one is refused without it
  }
  return accepted;
}

std::uint16_t port_of(const socket_handle& listening) {
  socket_address own;
  own.length = sizeof own.storage;
  if (::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&own.storage), &own.length) != 0) {
    return 0;
  }
  if (own.storage.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &own.storage, sizeof v6);
    return ntohs(v6.sin6_port);
  }
  sockaddr_in v4{};
  std::memcpy(&v4, &own.storage, sizeof v4);
  return ntohs(v4.sin_port);
}

result<socket_handle> begin_connect(const socket_address& where) {
  socket_handle made(
      ::socket(where.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.is_none()) {
    return socket_error("cannot make a socket", errno);
  }
  if (::connect(made.get(), raw(where), where.length) != 0 && errno != EINPROGRESS) {
    return socket_error("cannot connect", errno);
  }
  return made;
}

status connect_outcome(int fd) {
  int number = 0;
  socklen_t length = sizeof number;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &length) != 0) {
    number = errno;
  }
  if (number != 0) {
    return socket_error("cannot connect", number);
  }
  return {};
}

std::string peer_host_of(int fd) {
  socket_address peer;
  peer.length = sizeof peer.storage;
  char host[NI_MAXHOST] = {};
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer.storage), &peer.length) != 0 ||
      ::getnameinfo(raw(peer), peer.length, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) {
    return {};
  }
  return host;
}

void tune(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void bound_unsent(int fd, std::size_t bytes) {
  const int most = static_cast<int>(bytes);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most);
}

} // namespace headrace::actors
