#include "libstate/heap/heap_map.hpp"

#include "libstate/key/key_hash.hpp"
#include "libstate/keyed/time_to_live.hpp"

#include <cstring>

namespace headrace::state {

namespace {

constexpr std::size_t link_bytes = 8;

} // namespace

heap_map::heap_map(page_pool& pool, key_shape shape, state_description description)
    : pool_(&pool), shape_(shape), description_(std::move(description)),
      head_layout_(row_layout::make(shape, sizeof(head), false)),
      layout_(row_layout::make(key_shape::bytes,
                               link_bytes + (description_.ttl_ms > 0 ? stamp_bytes : 0U), true)),
      heads_(pool, head_layout_), entries_(pool, layout_) {}

heap_map::links heap_map::links_of(const std::byte* row) const {
  links out;
  std::memcpy(&out, row + layout_.fixed_at, sizeof(out));
  return out;
}

void heap_map::set_links(std::byte* row, links to) const {
  std::memcpy(row + layout_.fixed_at, &to, sizeof(to));
}

void heap_map::compose(const key_ref& key, byte_view entry_key) {
  composed_.clear();
  byte_writer to(composed_);
  if (shape_ == key_shape::bytes)
    to.put_bytes(key.bytes);
  else if (key.is_null)
    to.put_bytes({});
  else
    to.put_bytes({reinterpret_cast<const char*>(&key.fixed), sizeof(key.fixed)});
  to.put_raw(entry_key);
}

key_ref heap_map::key_of_stored(byte_view stored) const {
  if (shape_ == key_shape::bytes)
    return {hash_of_bytes(stored), 0, stored, false};
  if (stored.empty())
    return {hash_of_null, 0, {}, true};
  std::uint64_t fixed = 0;
  std::memcpy(&fixed, stored.data(), sizeof(fixed));
  return {hash_of_fixed(fixed), fixed, {}, false};
}

heap_map::split_key heap_map::split(byte_view composed) {
  byte_reader in(composed);
  const auto key = in.get_bytes();
  HEADRACE_ASSERT(key.has_value(), "entries have composed keys");
  return {*key, composed.substr(composed.size() - in.remaining())};
}

std::uint32_t heap_map::find(const key_ref& key, byte_view entry_key) {
  compose(key, entry_key);
  return entries_.find({hash_of_bytes(composed_), 0, composed_, false});
}

void heap_map::put(const key_ref& key, byte_view entry_key, byte_view value,
                   std::int64_t stamp_ms) {
  const auto entry = find(key, entry_key);
  set(entry == none ? add(key, entry_key) : entry, value, stamp_ms);
}

std::uint32_t heap_map::add(const key_ref& key, byte_view entry_key) {
  const auto floor = pool_->floor();
  compose(key, entry_key);
  const auto entry = entries_.add({hash_of_bytes(composed_), 0, composed_, false}, floor);
  auto owner = heads_.find(key);
  if (owner == none) {
    owner = heads_.add(key, floor);
    const head empty{none, 0};
    std::memcpy(heads_.row(owner) + head_layout_.fixed_at, &empty, sizeof(empty));
  }
  head links_in{};
  auto* head_row = heads_.writable(owner, floor) + head_layout_.fixed_at;
  std::memcpy(&links_in, head_row, sizeof(links_in));
  if (links_in.first != none) {
    auto* second = entries_.writable(links_in.first, floor);
    set_links(second, {entry, links_of(second).next});
  }
  set_links(entries_.writable(entry, floor), {none, links_in.first});
  links_in.first = entry;
  std::memcpy(head_row, &links_in, sizeof(links_in));
  return entry;
}

void heap_map::set(std::uint32_t entry, byte_view value, std::int64_t stamp_ms) {
  auto* row = entries_.writable(entry, pool_->floor());
  entries_.blobs().replace(layout_.value(row), value);
  if (description_.ttl_ms > 0)
    std::memcpy(row + layout_.fixed_at + link_bytes, &stamp_ms, sizeof(stamp_ms));
}

void heap_map::erase(const key_ref& key, std::uint32_t entry) {
  const auto floor = pool_->floor();
  ++erasures_;
  const auto gone = links_of(entries_.row(entry));
  if (gone.next != none) {
    auto* row = entries_.writable(gone.next, floor);
    set_links(row, {gone.previous, links_of(row).next});
  }
  if (gone.previous != none) {
    auto* row = entries_.writable(gone.previous, floor);
    set_links(row, {links_of(row).previous, gone.next});
  } else {
    const auto owner = heads_.find(key);
    HEADRACE_ASSERT(owner != none, "entries have a head");
    if (gone.next == none) {
      heads_.erase(owner, floor);
    } else {
      const head left{gone.next, 0};
      std::memcpy(heads_.writable(owner, floor) + head_layout_.fixed_at, &left, sizeof(left));
    }
  }
  entries_.erase(entry, floor);
}

void heap_map::clear(const key_ref& key) {
  const auto owner = heads_.find(key);
  if (owner == none)
    return;
  const auto floor = pool_->floor();
  ++erasures_;
  for (auto entry = first(key); entry != none;) {
    const auto after = next(entry);
    entries_.erase(entry, floor);
    entry = after;
  }
  heads_.erase(owner, floor);
}

std::uint32_t heap_map::first(const key_ref& key) const {
  const auto owner = heads_.find(key);
  if (owner == none)
    return none;
  head out{};
  std::memcpy(&out, heads_.row(owner) + head_layout_.fixed_at, sizeof(out));
  return out.first;
}

byte_view heap_map::entry_key(std::uint32_t entry) const {
  return split(row_layout::bytes_key(entries_.row(entry)).view()).entry_key;
}

std::int64_t heap_map::stamp_ms(std::uint32_t entry) const {
  std::int64_t out = 0;
  if (description_.ttl_ms > 0)
    std::memcpy(&out, entries_.row(entry) + layout_.fixed_at + link_bytes, sizeof(out));
  return out;
}

void heap_map::drop_expired(std::int64_t now_ms, std::uint64_t from, std::uint64_t stop) {
  std::vector<std::uint32_t> expired;
  entries_.visit(from, stop, [&](std::uint32_t entry, const std::byte*) {
    if (is_expired(stamp_ms(entry), description_.ttl_ms, now_ms))
      expired.push_back(entry);
    return true;
  });
  for (const auto entry : expired) {
    // The key lies in the row that is erased.
    const byte_string stored(split(row_layout::bytes_key(entries_.row(entry)).view()).key);
    erase(key_of_stored(stored), entry);
  }
}

table_image heap_map::image() const {
  table_image out;
  out.description = description_;
  out.layout = layout_;
  out.stamp_at = layout_.fixed_at + static_cast<std::uint32_t>(link_bytes);
  if (entries_.row_count() > 0)
    out.directories.push_back(entries_.image(0));
  return out;
}

} // namespace headrace::state
