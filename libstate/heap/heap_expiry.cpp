#include "libstate/heap/heap_backend.hpp"
#include "libstate/keyed/time_to_live.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::state {

namespace {

constexpr std::uint32_t keys_between_sweeps = 16;
constexpr std::uint64_t rows_a_sweep = 64;

void drop_expired(heap_directory& from, const heap_table& of, std::int64_t now_ms,
                  std::uint64_t first, std::uint64_t stop) {
  const auto stamp_at = of.layout().fixed_at;
  std::vector<std::uint32_t> expired;
  from.visit(first, stop, [&](std::uint32_t row, const std::byte* at) {
    std::int64_t stamp = 0;
    std::memcpy(&stamp, at + stamp_at, sizeof(stamp));
    if (is_expired(stamp, of.description().ttl_ms, now_ms))
      expired.push_back(row);
    return true;
  });
  const auto floor = of.pool().floor();
  for (const auto row : expired)
    from.erase(row, floor);
}

} // namespace

/// What has expired goes at a restart: nobody may ask for it again. Its TTL is known by then.
void heap_backend::drop_expired() {
  if (setup_.time == nullptr)
    return;
  const auto now = setup_.time->wall_ms();
  for (auto& [name, entry] : states_) {
    if (entry.description().ttl_ms == 0)
      continue;
    if (entry.map) {
      entry.map->drop_expired(now, 0, entry.map->part(heap_map::entries_part).end());
      continue;
    }
    for (const auto& [space, directory] : entry.table->directories())
      state::drop_expired(*directory, *entry.table, now, 0, directory->end());
  }
}

void heap_backend::find_expiring() {
  expiring_.clear();
  for (auto& [name, entry] : states_) {
    if (entry.description().ttl_ms > 0 && setup_.time != nullptr)
      expiring_.push_back(&entry);
  }
  swept_state_ = 0;
  swept_to_ = 0;
}

/// Goes on over the rows of all states with TTL, round and round: what is never asked for again
/// goes, too. So few rows at once that no key waits for it.
void heap_backend::sweep_expired() {
  if (++keys_since_sweep_ < keys_between_sweeps)
    return;
  keys_since_sweep_ = 0;
  auto& entry = *expiring_[swept_state_];
  auto* const directory =
      entry.map ? &entry.map->part(heap_map::entries_part) : entry.table->find_directory(0);
  const auto end = directory == nullptr ? 0 : directory->end();
  const auto stop = std::min(end, swept_to_ + rows_a_sweep);
  if (swept_to_ < stop) {
    const auto now = setup_.time->wall_ms();
    if (entry.map)
      entry.map->drop_expired(now, swept_to_, stop);
    else
      state::drop_expired(*directory, *entry.table, now, swept_to_, stop);
  }
  swept_to_ = stop;
  if (stop < end)
    return;
  swept_to_ = 0;
  swept_state_ = (swept_state_ + 1) % expiring_.size();
}

} // namespace headrace::state
