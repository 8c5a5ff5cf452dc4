#pragma once

#include "libactors/base/ids.hpp"

#include <cstdint>
#include <string>

namespace headrace::actors {

/// Says where an endpoint is: never a handle, so a restarted peer is another instance and stale
/// words are refused. `endpoint` is a name such as "dispatcher" or "jobmaster/<job id>".
/// `instance` 0 addresses whichever instance is there now.
struct address {
  node_id node;
  std::string endpoint;
  std::uint64_t instance = 0;

  bool is_none() const { return endpoint.empty(); }
  friend auto operator<=>(const address&, const address&) = default;
};
std::string to_string(const address& where);

} // namespace headrace::actors
