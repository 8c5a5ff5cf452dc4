#pragma once

#include "libactors/registry/actor_record.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headrace::actors {

/// Knows the actors of one node: those that live, and the last that failed. Any thread.
class actor_registry {
public:
  /// How many ended actors are remembered.
  static constexpr std::size_t failed_max = 128;

  std::shared_ptr<actor_record> add(actor_snapshot fixed);
  /// Forgets it; one that ended by an error is kept among the failed.
  void remove(const std::shared_ptr<actor_record>& record, std::int64_t now_us);

  /// Sorted by name, so that children follow their parents.
  std::vector<actor_snapshot> snapshot(std::int64_t now_us) const;
  std::optional<actor_snapshot> find(std::uint64_t id, std::int64_t now_us) const;
  /// The last actors that ended by an error, oldest first.
  std::vector<actor_snapshot> failed() const;
  std::size_t size() const;

private:
  mutable std::mutex guard_;
  std::unordered_map<std::uint64_t, std::shared_ptr<actor_record>> live_;
  std::deque<actor_snapshot> failed_;
};

} // namespace headrace::actors
