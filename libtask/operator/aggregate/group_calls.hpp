#pragma once

#include "libtask/operator/aggregate/distinct_values.hpp"
#include "libtask/operator/aggregate/group_cells.hpp"
#include "libtask/operator/aggregate/group_values.hpp"
#include "libstate/backend/keyed_backend.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace headrace::task {

/// Whether a row is taken back: -U, -D.
inline bool is_retracted(const graph::record_batch& in, std::uint32_t row) {
  if (in.kinds() == nullptr)
    return false;
  const auto kind = in.kinds()[row];
  return kind == graph::row_kind::update_before || kind == graph::row_kind::delete_;
}

/// The aggregates of one operator over groups of rows: those that fit into a few words are in the
/// group's bytes, which are the operator's, the others in states of the current key.
class group_calls {
public:
  /// @param first_result  the column of `output` that the first call gives
  group_calls(std::vector<graph::group_aggregate_call> calls, const graph::logical_type& input,
              const graph::logical_type& output, std::size_t first_result, bool input_retracts);

  std::size_t size() const { return calls_.size(); }
  /// Bytes of a group, `group_cells::header_bytes` among them.
  std::size_t fixed_bytes() const { return cells_.fixed_bytes(); }
  /// What a group's bytes are of, call by call: for the description of the state that has them.
  const std::vector<graph::logical_type::field>& parts() const { return parts_; }
  /// Opens what needs states of groups that `clear_states` forgets.
  status open(state::keyed_backend& backend);
  /// The same of groups that are never cleared by key.
  /// @param key_columns  of the input
  /// @param groups       has a row a group
  /// @param ttl_ms       0: for ever
  status open(state::keyed_backend& backend, std::span<const std::int32_t> key_columns,
              state::keyed_table& groups, std::int64_t ttl_ms);

  /// Takes a batch's rows into the states; no pointer into a table outlives it. Does nothing
  /// without states.
  status take_into_states(const graph::record_batch& in, std::span<const std::uint32_t> rows,
                          const state::key_batch& keys);
  /// Takes a row of that batch, `index` of `rows`, into the group's bytes.
  void take(std::size_t index, const graph::record_batch& in, std::uint32_t row,
            std::byte* group) const;
  /// Whether a result differs between the bytes before and after some rows of a group, or between
  /// its states before the first of them and after the last.
  bool has_changed(std::size_t first, std::size_t last, const std::byte* before,
                   const std::byte* after) const;
  /// Appends a call's result, before or after a row: from the group's bytes, or the state's value.
  void append(std::size_t call, std::size_t index, bool is_before, const std::byte* group,
              graph::column_builder& to) const;

  // Rows that only come, a whole batch of them.

  /// Takes rows into their groups, one after the other, and keeps what they give; behind
  /// `take_into_states`.
  /// @param wants_before  what they give before the rows is kept, too
  void take_all(const graph::record_batch& in, std::span<const std::uint32_t> rows,
                std::span<std::byte* const> groups, bool wants_before);
  /// By row: 1 where it changed a result of its group.
  std::span<const std::uint8_t> changed() const { return changed_; }
  /// Appends a call's results: `which` numbers those after the rows, then those before.
  void append_all(std::size_t call, std::span<const std::uint32_t> which,
                  graph::column_builder& to) const;

  // Of whole groups, without a row.

  bool has_states() const { return has_states_; }
  /// Whether groups of all calls can be merged: then they need no states, and none is opened.
  bool can_merge() const;
  /// Whether a call's result is in the group's bytes.
  bool is_cell(std::size_t call) const { return slots_[call].cell >= 0; }
  /// Adds a group's bytes to those of an earlier one; of calls that are cells alone.
  void merge(const std::byte* from, std::byte* into) const { cells_.merge(from, into); }
  void append_cell(std::size_t call, const std::byte* group, graph::column_builder& to) const;
  /// Appends the result of a call that is no cell, of the backend's current key.
  void append_value(std::size_t call, graph::column_builder& to);
  /// Forgets what the backend's current key has.
  void clear_states();

private:
  /// Where the results of a call come from.
  struct slot {
    std::int32_t cell = -1; ///< else a value
    graph::logical_type value_type = graph::logical_type::null();
    std::optional<distinct_counter> distinct;
    bool is_shared = false; ///< DISTINCT, by one of `distincts_`
    std::unique_ptr<group_value> value;
    std::vector<std::uint8_t> counts; ///< by row: whether the call takes it
    graph::column_ptr before;         ///< by row, of a value
    graph::column_ptr after;
    group_cells::results given; ///< by row, of a cell, by `take_all`
  };
  static bool passes_filter(const graph::group_aggregate_call& call, const graph::record_batch& in,
                            std::uint32_t row);
  std::string name_of(std::size_t call) const;
  void open_states(std::int64_t ttl_ms);
  void take_row_by_row(const graph::record_batch& in, std::span<const std::uint32_t> rows,
                       const state::key_batch& keys);

  std::vector<graph::group_aggregate_call> calls_;
  graph::logical_type input_;
  bool input_retracts_;
  group_cells cells_;
  std::vector<graph::logical_type::field> parts_;
  std::vector<slot> slots_;
  std::vector<distinct_values> distincts_; ///< of all groups
  bool has_states_ = false;                ///< of the current key
  bool knows_counts_ = false;              ///< of each row, from the states
  std::vector<std::uint8_t*> of_distinct_;
  std::vector<std::uint8_t> changed_;
  state::keyed_backend* backend_ = nullptr;
};

} // namespace headrace::task
