#pragma once

#include "libgraph/function/function.hpp"
#include "libgraph/spec/operator_spec.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace headrace::task {

/// Computes the built-in aggregate calls (count, sum, min, max, first, last, min_by, max_by) over
/// packed accumulators, a column at a time.
///
/// An accumulator is a word of flags and a word (two for 128-bit values) a call that stores a
/// value:
///
///     | has bits 0–31, null bits 32–63 | value 0 | value 1 | …
///
/// Integers are held as int64, floats as double, decimals and fine timestamps as int128. A sum of
/// integers wraps at 64 bits and is cut to its output's width, as in Flink; one of decimals is NULL
/// beyond its output's digits where that may be NULL, and for good beyond 128 bits
/// (`graph::lost_decimal_sum`). Zeros are an empty accumulator. When a call keeps a string (or more
/// than fits), accumulators are variable: the same words, then the strings, each behind its length.
/// A key column asks for no room: results take it from the keys. NULL inputs are passed over, but
/// by count of no column, first and last.
class builtin_aggregate final : public graph::aggregate_function {
public:
  /// @errors type_mismatch  a call on a column type that it does not work on (arrays, maps and
  /// rows,
  ///         sums of strings), or an output of another type than its call gives
  static result<std::unique_ptr<graph::aggregate_function>>
  make(const std::vector<graph::aggregate_call>& calls, const graph::logical_type& input,
       const graph::logical_type& output, std::span<const std::int32_t> key_columns);

  graph::logical_type accumulator_type() const override;
  std::size_t fixed_bytes() const override { return is_variable_ ? 0 : fixed_part_bytes_; }

  /// Whether bytes from elsewhere are an accumulator: others must not be given to the calls below.
  bool is_accumulator(byte_view bytes) const;

  void add_fixed(const graph::record_batch& in, std::span<const std::uint32_t> rows,
                 std::span<std::byte* const> accumulators,
                 std::span<const std::uint8_t> fresh) override;
  void merge_fixed(std::byte* into, const std::byte* from) override;
  void result_fixed(const graph::record_batch& keys, std::span<const std::byte* const> accumulators,
                    graph::batch_builder& out) override;

  void add_variable(const graph::record_batch& in, std::uint32_t row,
                    byte_string& accumulator) override;
  void merge_variable(byte_string& into, byte_view from) override;
  void result_variable(const graph::record_batch& keys, std::size_t row, byte_view accumulator,
                       graph::batch_builder& out) override;

private:
  enum class cell_class : std::uint8_t { int64, float64, int128, string };
  /// One stored value.
  struct cell {
    graph::aggregate_kind kind;
    cell_class held;
    graph::physical_type input;
    std::int32_t column;  ///< of the input; -1 for a count of rows
    std::uint32_t offset; ///< of the value in the fixed part; strings: their ordinal
    std::uint32_t flag;   ///< bit of the flags word
    graph::logical_type type;
    int digits = 0; ///< a sum of decimals is NULL beyond them; 0: never
  };
  /// Where an output column comes from: a key column, or a cell.
  struct output_source {
    std::int32_t key = -1;
    std::int32_t cell = -1;
    graph::physical_type physical;
  };

  builtin_aggregate() = default;
  static bool gives_null(const cell& from, const std::byte* fixed);
  status add_call(const graph::aggregate_call& call, const graph::logical_type& input,
                  const graph::logical_type& output, std::span<const std::int32_t> key_columns);
  status add_by_call(const graph::aggregate_call& call, const graph::logical_type& input,
                     const graph::logical_type& output);
  result<std::int32_t> add_cell(graph::aggregate_kind kind, std::int32_t column,
                                const graph::logical_type& type);
  void seal();

  void add_column(const cell& to, const graph::record_batch& in,
                  std::span<const std::uint32_t> rows, std::span<std::byte* const> accumulators);
  void add_by(const graph::record_batch& in, std::uint32_t row, std::byte* fixed,
              std::vector<byte_string>* strings);
  void store(const cell& to, const graph::column& source, std::uint32_t row, std::byte* fixed,
             std::vector<byte_string>* strings);
  void add_one(const cell& to, const graph::record_batch& in, std::uint32_t row, std::byte* fixed,
               std::vector<byte_string>& strings);
  void merge_one(const cell& to, std::byte* into, const std::byte* from,
                 std::vector<byte_string>* into_strings,
                 const std::vector<byte_string>* from_strings);
  void append_cell(const cell& from, graph::physical_type physical, const std::byte* fixed,
                   const std::vector<byte_string>* strings, graph::column_builder& out) const;
  static void append_column(const cell& from, graph::physical_type physical,
                            std::span<const std::byte* const> accumulators,
                            graph::column_builder& out);
  void open_variable(byte_view accumulator, std::byte* fixed,
                     std::vector<byte_string>& strings) const;
  void close_variable(const std::byte* fixed, const std::vector<byte_string>& strings,
                      byte_string& accumulator) const;

  bool is_by_ = false; ///< min_by or max_by: cells_[0] orders, the rest is the row
  bool is_max_by_ = false;
  bool is_variable_ = false;
  std::size_t fixed_part_bytes_ = 0;
  std::uint32_t string_count_ = 0;
  std::vector<cell> cells_;
  std::vector<output_source> outputs_;
  // Scratch of the variable form, kept from row to row.
  std::vector<std::byte> fixed_scratch_;
  std::vector<std::byte> other_fixed_scratch_;
  std::vector<byte_string> strings_scratch_;
  std::vector<byte_string> other_strings_scratch_;
};

} // namespace headrace::task
