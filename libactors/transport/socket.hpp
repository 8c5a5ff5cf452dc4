#pragma once

#include "libactors/base/result.hpp"
#include "libactors/transport/address_book.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/socket.h>

namespace headrace::actors {

/// Owns a file descriptor.
class socket_handle {
public:
  socket_handle() = default;
  explicit socket_handle(int fd) : fd_(fd) {}
  socket_handle(socket_handle&& other) noexcept : fd_(other.release()) {}
  socket_handle& operator=(socket_handle&& other) noexcept;
  ~socket_handle();

  int get() const { return fd_; }
  bool is_none() const { return fd_ < 0; }
  int release() {
    const int out = fd_;
    fd_ = -1;
    return out;
  }

private:
  int fd_ = -1;
};

struct socket_address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

/// Reads an address in numbers; nothing for a name.
std::optional<socket_address> numeric_address(const host_port& where);
/// Looks a name up; may block for long. Of several addresses an IPv4 one is taken. @errors
/// connection_failed  there is no such host
result<socket_address> resolve(const host_port& where);
bool is_loopback(const socket_address& where);
/// Of an address in numbers; a name is none.
bool is_loopback(const std::string& host);
/// Whether it means all addresses of the machine (0.0.0.0, ::), so that nobody can dial it.
bool is_wildcard(const std::string& host);

/// Listens. @errors connection_failed  in words of the operating system
result<socket_handle> listen_on(const socket_address& where);
/// Accepts connections. Holds a descriptor in reserve: when the process has none left, those that
/// wait are accepted with it and closed, and the listening socket does not stay readable for ever.
class connection_acceptor {
public:
  connection_acceptor();
  /// Takes a connection that waits. @returns none when there is none, or no descriptor for it
  socket_handle accept(int listening);

private:
  socket_handle reserve_;
};
std::uint16_t port_of(const socket_handle& listening);
/// Begins to connect; the socket is writable when it is decided (see `connect_outcome`).
/// @errors connection_refused  nobody listens there
/// @errors connection_failed   otherwise
result<socket_handle> begin_connect(const socket_address& where);
/// How the connecting ended, and of reads and writes: words for `errno`.
status connect_outcome(int fd);
error socket_error(const char* doing, int number);
/// The other end in numbers; empty when it is gone already.
std::string peer_host_of(int fd);
/// Sends at once what is written.
void tune(int fd);
/// Unsent bytes below which the system says that a socket is writable.
void bound_unsent(int fd, std::size_t bytes);

} // namespace headrace::actors
