#include "libactors/rpc/root_supervisor.hpp"

#include "libactors/registry/actor_codec.hpp"

namespace headrace::actors {

root_supervisor::root_supervisor(const actor_registry& registry) {
  on_ask<schema::ListActors, schema::ActorList>([this, &registry](const auto& what, auto back) {
    back.send(list_actors(registry, what.view()->getWithFailed(), now_us()));
  });
}

void root_supervisor::on_child_ended(const std::string& name, const error& cause) {
  if (cause.code == errc::none) {
    log().debug("actor ended", {{"child", name}});
  } else {
    log().error("actor failed", {{"child", name}, {"cause", to_string(cause)}});
  }
}

} // namespace headrace::actors
