#pragma once

#include "test/libactors/rpc/testing_endpoint.hpp"
#include "libactors/rpc/node.hpp"
#include "libactors/transport/rpc_system.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headrace::testing {

/// Keeps lines of a log that any thread writes.
class kept_log {
public:
  logger make(log_level lowest = log_level::warn) {
    return logger::to(
        [lines = lines_](log_level, std::string_view line) {
          const std::lock_guard lock(lines->guard);
          lines->all.emplace_back(line);
          lines->grown.notify_all();
        },
        lowest);
  }
  int count(std::string_view words) const {
    const std::lock_guard lock(lines_->guard);
    return lines_->count(words);
  }
  /// Waits until another thread has written a line with these words. @returns whether it has
  bool await(std::string_view words) const {
    std::unique_lock lock(lines_->guard);
    return lines_->grown.wait_for(lock, std::chrono::seconds(60),
                                  [&] { return lines_->count(words) > 0; });
  }

private:
  struct lines {
    int count(std::string_view words) const {
      int out = 0;
      for (const auto& each : all) {
        out += each.find(words) != std::string::npos ? 1 : 0;
      }
      return out;
    }
    std::mutex guard;
    std::condition_variable grown;
    std::vector<std::string> all;
  };
  std::shared_ptr<lines> lines_ = std::make_shared<lines>();
};

/// How many files and sockets this process has open.
inline std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

/// A node with its transport, as a process has it.
struct testing_process {
  explicit testing_process(actors::rpc_settings settings = {}) {
    actors::node_options options;
    options.log = log.make(log_level::info);
    options.scheduler_threads = 2;
    options.executor_threads = 2;
    under = actors::make_node(std::move(options));
    auto started = actors::rpc_system::start(*under, settings);
    REQUIRE_MESSAGE(started, (started ? std::string() : to_string(started.error())));
    rpc = std::move(*started);
  }
  ~testing_process() {
    CHECK(under->shut_down());
    rpc->shut_down(std::chrono::seconds(5));
  }
  node_id id() const { return under->environment().node; }
  actors::host_port where() const { return {"127.0.0.1", rpc->port()}; }
  actors::address at(const std::string& endpoint) const {
    return {.node = id(), .endpoint = endpoint, .instance = 0};
  }
  /// Connects, and says which node is there.
  result<node_id> meet(const testing_process& other) {
    return rpc->connect_and_wait(other.where(), std::chrono::seconds(10));
  }
  result<std::int32_t> ask(const actors::address& to, std::int32_t value,
                           std::chrono::milliseconds timeout = std::chrono::seconds(10)) {
    HEADRACE_TRY(auto answer,
                 under->ask_and_wait<schema::ExecutionAttempt>(to, number(value), timeout));
    return value_of(answer);
  }

  kept_log log;
  std::unique_ptr<actors::node> under;
  std::unique_ptr<actors::rpc_system> rpc;
};

} // namespace headrace::testing
