#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

namespace headrace::scheduler {

/// How often peers are asked whether they live, and when silence means that they do not.
struct heartbeat_settings {
  std::chrono::milliseconds interval{1'000};
  std::chrono::milliseconds timeout{10'000};
};

/// Notes when each peer was heard last. Pure.
template <class Id>
class heartbeat_book {
public:
  explicit heartbeat_book(heartbeat_settings settings) : settings_(settings) {}

  void heard(const Id& peer, std::int64_t now_us) { last_us_[peer] = now_us; }
  void remove(const Id& peer) { last_us_.erase(peer); }
  /// Takes out the peers that were silent for longer than the timeout.
  std::vector<Id> take_silent(std::int64_t now_us) {
    std::vector<Id> silent;
    std::erase_if(last_us_, [&](const auto& entry) {
      if (now_us - entry.second <= std::chrono::microseconds(settings_.timeout).count())
        return false;
      silent.push_back(entry.first);
      return true;
    });
    return silent;
  }
  const heartbeat_settings& settings() const { return settings_; }

private:
  heartbeat_settings settings_;
  std::map<Id, std::int64_t> last_us_;
};

} // namespace headrace::scheduler
