#pragma once

#include "libstate/backend/keyed_backend.hpp"
#include "libgraph/data/record_batch.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headrace::task {

/// The values of one column that each group has seen, for all DISTINCT aggregates over it: a row a
/// group and value, found for whole batches at once. Groups that are never forgotten by key.
///
///     append-only input   a bit a call: it has taken the value
///     else                8 bytes a call: how often it has; a row of zeros goes
///
/// On the subtask's mailbox only.
class distinct_values {
public:
  /// @param column       of the input
  /// @param takes_nulls  NULL is a value like others
  /// @param retracts     rows may be taken back
  distinct_values(std::int32_t column, const graph::logical_type& type, bool takes_nulls,
                  bool retracts);

  std::int32_t column() const { return column_; }
  bool takes_nulls() const { return takes_nulls_; }
  /// @param number  of the call among those of the operator
  void add_call(std::size_t number) { calls_.push_back(number); }
  /// The numbers of the calls, ascending.
  const std::vector<std::size_t>& calls() const { return calls_; }

  /// @param key_columns  of the input, those of the backend's key
  /// @errors incompatible_state  the restored table is for another number of calls
  status open(state::keyed_backend& backend, std::span<const std::int32_t> key_columns);

  /// Takes rows, one after the other.
  /// @param counts  by call, then by index into `rows`: 1 where the call would take the row; left
  ///                so where the value came for the first time, or (taken back) went
  status take(const graph::record_batch& in, std::span<const std::uint32_t> rows,
              std::span<std::uint8_t* const> counts);

  /// Takes over what the map state of one call holds, as releases before kept it, of all groups.
  /// @param call  by place in `calls`
  status adopt(state::keyed_backend& backend, state::keyed_table& groups, graph::map_access& from,
               std::size_t call);

private:
  void take_bits(std::span<std::uint8_t* const> counts);
  void take_counts(const graph::record_batch& in, std::span<std::uint8_t* const> counts);
  struct adopted {
    std::uint32_t group = 0; ///< of the piece
    byte_string value;
    std::int64_t count = 0;
  };
  status put_adopted(const graph::record_batch& groups, std::span<const adopted> entries,
                     std::size_t call);

  std::int32_t column_;
  graph::logical_type type_;
  bool takes_nulls_;
  bool retracts_;
  std::vector<std::size_t> calls_;
  state::keyed_table* table_ = nullptr;
  std::vector<std::int32_t> columns_; ///< of the input: the key's, and the value's
  std::optional<state::key_batch> keys_;
  // Of the batch at hand.
  std::vector<std::uint32_t> taken_; ///< indices of rows that some call would take …
  std::vector<std::uint32_t> rows_;  ///< … and these rows
  std::vector<std::uint32_t> emptied_;
  state::located_rows found_;
};

} // namespace headrace::task
