#pragma once

#include "libtask/operator/aggregate/group_cells.hpp"
#include "libtask/operator/stored_value.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headrace::task {

/// The calls whose results lie in the bytes of groups, as a description tells them: what these
/// bytes say is computed by what computes the results.
class stored_calls {
public:
  /// @param fixed_bytes  of a group. Whether rows may be taken back is not told; then MIN and its
  ///                     kin lie elsewhere, which this tells
  /// @returns nothing: such calls take other bytes
  static std::optional<stored_calls> of(const std::vector<graph::logical_type::field>& parts,
                                        std::size_t fixed_bytes);
  /// Of rows that are never taken back.
  static stored_calls of_inserts(const std::vector<graph::logical_type::field>& parts);

  std::size_t fixed_bytes() const { return cells_.fixed_bytes(); }
  /// Adds each call with its current result; of one that is kept elsewhere the name of its state.
  /// @param group  `fixed_bytes` of them
  void tell(const std::byte* group, stored_value::object& to) const;

private:
  struct call {
    std::string text;
    std::string state; ///< empty: it is a cell
    std::size_t cell = 0;
    graph::logical_type result;
  };
  stored_calls(const std::vector<graph::logical_type::field>& parts, bool retracts);

  group_cells cells_;
  std::vector<call> calls_;
};

/// Reads what groups have come to, those of windows too.
stored_reader read_groups(const stored_operator& of, const state::state_description& state);
/// Reads which calls have taken a value (`distinct_values`), or how often.
stored_reader read_distinct_values(const stored_operator& of,
                                   const state::state_description& state);

} // namespace headrace::task
