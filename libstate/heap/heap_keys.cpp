#include "libstate/heap/heap_backend.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>

namespace headrace::state {

namespace {

/// All keys that were there when the scan began: rows get other numbers when they are cleared and
/// set again.
struct found_keys {
  explicit found_keys(key_batch empty) : keys(std::move(empty)) {}
  key_batch keys;
};

} // namespace

status heap_backend::scan_keys(const graph::state_access& state, scan_cursor& cursor,
                               std::size_t rows_max, key_batch& out) {
  out.clear();
  if (cursor.held == nullptr) {
    const auto found = std::find_if(states_.begin(), states_.end(), [&](const auto& named) {
      const auto& entry = named.second;
      return entry.value_handle.get() == &state || entry.list_handle.get() == &state ||
             entry.map_handle.get() == &state;
    });
    HEADRACE_ASSERT(found != states_.end(), "the handle is of this backend");
    auto& entry = found->second;
    auto all = std::make_shared<found_keys>(key_batch(setup_.key, setup_.max_parallelism));
    const auto& rows = entry.map ? entry.map->part(0) : entry.table->make_directory(0);
    rows.visit(0, [&](std::uint32_t number, const std::byte*) {
      all->keys.append(rows.key_of(number));
      return true;
    });
    cursor.held = std::move(all);
  }
  const auto& all = static_cast<found_keys*>(cursor.held.get())->keys;
  const auto stop = std::min<std::uint64_t>(all.size(), cursor.position + rows_max);
  for (; cursor.position < stop; ++cursor.position)
    out.append(all.at(static_cast<std::size_t>(cursor.position)));
  cursor.done = cursor.position == all.size();
  return {};
}

} // namespace headrace::state
