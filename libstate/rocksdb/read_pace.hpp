#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headrace::state {

/// Decides from what a table's reads have cost whether it pays to share a batch's reads with other
/// threads: where rows lie on the disk, not where they come from memory. Pure. One thread.
///
/// A batch is judged by its median piece, since on a busy machine any of them may have lost its
/// core meanwhile.
class read_pace {
public:
  /// A row costs 1 to 4 µs that is in the block cache, some 10 µs in the system's, and 80 µs or
  /// more on a disk.
  struct limits {
    double slow_us = 20; ///< a row, at least: shares from now on
    double fast_us = 12; ///< a row, less: no longer
    /// Blocks that were not in the cache, for each row: fewer do not make it slow.
    double blocks_least = 0.125;

    /// Of tests: shares whatever reads cost.
    static limits always() { return {0, 0, 0}; }
  };
  /// What some rows of a batch, read together by one thread, have cost.
  struct piece {
    std::uint64_t rows = 0;
    std::uint64_t blocks = 0; ///< that were not in the block cache
    std::int64_t spent_us = 0;
  };

  explicit read_pace(limits of) : limits_(of), is_slow_(of.slow_us <= 0) {}

  /// A batch was read. One of a single piece says too little, and is passed over.
  void add(std::span<const piece> batch);
  bool is_slow() const { return is_slow_; }

private:
  limits limits_;
  bool is_slow_;
  std::vector<double> row_us_; ///< by piece; reused
};

} // namespace headrace::state
