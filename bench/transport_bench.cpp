// Measures the transport between two processes on loopback: frames beside a plain socket program
// with equal frames, and asks while nothing else goes on and while the data connection is full.
// Prints one JSON line a measurement.
//
//     transport_bench [--frames N] [--tls CERTIFICATE KEY CA]
//
// `--frames`: of 256 KiB, in each of five rounds; fewer where the asks alone are wanted.

#include "libactors/rpc/node.hpp"
#include "libactors/transport/rpc_system.hpp"
#include "libactors/transport/socket.hpp"
#include "schema/ids.capnp.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <sys/uio.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace headrace::actors {
namespace {

using bench_clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t frame_bytes = std::size_t{256} << 10U;
std::size_t frames_a_round = 8'192; // 2 GiB
constexpr int rounds = 5;
constexpr auto last_frame = static_cast<frame_kind>(257);

double seconds_since(bench_clock::time_point start) {
  return std::chrono::duration<double>(bench_clock::now() - start).count();
}

void fail(const std::string& words) {
  std::fprintf(stderr, "transport_bench: %s\n", words.c_str());
  std::exit(1);
}

message<schema::ExecutionAttempt> number(std::int32_t value) {
  message_builder<schema::ExecutionAttempt> made;
  made->setSubtask(value);
  return made.finish();
}

class adder final : public endpoint {
public:
  adder() {
    on_ask<schema::ExecutionAttempt, schema::ExecutionAttempt>(
        [](const auto& what, auto back) { back.send(number(what.view()->getSubtask() + 1)); });
  }
};

/// Asks again and again, `window` at once, for `asks` times; then hands out how long each took.
class asker final : public endpoint {
public:
  asker(address to, int window, int asks, std::promise<std::vector<double>>& done)
      : to_(std::move(to)), window_(window), asks_(asks), done_(done) {}

protected:
  void on_start() override {
    for (int i = 0; i < window_; ++i) {
      ask_next();
    }
  }

private:
  void ask_next() {
    if (asked_ == asks_) {
      return;
    }
    ++asked_;
    const auto start = bench_clock::now();
    ask<schema::ExecutionAttempt>(to_, number(1), milliseconds(60'000), [this, start](auto answer) {
      if (!answer) {
        fail(to_string(answer.error()));
      }
      took_us_.push_back(seconds_since(start) * 1e6);
      if (static_cast<int>(took_us_.size()) == asks_) {
        done_.set_value(std::move(took_us_));
        quit();
      } else {
        ask_next();
      }
    });
  }

  address to_;
  int window_;
  int asks_;
  std::promise<std::vector<double>>& done_;
  int asked_ = 0;
  std::vector<double> took_us_;
};

/// Waits for the end of an endpoint of another node.
class watcher final : public endpoint {
public:
  watcher(address to, std::promise<void>& ready, std::promise<void>& ended)
      : to_(std::move(to)), ready_(ready), ended_(ended) {}

protected:
  void on_start() override {
    monitor(to_);
    ask<schema::ExecutionAttempt>(to_, number(1), milliseconds(10'000),
                                  [this](auto) { ready_.set_value(); });
  }
  void on_peer_ended(const address& /*peer*/, const error& /*cause*/) override {
    ended_.set_value();
  }

private:
  address to_;
  std::promise<void>& ready_;
  std::promise<void>& ended_;
};

/// Answers the last frame of a round.
class answering_receiver final : public frame_receiver {
public:
  explicit answering_receiver(std::weak_ptr<frame_connection> back) : back_(std::move(back)) {}
  void on_frame(incoming_frame what) override {
    if (what.kind == last_frame) {
      outgoing_frame answer;
      answer.kind = last_frame;
      if (const auto back = back_.lock()) {
        static_cast<void>(back->send(std::move(answer)));
      }
    }
  }
  void on_closed(const error& /*cause*/) override {}

private:
  std::weak_ptr<frame_connection> back_;
};

/// The sending side: waits for room, and for the answer.
class sending_receiver final : public frame_receiver {
public:
  void on_frame(incoming_frame /*what*/) override { signal(answers_); }
  void on_drained() override { signal(drained_); }
  void on_closed(const error& /*cause*/) override {}
  void await_drained() { await(drained_); }
  void await_answer() { await(answers_); }

private:
  void signal(int& what) {
    const std::lock_guard lock(guard_);
    ++what;
    changed_.notify_all();
  }
  void await(int& what) {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return what > 0; });
    what = 0;
  }
  std::mutex guard_;
  std::condition_variable changed_;
  int answers_ = 0;
  int drained_ = 0;
};

struct process {
  explicit process(const tls_files& tls) : under(make_node(node_options())) {
    rpc_settings settings;
    settings.tls = tls;
    auto started = rpc_system::start(*under, settings);
    if (!started) {
      fail(to_string(started.error()));
    }
    rpc = std::move(*started);
  }
  ~process() {
    under->shut_down();
    rpc->shut_down(milliseconds(2'000));
  }
  std::unique_ptr<node> under;
  std::unique_ptr<rpc_system> rpc;
};

// --- the other process

void read_whole(int fd, char* into, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes;) {
    const auto got = ::read(fd, into + at, bytes - at);
    if (got <= 0) {
      std::exit(0);
    }
    at += static_cast<std::size_t>(got);
  }
}

/// Reads frames with a plain socket, and answers each round with a byte.
void run_plain_child(int listening, int port_pipe, std::uint16_t port) {
  if (::write(port_pipe, &port, sizeof port) != sizeof port) {
    return;
  }
  const int fd = ::accept(listening, nullptr, nullptr);
  std::vector<char> frame(frame_bytes);
  while (true) {
    for (std::size_t i = 0; i < frames_a_round; ++i) {
      char prefix[32];
      read_whole(fd, prefix, sizeof prefix);
      read_whole(fd, frame.data(), frame.size());
    }
    if (::write(fd, "x", 1) != 1) {
      return;
    }
  }
}

void run_child(int port_pipe, int end_pipe, const tls_files& tls) {
  process self(tls);
  self.under->spawn(std::make_unique<adder>(), {.name = "adder", .kind = "adder"});
  self.rpc->accept_data([](auto&, auto& connection) -> std::shared_ptr<frame_receiver> {
    return std::make_shared<answering_receiver>(connection);
  });
  const auto port = self.rpc->port();
  if (::write(port_pipe, &port, sizeof port) == sizeof port) {
    char letter = 0;
    while (::read(end_pipe, &letter, 1) > 0) {
    }
  }
}

struct child {
  explicit child(const std::function<void(int port_pipe, int end_pipe)>& run) {
    int port_pipe[2];
    int end_pipe[2];
    if (::pipe(port_pipe) != 0 || ::pipe(end_pipe) != 0) {
      fail("no pipe");
    }
    id = ::fork();
    if (id == 0) {
      ::close(end_pipe[1]);
      run(port_pipe[1], end_pipe[0]);
      std::_Exit(0);
    }
    ::close(end_pipe[0]);
    end = end_pipe[1];
    if (::read(port_pipe[0], &port, sizeof port) != sizeof port) {
      fail("the other process ended early");
    }
  }
  ~child() {
    ::close(end);
    ::waitpid(id, nullptr, 0);
  }
  pid_t id = 0;
  int end = -1;
  std::uint16_t port = 0;
};

// --- measurements

double plain_round(int fd, const std::vector<char>& frame) {
  const auto start = bench_clock::now();
  char prefix[32] = {};
  for (std::size_t i = 0; i < frames_a_round; ++i) {
    iovec pieces[2] = {{prefix, sizeof prefix}, {const_cast<char*>(frame.data()), frame.size()}};
    int first = 0;
    while (first < 2) {
      auto sent =
          static_cast<std::size_t>(std::max<ssize_t>(0, ::writev(fd, pieces + first, 2 - first)));
      while (first < 2 && sent >= pieces[first].iov_len) {
        sent -= pieces[first++].iov_len;
      }
      if (first < 2) {
        pieces[first].iov_base = static_cast<char*>(pieces[first].iov_base) + sent;
        pieces[first].iov_len -= sent;
      }
    }
  }
  char answer = 0;
  read_whole(fd, &answer, 1);
  return static_cast<double>(frame_bytes * frames_a_round) / seconds_since(start);
}

/// Sends until told to stop, or for one round.
void send_frames(frame_connection& over, sending_receiver& events, std::size_t frames,
                 const std::atomic<bool>& is_enough) {
  const auto held = std::make_shared<std::vector<char>>(frame_bytes, 'x');
  for (std::size_t i = 0; i < frames && !is_enough; ++i) {
    while (true) {
      outgoing_frame frame;
      frame.kind = i + 1 == frames ? last_frame : frame_kind::data_first;
      frame.header = byte_string(16, 'h');
      frame.body.push_back({.view = {held->data(), held->size()}, .owner = held});
      const auto sent = over.send(std::move(frame));
      if (sent) {
        break;
      }
      if (sent.error().code != errc::queue_full) {
        fail(to_string(sent.error()));
      }
      events.await_drained();
    }
  }
}

double frame_round(frame_connection& over, sending_receiver& events) {
  const std::atomic<bool> never = false;
  const auto start = bench_clock::now();
  send_frames(over, events, frames_a_round, never);
  events.await_answer();
  return static_cast<double>(frame_bytes * frames_a_round) / seconds_since(start);
}

double median(std::vector<double> values, double part = 0.5) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

void measure_asks(node& under, const address& to, const char* name, int window, int asks) {
  std::promise<std::vector<double>> done;
  const auto start = bench_clock::now();
  under.spawn(std::make_unique<asker>(to, window, asks, done), {.name = "asker", .kind = "asker"});
  const auto took_us = done.get_future().get();
  std::printf("{\"bench\":\"transport\",\"name\":\"%s\",\"window\":%d,\"asks_per_s\":%.0f,"
              "\"p50_us\":%.1f,\"p99_us\":%.1f}\n",
              name, window, asks / seconds_since(start), median(took_us), median(took_us, 0.99));
  std::fflush(stdout);
  while (!under.find({.node = under.environment().node, .endpoint = "asker", .instance = 0})
              .is_none()) { // the name is free again
    std::this_thread::yield();
  }
}

void measure_kill(const process& self, const child& victim) {
  const auto met = self.rpc->connect_and_wait({"127.0.0.1", victim.port}, milliseconds(10'000));
  if (!met) {
    fail(to_string(met.error()));
  }
  std::promise<void> ready;
  std::promise<void> ended;
  self.under->spawn(std::make_unique<watcher>(
                        address{.node = *met, .endpoint = "adder", .instance = 0}, ready, ended),
                    {.name = "watcher", .kind = "watcher"});
  ready.get_future().wait();
  const auto start = bench_clock::now();
  ::kill(victim.id, SIGKILL);
  ended.get_future().wait();
  std::printf("{\"bench\":\"transport\",\"name\":\"kill_noticed\",\"ms\":%.2f}\n",
              seconds_since(start) * 1e3);
  std::fflush(stdout);
}

int run(const tls_files& tls) {
  auto listening = listen_on(*numeric_address({"127.0.0.1", 0}));
  if (!listening) {
    fail(to_string(listening.error()));
  }
  const int blocking = listening->get();
  ::fcntl(blocking, F_SETFL, 0);
  const auto port = port_of(*listening);
  // Both before any thread is there.
  const child plain([&](int port_pipe, int) { run_plain_child(blocking, port_pipe, port); });
  const child other([&](int port_pipe, int end_pipe) { run_child(port_pipe, end_pipe, tls); });
  const child victim([&](int port_pipe, int end_pipe) { run_child(port_pipe, end_pipe, tls); });

  auto connected = begin_connect(*numeric_address({"127.0.0.1", plain.port}));
  if (!connected) {
    fail(to_string(connected.error()));
  }
  ::fcntl(connected->get(), F_SETFL, 0);
  process self(tls);
  const auto events = std::make_shared<sending_receiver>();
  self.rpc->accept_data([&](auto&, auto&) { return events; });
  const auto met = self.rpc->connect_and_wait({"127.0.0.1", other.port}, milliseconds(10'000));
  if (!met) {
    fail(to_string(met.error()));
  }
  std::promise<result<std::shared_ptr<frame_connection>>> made;
  self.rpc->connect_data(*met, [&](auto connection) { made.set_value(std::move(connection)); });
  const auto over = made.get_future().get();
  if (!over) {
    fail(to_string(over.error()));
  }

  const std::vector<char> frame(frame_bytes, 'x');
  std::vector<double> by_hand;
  std::vector<double> by_frames;
  for (int i = 0; i < rounds; ++i) {
    by_hand.push_back(plain_round(connected->get(), frame));
    by_frames.push_back(frame_round(**over, *events));
  }
  std::printf("{\"bench\":\"transport\",\"name\":\"frames\",\"tls\":%s,\"frame_bytes\":%zu,"
              "\"plain_socket_mb_per_s\":%.0f,\"frames_mb_per_s\":%.0f,\"ratio\":%.2f}\n",
              tls.is_none() ? "false" : "true", frame_bytes, median(by_hand) / 1e6,
              median(by_frames) / 1e6, median(by_frames) / median(by_hand));
  std::fflush(stdout);

  const address to{.node = *met, .endpoint = "adder", .instance = 0};
  measure_asks(*self.under, to, "asks_warm_up", 8, 20'000);
  measure_asks(*self.under, to, "asks_idle", 1, 20'000);
  measure_asks(*self.under, to, "asks_idle", 32, 200'000);
  std::atomic<bool> is_enough = false;
  std::thread sender([&] { send_frames(**over, *events, std::size_t{1} << 40U, is_enough); });
  measure_asks(*self.under, to, "asks_while_data_is_full", 1, 5'000);
  measure_asks(*self.under, to, "asks_while_data_is_full", 32, 50'000);
  is_enough = true;
  sender.join();
  measure_kill(self, victim);
  return 0;
}

} // namespace
} // namespace headrace::actors

int main(int argc, char** argv) {
  headrace::actors::tls_files tls;
  int at = 1;
  if (argc >= at + 2 && std::strcmp(argv[at], "--frames") == 0) {
    headrace::actors::frames_a_round = std::strtoull(argv[at + 1], nullptr, 10);
    at += 2;
  }
  if (argc == at + 4 && std::strcmp(argv[at], "--tls") == 0) {
    tls = {.certificate = argv[at + 1], .key = argv[at + 2], .ca = argv[at + 3]};
  } else if (argc != at || headrace::actors::frames_a_round == 0) {
    std::fprintf(stderr, "usage: transport_bench [--frames N] [--tls CERTIFICATE KEY CA]\n");
    return 2;
  }
  return headrace::actors::run(tls);
}
