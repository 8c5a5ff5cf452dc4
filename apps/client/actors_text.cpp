#include "apps/client/actors_text.hpp"

#include "apps/client/text_table.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <map>
#include <set>
#include <utility>

namespace headrace::client {
namespace {

using json = nlohmann::json;
using table = std::vector<std::vector<std::string>>;

constexpr int depth_max = 32;

listed_actor read_actor(const json& from, bool has_failed) {
  listed_actor out;
  const auto key = from.value("id", ""); // NODE-NUMBER
  std::from_chars(key.data() + key.rfind('-') + 1, key.data() + key.size(), out.id);
  out.node = from.value("node", "");
  out.name = from.value("name", "");
  out.parent = from.value("parent", "");
  out.kind = from.value("kind", "");
  out.state = has_failed ? "failed" : from.value("state", "");
  out.queue = from.value("queue-depth", std::uint64_t{0});
  out.taken = from.value("taken", std::uint64_t{0});
  out.refused = from.value("refused", std::uint64_t{0});
  out.busy_us = from.value("busy-us", std::int64_t{0});
  if (const auto failure = from.find("last-error"); failure != from.end() && failure->is_string())
    out.error = failure->get<std::string>();
  return out;
}

/// The actors of one node.
class tree {
public:
  explicit tree(std::string_view part) : part_(part) {}
  void add(const listed_actor& actor) {
    names_.insert(actor.name);
    children_[actor.parent].push_back(&actor);
  }
  void append_to(table& rows) const {
    for (const auto& [parent, actors] : children_)
      if (!names_.contains(parent)) // a root, or what an ended parent has left
        append(parent, 1, rows);
  }

private:
  void append(const std::string& parent, int depth, table& rows) const {
    const auto found = children_.find(parent);
    if (found == children_.end() || depth > depth_max)
      return;
    for (const auto* actor : found->second) {
      if (part_.empty() || actor->name.find(part_) != std::string::npos ||
          actor->kind.find(part_) != std::string::npos)
        rows.push_back(row_of(*actor, depth));
      append(actor->name, depth + 1, rows);
    }
  }
  static std::vector<std::string> row_of(const listed_actor& actor, int depth) {
    const auto slash = actor.name.rfind('/');
    const auto line_end = actor.error.find('\n');
    return {std::string(static_cast<std::size_t>(depth) * 2, ' ') +
                (slash == std::string::npos ? actor.name : actor.name.substr(slash + 1)),
            actor.kind,
            actor.state,
            std::to_string(actor.queue),
            std::to_string(actor.taken),
            describe_duration(actor.busy_us / 1'000),
            actor.error.substr(0, line_end)};
  }

  std::string_view part_;
  std::set<std::string> names_;
  std::map<std::string, std::vector<const listed_actor*>> children_;
};

} // namespace

result<actor_list> read_actors(const std::string& page) {
  const auto malformed = [] {
    return error(errc::malformed_message, "cluster does not list its actors");
  };
  const auto read = json::parse(page, nullptr, false);
  if (read.is_discarded() || !read.is_object() || !read.contains("actors"))
    return malformed();
  actor_list out;
  try {
    for (const auto& actor : read["actors"])
      out.actors.push_back(read_actor(actor, false));
    for (const auto& actor : read.value("failed", json::array()))
      out.actors.push_back(read_actor(actor, true));
    for (const auto& node : read.value("nodes", json::array()))
      if (node.value("state", "") == "silent")
        out.silent_nodes.push_back(node.value("node", ""));
  } catch (const json::exception&) { // a field of another type
    return malformed();
  }
  return out;
}

std::string actors_as_text(const actor_list& list, std::string_view part) {
  std::map<std::string, tree> by_node;
  for (const auto& actor : list.actors)
    by_node.try_emplace(actor.node, part).first->second.add(actor);
  std::string out;
  for (const auto& [node, actors] : by_node) {
    table rows{{"  ACTOR", "KIND", "STATE", "QUEUE", "TAKEN", "BUSY", "ERROR"}};
    actors.append_to(rows);
    if (rows.size() > 1)
      out += "node " + node + '\n' + text_table(rows);
  }
  for (const auto& node : list.silent_nodes)
    out += "node " + node + " does not answer\n";
  return out;
}

} // namespace headrace::client
