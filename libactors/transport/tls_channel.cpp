#include "libactors/transport/tls_channel.hpp"

#include "libactors/transport/handshake.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace headrace::actors {
namespace {

/// What one TLS record carries at most.
constexpr std::size_t record_bytes_max = std::size_t{16} << 10U;

std::string words_of(unsigned long code) {
  if (code == 0) {
    return "no reason is given";
  }
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "error " + std::to_string(code);
}

/// The oldest error of this thread's queue, in words; the queue is empty then.
std::string openssl_words() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  return words_of(code);
}

/// Whether the first bytes of the other side were no TLS.
bool is_no_tls(int reason) {
  return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
         reason == SSL_R_HTTPS_PROXY_REQUEST;
}

/// Says in a frame without TLS that this node wants TLS, to one who speaks without. What has come
/// of it is read away, since closing with bytes unread would take the words back.
void refuse_without_tls(int fd) {
  const auto refusal =
      make_refusal(RefusalReason::SECRET, "this node speaks over TLS: set "
                                          "security.ssl.internal.enabled: true, with the "
                                          "certificate, key and ca of the cluster");
  byte_string bytes(frame_prefix::size_bytes, '\0');
  prefix_of(refusal).encode(bytes.data());
  bytes += refusal.header;
  static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  std::array<char, limits::frame_unauthenticated_bytes_max> away{};
  static_cast<void>(::recv(fd, away.data(), away.size(), MSG_DONTWAIT));
}

// OpenSSL's own socket BIO writes without MSG_NOSIGNAL, so that a closed connection would end the
// process.

int fd_of(BIO* from) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(from)));
}

bool should_retry() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int write_to_socket(BIO* to, const char* bytes, int size) {
  BIO_clear_retry_flags(to);
  const auto sent = ::send(fd_of(to), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && should_retry()) {
    BIO_set_retry_write(to);
  }
  return static_cast<int>(sent);
}

int read_from_socket(BIO* from, char* bytes, int size) {
  BIO_clear_retry_flags(from);
  const auto got = ::recv(fd_of(from), bytes, static_cast<std::size_t>(size), 0);
  if (got < 0 && should_retry()) {
    BIO_set_retry_read(from);
  }
  return static_cast<int>(got);
}

long control_socket(BIO* /*which*/, int command, long /*number*/, void* /*argument*/) {
  return command == BIO_CTRL_FLUSH || command == BIO_CTRL_PUSH || command == BIO_CTRL_POP ? 1 : 0;
}

struct openssl_deleter {
  void operator()(SSL_CTX* gone) const { SSL_CTX_free(gone); }
  void operator()(SSL* gone) const { SSL_free(gone); }
  void operator()(BIO_METHOD* gone) const { BIO_meth_free(gone); }
};

class tls_channel final : public byte_channel {
public:
  tls_channel(SSL* session, int fd) : session_(session), fd_(fd) {}

  transfer open() override {
    ERR_clear_error();
    const int done = SSL_do_handshake(session_.get());
    if (done == 1) {
      return {};
    }
    const auto code = ERR_peek_error();
    auto out = outcome_of(done, "TLS handshake failed");
    if (out.how == outcome::failed || out.how == outcome::closed) {
      out.how = outcome::failed;
      out.failure = handshake_failure(code);
    }
    return out;
  }

  transfer read(std::span<iovec> into) override {
    transfer out;
    for (const auto& each : into) {
      std::size_t at = 0;
      while (at < each.iov_len) {
        std::size_t got = 0;
        ERR_clear_error();
        const int done = SSL_read_ex(session_.get(), static_cast<char*>(each.iov_base) + at,
                                     each.iov_len - at, &got);
        if (done != 1) {
          if (out.bytes > 0) {
            return out; // what ended it comes again with the next call
          }
          return outcome_of(done, "TLS connection broke");
        }
        at += got;
        out.bytes += got;
        if (SSL_pending(session_.get()) == 0 && out.bytes >= record_bytes_max) {
          return out;
        }
      }
    }
    return out;
  }

  transfer write(std::span<iovec> from) override {
    const auto next = next_piece(from);
    std::size_t sent = 0;
    ERR_clear_error();
    const int done = SSL_write_ex(session_.get(), next.iov_base, next.iov_len, &sent);
    if (done != 1) {
      return outcome_of(done, "TLS connection broke");
    }
    return {.how = outcome::done, .bytes = sent, .failure = {}};
  }

  void expect(std::size_t /*bytes*/) override {} // of what is inside of the records
  bool has_pending() const override { return SSL_has_pending(session_.get()) == 1; }
  bool writes_beside_reads() const override { return false; }

private:
  /// Small pieces go together into one record.
  iovec next_piece(std::span<iovec> from) {
    if (from.front().iov_len >= record_bytes_max || from.size() == 1) {
      return from.front();
    }
    record_.clear();
    for (const auto& each : from) {
      const auto part = std::min(each.iov_len, record_bytes_max - record_.size());
      const auto* begin = static_cast<const char*>(each.iov_base);
      record_.insert(record_.end(), begin, begin + part);
    }
    return {record_.data(), record_.size()};
  }

  /// Why the handshake failed. A connection that was only closed may be dialed again: the other
  /// side may have ended in the middle of it.
  error handshake_failure(unsigned long code) const {
    const auto refused = [](const std::string& words) {
      return error(errc::registration_refused, "TLS handshake failed: " + words);
    };
    const auto verified = SSL_get_verify_result(session_.get());
    if (verified != X509_V_OK) {
      return refused(std::string("the certificate of the other side is not accepted: ") +
                     X509_verify_cert_error_string(verified) +
                     "; security.ssl.internal.ca must have signed it");
    }
    const auto reason = ERR_GET_REASON(code);
    if (code == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
      return {errc::connection_failed, "connection was closed during the TLS handshake"};
    }
    if (is_no_tls(reason)) {
      if (SSL_is_server(session_.get()) == 1) {
        refuse_without_tls(fd_);
      }
      return refused("the other side speaks without TLS, or is no node of Headrace: nodes of one "
                     "cluster have the same security.ssl.internal.enabled");
    }
    if (reason == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION) {
      return refused("the other side speaks without TLS, or not TLS 1.3: nodes of one cluster have "
                     "the same security.ssl.internal.enabled");
    }
    return refused(words_of(code));
  }

  transfer outcome_of(int done, const char* words) {
    switch (SSL_get_error(session_.get(), done)) {
    case SSL_ERROR_WANT_READ:
      return {.how = outcome::wants_read, .bytes = 0, .failure = {}};
    case SSL_ERROR_WANT_WRITE:
      return {.how = outcome::wants_write, .bytes = 0, .failure = {}};
    case SSL_ERROR_ZERO_RETURN:
      return {.how = outcome::closed,
              .bytes = 0,
              .failure = {errc::connection_failed, "connection was closed by the other side"}};
    default:
      break;
    }
    // With TLS 1.3 the one who dials learns only now that its certificate was not accepted.
    const bool is_alert = ERR_GET_REASON(ERR_peek_error()) >= SSL_AD_REASON_OFFSET;
    return {.how = outcome::failed,
            .bytes = 0,
            .failure = {is_alert ? errc::registration_refused : errc::connection_failed,
                        words + (": " + openssl_words())}};
  }

  std::unique_ptr<SSL, openssl_deleter> session_;
  int fd_;
  std::vector<char> record_;
};

} // namespace

struct tls_context::state {
  std::unique_ptr<SSL_CTX, openssl_deleter> context;
  std::unique_ptr<BIO_METHOD, openssl_deleter> sockets;
};

tls_context::tls_context(std::unique_ptr<state> inner) : state_(std::move(inner)) {}
tls_context::~tls_context() = default;

result<std::shared_ptr<const tls_context>> tls_context::load(const tls_files& files) {
  const auto bad = [](const std::string& words) { return error(errc::bad_option_value, words); };
  if (files.certificate.empty() || files.key.empty() || files.ca.empty()) {
    return bad("TLS needs three files: set security.ssl.internal.certificate, "
               "security.ssl.internal.key and security.ssl.internal.ca");
  }
  auto made = std::make_unique<state>();
  ERR_clear_error();
  made->context.reset(SSL_CTX_new(TLS_method()));
  made->sockets.reset(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "headrace socket"));
  HEADRACE_ASSERT(made->context && made->sockets, "OpenSSL makes a context");
  BIO_meth_set_write(made->sockets.get(), write_to_socket);
  BIO_meth_set_read(made->sockets.get(), read_from_socket);
  BIO_meth_set_ctrl(made->sockets.get(), control_socket);
  auto* context = made->context.get();
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return bad("security.ssl.internal.certificate cannot be read: " + files.certificate + ": " +
               openssl_words());
  }
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return bad("security.ssl.internal.key cannot be read, or is not the certificate's: " +
               files.key + ": " + openssl_words());
  }
  if (SSL_CTX_load_verify_file(context, files.ca.c_str()) != 1) {
    return bad("security.ssl.internal.ca cannot be read: " + files.ca + ": " + openssl_words());
  }
  return std::shared_ptr<const tls_context>(std::make_shared<tls_context>(std::move(made)));
}

std::unique_ptr<byte_channel> tls_context::make_channel(int fd, bool is_dialed) const {
  SSL* session = SSL_new(state_->context.get());
  HEADRACE_ASSERT(session != nullptr, "OpenSSL makes a session");
  BIO* socket = BIO_new(state_->sockets.get());
  HEADRACE_ASSERT(socket != nullptr, "OpenSSL makes a BIO");
  BIO_set_data(socket, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
  BIO_set_init(socket, 1);
  SSL_set_bio(session, socket, socket);
  if (is_dialed) {
    SSL_set_connect_state(session);
  } else {
    SSL_set_accept_state(session);
  }
  return std::make_unique<tls_channel>(session, fd);
}

} // namespace headrace::actors
