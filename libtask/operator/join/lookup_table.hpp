#pragma once

#include "libgraph/connector/source.hpp"
#include "libgraph/data/record_batch.hpp"
#include "libgraph/spec/operator_spec.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace headrace::task {

/// All rows of a table that ends, in memory, found by key. Immutable once read.
class lookup_table {
public:
  /// Reads everything that the source has. May block, and take long.
  /// @param fields       columns of the source's rows that are kept
  /// @param key_columns  of those
  /// @errors unsupported_operation  the source has no end; what the connector gives
  static result<std::shared_ptr<const lookup_table>>
  read(const graph::source& from, const graph::reader_context& context,
       std::span<const std::int32_t> fields, std::span<const std::int32_t> key_columns);

  const graph::record_batch& rows() const { return rows_; }
  /// The first row whose key has the hash, and the next behind one; `none`: no further one.
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t first(std::uint64_t hash) const {
    return seek(heads_[hash & (heads_.size() - 1)], hash);
  }
  std::uint32_t next(std::uint32_t row) const { return seek(next_[row], hashes_[row]); }
  /// Hashes of keys of the selected rows, as the table's are.
  static void hash(const graph::record_batch& rows, std::span<const std::int32_t> key_columns,
                   std::vector<std::uint64_t>& out);

private:
  void index(std::span<const std::int32_t> key_columns);
  std::uint32_t seek(std::uint32_t row, std::uint64_t hash) const {
    while (row != none && hashes_[row] != hash)
      row = next_[row];
    return row;
  }

  graph::record_batch rows_;
  std::vector<std::uint64_t> hashes_; ///< by row
  std::vector<std::uint32_t> heads_;  ///< by the last bits of the hash
  std::vector<std::uint32_t> next_;   ///< by row: the next of its bucket
};

} // namespace headrace::task
