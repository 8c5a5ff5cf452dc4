#pragma once

#include "libactors/base/log.hpp"
#include "libactors/base/result.hpp"
#include "libactors/http/http_message.hpp"
#include "libactors/rpc/mail.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace headrace::actors {

/// What a client may cost. All of it is enforced before anything is handed on.
struct http_limits {
  std::uint32_t header_bytes = 32U << 10U; ///< beyond it: 431
  std::uint64_t body_bytes = 1U << 20U;    ///< beyond it: 413
  /// Beyond it the one that is idle for the longest is closed, or, where none is, the new one gets
  /// a 503; beyond twice as many it is closed without a word.
  std::size_t connections = 256;
  std::chrono::milliseconds header_deadline{10'000}; ///< from a request's first byte; then 408
  std::chrono::milliseconds body_deadline{60'000};   ///< from the header's end; then 408
  std::chrono::milliseconds idle_timeout{60'000};    ///< of a kept connection, between requests
  std::chrono::milliseconds answer_deadline{60'000}; ///< then 504
};

struct http_server_settings {
  std::string bind_address = "127.0.0.1"; ///< an IP address, or localhost
  std::uint16_t port = 0;                 ///< 0: any free one
  std::string address_option;             ///< named in errors
  std::string port_option;
  http_limits limits;
  headrace::logger log;
};

/// Answers one request, once, from any thread; dropped unanswered, the client gets a 503. An answer
/// for a connection that is gone is dropped.
class http_responder {
public:
  http_responder() = default;
  explicit http_responder(std::function<void(http_response)> send) : send_(std::move(send)) {}
  http_responder(http_responder&& other) noexcept : send_(std::exchange(other.send_, nullptr)) {}
  http_responder& operator=(http_responder&& other) noexcept;
  http_responder(const http_responder&) = delete;
  http_responder& operator=(const http_responder&) = delete;
  ~http_responder();

  void send(http_response answer);
  bool is_open() const { return send_ != nullptr; }

private:
  std::function<void(http_response)> send_;
};

/// A request on its way to the endpoint that answers it.
class http_mail final : public mail {
public:
  static constexpr std::uint32_t kind = 1;
  http_mail(http_request what_in, http_responder back_in)
      : mail(kind), what(std::move(what_in)), back(std::move(back_in)) {}
  http_request what;
  http_responder back;
};

/// Serves HTTP/1.1 on a thread of its own: many connections, one request of each at a time, which
/// `handler` gets on that thread. It must not block: it posts the request to an endpoint, which
/// answers later.
///
///     client ── socket ── server's thread ──http_mail──▶ endpoint
///                              ◀──────── responder ────────┘
class http_server {
public:
  using handler = std::function<void(http_request, http_responder)>;

  /// Listens, then starts the thread.
  /// @errors connection_failed  names address, port and their options
  /// @errors bad_option_value     no IP address
  static result<std::unique_ptr<http_server>> start(http_server_settings settings, handler take);
  /// Ends all connections and the thread.
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  /// The one that was asked for, or found.
  std::uint16_t port() const;

private:
  struct core;
  explicit http_server(std::shared_ptr<core> inner);
  std::shared_ptr<core> core_;
};

/// Reads one whole request out of bytes, as a server with these limits would: the response to
/// refuse it with where it is none (400, 413, 431). For tests and the fuzzer.
struct read_request_result {
  http_request request;
  http_response refusal;
  bool is_refused = false;
};
read_request_result read_request(std::string_view bytes, const http_limits& limits);

} // namespace headrace::actors
