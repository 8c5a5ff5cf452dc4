#include "libgraph/sql/optimize/changelog.hpp"

#include "libgraph/connector/abilities.hpp"

#include <string_view>

namespace headrace::sql {
namespace {

/// Gives updates, even of inserts.
struct update_maker {
  bool operator()(const scan_node& node) const {
    const auto format = node.options.find("format");
    return format != node.options.end() && graph::is_changelog_format(format->second);
  }
  bool operator()(const aggregate_node& /*groups*/) const { return true; }
  bool operator()(const join_node& node) const {
    return !node.time && node.kind != join_type::inner && node.kind != join_type::semi;
  }
  bool operator()(const set_node& node) const {
    return node.kind != set_operator::union_ || !node.is_all;
  }
  /// The first that come stay the first, and by time rows come in their order.
  bool operator()(const sort_node& node) const { return !node.keys.empty() && node.limit; }
  bool operator()(const rank_node& node) const {
    return !node.window_end && (!node.order.empty() || node.prefers_latest);
  }
  template <class Other>
  bool operator()(const Other& /*row by row, or once a window*/) const {
    return false;
  }
};

void append_modes(const plan_node& plan, std::string_view& lines, std::string& out) {
  const auto end = lines.find('\n');
  auto line = std::string(lines.substr(0, end));
  lines.remove_prefix(end + 1);
  if (!std::holds_alternative<sink_node>(plan.node) && line.ends_with(')')) {
    line.pop_back();
    line += std::string(", changelogMode=[") +
            (find_updating(plan) == nullptr ? "I" : "I,UB,UA,D") + "])";
  }
  out += line + '\n';
  for (const auto& each : plan.inputs)
    append_modes(each, lines, out);
}

} // namespace

bool would_update(const plan_node& plan) {
  if (const auto* sort = std::get_if<sort_node>(&plan.node))
    return !sort->keys.empty() && sort->limit != 0;
  return std::visit(update_maker(), plan.node);
}

const plan_node* find_updating(const plan_node& plan) {
  if (std::holds_alternative<dead_letter_node>(plan.node) ||
      std::holds_alternative<late_node>(plan.node))
    return nullptr; // they only come
  if (std::holds_alternative<version_join_node>(plan.node))
    return find_updating(plan.inputs[0]); // versions change nothing that was given
  if (!plan.traits.is_final && std::visit(update_maker(), plan.node))
    return &plan;
  for (const auto& each : plan.inputs)
    if (const auto* found = find_updating(each))
      return found;
  return nullptr;
}

std::string to_string_with_changes(const plan_node& plan) {
  const auto text = to_string(plan);
  std::string_view lines = text;
  std::string out;
  append_modes(plan, lines, out);
  return out;
}

} // namespace headrace::sql
