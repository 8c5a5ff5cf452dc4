#include "apps/client/http_get.hpp"

#include "libactors/base/clock.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace headrace::client {
namespace {

constexpr std::size_t answer_bytes_max = std::size_t{256} << 20U;

class open_socket {
public:
  explicit open_socket(int descriptor) : descriptor_(descriptor) {}
  ~open_socket() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }
  open_socket(const open_socket&) = delete;
  open_socket& operator=(const open_socket&) = delete;
  int get() const { return descriptor_; }

private:
  int descriptor_;
};

/// One exchange with a deadline.
class http_exchange {
public:
  http_exchange(const actors::host_port& from, std::chrono::milliseconds timeout)
      : from_(from), end_us_(time_.now_us() + timeout.count() * 1'000) {}

  result<std::string> get(const std::string& path) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const auto port = std::to_string(from_.port);
    if (const int failed = ::getaddrinfo(from_.host.c_str(), port.c_str(), &wanted, &found);
        failed != 0)
      return error(errc::peer_lost, "no such host: " + from_.host + ": " + gai_strerror(failed));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
    error last(errc::peer_lost, "no address: " + from_.host);
    for (const auto* each = found; each != nullptr; each = each->ai_next) {
      const open_socket socket(
          ::socket(each->ai_family, each->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      if (const auto connected = connect(socket.get(), *each); !connected) {
        last = connected.error();
        continue;
      }
      const auto request = "GET " + path + " HTTP/1.1\r\nHost: " + to_string(from_) +
                           "\r\nAccept: application/json\r\nConnection: close\r\n\r\n";
      HEADRACE_CHECK(send(socket.get(), request));
      return receive(socket.get());
    }
    return last;
  }

private:
  status wait(int socket, short events) {
    pollfd asked{socket, events, 0};
    const auto left_ms = std::max<std::int64_t>(0, (end_us_ - time_.now_us()) / 1'000);
    if (::poll(&asked, 1, static_cast<int>(left_ms)) > 0)
      return {};
    return error(errc::timed_out, "no answer in time: " + to_string(from_));
  }
  error failed(const char* what) const {
    return {errc::peer_lost,
            std::string(what) + ": " + to_string(from_) + ": " + std::strerror(errno)};
  }
  status connect(int socket, const addrinfo& there) {
    if (socket < 0)
      return failed("cannot make a socket");
    if (::connect(socket, there.ai_addr, there.ai_addrlen) == 0)
      return {};
    if (errno != EINPROGRESS)
      return failed("cannot connect");
    HEADRACE_CHECK(wait(socket, POLLOUT));
    int outcome = 0;
    socklen_t size = sizeof(outcome);
    ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &outcome, &size);
    errno = outcome;
    return outcome == 0 ? status() : failed("cannot connect");
  }
  status send(int socket, std::string_view text) {
    while (!text.empty()) {
      const auto sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent > 0)
        text.remove_prefix(static_cast<std::size_t>(sent));
      else if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return failed("cannot send");
      else
        HEADRACE_CHECK(wait(socket, POLLOUT));
    }
    return {};
  }
  result<std::string> receive(int socket) {
    std::string answer;
    std::array<char, 65'536> part{};
    while (true) {
      HEADRACE_CHECK(wait(socket, POLLIN));
      const auto got = ::recv(socket, part.data(), part.size(), 0);
      if (got < 0 && errno != EAGAIN && errno != EINTR)
        return failed("connection was lost");
      if (got == 0)
        return content_of(answer);
      answer.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (answer.size() > answer_bytes_max)
        return error(errc::message_too_large, "answer is too large: " + to_string(from_));
    }
  }
  result<std::string> content_of(const std::string& answer) const {
    if (answer.empty())
      return error(errc::peer_lost, "connection was closed without an answer: " + to_string(from_));
    const auto head_end = answer.find("\r\n\r\n");
    int code = 0;
    const bool is_http =
        answer.starts_with("HTTP/1.") && answer.size() > 12 &&
        std::from_chars(answer.data() + 9, answer.data() + 12, code).ec == std::errc() &&
        head_end != std::string::npos;
    if (!is_http)
      return error(errc::malformed_message,
                   "what listens there is no REST interface: " + to_string(from_));
    auto content = answer.substr(head_end + 4);
    if (code != 200) // of 503: not now
      return error(code == 503 ? errc::peer_lost : errc::malformed_message,
                   to_string(from_) + " answered " + std::to_string(code) + ": " +
                       content.substr(0, 500));
    return content;
  }

  const actors::host_port& from_;
  system_clock time_;
  std::int64_t end_us_;
};

} // namespace

result<std::string> http_get(const actors::host_port& from, const std::string& path,
                             std::chrono::milliseconds timeout) {
  return http_exchange(from, timeout).get(path);
}

} // namespace headrace::client
