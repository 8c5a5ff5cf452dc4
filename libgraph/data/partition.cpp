#include "libgraph/data/partition.hpp"

#include "libgraph/data/gather.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>

namespace headrace::graph {

namespace {

/// Decides how a piece lies, by its part of the rows. A selection costs nothing here but random
/// reads and a pinned batch later, so half or a third is worth one. The bytes of strings are shared
/// down to a sixth: copying them costs more than all other columns together, and the pieces of a
/// small exchange are used up at about the same time.
record_batch settle(record_batch piece) {
  if (piece.size() * 3 >= piece.row_count())
    return piece;
  return assemble_batch({&piece, 1}, piece.size() * 6 >= piece.row_count()
                                         ? string_bytes::share
                                         : string_bytes::copy_if_sparse);
}

/// Sorts the column rows by target, each target's in their order.
///
/// @param ends  target_count zeros; then where each target's rows end in the result
buffer_ptr sort_by_target(const record_batch& batch, std::span<const std::uint32_t> targets,
                          std::span<std::uint32_t> ends) {
  for (const auto target : targets)
    ++ends[target];
  std::uint32_t begin = 0;
  for (auto& each : ends)
    begin += std::exchange(each, begin);
  auto sorted = buffer::allocate(targets.size() * sizeof(std::uint32_t));
  auto* rows = sorted->mutable_as<std::uint32_t>();
  if (batch.has_selection()) {
    const auto selection = batch.selection();
    for (std::size_t i = 0; i < targets.size(); ++i)
      rows[ends[targets[i]]++] = selection[i];
  } else {
    for (std::size_t i = 0; i < targets.size(); ++i)
      rows[ends[targets[i]]++] = static_cast<std::uint32_t>(i);
  }
  return sorted;
}

} // namespace

std::vector<std::optional<record_batch>> split_batch(const record_batch& batch,
                                                     std::span<const std::uint32_t> targets,
                                                     std::size_t target_count) {
  HEADRACE_ASSERT(targets.size() == batch.size(), "targets of another number of rows");
  std::vector<std::optional<record_batch>> out(target_count);
  if (batch.is_empty())
    return out;
  if (std::all_of(targets.begin(), targets.end(), [&](auto each) { return each == targets[0]; })) {
    out[targets[0]] = batch.compact_if_sparse();
    return out;
  }
  std::vector<std::uint32_t> ends(target_count, 0);
  const auto sorted = sort_by_target(batch, targets, ends);
  std::size_t begin = 0;
  for (std::size_t target = 0; target < target_count; ++target) {
    const std::size_t count = ends[target] - begin;
    if (count == 0)
      continue;
    const byte_view rows(sorted->as<char>() + begin * sizeof(std::uint32_t),
                         count * sizeof(std::uint32_t));
    begin = ends[target];
    out[target] = settle(batch.with_selection(buffer::wrap(rows, sorted), count));
  }
  return out;
}

std::uint32_t round_robin_targets(std::uint32_t start, std::size_t target_count,
                                  std::span<std::uint32_t> out) {
  auto next = start;
  for (auto& each : out) {
    each = next;
    next = next + 1 == target_count ? 0 : next + 1;
  }
  return next;
}

std::vector<record_batch> slice_batch(const record_batch& batch, std::size_t rows_max) {
  HEADRACE_ASSERT(rows_max > 0, "slices of no rows");
  std::vector<record_batch> out;
  for (std::size_t from = 0; from < batch.size(); from += rows_max)
    out.push_back(batch.slice(from, std::min(rows_max, batch.size() - from)));
  return out;
}

} // namespace headrace::graph
