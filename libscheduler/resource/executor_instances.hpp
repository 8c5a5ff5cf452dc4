#pragma once

#include "libactors/rpc/address.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

namespace headrace::scheduler {

/// Remembers in which order instances of task executors registered for the first time: of several
/// under one id the newest is the valid one, also when an older one comes back later, as one that
/// was halted and goes on. An instance is known by its address: a process has a node of its own.
/// Pure.
class executor_instances {
public:
  /// The oldest is forgotten beyond so many.
  static constexpr std::size_t known_max = 4096;

  /// Once more changes nothing.
  void note(const actors::address& instance);
  /// False when one of them is not known.
  bool is_before(const actors::address& older, const actors::address& newer) const;

private:
  std::map<actors::address, std::uint64_t> numbers_;
  std::deque<actors::address> in_order_; ///< oldest first
  std::uint64_t next_ = 0;
};

} // namespace headrace::scheduler
