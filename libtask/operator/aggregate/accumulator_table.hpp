#pragma once

#include "libstate/backend/keyed_backend.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/function/function.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headrace::task {

/// Accumulators of an aggregate function by (namespace, key), in a table of the keyed backend,
/// fixed or variable as the function says. On the subtask's mailbox.
class accumulator_table {
public:
  /// Opens the table `name`. The backend and the function live longer.
  /// @errors incompatible_state
  static result<accumulator_table> open(state::keyed_backend& backend, const std::string& name,
                                        graph::aggregate_function& function);

  /// Folds `rows[i]` of `in` into the accumulator of its key in `spaces[i]`.
  status fold(const graph::record_batch& in, const state::key_batch& keys,
              std::span<const std::uint32_t> rows, std::span<const state::state_namespace> spaces);
  /// The same with one namespace for all.
  status fold(const graph::record_batch& in, const state::key_batch& keys,
              std::span<const std::uint32_t> rows, state::state_namespace space);
  /// The same, but also appends the result of each row's accumulator as it stands right after that
  /// row, in the order of `rows`. `key_rows`: the key columns, row i for `rows[i]`.
  status fold_and_emit(const graph::record_batch& in, const state::key_batch& keys,
                       std::span<const std::uint32_t> rows, state::state_namespace space,
                       const graph::record_batch& key_rows, graph::batch_builder& out);

  /// A piece of a namespace, with results.
  status scan(state::state_namespace space, state::scan_cursor& cursor, std::size_t rows_max,
              state::scanned_rows& piece) {
    return table_->scan(space, cursor, rows_max, piece);
  }
  /// Appends the results of all accumulators of a piece; `key_rows` as `piece.keys.to_batch()`.
  void emit(const state::scanned_rows& piece, const graph::record_batch& key_rows,
            graph::batch_builder& out);
  /// The same, from the one at `from` (0 at first) on, until `out` holds `bytes_max` bytes.
  /// @returns how many results were appended; at least one
  std::size_t emit_some(const state::scanned_rows& piece, std::size_t from,
                        const graph::record_batch& key_rows, std::size_t bytes_max,
                        graph::batch_builder& out);
  /// Makes a piece of the accumulators of `rows` in `space`, each once, in the order of the rows.
  status look_up(const state::key_batch& keys, std::span<const std::uint32_t> rows,
                 state::state_namespace space, state::scanned_rows& piece);
  /// Puts the accumulators of a piece of another table of the same function into `space`.
  status adopt(const state::scanned_rows& piece, state::state_namespace space);

  state::keyed_table& rows() { return *table_; }

private:
  accumulator_table(state::keyed_table& table, graph::aggregate_function& function)
      : table_(&table), function_(&function) {}
  status fold_found(const graph::record_batch& in, std::span<const std::uint32_t> rows);
  status fold_variable(const graph::record_batch& in, std::span<const std::uint32_t> rows);
  void rank_occurrences();
  void order_by_rank();

  state::keyed_table* table_;
  graph::aggregate_function* function_;
  // Kept from batch to batch, so that nothing is allocated per row.
  state::located_rows found_;
  byte_string accumulator_;
  std::vector<std::uint32_t> ranks_; ///< how often a row's accumulator came before it
  std::uint32_t rank_max_ = 0;
  std::vector<std::uint64_t> seen_tokens_; ///< open addressing by token
  std::vector<std::uint32_t> seen_counts_;
  std::vector<std::byte> copies_; ///< accumulators right after each row
  std::vector<const std::byte*> copy_pointers_;
  std::vector<std::uint32_t> order_;        ///< places of the rows, by rank
  std::vector<std::uint32_t> round_begins_; ///< in `order_`, by rank
  std::vector<std::uint32_t> round_rows_;
  std::vector<std::byte*> round_values_;
  std::vector<std::uint8_t> round_fresh_;
  std::vector<std::uint32_t> all_rows_;
};

} // namespace headrace::task
