#pragma once

#include "libactors/base/result.hpp"
#include "libactors/rpc/address.hpp"

#include <utility>

namespace headrace::actors {

/// Finds the endpoint that leads a role now, e.g. the resource manager. Whoever lost its leader
/// asks again: the next one may be elsewhere.
class leader_retrieval {
public:
  virtual ~leader_retrieval() = default;
  /// May block for a bounded time: runs on an executor.
  /// @errors peer_lost, timed_out  nobody can be found now; ask again later
  /// @errors registration_refused  asking again does not help (another version, a wrong secret)
  virtual result<address> find() = 0;
};

/// A leader that is always at one address.
class fixed_leader final : public leader_retrieval {
public:
  explicit fixed_leader(address where) : where_(std::move(where)) {}
  result<address> find() override { return where_; }

private:
  address where_;
};

} // namespace headrace::actors
