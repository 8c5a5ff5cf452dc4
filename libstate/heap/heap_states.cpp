#include "libstate/heap/heap_states.hpp"

#include "libstate/keyed/user_state.hpp"
#include "libgraph/function/failure.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::state {

void current_key::refuse() { throw graph::failure(no_current_key()); }

// ---- rows --------------------------------------------------------------------------------------

heap_row_cursor::heap_row_cursor(heap_table& table, const current_key& current, const clock* time)
    : table_(&table), current_(&current), time_(time), directory_(&table.make_directory(0)) {}

std::uint32_t heap_row_cursor::find(bool is_whole) {
  if (version_ != current_->version) {
    row_ = directory_->find(current_->get());
    version_ = current_->version;
  }
  if (ttl_ms() > 0 && is_whole && row_ != heap_directory::none) {
    std::int64_t stamp = 0;
    std::memcpy(&stamp, directory_->row(row_) + table_->layout().fixed_at, sizeof(stamp));
    if (is_expired(stamp, ttl_ms(), now_ms()))
      erase();
  }
  return row_;
}

std::uint32_t heap_row_cursor::make() {
  if (find(false) == heap_directory::none)
    row_ = directory_->add(current_->get(), table_->pool().floor());
  return row_;
}

void heap_row_cursor::erase() {
  if (version_ != current_->version)
    find(false);
  if (row_ != heap_directory::none)
    directory_->erase(row_, table_->pool().floor());
  row_ = heap_directory::none;
}

void heap_row_cursor::touch(std::uint32_t row) {
  if (ttl_ms() == 0)
    return;
  const auto now = now_ms();
  std::memcpy(directory_->writable(row, table_->pool().floor()) + table_->layout().fixed_at, &now,
              sizeof(now));
}

blob& heap_row_cursor::value(std::uint32_t row, bool to_write) {
  auto* at = to_write ? directory_->writable(row, table_->pool().floor()) : directory_->row(row);
  return table_->layout().value(at);
}

// ---- values ------------------------------------------------------------------------------------

std::optional<byte_view> heap_value_access::get() {
  const auto row = cursor_.find(true);
  if (row == heap_directory::none)
    return std::nullopt;
  return cursor_.value(row, false).view();
}

void heap_value_access::put(byte_view value) {
  const auto row = cursor_.make();
  cursor_.directory().blobs().replace(cursor_.value(row, true), value);
  cursor_.touch(row);
}

// ---- lists -------------------------------------------------------------------------------------

void heap_list_access::load() {
  const bool expires = cursor_.ttl_ms() > 0;
  if (loaded_ == cursor_.key_version() && !expires)
    return;
  loaded_ = cursor_.key_version();
  elements_.clear();
  const auto row = cursor_.find(false);
  if (row == heap_directory::none)
    return;
  bool has_expired = false;
  const auto now = cursor_.now_ms();
  const auto collect = [&] {
    elements_.clear();
    const auto whole = cursor_.value(row, false).view();
    for_each_element(whole, expires, [&](std::int64_t stamp, byte_view, byte_view element) {
      has_expired = has_expired || is_expired(stamp, cursor_.ttl_ms(), now);
      elements_.emplace_back(static_cast<std::uint32_t>(element.data() - whole.data()),
                             static_cast<std::uint32_t>(element.size()));
    });
  };
  collect();
  if (!has_expired)
    return;
  copy_unexpired(cursor_.value(row, false).view(), cursor_.ttl_ms(), now, scratch_);
  if (scratch_.empty()) {
    elements_.clear();
    cursor_.erase();
    return;
  }
  cursor_.directory().blobs().replace(cursor_.value(row, true), scratch_);
  collect();
}

std::size_t heap_list_access::size() {
  load();
  return elements_.size();
}

byte_view heap_list_access::at(std::size_t index) {
  if (loaded_ != cursor_.key_version())
    load();
  HEADRACE_ASSERT(index < elements_.size(), "index is below the list's size");
  const auto [offset, size] = elements_[index];
  return cursor_.value(cursor_.find(false), false).view().substr(offset, size);
}

void heap_list_access::add(byte_view element) {
  const auto row = cursor_.make();
  scratch_.clear();
  byte_writer to(scratch_);
  if (cursor_.ttl_ms() > 0)
    to.put(cursor_.now_ms());
  to.put_bytes(element);
  auto& held = cursor_.value(row, true);
  if (loaded_ == cursor_.key_version()) {
    const auto offset = held.size + scratch_.size() - element.size();
    elements_.emplace_back(static_cast<std::uint32_t>(offset),
                           static_cast<std::uint32_t>(element.size()));
  }
  cursor_.directory().blobs().append(held, scratch_);
  cursor_.touch(row);
}

void heap_list_access::clear() {
  cursor_.erase();
  elements_.clear();
  loaded_ = cursor_.key_version();
}

// ---- maps --------------------------------------------------------------------------------------

bool heap_map_access::is_expired(std::uint32_t entry) const {
  return state::is_expired(map_->stamp_ms(entry), map_->description().ttl_ms, now_ms());
}

std::uint32_t heap_map_access::find(byte_view key) {
  if (found_ != heap_map::none && found_version_ == current_->version &&
      found_erasures_ == map_->erasures() && found_key_ == key)
    return found_;
  return remember(key, map_->find(current_->get(), key));
}

std::uint32_t heap_map_access::remember(byte_view key, std::uint32_t entry) {
  found_ = entry;
  found_version_ = current_->version;
  found_erasures_ = map_->erasures();
  found_key_.assign(key);
  return entry;
}

std::optional<byte_view> heap_map_access::get(byte_view key) {
  const auto entry = find(key);
  if (entry == heap_map::none)
    return std::nullopt;
  if (map_->description().ttl_ms > 0 && is_expired(entry)) {
    map_->erase(current_->get(), entry);
    return std::nullopt;
  }
  return map_->value(entry);
}

void heap_map_access::put(byte_view key, byte_view value) {
  auto entry = find(key);
  if (entry == heap_map::none)
    entry = remember(key, map_->add(current_->get(), key));
  map_->set(entry, value, now_ms());
}

void heap_map_access::remove(byte_view key) {
  const auto entry = find(key);
  if (entry != heap_map::none)
    map_->erase(current_->get(), entry);
}

bool heap_map_access::is_empty() {
  for (auto entry = map_->first(current_->get()); entry != heap_map::none;) {
    if (map_->description().ttl_ms == 0 || !is_expired(entry))
      return false;
    const auto after = map_->next(entry);
    map_->erase(current_->get(), entry);
    entry = after;
  }
  return true;
}

void heap_map_access::for_each(bool (*visit)(void* context, byte_view key, byte_view value),
                               void* context) {
  std::vector<std::pair<byte_view, std::uint32_t>> entries;
  for (auto entry = map_->first(current_->get()); entry != heap_map::none;
       entry = map_->next(entry)) {
    if (map_->description().ttl_ms == 0 || !is_expired(entry))
      entries.emplace_back(map_->entry_key(entry), entry);
  }
  std::sort(entries.begin(), entries.end());
  for (const auto& [key, entry] : entries) {
    if (!visit(context, key, map_->value(entry)))
      return;
  }
}

} // namespace headrace::state
