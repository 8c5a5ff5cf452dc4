#include "libactors/registry/actor_codec.hpp"

#include "libactors/message/ids_codec.hpp"

namespace headrace::actors {

void write(schema::ActorSnapshot::Builder out, const actor_snapshot& seen) {
  out.setId(seen.id);
  out.setName(seen.name);
  out.setKind(seen.kind);
  out.setParent(seen.parent);
  out.setNode(seen.node);
  out.setInstance(seen.instance);
  out.setState(static_cast<schema::ActorState>(seen.state));
  out.setIsDetached(seen.is_detached);
  out.setEnqueued(seen.enqueued);
  out.setTaken(seen.taken);
  out.setQueueDepth(seen.queue_depth);
  out.setBusyUs(seen.busy_us);
  out.setInTurnUs(seen.in_turn_us);
  out.setRefused(seen.refused);
  auto messages = out.initMessages(static_cast<unsigned>(seen.messages.size()));
  for (unsigned i = 0; i < messages.size(); ++i) {
    messages[i].setTypeId(seen.messages[i].type_id);
    messages[i].setIsMail(seen.messages[i].is_mail);
    messages[i].setCount(seen.messages[i].count);
  }
  headrace::write(out.initLastError(), seen.last_error);
}

actor_snapshot read_actor(schema::ActorSnapshot::Reader in) {
  actor_snapshot out;
  out.id = in.getId();
  out.name = in.getName().cStr();
  out.kind = in.getKind().cStr();
  out.parent = in.getParent().cStr();
  out.node = in.getNode().cStr();
  out.instance = in.getInstance();
  // A state of a later version shows as ended rather than as a number without a name.
  const auto state = static_cast<std::uint16_t>(in.getState());
  out.state = state <= static_cast<std::uint16_t>(actor_state::ended)
                  ? static_cast<actor_state>(state)
                  : actor_state::ended;
  out.is_detached = in.getIsDetached();
  out.enqueued = in.getEnqueued();
  out.taken = in.getTaken();
  out.queue_depth = in.getQueueDepth();
  out.busy_us = in.getBusyUs();
  out.in_turn_us = in.getInTurnUs();
  out.refused = in.getRefused();
  for (const auto each : in.getMessages()) {
    out.messages.push_back(
        {.type_id = each.getTypeId(), .is_mail = each.getIsMail(), .count = each.getCount()});
  }
  out.last_error = read_error(in.getLastError());
  return out;
}

message<schema::ActorList> list_actors(const actor_registry& registry, bool with_failed,
                                       std::int64_t now_us) {
  message_builder<schema::ActorList> out;
  const auto live = registry.snapshot(now_us);
  auto actors = out->initActors(static_cast<unsigned>(live.size()));
  for (unsigned i = 0; i < actors.size(); ++i) {
    write(actors[i], live[i]);
  }
  if (with_failed) {
    const auto gone = registry.failed();
    auto failed = out->initFailed(static_cast<unsigned>(gone.size()));
    for (unsigned i = 0; i < failed.size(); ++i) {
      write(failed[i], gone[i]);
    }
  }
  return out.finish();
}

} // namespace headrace::actors
