#include "libactors/transport/byte_channel.hpp"

#include "libactors/transport/socket.hpp"

#include <algorithm>
#include <cerrno>

namespace headrace::actors {
namespace {

/// To be woken costs as much as to copy some 16 kB; more than this would let the sender wait.
constexpr std::size_t expected_bytes_max = std::size_t{256} << 10U;

class plain_channel final : public byte_channel {
public:
  explicit plain_channel(int fd) : fd_(fd) {}

  transfer open() override { return {}; }
  transfer read(std::span<iovec> into) override {
    msghdr what{};
    what.msg_iov = into.data();
    what.msg_iovlen = into.size();
    auto out = outcome_of(::recvmsg(fd_, &what, 0), outcome::wants_read, "connection broke");
    if (out.how == outcome::done && out.bytes == 0) {
      out.how = outcome::closed;
    }
    return out;
  }
  transfer write(std::span<iovec> from) override {
    msghdr what{};
    what.msg_iov = from.data();
    what.msg_iovlen = from.size();
    return outcome_of(::sendmsg(fd_, &what, MSG_NOSIGNAL), outcome::wants_write,
                      "connection broke");
  }
  void expect(std::size_t bytes) override {
    const int wanted = static_cast<int>(std::min(bytes, expected_bytes_max));
    if (wanted != expected_ &&
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted) == 0) {
      expected_ = wanted;
    }
  }
  bool has_pending() const override { return false; }
  bool writes_beside_reads() const override { return true; }

private:
  static transfer outcome_of(ssize_t moved, outcome when_blocked, const char* words) {
    if (moved >= 0) {
      return {.how = outcome::done, .bytes = static_cast<std::size_t>(moved), .failure = {}};
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
      return {.how = when_blocked, .bytes = 0, .failure = {}};
    }
    auto failure = socket_error(words, errno);
    failure.code = errc::connection_failed;
    return {.how = outcome::failed, .bytes = 0, .failure = std::move(failure)};
  }

  int fd_;
  int expected_ = 1; ///< what the socket is told to wait for
};

} // namespace

std::unique_ptr<byte_channel> make_plain_channel(int fd) {
  return std::make_unique<plain_channel>(fd);
}

} // namespace headrace::actors
