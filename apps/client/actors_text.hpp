#pragma once

#include "libactors/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::client {

/// What people see of an actor.
struct listed_actor {
  std::uint64_t id = 0; ///< within its node
  std::string node;
  std::string name;
  std::string parent; ///< its name; empty: none
  std::string kind;
  std::string state; ///< "failed": it has ended by an error
  std::uint64_t queue = 0;
  std::uint64_t taken = 0;   ///< messages
  std::uint64_t refused = 0; ///< messages
  std::int64_t busy_us = 0;
  std::string error; ///< empty: none
};

/// Who lives in a cluster, and which nodes do not answer. A value.
struct actor_list {
  std::vector<listed_actor> actors;
  std::vector<std::string> silent_nodes;
};

/// Reads a page of /debug/actors. @errors malformed_message
result<actor_list> read_actors(const std::string& page);
/// Actors below their parents, node by node. With a `part`, those alone whose name or kind has it.
/// Pure.
std::string actors_as_text(const actor_list& list, std::string_view part = {});

} // namespace headrace::client
