#pragma once

#include "libtask/operator/aggregate/group_cells.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/job_graph/job_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headrace::task {

/// The rows of one key in a batch, in the order of time: those of [begin, first_new) had their
/// results before and are still needed, those of [first_new, end) get theirs now.
struct over_segment {
  std::size_t begin = 0;
  std::size_t first_new = 0;
  std::size_t end = 0;
};

/// Where a row stands among those of its partition; all but the number by the order alone.
struct over_rank {
  std::int64_t number = 0; ///< from 1
  std::int64_t rank = 0;   ///< number of the first row that is equal
  std::int64_t dense_rank = 0;
  std::int64_t up_to_equal = 0; ///< of a whole partition: number of the last row that is equal
  std::int64_t size = 0;        ///< likewise: of all rows
};

/// Computes SQL's functions with OVER for the rows of one key after another. Pure.
///
/// What a row's window needs of earlier rows is carried from one call to the next: some rows (of a
/// bounded window those that are in it yet; else the ones that have the least value, the first, the
/// last, of DISTINCT the first of each value, of LISTAGG all that have one), and some bytes (the
/// number of rows, and of an unbounded window its sums).
class over_calls {
public:
  over_calls(const graph::over_spec& spec, const graph::logical_type& input,
             const graph::logical_type& output);

  /// Bytes that are carried for a key; zeros at first.
  std::size_t carried_bytes() const { return counters_bytes + cells_.fixed_bytes(); }

  /// Appends the results of a segment's new rows.
  /// @param times_ms  of all rows of the batch
  /// @param carried   of the key; changed
  /// @param keep      replaced by the rows of the segment that are carried on, ascending
  void compute(const graph::record_batch& rows, std::span<const std::int64_t> times_ms,
               const over_segment& of, std::byte* carried, std::vector<std::uint32_t>& keep);
  /// Appends the results of a segment that is a whole partition, whose rows stand in their order.
  /// @param order  by row, what it is ordered by; equal bytes: equal rows
  void compute_whole(const graph::record_batch& rows, std::span<const byte_view> order,
                     const over_segment& of);
  /// Gives the column of a call, with a value for each new row since the last time. `rows` are
  /// those of all calls of `compute` since then.
  graph::column_ptr finish(std::size_t call, const graph::record_batch& rows);
  std::size_t size() const { return calls_.size(); }
  /// What is carried for the calls, one after the other: for the description of a state.
  const std::vector<graph::logical_type::field>& parts() const { return parts_; }

private:
  static constexpr std::size_t counters_bytes = 2 * sizeof(std::int64_t);
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};

  enum class kind : std::uint8_t {
    cell,       ///< a sum, a count, …
    least,      ///< the rest names a row whose value is the result
    greatest,   //
    first,      //
    last,       //
    lag,        //
    lead,       //
    row_number, ///< counters
    rank,
    dense_rank,
    ntile,
    percent_rank,
    cume_dist,
    list, ///< the texts of the window's rows, with what stands between them
  };
  struct call {
    explicit call(graph::column_builder to) : built(std::move(to)) {}
    kind what = kind::cell;
    std::size_t cell = 0;
    std::size_t column = 0;
    std::int32_t offset = -1;    ///< of LAG, LEAD, NTILE: a column of numbers; -1: 1
    std::int32_t otherwise = -1; ///< of LAG, LEAD: a column for rows that have none there
    graph::column_builder built;
    std::vector<std::uint32_t> rows;      ///< results as rows of the batch
    std::vector<std::uint8_t> is_default; ///< of LAG and LEAD, by result
    std::vector<std::uint32_t> queue;     ///< of least and greatest: candidates, the best first
    std::size_t queue_at = 0;
    std::uint32_t place = nothing; ///< of first and last
    bool is_distinct = false;
    std::unordered_map<std::string, std::int64_t> seen; ///< how often a value is in the window
    std::vector<std::uint32_t> counted;                 ///< rows that the sums, or the text, are of
    std::int32_t separator = -1;                        ///< of list: a column; -1: a comma
    std::optional<std::string> text;                    ///< of list; nothing: of no value
  };

  /// Rows leave the window.
  bool is_bounded() const {
    return spec_.frame ? spec_.frame->first.kind != graph::over_bound::unbounded
                       : spec_.preceding >= 0;
  }
  static void begin(call& of);
  /// Whether a value is there for the first time, or (when it leaves) was there for the last.
  bool turns(call& of, const graph::record_batch& rows, std::uint32_t row, std::int64_t by);
  static void add_text(call& to, const graph::record_batch& rows, std::uint32_t row);
  /// The text of a bounded window.
  void list_again(call& of, const graph::record_batch& rows, std::size_t low, std::size_t high);
  /// A row comes into the window, or leaves it.
  void enter(const graph::record_batch& rows, std::uint32_t row, std::byte* group);
  void leave(const graph::record_batch& rows, std::uint32_t row, std::byte* group);
  /// Sums the rows of a bounded window anew: of one that held too much and no longer does.
  void sum_again(const graph::record_batch& rows, std::size_t low, std::size_t high);
  void give(const graph::record_batch& rows, const over_segment& of, std::uint32_t row,
            std::size_t low, std::size_t high, const std::byte* group, const over_rank& rank);
  static void give_ahead(const graph::record_batch& rows, call& of, std::uint32_t row,
                         std::size_t end);
  static std::int64_t bucket_of(const graph::record_batch& rows, const call& of, std::uint32_t row,
                                const over_rank& rank);
  static std::uint32_t first_value(const graph::record_batch& rows, call& of, std::size_t low,
                                   std::size_t high);
  static std::int64_t offset_of(const graph::record_batch& rows, const call& of, std::uint32_t row);
  void choose_kept(const graph::record_batch& rows, std::span<const std::int64_t> times_ms,
                   const over_segment& of, std::vector<std::uint32_t>& keep);

  graph::over_spec spec_;
  bool has_peers_;
  group_cells cells_;
  std::vector<graph::logical_type::field> parts_;
  std::vector<call> calls_;
  std::vector<std::byte> group_; ///< of a bounded window
  std::vector<std::byte> ignored_;
  byte_string value_; ///< of DISTINCT
};

} // namespace headrace::task
