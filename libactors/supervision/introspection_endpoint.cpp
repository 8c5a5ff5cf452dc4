#include "libactors/supervision/introspection_endpoint.hpp"

#include "libactors/registry/actor_codec.hpp"

namespace headrace::actors {

introspection_endpoint::introspection_endpoint(const actor_registry& registry) {
  on_ask<schema::ListActors, schema::ActorList>([this, &registry](const auto& what, auto back) {
    back.send(list_actors(registry, what.view()->getWithFailed(), now_us()));
  });
}

address spawn_introspection(node& on) {
  return on.spawn(std::make_unique<introspection_endpoint>(on.actors()),
                  {.name = std::string(introspection_name),
                   .kind = "introspection",
                   .where = placement::control,
                   .policy = supervision::notify,
                   .addressable = true});
}

} // namespace headrace::actors
