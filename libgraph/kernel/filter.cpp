#include "libgraph/kernel/filter.hpp"

#include "libactors/base/assert.hpp"

namespace headrace::graph {

namespace {

/// Writes every row and moves on where it stays: no branch to mispredict.
template <class Keep>
record_batch select(const record_batch& batch, Keep keep) {
  const auto count = batch.size();
  auto indices = buffer::allocate((count + 1) * sizeof(std::uint32_t));
  auto* to = indices->mutable_as<std::uint32_t>();
  std::size_t kept = 0;
  if (batch.has_selection()) {
    const auto* rows = batch.selection().data();
    for (std::size_t i = 0; i < count; ++i) {
      to[kept] = rows[i];
      kept += keep(i, rows[i]);
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      to[kept] = static_cast<std::uint32_t>(i);
      kept += keep(i, i);
    }
  }
  return kept == count ? batch : batch.with_selection(std::move(indices), kept);
}

} // namespace

record_batch filter_batch(const record_batch& batch, std::span<const std::uint8_t> keep) {
  HEADRACE_ASSERT(keep.size() == batch.size(), "a condition of another number of rows");
  return select(batch, [&](std::size_t i, std::size_t) -> std::size_t { return keep[i]; });
}

record_batch filter_batch(const record_batch& batch, const column& condition) {
  HEADRACE_ASSERT(condition.type().physical() == physical_type::boolean &&
                      condition.size() == batch.row_count(),
                  "a condition that is no BOOLEAN of the batch's size");
  const auto* values = condition.values<std::uint8_t>();
  const auto* validity = condition.validity();
  if (validity == nullptr)
    return select(batch, [&](std::size_t, std::size_t row) -> std::size_t { return values[row]; });
  return select(batch, [&](std::size_t, std::size_t row) -> std::size_t {
    return values[row] & (static_cast<unsigned>(validity[row >> 3U]) >> (row & 7U));
  });
}

} // namespace headrace::graph
