#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/record_batch.hpp"
#include "libactors/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace::task {

/// Rows that leave an operator that keeps rows: those of the batch at hand as they are, those of
/// the state decoded all at once.
class rank_changes {
public:
  /// @param rank_column  whether the output has the rank behind the rows' columns
  rank_changes(graph::row_type_ptr output_type, bool rank_column,
               std::shared_ptr<graph::memory_budget> budget);

  /// A row of the batch that `finish` gets.
  void add(graph::row_kind kind, std::int64_t rank, std::uint32_t row);
  /// A row as `encode_keys` wrote it; copied.
  void add(graph::row_kind kind, std::int64_t rank, byte_view row);

  std::size_t size() const { return changes_.size(); }
  /// The rows in the order in which they were added; then it is empty.
  /// @errors malformed_message  bytes that are no row
  result<graph::record_batch> finish(const graph::record_batch& in);

private:
  struct change {
    graph::row_kind kind = graph::row_kind::insert;
    bool is_kept = false;  ///< else of the batch
    std::uint32_t row = 0; ///< of the batch, or of the kept ones
    std::int64_t rank = 0;
  };
  status decode_kept();

  graph::row_type_ptr type_;
  std::size_t width_;
  graph::batch_builder rows_;
  std::vector<change> changes_;
  byte_string bytes_; ///< of kept rows, one behind the other
  std::vector<std::size_t> ends_;
  std::vector<std::uint32_t> given_;
  std::vector<byte_view> views_;
  std::vector<std::uint32_t> order_;
};

} // namespace headrace::task
