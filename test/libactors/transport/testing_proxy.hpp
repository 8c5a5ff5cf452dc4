#pragma once

#include "libactors/transport/socket.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace headrace::testing {

/// Stands between two nodes on loopback, and can break what goes through it.
class testing_proxy {
public:
  explicit testing_proxy(std::uint16_t to_port);
  ~testing_proxy();
  actors::host_port where() const { return {"127.0.0.1", port_}; }
  /// Both sides of every connection are told of a reset; what is under way is lost. Blocks until it
  /// has happened.
  void reset_all();
  /// From now on bytes are taken and not passed on.
  void hold(bool held) { is_held_ = held; }

private:
  struct pair;
  void run();
  void pass(pair& between);
  void accept_one();

  const std::uint16_t to_port_;
  actors::socket_handle listening_;
  std::uint16_t port_ = 0;
  std::vector<std::unique_ptr<pair>> pairs_;
  std::atomic<bool> is_ending_{false};
  std::atomic<bool> is_held_{false};
  std::atomic<int> resets_wanted_{0};
  std::atomic<int> resets_done_{0};
  std::thread thread_;
};

/// A socket without Headrace behind it, which blocks.
class raw_socket {
public:
  explicit raw_socket(std::uint16_t to_port);
  bool send(const std::string& bytes);
  /// All that comes until the other side closes, at most so much.
  std::string read_to_end(std::size_t bytes_max = 1 << 20);

private:
  actors::socket_handle socket_;
};

} // namespace headrace::testing
