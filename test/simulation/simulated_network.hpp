#pragma once

#include "libactors/base/random.hpp"
#include "libactors/transport/frame_connection.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headrace::simulation {

/// Who takes the connections that are dialed to a host: a process's transport.
class simulated_listener {
public:
  virtual ~simulated_listener() = default;
  /// None: too many are opening.
  virtual std::shared_ptr<actors::opening_receiver> accept() = 0;
  virtual void adopt(const std::shared_ptr<actors::opening_receiver>& accepted,
                     std::shared_ptr<actors::opening_connection> over) = 0;
};

/// A network of named hosts in virtual time, as TCP shows it: connections deliver frames whole and
/// in order, after a latency drawn from the seed, or break. Between hosts nothing is in order.
///
/// Where a way is cut, what is sent waits, as if it were sent again and again, and goes on when it
/// is mended; whoever dials there hears nothing until it gives up.
class simulated_network {
public:
  struct ranges {
    std::int64_t latency_us_max = 2'000;
  };
  simulated_network(random_source& random, ranges within) : random_(random), within_(within) {}
  ~simulated_network();
  simulated_network(const simulated_network&) = delete;
  simulated_network& operator=(const simulated_network&) = delete;

  /// From now on connections to `host` are given to it; null: they are refused.
  void listen(const std::string& host, simulated_listener* who);
  std::shared_ptr<actors::opening_connection>
  dial(const std::string& from, const std::string& to,
       std::shared_ptr<actors::opening_receiver> receiver);

  // --- faults
  /// Nothing goes from `from` to `to`, until `mend`.
  void cut(const std::string& from, const std::string& to) { cuts_.insert({from, to}); }
  void mend() { cuts_.clear(); }
  bool is_cut(const std::string& from, const std::string& to) const {
    return cuts_.contains({from, to});
  }
  /// Breaks the connections between two hosts; what is under way is lost from some frame on.
  void reset(const std::string& one, const std::string& other);
  /// The process of the host ends without a word. Its connections break, as its kernel tells the
  /// others; or, `is_silent`, nobody is told, as when the machine has lost its power.
  void vanish(const std::string& host, bool is_silent);

  // --- time
  /// Does one thing that is due, drawn among all. @returns false when nothing is due
  bool step(std::int64_t now_us);

  std::size_t open_connections() const;
  std::uint64_t frames() const { return frames_; }
  /// Of all that was delivered, in order.
  std::uint64_t trace() const { return trace_; }

private:
  class end;
  struct wire;
  void later(std::int64_t after_us, std::function<void()> what);
  std::int64_t latency();

  random_source& random_;
  ranges within_;
  std::int64_t now_us_ = 0;
  std::map<std::string, simulated_listener*> listeners_;
  std::vector<std::shared_ptr<wire>> wires_;
  std::vector<std::pair<std::int64_t, std::function<void()>>> later_;
  std::set<std::pair<std::string, std::string>> cuts_;
  std::vector<std::weak_ptr<end>> ends_;
  std::uint64_t frames_ = 0;
  std::uint64_t trace_ = 0;
};

} // namespace headrace::simulation
