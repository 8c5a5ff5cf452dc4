#include "libactors/http/http_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <list>
#include <optional>
#include <set>
#include <thread>

namespace headrace::actors {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using std::chrono::milliseconds;
using request_parser = http::request_parser<http::string_body>;

constexpr std::size_t read_bytes = 64U << 10U; // reads are no larger than the buffer's reserve
constexpr milliseconds write_deadline{30'000};
/// How long, and for how much, a refused client is listened to, so that it reads why.
constexpr milliseconds drain_deadline{2'000};
constexpr std::size_t drained_bytes_max = 16U << 20U;
constexpr milliseconds accept_retry{100};
constexpr std::size_t logged_hosts_max = 1'000;

void apply(const http_limits& limits, request_parser& to) {
  to.header_limit(limits.header_bytes);
  to.body_limit(limits.body_bytes);
}

/// What waits unread of a request at most: a header with what came along. Of a body in chunks the
/// parser wants whole heads of chunks, and trailers, which its own limits do not bound.
std::size_t buffer_bytes_max(const http_limits& limits) { return limits.header_bytes + read_bytes; }

http_response refusal_of(const beast::error_code& why, const http_limits& limits) {
  if (why == http::error::header_limit)
    return error_response(431, "headers are larger than " + std::to_string(limits.header_bytes) +
                                   " bytes");
  if (why == http::error::body_limit)
    return error_response(413,
                          "body is larger than " + std::to_string(limits.body_bytes) + " bytes");
  if (why == http::error::buffer_overflow)
    return error_response(431,
                          "the head of a chunk, or what is behind the last one, is larger than " +
                              std::to_string(buffer_bytes_max(limits)) + " bytes");
  return error_response(400, "malformed HTTP request: " + why.message());
}

result<http_request> to_request(http::request<http::string_body>&& from) {
  const auto method = from.method_string();
  const auto target = from.target();
  HEADRACE_TRY(auto out,
               read_target({method.data(), method.size()}, {target.data(), target.size()}));
  out.body = std::move(from.body());
  return out;
}

} // namespace

http_responder& http_responder::operator=(http_responder&& other) noexcept {
  std::swap(send_, other.send_);
  return *this;
}

http_responder::~http_responder() {
  if (is_open())
    send(error_response(503, "the request was dropped: its handler is gone"));
}

void http_responder::send(http_response answer) {
  if (auto send = std::exchange(send_, nullptr))
    send(std::move(answer));
}

read_request_result read_request(std::string_view bytes, const http_limits& limits) {
  request_parser parser;
  apply(limits, parser);
  parser.eager(true);
  beast::error_code why;
  while (!why && !parser.is_done() && !bytes.empty())
    bytes.remove_prefix(parser.put(asio::buffer(bytes.data(), bytes.size()), why));
  read_request_result out;
  out.is_refused = why || !parser.is_done();
  if (out.is_refused) {
    out.refusal =
        refusal_of(why ? why : http::make_error_code(http::error::partial_message), limits);
    return out;
  }
  auto request = to_request(parser.release());
  if (!request) {
    out.is_refused = true;
    out.refusal = error_response(request.error());
    return out;
  }
  out.request = std::move(*request);
  return out;
}

/// What the server's thread and the responders share. Everything but `post` is touched on the
/// thread only.
struct http_server::core : std::enable_shared_from_this<core> {
  class connection;

  core(http_server_settings settings_in, handler take_in)
      : settings(std::move(settings_in)), take(std::move(take_in)), acceptor(io), retry(io) {}

  status listen();
  void run();
  void accept();
  void accepted(const beast::error_code& failed, tcp::socket socket);

  const http_server_settings settings;
  const handler take;
  std::size_t connections = 0;   // outlives those that the context still holds
  std::list<connection*> idle;   // those that wait for a request, the longest first
  std::set<std::string> strange; // who was logged for a malformed request
  asio::io_context io{1};
  tcp::acceptor acceptor;
  asio::steady_timer retry;
  beast::error_code last_accept_failure; // told once, until one is accepted again
  std::thread thread; // lint(thread): HTTP is served apart from the scheduler's threads
};

/// One client. Held by what it waits for: a read, a write, or the deadline of an answer.
class http_server::core::connection : public std::enable_shared_from_this<connection> {
public:
  connection(core& owner, tcp::socket socket)
      : owner_(owner), stream_(std::move(socket)), buffer_(buffer_bytes_max(limits())),
        read_timer_(owner.io), answer_timer_(owner.io) {
    ++owner_.connections;
  }
  ~connection() {
    leave_idle();
    --owner_.connections;
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void await_request() {
    buffer_.reserve(read_bytes);
    parser_.emplace();
    apply(limits(), *parser_);
    if (buffer_.size() > 0) {
      read_header();
      return;
    }
    stream_.expires_after(limits().idle_timeout);
    idle_at_ = owner_.idle.insert(owner_.idle.end(), this);
    stream_.async_read_some(
        buffer_.prepare(read_bytes),
        [self = shared_from_this()](const beast::error_code& failed, std::size_t size) {
          self->leave_idle();
          if (failed)
            return;
          self->buffer_.commit(size);
          self->read_header();
        });
  }

  /// Makes room for another client: of an idle one.
  void give_way() {
    leave_idle();
    stream_.close();
  }

  /// Answers before any request was read.
  void refuse(http_response why) {
    keep_alive_ = false;
    is_refused_ = true;
    is_head_ = false;
    write(std::move(why));
  }

private:
  const http_limits& limits() const { return owner_.settings.limits; }
  void leave_idle() {
    if (idle_at_)
      owner_.idle.erase(*idle_at_);
    idle_at_.reset();
  }

  /// Ends the reading of a request that takes longer.
  void expect(std::string_view what, milliseconds within) {
    stream_.expires_never(); // it would close the connection, and the client would not learn why
    late_.clear();
    read_timer_.expires_after(within);
    read_timer_.async_wait([self = weak_from_this(), what, within,
                            reading = ++reading_](const beast::error_code& failed) {
      const auto alive = self.lock();
      if (failed || !alive || alive->reading_ != reading)
        return;
      alive->late_ = std::string(what) + " of the request did not come within " +
                     std::to_string(within.count()) + " ms";
      alive->stream_.cancel();
    });
  }
  void expect_no_more() {
    ++reading_;
    read_timer_.cancel();
  }

  void read_header() {
    expect("the header", limits().header_deadline);
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](const beast::error_code& failed, std::size_t) {
          if (failed)
            self->fail(failed);
          else
            self->read_body();
        });
  }

  void read_body() {
    if (parser_->is_done()) {
      hand_on();
      return;
    }
    expect("the body", limits().body_deadline);
    const auto& fields = parser_->get();
    if (!beast::iequals(fields[http::field::expect], "100-continue")) {
      read_rest();
      return;
    }
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(go_on),
                      [self = shared_from_this()](const beast::error_code& failed, std::size_t) {
                        if (failed)
                          self->fail(failed);
                        else
                          self->read_rest();
                      });
  }

  void read_rest() {
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](const beast::error_code& failed, std::size_t) {
                       if (failed)
                         self->fail(failed);
                       else
                         self->hand_on();
                     });
  }

  void fail(const beast::error_code& why) {
    expect_no_more();
    if (!late_.empty()) {
      log_stranger(late_);
      refuse(error_response(408, late_));
    } else if (why.category() == http::make_error_code(http::error::bad_method).category() &&
               why != http::error::end_of_stream) {
      log_stranger(why.message());
      refuse(refusal_of(why, limits()));
    }
  }

  /// Once a host: who it is, and what it sends, is up to it.
  void log_stranger(const std::string& cause) {
    beast::error_code ignored;
    const auto host = stream_.socket().remote_endpoint(ignored).address().to_string();
    if (owner_.strange.size() < logged_hosts_max && owner_.strange.insert(host).second)
      owner_.settings.log.warn("HTTP request refused, the next ones of this peer are not logged",
                               {{"peer", host}, {"cause", cause}});
  }

  void hand_on() {
    expect_no_more();
    late_.clear();
    auto message = parser_->release();
    version_ = message.version();
    keep_alive_ = message.keep_alive();
    is_head_ = message.method() == http::verb::head;
    auto request = to_request(std::move(message));
    if (!request) {
      write(error_response(request.error()));
      return;
    }
    stream_.expires_never();
    const auto turn = ++turn_;
    awaited_ = turn;
    answer_timer_.expires_after(limits().answer_deadline);
    answer_timer_.async_wait([self = shared_from_this(), turn](const beast::error_code& failed) {
      if (!failed)
        self->answer(turn, error_response(504, "no answer in time"));
    });
    owner_.take(std::move(*request),
                http_responder([core = owner_.weak_from_this(), to = weak_from_this(),
                                turn](http_response answer) {
                  if (const auto alive = core.lock())
                    asio::post(alive->io, [to, turn, answer = std::move(answer)]() mutable {
                      if (const auto self = to.lock())
                        self->answer(turn, std::move(answer));
                    });
                }));
  }

  void answer(std::uint64_t turn, http_response what) {
    if (awaited_ != turn)
      return;
    awaited_ = 0;
    answer_timer_.cancel();
    write(std::move(what));
  }

  void write(http_response what) {
    response_ = {static_cast<http::status>(what.status), version_};
    response_.set(http::field::server, "headrace");
    response_.set(http::field::content_type, what.content_type);
    response_.set(http::field::cache_control, "no-store");
    response_.set("X-Content-Type-Options", "nosniff");
    if (!what.allow.empty())
      response_.set(http::field::allow, what.allow);
    response_.keep_alive(keep_alive_);
    response_.body() = std::move(what.body);
    response_.prepare_payload();
    if (is_head_)
      response_.body().clear();
    stream_.expires_after(write_deadline);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](const beast::error_code& failed, std::size_t) {
                        if (!failed)
                          self->after_answer();
                      });
  }

  void after_answer() {
    if (keep_alive_) {
      await_request();
      return;
    }
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    if (!is_refused_)
      return;
    // Closed with unread data, the answer would be lost with the connection.
    stream_.expires_after(drain_deadline);
    drain(0);
  }

  void drain(std::size_t drained) {
    buffer_.clear();
    stream_.async_read_some(
        buffer_.prepare(read_bytes),
        [self = shared_from_this(), drained](const beast::error_code& failed, std::size_t size) {
          if (!failed && drained + size < drained_bytes_max)
            self->drain(drained + size);
        });
  }

  core& owner_;
  std::optional<std::list<connection*>::iterator> idle_at_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<request_parser> parser_;
  asio::steady_timer read_timer_;
  std::uint64_t reading_ = 0; // whose time the timer tells
  std::string late_;          // empty: not late
  http::response<http::string_body> response_;
  asio::steady_timer answer_timer_;
  unsigned version_ = 11;
  bool keep_alive_ = false;
  bool is_head_ = false;
  bool is_refused_ = false;
  std::uint64_t turn_ = 0;
  std::uint64_t awaited_ = 0; // the turn that an answer is awaited for; 0: none
};

status http_server::core::listen() {
  std::string host = settings.bind_address == "localhost" ? "127.0.0.1" : settings.bind_address;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  beast::error_code failed;
  const auto address = asio::ip::make_address(host, failed);
  if (failed)
    return error(errc::bad_option_value,
                 settings.address_option +
                     " wants an IP address such as 127.0.0.1 or 0.0.0.0: " + settings.bind_address);
  const tcp::endpoint where(address, settings.port);
  acceptor.open(where.protocol(), failed);
  if (!failed)
    acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed)
    acceptor.bind(where, failed);
  if (!failed)
    acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (address.is_v6())
    host = '[' + host + ']';
  if (failed)
    return error(errc::connection_failed,
                 "cannot listen on " + host + ':' + std::to_string(settings.port) + ": " +
                     failed.message() + "; set " + settings.port_option +
                     " to another port, or to 0 for any free one (" + settings.address_option +
                     " is " + settings.bind_address + ')');
  return {};
}

void http_server::core::run() {
  accept();
  while (!io.stopped()) {
    try {
      io.run();
    } catch (const std::exception& failure) { // of one request
      settings.log.error("HTTP request failed", {{"cause", failure.what()}});
    }
  }
}

void http_server::core::accept() {
  acceptor.async_accept([this](const beast::error_code& failed, tcp::socket socket) {
    accepted(failed, std::move(socket));
  });
}

void http_server::core::accepted(const beast::error_code& failed, tcp::socket socket) {
  if (failed == asio::error::operation_aborted)
    return;
  if (failed) { // e.g. too many open files: at once again would not end
    if (failed != last_accept_failure)
      settings.log.warn("HTTP connections are not accepted, it is tried again and again",
                        {{"cause", failed.message()}});
    last_accept_failure = failed;
    retry.expires_after(accept_retry);
    retry.async_wait([this](const beast::error_code& ended) {
      if (!ended)
        accept();
    });
    return;
  }
  last_accept_failure = {};
  beast::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  bool is_full = connections >= settings.limits.connections;
  if (is_full && !idle.empty()) {
    idle.front()->give_way();
    is_full = false; // as soon as that one has heard of it
  }
  if (connections >= 2 * settings.limits.connections)
    return accept(); // those that are told why cost something, too
  const auto client = std::make_shared<connection>(*this, std::move(socket));
  if (is_full)
    client->refuse(error_response(503, "too many connections: the limit is " +
                                           std::to_string(settings.limits.connections)));
  else
    client->await_request();
  accept();
}

result<std::unique_ptr<http_server>> http_server::start(http_server_settings settings,
                                                        handler take) {
  auto inner = std::make_shared<core>(std::move(settings), std::move(take));
  HEADRACE_CHECK(inner->listen());
  inner->thread = std::thread([made = inner.get()] { made->run(); }); // lint(thread): see core
  return std::unique_ptr<http_server>(new http_server(std::move(inner)));
}

http_server::http_server(std::shared_ptr<core> inner) : core_(std::move(inner)) {}

http_server::~http_server() {
  core_->io.stop();
  core_->thread.join();
}

std::uint16_t http_server::port() const {
  beast::error_code ignored;
  return core_->acceptor.local_endpoint(ignored).port();
}

} // namespace headrace::actors
