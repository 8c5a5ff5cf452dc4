#pragma once

#include <chrono>

namespace headrace::node {

/// SIGTERM and SIGINT as words for the main thread. Make it before any other thread: they inherit
/// that these signals are blocked. One a process.
class process_signals {
public:
  process_signals();

  /// Waits for one. @returns its number
  int wait();
  /// @returns whether one came within the time
  bool wait_for(std::chrono::milliseconds longest);
  /// Has `wait` return, as if SIGTERM had come. Any thread.
  static void raise_termination();
  /// From now on a further signal, or the end of the time, ends the process at once.
  static void end_process_after(std::chrono::milliseconds deadline, int exit_code);
};

} // namespace headrace::node
