// Measures what mail and messages between two actors of a node cost, and what of it the counters
// cost that /debug/actors shows. Prints one JSON line a measurement; nanoseconds of CPU time.
//
//     mail_bench [MAILS]

#include "libactors/registry/actor_record.hpp"
#include "libactors/rpc/endpoint.hpp"
#include "libactors/rpc/mail.hpp"
#include "libactors/rpc/node.hpp"
#include "schema/ids.capnp.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <future>
#include <memory>
#include <utility>

namespace headrace::actors {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Goes to and fro.
struct ball final : mail {
  explicit ball(actor_ref sender) : mail(1), from(std::move(sender)) {}
  actor_ref from;
};

/// Sends back what comes, until `left` has come; with mail or with messages.
class player final : public endpoint {
public:
  player(std::uint64_t left, std::promise<void>* done) : left_(left), done_(done) {
    on_tell<schema::ExecutionAttempt>([this](const auto& what, const address& from) {
      if (is_over())
        return;
      tell(from, what);
    });
  }
  /// Before it is spawned: `window` balls or messages at once.
  void serve(address to, actor_ref to_ref, int window, bool with_mail) {
    to_ = std::move(to);
    to_ref_ = std::move(to_ref);
    window_ = window;
    with_mail_ = with_mail;
  }

private:
  void on_start() override {
    for (int i = 0; i < window_; ++i) {
      if (with_mail_)
        to_ref_.send(std::make_unique<ball>(self_ref()));
      else
        tell(to_, message_builder<schema::ExecutionAttempt>().finish());
    }
  }
  void on_mail(mail_ptr content) override {
    auto& came = static_cast<ball&>(*content);
    if (is_over())
      return;
    const auto back = std::exchange(came.from, self_ref());
    back.send(std::move(content));
  }
  void on_stop(const error& /*cause*/) override { to_ref_ = {}; }
  bool is_over() {
    if (left_ > 0 && --left_ == 0)
      done_->set_value();
    return left_ == 0;
  }

  std::uint64_t left_;
  std::promise<void>* done_;
  address to_;
  actor_ref to_ref_;
  int window_ = 0;
  bool with_mail_ = false;
};

void measure(const char* name, std::uint64_t mails, int window, bool with_mail) {
  node_options options;
  options.scheduler_threads = 1;
  options.executor_threads = 1;
  const auto node = make_node(std::move(options));
  std::promise<void> done;
  std::promise<void> unused;
  const auto there = node->spawn(std::make_unique<player>(mails, &unused),
                                 {"there", "player", placement::shared, supervision::notify, true});
  auto here = std::make_unique<player>(mails / 2, &done);
  here->serve(there, node->find(there), window, with_mail);
  const auto began = cpu_seconds();
  node->spawn(std::move(here), {"here", "player", placement::shared, supervision::notify, true});
  done.get_future().wait();
  const auto took = cpu_seconds() - began;
  std::printf("{\"bench\":\"%s\",\"window\":%d,\"mails\":%llu,\"ns_a_mail\":%.1f}\n", name, window,
              static_cast<unsigned long long>(mails), took * 1e9 / static_cast<double>(mails));
  std::fflush(stdout);
  node->shut_down();
}

/// What is called for each mail, and for each turn, without anything around it.
void measure_counters(std::uint64_t rounds) {
  actor_record record({});
  auto began = cpu_seconds();
  for (std::uint64_t i = 0; i < rounds; ++i) {
    record.on_enqueued();
    record.on_taken();
    record.on_mail(static_cast<std::uint32_t>(i % 8));
  }
  const auto mail = (cpu_seconds() - began) * 1e9 / static_cast<double>(rounds);
  began = cpu_seconds();
  for (std::uint64_t i = 0; i < rounds; ++i) {
    record.on_enqueued();
    record.on_taken();
    record.on_message(0x1234'5678'9abc'def0U + i % 8);
  }
  const auto message = (cpu_seconds() - began) * 1e9 / static_cast<double>(rounds);
  system_clock time;
  began = cpu_seconds();
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const auto began_us = time.now_us();
    record.begin_turn(began_us);
    record.end_turn(began_us, time.now_us());
  }
  const auto turn = (cpu_seconds() - began) * 1e9 / static_cast<double>(rounds);
  std::printf("{\"bench\":\"counters\",\"ns_a_mail\":%.1f,\"ns_a_message\":%.1f,"
              "\"ns_a_turn\":%.1f,\"taken\":%llu}\n",
              mail, message, turn, static_cast<unsigned long long>(record.snapshot(0).taken));
  std::fflush(stdout);
}

} // namespace
} // namespace headrace::actors

int main(int count, char** arguments) {
  const auto mails = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 5'000'000ULL;
  headrace::actors::measure_counters(mails);
  for (const int window : {1, 16, 256}) {
    headrace::actors::measure("mail", mails, window, true);
    headrace::actors::measure("message", mails, window, false);
  }
}
