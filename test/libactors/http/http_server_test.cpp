#include "libactors/http/http_server.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <future>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

using namespace headrace;
using namespace headrace::actors;

namespace {

/// A client of the old sort: bytes out, bytes in.
class client {
public:
  explicit client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&where), sizeof(where)) == 0;
  }
  ~client() { ::close(socket_); }
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  bool is_connected() const { return is_connected_; }
  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0)
        return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// Until the other side closes, or `end` was read.
  std::string read(std::string_view end = {}) const {
    std::string out;
    char buffer[4096];
    while (end.empty() || out.find(end) == std::string::npos) {
      const auto size = ::recv(socket_, &buffer[0], sizeof(buffer), 0);
      if (size <= 0)
        break;
      out.append(&buffer[0], static_cast<std::size_t>(size));
    }
    return out;
  }

  /// What comes within so long.
  std::string read_for(std::chrono::milliseconds longest) const {
    pollfd asked{socket_, POLLIN, 0};
    if (::poll(&asked, 1, static_cast<int>(longest.count())) <= 0)
      return {};
    return read();
  }

private:
  int socket_;
  bool is_connected_ = false;
};

http_server_settings settings() {
  http_server_settings out;
  out.port_option = "rest.port";
  out.address_option = "rest.bind-address";
  return out;
}

/// Says back what it got.
void echo(http_request what, http_responder back) {
  http_response answer;
  answer.body = what.method + ' ' + what.path + ' ' + what.body;
  back.send(std::move(answer));
}

std::unique_ptr<http_server> serve(const http_server_settings& how,
                                   http_server::handler take = echo) {
  auto started = http_server::start(how, std::move(take));
  REQUIRE(started.has_value());
  return std::move(*started);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_SUITE_BEGIN("actors/http/http_server");

TEST_CASE("a request is read within its limits, or refused") {
  http_limits limits;
  limits.header_bytes = 1000;
  limits.body_bytes = 10;
  struct row {
    std::string bytes;
    unsigned refusal; ///< 0: none
  };
  const row rows[] = {
      {"GET /a HTTP/1.1\r\nHost: x\r\n\r\n", 0},
      {"POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 0},
      {"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 0},
      {"GET /a HTTP/1.1\r\nX: " + std::string(2000, 'x') + "\r\n\r\n", 431},
      {"GET /" + std::string(2000, 'x') + " HTTP/1.1\r\n\r\n", 431},
      {"POST /a HTTP/1.1\r\nContent-Length: 11\r\n\r\n", 413},
      {"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n", 413},
      {"POST /a HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST /a HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", 400},
      {"GET /%zz HTTP/1.1\r\n\r\n", 400},
      {"nonsense\r\n\r\n", 400},
      {"", 400},
  };
  for (const auto& each : rows) {
    CAPTURE(each.bytes.substr(0, 80));

    const auto read = read_request(each.bytes, limits);

    CHECK(read.is_refused == (each.refusal != 0));
    if (read.is_refused)
      CHECK(read.refusal.status == each.refusal);
  }
}

TEST_CASE("a connection is kept for several requests") {
  const auto server = serve(settings());
  const client one(server->port());

  one.send("GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto first = one.read("GET /first");
  one.send("POST /second HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody"
           "HEAD /third HTTP/1.1\r\nConnection: close\r\n\r\n");
  const auto rest = one.read();

  CHECK(has(first, "HTTP/1.1 200 OK"));
  CHECK(has(first, "Content-Type: application/json"));
  CHECK(has(rest, "POST /second body"));
  CHECK(has(rest, "Content-Length: 12")); // of HEAD
  CHECK_FALSE(has(rest, "HEAD /third"));
}

TEST_CASE("a client that wants to be asked for its body is") {
  const auto server = serve(settings());
  const client one(server->port());

  one.send("POST /a HTTP/1.1\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  const auto go_on = one.read("\r\n\r\n");
  one.send("body");

  CHECK(go_on == "HTTP/1.1 100 Continue\r\n\r\n");
  CHECK(has(one.read("POST /a body"), "200 OK"));
}

TEST_CASE("headers of a megabyte are cut off, and the client reads why") {
  const auto server = serve(settings());
  const client one(server->port());

  one.send("GET /a HTTP/1.1\r\nX-Large: " + std::string(1U << 20U, 'x') + "\r\n\r\n");
  const auto answer = one.read();

  CHECK(has(answer, "HTTP/1.1 431"));
  CHECK(has(answer, R"({"errors":["headers are larger than 32768 bytes"]})"));
}

TEST_CASE("endless heads of chunks and trailers are cut off, and the client reads why") {
  const auto server = serve(settings());
  for (const char* begin : {"1;", "1;name=\"", "0\r\nX: ", "", "1\r\na\r\n2;"}) {
    CAPTURE(begin);
    const client one(server->port());

    one.send(std::string("GET /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n") + begin);
    one.send(std::string(1U << 20U, 'a'));
    const auto answer = one.read();

    CHECK(has(answer, "HTTP/1.1 4"));
    CHECK(has(answer, "errors"));
  }
}

TEST_CASE("a client that drips is cut off, told why, and holds up nobody") {
  auto how = settings();
  how.limits.header_deadline = std::chrono::milliseconds(300);
  how.limits.body_deadline = std::chrono::milliseconds(400);
  const auto server = serve(how);
  const client headers(server->port());
  headers.send("GET /slow HT");
  const client body(server->port());
  body.send("POST /slow HTTP/1.1\r\nContent-Length: 100\r\n\r\nso");
  const client chunks(server->port());
  chunks.send("POST /slow HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");

  const client good(server->port());
  good.send("GET /good HTTP/1.1\r\nConnection: close\r\n\r\n");

  CHECK(has(good.read(), "GET /good"));
  const auto told = headers.read();
  CHECK(has(told, "HTTP/1.1 408"));
  CHECK(has(told, R"({"errors":["the header of the request did not come within 300 ms"]})"));
  for (const auto* each : {&body, &chunks}) {
    const auto answer = each->read();
    CHECK(has(answer, "HTTP/1.1 408"));
    CHECK(has(answer, "the body of the request did not come within 400 ms"));
  }
}

TEST_CASE("each further byte does not give a client more time") {
  auto how = settings();
  how.limits.header_deadline = std::chrono::milliseconds(200);
  const auto server = serve(how);
  const client slow(server->port());
  slow.send("GET / HTTP/1.1\r\n");

  std::string answer;
  while (answer.empty()) { // as long as it is listened to
    slow.send("X");
    answer = slow.read_for(std::chrono::milliseconds(20));
  }

  CHECK(has(answer, "HTTP/1.1 408"));
}

TEST_CASE("connections that ask nothing are closed, and make room for others") {
  auto how = settings();
  how.limits.connections = 3;
  how.limits.idle_timeout = std::chrono::milliseconds(300);
  const auto server = serve(how);
  const client silent(server->port());
  const client kept(server->port());
  kept.send("GET /kept HTTP/1.1\r\n\r\n");
  CHECK(has(kept.read("GET /kept"), "200 OK"));
  const client leaving(server->port());

  CHECK(silent.read().empty());
  CHECK(kept.read().empty());
  CHECK(leaving.read().empty());
  const client next(server->port());
  next.send("GET /next HTTP/1.1\r\nConnection: close\r\n\r\n");
  CHECK(has(next.read(), "GET /next"));
}

TEST_CASE("too many connections are refused in words, and far too many without") {
  auto how = settings();
  how.limits.connections = 1;
  std::promise<http_responder> taken;
  const auto server = serve(
      how, [&](const http_request&, http_responder back) { taken.set_value(std::move(back)); });
  const client first(server->port());
  first.send("GET /first HTTP/1.1\r\n\r\n");
  const auto back = taken.get_future().get(); // it waits for its answer, so it is not idle

  const client second(server->port());
  const auto told = second.read();
  const client third(server->port()); // the second is still listened to

  CHECK(has(told, "HTTP/1.1 503"));
  CHECK(has(told, "too many connections: the limit is 1"));
  CHECK(third.read().empty());
}

TEST_CASE("idle connections keep nobody out") {
  auto how = settings();
  how.limits.connections = 3;
  const auto server = serve(how);
  std::vector<std::unique_ptr<client>> silent;
  for (int i = 0; i < 20; ++i)
    silent.push_back(std::make_unique<client>(server->port()));

  const client one(server->port());
  one.send("GET /one HTTP/1.1\r\nConnection: close\r\n\r\n");

  CHECK(has(one.read(), "GET /one"));
  CHECK(silent.front()->read().empty());
}

TEST_CASE("strangers are logged once, however often they come") {
  std::mutex guard;
  std::string log;
  auto how = settings();
  how.log = logger::to(
      [&](log_level, std::string_view line) {
        const std::lock_guard lock(guard);
        log += line;
        log += '\n';
      },
      log_level::info);
  {
    const auto server = serve(how);
    for (int i = 0; i < 20; ++i) {
      const client one(server->port());
      one.send("nonsense " + std::to_string(i) + "\r\n\r\n");
      CHECK(has(one.read(), "HTTP/1.1 400"));
    }
  }
  CHECK(log.find("HTTP request refused") == log.rfind("HTTP request refused"));
  CHECK(has(log, "HTTP request refused"));
}

TEST_CASE("requests that come at once are answered in order, and a broken one ends it") {
  const auto server = serve(settings());
  const client one(server->port());
  std::string all;
  for (int i = 0; i < 200; ++i)
    all += "GET /" + std::to_string(i) + " HTTP/1.1\r\n\r\n";
  one.send(all + "HEAD /head HTTP/1.1\r\n\r\nbroken\r\n\r\nGET /never HTTP/1.1\r\n\r\n");

  const auto answers = one.read();

  std::size_t at = 0;
  for (int i = 0; i < 200; ++i) {
    at = answers.find("GET /" + std::to_string(i) + ' ', at);
    REQUIRE(at != std::string::npos);
  }
  CHECK(answers.find("HTTP/1.1 400", at) != std::string::npos);
  CHECK(has(answers, R"({"errors":["malformed HTTP request: )"));
  CHECK_FALSE(has(answers, "/never"));
}

TEST_CASE("a body beyond the limit is refused before it is sent") {
  auto how = settings();
  how.limits.body_bytes = 1000;
  const auto server = serve(how);
  for (const auto* length : {"1001", "99999999999", "18446744073709551615"}) {
    CAPTURE(length);
    const client one(server->port());
    one.send(std::string("POST / HTTP/1.1\r\nContent-Length: ") + length + "\r\n\r\n");
    const auto answer = one.read();
    CHECK(has(answer, "HTTP/1.1 413"));
    CHECK(has(answer, R"({"errors":["body is larger than 1000 bytes"]})"));
  }
}

TEST_CASE("an answer may come later, from another thread, or not at all") {
  std::promise<http_responder> taken;
  const auto server = serve(settings(), [&](http_request what, http_responder back) {
    if (what.path == "/later")
      taken.set_value(std::move(back));
  });
  const client one(server->port());

  one.send("GET /later HTTP/1.1\r\n\r\n");
  auto back = taken.get_future().get();
  back.send({200, "late", "text/plain", ""});
  const auto late = one.read("late");
  one.send("GET /dropped HTTP/1.1\r\nConnection: close\r\n\r\n");

  CHECK(has(late, "200 OK"));
  CHECK(has(one.read(), "HTTP/1.1 503"));
}

TEST_CASE("a responder outlives its server") {
  std::promise<http_responder> taken;
  auto server = serve(settings(), [&](const http_request&, http_responder back) {
    taken.set_value(std::move(back));
  });
  const client one(server->port());
  one.send("GET /a HTTP/1.1\r\n\r\n");
  auto back = taken.get_future().get();

  server.reset();
  back.send({});

  CHECK(one.read().empty());
}

TEST_CASE("a port in use is named, and how to choose another") {
  const auto server = serve(settings());
  auto how = settings();
  how.port = server->port();

  const auto second = http_server::start(how, echo);

  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().code == errc::connection_failed);
  CHECK(has(second.error().message, ":" + std::to_string(how.port)));
  CHECK(has(second.error().message, "rest.port"));
}

TEST_CASE("an address that is none is refused") {
  auto how = settings();
  how.bind_address = "somewhere";

  const auto server = http_server::start(how, echo);

  REQUIRE_FALSE(server.has_value());
  CHECK(server.error().code == errc::bad_option_value);
  CHECK(has(server.error().message, "rest.bind-address"));
}

TEST_SUITE_END();
