#include "apps/node/process_signals.hpp"

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
  const auto ending = ending_signals();
  const auto left = to_timespec(longest);
  return sigtimedwait(&ending, nullptr, &left) > 0;
}

void process_signals::raise_termination() { ::kill(::getpid(), SIGTERM); }

void process_signals::end_process_after(std::chrono::milliseconds deadline, int exit_code) {
  std::thread([deadline, exit_code] {
    const auto ending = ending_signals();
    const auto left = to_timespec(deadline);
    const int number = sigtimedwait(&ending, nullptr, &left);
    if (number > 0)
      ::_exit(128 + number);
    std::fprintf(stderr, "headrace: did not stop in time: after %lld ms\n",
                 static_cast<long long>(deadline.count()));
    ::_exit(exit_code);
  }).detach();
}

} // namespace headrace::node
