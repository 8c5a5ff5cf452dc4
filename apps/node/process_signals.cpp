#include "apps/node/process_signals.hpp"

#include "libactors/base/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <thread>
#include <unistd.h>

namespace headrace::node {
namespace {

sigset_t ending_signals() {
  sigset_t out;
  sigemptyset(&out);
  sigaddset(&out, SIGTERM);
  sigaddset(&out, SIGINT);
  return out;
}

timespec to_timespec(std::chrono::milliseconds time) {
  timespec out{};
  out.tv_sec = static_cast<time_t>(time.count() / 1'000);
  out.tv_nsec = static_cast<long>(time.count() % 1'000) * 1'000'000;
  return out;
}

/// Waits for a signal that ends the process. What interrupts the wait, as a stop and its end or a
/// debugger, does not shorten it. @returns its number; 0: none came in time
int await_ending(std::chrono::milliseconds longest) {
  const auto ending = ending_signals();
  const auto end_us = system_clock().now_us() + longest.count() * 1'000;
  while (true) {
    const auto left_us = std::max<std::int64_t>(0, end_us - system_clock().now_us());
    const auto left = to_timespec(std::chrono::milliseconds((left_us + 999) / 1'000));
    const int number = sigtimedwait(&ending, nullptr, &left);
    if (number > 0)
      return number;
    if (errno != EINTR)
      return 0;
  }
}

} // namespace

process_signals::process_signals() {
  const auto ending = ending_signals();
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  std::signal(SIGPIPE, SIG_IGN); // a closed socket or pipe is an error of the call
}

int process_signals::wait() {
  const auto ending = ending_signals();
  int number = 0;
  while (sigwait(&ending, &number) != 0) {
  }
  return number;
}

bool process_signals::wait_for(std::chrono::milliseconds longest) {
  return await_ending(longest) > 0;
}

void process_signals::raise_termination() { ::kill(::getpid(), SIGTERM); }

void process_signals::end_process_after(std::chrono::milliseconds deadline, int exit_code) {
  std::thread([deadline, exit_code] {
    if (const int number = await_ending(deadline); number > 0)
      ::_exit(128 + number);
    std::fprintf(stderr, "headrace: did not stop in time: after %lld ms\n",
                 static_cast<long long>(deadline.count()));
    ::_exit(exit_code);
  }).detach();
}

} // namespace headrace::node
