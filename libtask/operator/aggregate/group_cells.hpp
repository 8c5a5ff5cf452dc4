#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/job_graph/job_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headrace::task {

/// The aggregates of SQL that fit into a few words a group: COUNT, SUM, AVG, STDDEV_…, VAR_…, and
/// over rows that are never taken back MIN, MAX, FIRST_VALUE and LAST_VALUE of fixed widths.
///
///     | rows | written at, ms | values 0 | sum 0 … | values 1 | sum 1 … |
///
/// Each aggregate has the number of its values that are not NULL, then 0 to 16 bytes. Zeros are an
/// empty group. Sums of integers wrap at 64 bits and are cut to the result's width, those of
/// decimals are NULL beyond 38 digits, and for good beyond 128 bits: `graph::lost_decimal_sum`.
class group_cells {
public:
  static constexpr std::size_t header_bytes = 16;

  /// What an aggregate gives: an integer or a decimal, or the bits of a double.
  struct value {
    graph::int128 bits = 0;
    bool is_null = true;
    friend bool operator==(const value&, const value&) = default;
  };

  /// "SUM(DISTINCT BIGINT)". Which columns a call is of is not told: a query may compute them
  /// elsewhere, and its state is the same.
  static std::string text_of(const graph::group_aggregate_call& call,
                             const graph::logical_type& input);
  /// Whether a call is of this kind.
  static bool holds(const graph::group_aggregate_call& call, const graph::logical_type& input,
                    bool input_retracts);
  /// Adds a call that `holds`. @returns its place
  std::size_t add(const graph::group_aggregate_call& call, const graph::logical_type& input,
                  const graph::logical_type& result);

  std::size_t size() const { return cells_.size(); }
  /// Bytes of a group; a multiple of 8.
  std::size_t fixed_bytes() const { return fixed_bytes_; }

  /// Takes a row in, or back.
  void take(std::size_t cell, const graph::record_batch& in, std::uint32_t row, bool is_retracted,
            std::byte* group) const;
  /// What a cell gives after each of some rows, and before it where that is wanted.
  struct results {
    bool has_before = false;
    std::vector<graph::int128> before;
    std::vector<graph::int128> after;
    std::vector<std::uint8_t> before_null; ///< 1: NULL
    std::vector<std::uint8_t> after_null;
    void resize(std::size_t rows);
  };
  /// Takes rows that only come, one after the other, each into its group.
  /// @param counts   by row, whether the cell takes it; null: all of them
  /// @param changed  by row, set to 1 where the result is another than before
  void take_all(std::size_t cell, const graph::record_batch& in,
                std::span<const std::uint32_t> rows, std::span<std::byte* const> groups,
                const std::uint8_t* counts, std::uint8_t* changed, results& out) const;
  /// Appends results: `which` numbers those after the rows, then those before.
  void append_all(std::size_t cell, const results& from, std::span<const std::uint32_t> which,
                  graph::column_builder& to) const;
  /// Adds all of a group, its number of rows among them, to one whose rows came before.
  void merge(const std::byte* from, std::byte* into) const;
  value result(std::size_t cell, const std::byte* group) const;
  /// Whether a sum of decimals has left 128 bits: taking rows back does not mend it.
  bool has_lost_sum(const std::byte* group) const;
  void append(std::size_t cell, const value& from, graph::column_builder& to) const;

private:
  enum class kind : std::uint8_t { count, sum, average, least, greatest, first, last, spread };
  struct cell {
    kind what = kind::count;
    std::int32_t column = -1; ///< -1: counts rows
    std::size_t offset = 0;
    bool is_real = false; ///< computed as doubles
    bool is_decimal = false;
    bool is_sample = false; ///< divided by one less than the values
    bool is_root = false;   ///< the standard deviation
    graph::logical_type input = graph::logical_type::null();
    graph::logical_type result = graph::logical_type::null();
  };

  /// Adds a value to a sum, an average or a spread: to the bytes behind its count.
  static void add_value(const cell& to, const graph::column& values, std::uint32_t row,
                        bool is_retracted, std::byte* at);
  static graph::int128 whole_at(const graph::column& values, std::size_t row);
  static double real_at(const graph::column& values, std::size_t row);
  value spread_of(const cell& from, const std::byte* at, std::int64_t count) const;
  static value average_of(const cell& from, const std::byte* at, std::int64_t count);
  static value real_value(const cell& from, double number);

  std::vector<cell> cells_;
  std::vector<std::size_t> decimal_sums_; ///< where they are in a group
  std::size_t fixed_bytes_ = header_bytes;
};

} // namespace headrace::task
