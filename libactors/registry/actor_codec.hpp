#pragma once

#include "libactors/message/message.hpp"
#include "libactors/registry/actor_registry.hpp"
#include "schema/debug.capnp.h"

#include <cstdint>

namespace headrace::actors {

void write(schema::ActorSnapshot::Builder out, const actor_snapshot& seen);
actor_snapshot read_actor(schema::ActorSnapshot::Reader in);

/// What a node answers to `schema::ListActors`.
message<schema::ActorList> list_actors(const actor_registry& registry, bool with_failed,
                                       std::int64_t now_us);

} // namespace headrace::actors
