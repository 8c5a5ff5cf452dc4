#pragma once

#include "libtask/operator/stream_operator.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/record_batch.hpp"
#include "libgraph/expression/program.hpp"
#include "libactors/base/bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace headrace::task {

/// Pairs of rows of a batch with stored rows of the other side: computes the condition over all of
/// them at once, and builds the batch of what leaves. Used piece by piece, so that nothing is
/// allocated per row. On the subtask's mailbox only.
///
///     begin (batch)  { clear  add …  check  emit_pair, emit_own, emit_other …  emit }  …
class join_pairs {
public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// @param inputs  the types of the left and the right rows
  /// @param output  their columns, or the left ones alone
  static result<join_pairs> make(const graph::join_spec& spec,
                                 std::span<const graph::logical_type> inputs,
                                 const graph::logical_type& output,
                                 const operator_context& context);

  /// @param side  of `own`: 0 left, 1 right
  void begin(graph::record_batch own, std::size_t side);
  /// Lets go of the batch.
  void end() { own_ = {}; }
  const graph::record_batch& own() const { return own_; }

  void clear();
  /// @param row    of the batch's columns
  /// @param other  as `graph::encode_keys` writes all columns; stays until the next `clear`
  void add(std::uint32_t row, byte_view other) {
    rows_.push_back(row);
    others_.push_back(other);
    bytes_ += other.size();
  }
  std::size_t size() const { return rows_.size(); }
  bool is_full(const drain_budget& budget) const {
    return rows_.size() >= budget.rows_max || bytes_ >= budget.bytes_max;
  }
  std::uint32_t row_of(std::size_t pair) const { return rows_[pair]; }

  /// Computes the condition.
  status check(const graph::program_time& time);
  bool passes(std::size_t pair) const { return passes_[pair] != 0; }

  void emit_pair(std::size_t pair, graph::row_kind kind) {
    emitted_.push_back({rows_[pair], static_cast<std::uint32_t>(pair), kind});
  }
  void emit_own(std::uint32_t row, graph::row_kind kind) { emitted_.push_back({row, none, kind}); }
  void emit_other(std::size_t pair, graph::row_kind kind) {
    emitted_.push_back({none, static_cast<std::uint32_t>(pair), kind});
  }
  /// What leaves as one batch; an empty one when nothing does.
  result<graph::record_batch> take();

private:
  struct emitted {
    std::uint32_t own = none;  ///< row of the batch
    std::uint32_t pair = none; ///< whose other row
    graph::row_kind kind = graph::row_kind::insert;
  };
  using fields = std::span<const graph::logical_type::field>;

  join_pairs() = default;
  result<std::vector<graph::column_ptr>> decode(std::span<const byte_view> rows, fields of) const;
  bool are_all_pairs() const;
  graph::record_batch take_passed() const;
  graph::record_batch with_kinds(graph::record_batch batch) const;
  void add_own(fields of, std::vector<graph::column_ptr>& to) const;
  status add_other(fields of, std::vector<graph::column_ptr>& to) const;

  std::shared_ptr<graph::memory_budget> memory_;
  std::optional<graph::expression_program> condition_;
  std::array<graph::row_type_ptr, 2> types_;
  graph::row_type_ptr output_type_;
  graph::row_type_ptr joined_type_;
  graph::row_type_ptr no_columns_;
  bool has_both_ = true; ///< sides in the output

  graph::record_batch own_;
  std::size_t side_ = 0;
  std::vector<std::uint32_t> rows_;
  std::vector<byte_view> others_;
  std::size_t bytes_ = 0;
  std::vector<std::uint8_t> passes_;
  graph::record_batch checked_; ///< with a condition: what it was computed over …
  graph::record_batch passed_;  ///< … and for which it is true
  std::vector<emitted> emitted_;
  std::vector<std::uint32_t> own_rows_;
  std::vector<std::uint32_t> other_pairs_;
};

} // namespace headrace::task
