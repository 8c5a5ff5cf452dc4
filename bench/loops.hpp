#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headrace::bench {

/// What a loop counted and what it took.
struct loop_result {
  std::uint64_t rows = 0;     ///< words, or pairs
  std::uint64_t keys = 0;     ///< distinct
  std::uint64_t checksum = 0; ///< sum over all counts, so that nothing is optimized away
  double cpu_seconds = 0;
};

/// Counts the words (maximal runs of ASCII letters, lower-cased) of a file the way one would write
/// it by hand for one thread: the file read in 1 MiB blocks, one flat hash map of strings.
loop_result count_words_by_hand(const std::string& path);

/// Sums `pairs` int64 pairs by key in one flat hash map; the pairs are those that the bench job
/// makes: key mix64(i) % keys, value i.
loop_result sum_pairs_by_hand(std::uint64_t pairs, std::uint64_t keys);

} // namespace headrace::bench
