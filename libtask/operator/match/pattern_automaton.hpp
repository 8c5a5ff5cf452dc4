#pragma once

#include "libgraph/spec/operator_spec.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace headrace::task {

/// A pattern of MATCH_RECOGNIZE as states, those that Flink's CEP library makes of it: what a
/// greedy variable can take its follower may not. A value; made once, then only read.
///
/// Of each variable there is a state a repetition, and a looping one where there is no end:
///
///     A+ B{0,2} C     [A]─A─▶(A)─▶[B]─B─▶[B]─B─▶[C]─C─▶ final      ─A─▶ takes the row as A's
///                            ↺A    ╰───────┴───▶╯                  ───▶ goes on with the same row
///
class pattern_automaton {
public:
  static constexpr std::uint32_t final_state = 0;

  struct edge {
    bool takes = false; ///< the row, as one of the variable's; else goes on with it
    std::uint32_t target = 0;
    std::uint32_t variable = 0;           ///< whose condition holds for a row that is taken
    std::vector<std::uint32_t> forbidden; ///< variables whose conditions do not hold
  };

  /// @param spec  one that `check_match` takes
  explicit pattern_automaton(const graph::match_spec& spec);

  std::uint32_t start() const { return start_; }
  std::size_t size() const { return states_.size(); }
  std::size_t variable_count() const { return variables_; }
  std::span<const edge> edges(std::uint32_t of) const { return states_[of].edges; }
  /// Variables whose conditions may be asked for when a row comes in this state, ascending.
  std::span<const std::uint32_t> wanted(std::uint32_t of) const { return states_[of].wanted; }

  std::int64_t within_ms() const { return within_ms_; }
  graph::match_skip skip() const { return skip_; }
  std::uint32_t skip_variable() const { return skip_variable_; }

private:
  struct state {
    std::vector<edge> edges;
    std::vector<std::uint32_t> wanted;
  };
  std::uint32_t add_state() {
    states_.emplace_back();
    return static_cast<std::uint32_t>(states_.size() - 1);
  }
  void take(std::uint32_t from, std::uint32_t target, std::uint32_t variable);
  void go_on(std::uint32_t from, std::uint32_t target);
  /// The state takes no row that meets the condition of this variable.
  void forbid(std::uint32_t from, std::uint32_t variable);
  std::uint32_t add_variable(const graph::pattern_variable& from, std::uint32_t index,
                             std::uint32_t follower);
  void find_wanted(std::uint32_t from);

  std::vector<state> states_;
  std::uint32_t start_ = 0;
  std::size_t variables_ = 0;
  std::int64_t within_ms_ = 0;
  graph::match_skip skip_ = graph::match_skip::to_next_row;
  std::uint32_t skip_variable_ = 0;
};

} // namespace headrace::task
