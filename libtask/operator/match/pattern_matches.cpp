#include "libtask/operator/match/pattern_matches.hpp"

#include "libactors/base/data_errc.hpp"

#include <algorithm>

namespace headrace::task {
namespace {

constexpr auto none = partial_match::none;

error corrupt() { return {errc::corrupt_snapshot, "state of a pattern is not as it was written"}; }

} // namespace

void pattern_matches::clear() {
  nodes_.clear();
  partials_.clear();
  waiting_.clear();
  partials_.push({automaton_->start(), none, none});
}

std::uint32_t pattern_matches::add_node(std::uint32_t row, std::uint32_t variable,
                                        std::uint32_t parent) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  match_node made{row, variable, parent, index, 0};
  if (parent != none) {
    made.depth = nodes_[parent].depth + 1;
    if (nodes_[parent].variable == variable)
      made.run = nodes_[parent].run;
  }
  nodes_.push_back(made);
  return index;
}

status pattern_matches::settle(std::int64_t time_ms, std::vector<found_match>& out) {
  for (const auto& each : ended_.items())
    waiting_.push(each);
  while (!waiting_.is_empty() && waiting_.front().first_row <= next_.front().first_row) {
    const auto found = waiting_.pop();
    HEADRACE_CHECK(skip_behind(found));
    out.push_back({found.node, time_ms});
  }
  swap(partials_, next_);
  return {};
}

status pattern_matches::skip_behind(const partial_match& found) {
  auto last_gone = found.first_row;
  const auto skip = automaton_->skip();
  if (skip == graph::match_skip::past_last_row) {
    last_gone = nodes_[found.node].row;
  } else if (skip != graph::match_skip::to_next_row) {
    const auto variable = static_cast<std::int32_t>(automaton_->skip_variable());
    const auto target = skip == graph::match_skip::to_first ? first_of(found.node, variable, 0)
                                                            : last_of(found.node, variable, 0);
    if (target == none)
      return error(data_errc::match_stuck,
                   "the next match cannot begin: AFTER MATCH SKIP TO a variable that has no row in "
                   "the match");
    if (nodes_[target].row == found.first_row)
      return error(data_errc::match_stuck,
                   "the next match cannot begin: AFTER MATCH SKIP TO the first row of the match "
                   "would find it for ever");
    last_gone = nodes_[target].row - 1;
  }
  const auto is_gone = [&](const partial_match& each) {
    return each.node != none && each.first_row <= last_gone;
  };
  next_.remove_if(is_gone);
  waiting_.remove_if(is_gone);
  return {};
}

std::optional<std::int64_t>
pattern_matches::deadline_ms(std::span<const std::int64_t> times_ms) const {
  if (automaton_->within_ms() == 0 || partials_.front().node == none)
    return std::nullopt;
  return times_ms[partials_.front().first_row] + automaton_->within_ms();
}

status pattern_matches::expire(std::int64_t now_ms, std::span<const std::int64_t> times_ms,
                               std::vector<found_match>& out) {
  // One after the other, so that when a match is found does not depend on when it is looked for.
  for (auto due = deadline_ms(times_ms); due && *due <= now_ms; due = deadline_ms(times_ms)) {
    next_.clear();
    ended_.clear();
    for (const auto& each : partials_.items())
      if (each.node == none || times_ms[each.first_row] + automaton_->within_ms() > *due)
        next_.push(each);
    HEADRACE_CHECK(settle(*due, out));
  }
  return {};
}

std::uint32_t pattern_matches::tip_of(std::uint32_t tip, std::int32_t variable) const {
  while (tip != none && variable >= 0 &&
         nodes_[tip].variable != static_cast<std::uint32_t>(variable))
    tip = nodes_[nodes_[tip].run].parent;
  return tip;
}

std::uint32_t pattern_matches::count_of(std::uint32_t tip, std::int32_t variable) const {
  const auto last = tip_of(tip, variable);
  if (last == none)
    return 0;
  return nodes_[last].depth + 1 - (variable < 0 ? 0 : nodes_[nodes_[last].run].depth);
}

std::uint32_t pattern_matches::last_of(std::uint32_t tip, std::int32_t variable,
                                       std::uint32_t offset) const {
  if (offset >= count_of(tip, variable))
    return none;
  auto at = tip_of(tip, variable);
  for (; offset > 0; --offset)
    at = nodes_[at].parent;
  return at;
}

std::uint32_t pattern_matches::first_of(std::uint32_t tip, std::int32_t variable,
                                        std::uint32_t offset) const {
  const auto count = count_of(tip, variable);
  if (offset >= count)
    return none;
  auto at = tip_of(tip, variable);
  const auto wanted = nodes_[at].depth + 1 - count + offset;
  while (nodes_[at].depth != wanted) {
    const auto run = nodes_[at].run;
    at = nodes_[run].depth == wanted               ? run
         : run != at && nodes_[run].depth > wanted ? run
                                                   : nodes_[at].parent;
  }
  return at;
}

// The form: the nodes (row, variable, the parent's number + 1), the partial matches as they lie
// (state, the node's number + 1), those that wait. All numbers are varints.

void pattern_matches::save(const match_queue& from, std::span<const std::uint32_t> nodes,
                           byte_writer& out) {
  out.put_varint(from.size());
  for (const auto& each : from.items()) {
    out.put_varint(each.state);
    out.put_varint(each.node == none ? 0 : nodes[each.node] + 1);
  }
}

void pattern_matches::save(byte_string& out, std::vector<std::uint32_t>& rows) {
  std::vector<std::uint32_t> numbers(nodes_.size(), none);
  for (const auto* queue : {&partials_, &waiting_})
    for (const auto& each : queue->items())
      for (auto at = each.node; at != none && numbers[at] == none; at = nodes_[at].parent)
        numbers[at] = 0;
  rows.clear();
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (numbers[i] != none) {
      numbers[i] = count++;
      rows.push_back(nodes_[i].row);
    }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  byte_writer writer(out);
  writer.put_varint(count);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (numbers[i] == none)
      continue;
    const auto& node = nodes_[i];
    writer.put_varint(static_cast<std::uint64_t>(
        std::lower_bound(rows.begin(), rows.end(), node.row) - rows.begin()));
    writer.put_varint(node.variable);
    writer.put_varint(node.parent == none ? 0 : numbers[node.parent] + 1);
  }
  save(partials_, numbers, writer);
  save(waiting_, numbers, writer);
}

namespace {

status read_ends(byte_reader& in, std::size_t nodes, saved_matches::ends& out) {
  HEADRACE_TRY(const auto count, in.get_varint());
  for (std::uint64_t i = 0; i < count; ++i) {
    HEADRACE_CHECK(in.get_varint()); // the state
    HEADRACE_TRY(const auto node, in.get_varint());
    if (node > nodes)
      return corrupt();
    out.push_back(node);
  }
  return {};
}

} // namespace

result<saved_matches> saved_matches::read(byte_reader& in, std::uint64_t row_count) {
  saved_matches out;
  HEADRACE_TRY(const auto count, in.get_varint());
  for (std::uint64_t i = 0; i < count; ++i) {
    node each;
    HEADRACE_TRY(each.row, in.get_varint());
    HEADRACE_TRY(each.variable, in.get_varint());
    HEADRACE_TRY(each.parent, in.get_varint());
    if (each.row >= row_count || each.parent > i)
      return corrupt();
    out.nodes.push_back(each);
  }
  HEADRACE_CHECK(read_ends(in, out.nodes.size(), out.partials));
  HEADRACE_CHECK(read_ends(in, out.nodes.size(), out.waiting));
  return out;
}

status pattern_matches::load(byte_reader& in, std::uint32_t first_row, std::uint32_t row_count) {
  nodes_.clear();
  HEADRACE_TRY(const auto count, in.get_varint());
  for (std::uint64_t i = 0; i < count; ++i) {
    HEADRACE_TRY(const auto row, in.get_varint());
    HEADRACE_TRY(const auto variable, in.get_varint());
    HEADRACE_TRY(const auto parent, in.get_varint());
    if (row >= row_count || variable >= automaton_->variable_count() || parent > i)
      return corrupt();
    add_node(first_row + static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(variable),
             parent == 0 ? none : static_cast<std::uint32_t>(parent - 1));
  }
  HEADRACE_CHECK(load(in, partials_));
  HEADRACE_CHECK(load(in, waiting_));
  const auto is_start = [](const partial_match& each) { return each.node == none; };
  const auto& goes_on = partials_.items();
  if (std::ranges::count_if(goes_on, is_start) != 1 ||
      std::ranges::any_of(waiting_.items(), is_start))
    return corrupt();
  return {};
}

status pattern_matches::load(byte_reader& in, match_queue& to) {
  to.clear();
  HEADRACE_TRY(const auto count, in.get_varint());
  for (std::uint64_t i = 0; i < count; ++i) {
    HEADRACE_TRY(const auto state, in.get_varint());
    HEADRACE_TRY(const auto node, in.get_varint());
    if (state >= automaton_->size() || node > nodes_.size() ||
        (node == 0 && state != automaton_->start()))
      return corrupt();
    partial_match made{static_cast<std::uint32_t>(state), none, none};
    if (node > 0) {
      made.node = static_cast<std::uint32_t>(node - 1);
      auto root = made.node;
      while (nodes_[nodes_[root].run].parent != none)
        root = nodes_[nodes_[root].run].parent;
      made.first_row = nodes_[nodes_[root].run].row;
    }
    to.push(made);
  }
  return {};
}

} // namespace headrace::task
