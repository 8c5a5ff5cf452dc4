#pragma once

#include "libactors/base/error.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"
#include "libactors/message/message.hpp"
#include "schema/debug.capnp.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::scheduler {

/// What one node said of its actors. A value.
struct node_actors {
  node_id node;
  std::optional<message<schema::ActorList>> actors; ///< none: it is silent
  error silence;                                    ///< why
};
/// Names a kind of mail by the kind of the actor that takes it; empty: no name.
using mail_namer = std::function<std::string(std::string_view actor_kind, std::uint32_t mail)>;

/// Of /debug/actors. Nodes that did not answer are listed as silent.
std::string describe_actors(const std::vector<node_actors>& nodes, const mail_namer& mail_name);

/// Names one actor of the cluster: "<node, 32 hex digits>-<number>", as /debug/actors gives it.
struct actor_key {
  node_id node;
  std::uint64_t actor = 0;
};
/// @errors bad_usage
result<actor_key> parse_actor_key(std::string_view text);
/// Of /debug/actors/:id. @errors file_not_found  no such actor (it may have ended)
result<std::string> describe_actor(const node_actors& node, const actor_key& wanted,
                                   const mail_namer& mail_name);

} // namespace headrace::scheduler
