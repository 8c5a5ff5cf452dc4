#pragma once

#include "libtask/operator/match/match_queue.hpp"
#include "libtask/operator/match/pattern_automaton.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headrace::task {

/// A row that belongs to one match or several: those that share how they began share the nodes.
struct match_node {
  std::uint32_t row = 0;
  std::uint32_t variable = 0;
  std::uint32_t parent = partial_match::none; ///< the row before it
  std::uint32_t run = 0;   ///< the first of the nodes before it that have its variable, or itself
  std::uint32_t depth = 0; ///< rows before it
};

/// A match that is complete. Its node is valid until the next `save`.
struct found_match {
  std::uint32_t node = 0;
  std::int64_t time_ms =
      0; ///< when it was found: that of the row, or when what it waited for ended
};

/// What `pattern_matches::save` wrote, as it lies: for people who look into a savepoint.
struct saved_matches {
  struct node {
    std::uint64_t row = 0;      ///< of those that `save` gave
    std::uint64_t variable = 0; ///< in the order of the pattern
    std::uint64_t parent = 0;   ///< the number of the node before it + 1; 0: it is the first
  };
  /// Each the number of its newest node + 1; 0: the one that is about to begin.
  using ends = std::vector<std::uint64_t>;

  std::vector<node> nodes;
  ends partials; ///< go on
  ends waiting;  ///< complete, but not given yet

  /// @param row_count  what `save` gave
  /// @errors malformed_message, corrupt_snapshot  bytes that `save` did not write
  static result<saved_matches> read(byte_reader& in, std::uint64_t row_count);
};

/// The matches of one key: takes its rows in their order, and tells those that are complete. Pure.
///
/// Rows have numbers, rising in their order; what they are is the caller's. A match waits while one
/// that began before it may still become complete, as where the next one begins depends on that
/// one. Of equal ones Flink's order decides (`match_queue`).
///
///     load → { expire, take … } → save, which gives the rows that are still needed
class pattern_matches {
public:
  explicit pattern_matches(const pattern_automaton& automaton) : automaton_(&automaton) { clear(); }

  /// As for a key that had no row.
  void clear();
  /// Nothing has begun, and nothing waits.
  bool is_idle() const { return partials_.size() == 1 && waiting_.is_empty(); }
  /// The matches that go on, and the one that is about to begin.
  const std::vector<partial_match>& partials() const { return partials_.items(); }
  const std::vector<match_node>& nodes() const { return nodes_; }

  /// Takes a row.
  /// @param holds    (i, variable): whether the row meets the variable's condition behind the rows
  ///                 of `partials()[i]`; asked for `automaton.wanted(state)` alone
  /// @param out      gets the matches that are complete
  /// @errors data_errc::match_stuck  the next match cannot begin where the pattern says
  template <class Holds>
  status take(std::uint32_t row, std::int64_t time_ms, const Holds& holds,
              std::vector<found_match>& out) {
    next_.clear();
    ended_.clear();
    for (std::size_t i = 0; i < partials_.size(); ++i)
      follow(i, row, holds);
    return settle(time_ms, out);
  }
  /// No row before `now_ms` comes any more: gives up matches that would become too long.
  /// @param times_ms  of the rows, by number
  /// @errors data_errc::match_stuck  as `take`
  status expire(std::int64_t now_ms, std::span<const std::int64_t> times_ms,
                std::vector<found_match>& out);
  /// When the next match becomes too long; nothing: none does.
  std::optional<std::int64_t> deadline_ms(std::span<const std::int64_t> times_ms) const;

  /// The node of the row `offset` behind the first, or before the last, of a variable in the match
  /// that ends with `tip`; none: there is no such row. @param variable  -1: any
  std::uint32_t first_of(std::uint32_t tip, std::int32_t variable, std::uint32_t offset) const;
  std::uint32_t last_of(std::uint32_t tip, std::int32_t variable, std::uint32_t offset) const;
  /// How many rows a variable has in the match that ends with `tip`. @param tip  none: no row
  std::uint32_t count_of(std::uint32_t tip, std::int32_t variable) const;

  /// Appends what is needed to go on, and forgets the rest.
  /// @param rows  replaced by the rows that belong to it, ascending: number i when it is loaded
  void save(byte_string& out, std::vector<std::uint32_t>& rows);
  /// @param row_count  what `save` gave; they have the numbers from `first_row` on
  /// @errors corrupt_snapshot  bytes that `save` did not write for this pattern
  status load(byte_reader& in, std::uint32_t first_row, std::uint32_t row_count);

private:
  template <class Holds>
  void follow(std::size_t index, std::uint32_t row, const Holds& holds);
  template <class Holds>
  static bool passes(const pattern_automaton::edge& edge, std::size_t index, const Holds& holds) {
    if (edge.takes && !holds(index, edge.variable))
      return false;
    for (const auto each : edge.forbidden)
      if (holds(index, each))
        return false;
    return true;
  }
  /// Whether a match that has come to a state may end there.
  template <class Holds>
  bool may_end(std::uint32_t state, std::size_t index, const Holds& holds);
  /// The newest node of a variable.
  std::uint32_t tip_of(std::uint32_t tip, std::int32_t variable) const;
  std::uint32_t add_node(std::uint32_t row, std::uint32_t variable, std::uint32_t parent);
  /// Gives the matches that nothing earlier can come before any more; `next_` are the partial ones.
  status settle(std::int64_t time_ms, std::vector<found_match>& out);
  /// Drops what began before the next match may begin.
  status skip_behind(const partial_match& found);
  static void save(const match_queue& from, std::span<const std::uint32_t> nodes, byte_writer& out);
  status load(byte_reader& in, match_queue& to);

  const pattern_automaton* automaton_;
  std::vector<match_node> nodes_;
  match_queue partials_;
  match_queue waiting_; ///< complete, but not given yet
  // Of one call, kept for their memory.
  match_queue next_;
  match_queue ended_;
  std::vector<const pattern_automaton::edge*> edges_;
  std::vector<std::uint32_t> states_;
};

template <class Holds>
bool pattern_matches::may_end(std::uint32_t state, std::size_t index, const Holds& holds) {
  states_.assign(1, state);
  while (!states_.empty()) {
    const auto at = states_.back();
    states_.pop_back();
    for (const auto& each : automaton_->edges(at)) {
      if (each.takes || !passes(each, index, holds))
        continue;
      if (each.target == pattern_automaton::final_state)
        return true;
      states_.push_back(each.target);
    }
  }
  return false;
}

template <class Holds>
void pattern_matches::follow(std::size_t index, std::uint32_t row, const Holds& holds) {
  const auto from = partials_.items()[index];
  edges_.clear();
  states_.assign(1, from.state);
  while (!states_.empty()) {
    const auto at = states_.back();
    states_.pop_back();
    for (const auto& each : automaton_->edges(at)) {
      if (!passes(each, index, holds))
        continue;
      if (each.takes)
        edges_.push_back(&each);
      else
        states_.push_back(each.target);
    }
  }
  for (const auto* each : edges_) {
    const auto node = add_node(row, each->variable, from.node);
    const auto first = from.node == partial_match::none ? row : from.first_row;
    const partial_match ended{pattern_automaton::final_state, node, first};
    if (each->target == pattern_automaton::final_state) {
      ended_.push(ended);
      continue;
    }
    next_.push({each->target, node, first});
    if (may_end(each->target, index, holds))
      ended_.push(ended);
  }
  if (from.node == partial_match::none)
    next_.push(from);
}

} // namespace headrace::task
