#include "libscheduler/rest/handler/actor_handlers.hpp"

#include "libscheduler/rest/handler/json_text.hpp"
#include "libactors/registry/actor_codec.hpp"
#include "schema/message_names.hpp"

#include <nlohmann/json.hpp>

#include <charconv>

namespace headrace::scheduler {
namespace {

using json = nlohmann::ordered_json;

std::string key_of(const node_id& node, std::uint64_t actor) {
  return to_string(node) + '-' + std::to_string(actor);
}

std::string message_name_of(const actors::message_count& counted, const std::string& actor_kind,
                            const mail_namer& mail_name) {
  if (!counted.is_mail) {
    const auto name = schema::message_name(counted.type_id);
    return name.empty() ? "type " + std::to_string(counted.type_id) : std::string(name);
  }
  const auto kind = static_cast<std::uint32_t>(counted.type_id);
  const auto name = mail_name ? mail_name(actor_kind, kind) : std::string();
  return name.empty() ? "mail " + std::to_string(kind) : name;
}

json actor_entry(const node_id& node, const actors::actor_snapshot& actor,
                 const mail_namer& mail_name) {
  json messages = json::object();
  for (const auto& counted : actor.messages)
    messages[message_name_of(counted, actor.kind, mail_name)] = counted.count;
  json out;
  out["id"] = key_of(node, actor.id);
  out["node"] = to_string(node);
  out["name"] = actor.name;
  out["kind"] = actor.kind;
  out["parent"] = actor.parent;
  out["instance"] = actor.instance;
  out["state"] = std::string(name_of(actor.state));
  out["own-thread"] = actor.is_detached;
  out["queue-depth"] = actor.queue_depth;
  out["enqueued"] = actor.enqueued;
  out["taken"] = actor.taken;
  out["refused"] = actor.refused;
  out["busy-us"] = actor.busy_us;
  out["in-turn-us"] = actor.in_turn_us;
  out["messages"] = std::move(messages);
  out["last-error"] =
      actor.last_error.code == errc::none ? json(nullptr) : json(to_string(actor.last_error));
  return out;
}

} // namespace

std::string describe_actors(const std::vector<node_actors>& nodes, const mail_namer& mail_name) {
  json nodes_out = json::array();
  json actors_out = json::array();
  json failed_out = json::array();
  for (const auto& node : nodes) {
    json entry = {{"node", to_string(node.node)}, {"state", node.actors ? "answered" : "silent"}};
    if (!node.actors) {
      entry["cause"] = to_string(node.silence);
      nodes_out.push_back(std::move(entry));
      continue;
    }
    const auto view = node.actors->view();
    entry["actors"] = view->getActors().size();
    nodes_out.push_back(std::move(entry));
    for (const auto actor : view->getActors())
      actors_out.push_back(actor_entry(node.node, actors::read_actor(actor), mail_name));
    for (const auto actor : view->getFailed())
      failed_out.push_back(actor_entry(node.node, actors::read_actor(actor), mail_name));
  }
  json out;
  out["nodes"] = std::move(nodes_out);
  out["actors"] = std::move(actors_out);
  out["failed"] = std::move(failed_out);
  return to_text(out);
}

result<actor_key> parse_actor_key(std::string_view text) {
  actor_key out;
  const auto dash = text.find('-');
  const auto number = dash == std::string_view::npos ? std::string_view() : text.substr(dash + 1);
  const auto* end = number.data() + number.size();
  const auto read = std::from_chars(number.data(), end, out.actor);
  if (number.empty() || read.ec != std::errc() || read.ptr != end)
    return error(errc::bad_usage,
                 "an actor's id is <node>-<number>, as /debug/actors has it: " + std::string(text));
  HEADRACE_TRY(out.node, parse_id<node_tag>(text.substr(0, dash)));
  return out;
}

result<std::string> describe_actor(const node_actors& node, const actor_key& wanted,
                                   const mail_namer& mail_name) {
  if (!node.actors)
    return node.silence;
  const auto view = node.actors->view();
  for (const auto& list : {view->getActors(), view->getFailed()})
    for (const auto actor : list)
      if (actor.getId() == wanted.actor)
        return to_text(actor_entry(node.node, actors::read_actor(actor), mail_name));
  return error(errc::file_not_found,
               "no such actor: " + key_of(wanted.node, wanted.actor) + " (it may have ended)");
}

} // namespace headrace::scheduler
