#include "libstate/heap/heap_table.hpp"

#include "libactors/base/assert.hpp"
#include "libactors/base/ids.hpp"

namespace headrace::state {

heap_table::heap_table(page_pool& pool, key_schema schema, std::int32_t max_parallelism,
                       state_description description, std::size_t extra_fixed_bytes)
    : pool_(&pool), schema_(std::move(schema)), max_parallelism_(max_parallelism),
      description_(std::move(description)),
      layout_(row_layout::make(schema_.shape(), description_.layout.fixed_bytes + extra_fixed_bytes,
                               description_.layout.is_variable())) {}

heap_table::~heap_table() = default;

heap_directory* heap_table::find_directory(state_namespace space) const {
  const auto found = directories_.find(space);
  return found == directories_.end() ? nullptr : found->second.get();
}

heap_directory& heap_table::make_directory(state_namespace space) {
  auto& made = directories_[space];
  if (made == nullptr) {
    made = std::make_unique<heap_directory>(*pool_, layout_);
    if (free_ordinals_.empty()) {
      free_ordinals_.push_back(static_cast<std::uint32_t>(by_ordinal_.size()));
      by_ordinal_.push_back(nullptr);
    }
    made->ordinal = free_ordinals_.back();
    free_ordinals_.pop_back();
    by_ordinal_[made->ordinal] = made.get();
  }
  return *made;
}

heap_directory* heap_table::directory_of(state_namespace space, bool make) {
  auto& entry = cache_[mix64(static_cast<std::uint64_t>(space)) % cache_entries];
  if (entry.directory != nullptr && entry.space == space) [[likely]]
    return entry.directory;
  auto* found = make ? &make_directory(space) : find_directory(space);
  if (found != nullptr)
    entry = {space, found};
  return found;
}

std::optional<byte_view> heap_table::get(const located_rows& at, std::size_t index) {
  if (at.is_absent(index))
    return std::nullopt;
  const auto token = at.tokens[index];
  return layout_.value(directory_at(token).row(static_cast<std::uint32_t>(token))).view();
}

status heap_table::put(located_rows& at, std::size_t index, byte_view value) {
  HEADRACE_ASSERT(!at.is_absent(index), "the row is there");
  const auto token = at.tokens[index];
  auto& directory = directory_at(token);
  auto* row = directory.writable(static_cast<std::uint32_t>(token), pool_->floor());
  directory.blobs().replace(layout_.value(row), value);
  return {};
}

status heap_table::append(located_rows& at, std::size_t index, byte_view more) {
  HEADRACE_ASSERT(!at.is_absent(index), "the row is there");
  const auto token = at.tokens[index];
  auto& directory = directory_at(token);
  auto* row = directory.writable(static_cast<std::uint32_t>(token), pool_->floor());
  directory.blobs().append(layout_.value(row), more);
  return {};
}

status heap_table::write_back(located_rows&) { return {}; }

status heap_table::erase(located_rows& at, std::span<const std::uint32_t> indices) {
  const auto floor = pool_->floor();
  // Rows that occur several times carry the same token: the live bit tells that one is gone.
  for (const auto index : indices) {
    const auto token = at.tokens[index];
    if (token == located_rows::absent)
      continue;
    auto& directory = directory_at(token);
    if (directory.is_live(static_cast<std::uint32_t>(token)))
      directory.erase(static_cast<std::uint32_t>(token), floor);
    at.tokens[index] = located_rows::absent;
    if (index < at.values.size())
      at.values[index] = nullptr;
  }
  return {};
}

status heap_table::scan(state_namespace space, scan_cursor& cursor, std::size_t rows_max,
                        scanned_rows& out) {
  out.keys.clear();
  out.fixed.clear();
  out.variable.clear();
  const auto* directory = find_directory(space);
  if (directory == nullptr) {
    cursor.done = true;
    return {};
  }
  cursor.position = directory->visit(cursor.position, [&](std::uint32_t number, std::byte* row) {
    out.keys.append(directory->key_of(number));
    if (layout_.has_blob)
      out.variable.push_back(layout_.value(row).view());
    else
      out.fixed.push_back(row + layout_.fixed_at);
    return out.size() < rows_max;
  });
  cursor.done = cursor.position >= directory->end();
  return {};
}

status heap_table::drop_namespace(state_namespace space) {
  const auto found = directories_.find(space);
  if (found == directories_.end())
    return {};
  by_ordinal_[found->second->ordinal] = nullptr;
  free_ordinals_.push_back(found->second->ordinal);
  cache_[mix64(static_cast<std::uint64_t>(space)) % cache_entries] = {};
  directories_.erase(found);
  return {};
}

std::vector<state_namespace> heap_table::namespaces() const {
  std::vector<state_namespace> out;
  out.reserve(directories_.size());
  for (const auto& [space, directory] : directories_)
    out.push_back(space);
  return out;
}

std::optional<state_namespace> heap_table::first_namespace() const {
  if (directories_.empty())
    return std::nullopt;
  return directories_.begin()->first;
}

std::uint64_t heap_table::row_count(state_namespace space) const {
  const auto* directory = find_directory(space);
  return directory == nullptr ? 0 : directory->row_count();
}

std::uint64_t heap_table::row_count() const {
  std::uint64_t out = 0;
  for (const auto& [space, directory] : directories_)
    out += directory->row_count();
  return out;
}

scanned_rows heap_table::make_piece() const {
  return scanned_rows(key_batch(schema_, max_parallelism_));
}

table_image heap_table::image() const {
  table_image out;
  out.description = description_;
  out.layout = layout_;
  out.stamp_at = layout_.fixed_at;
  out.directories.reserve(directories_.size());
  for (const auto& [space, directory] : directories_) {
    if (directory->row_count() > 0)
      out.directories.push_back(directory->image(space));
  }
  return out;
}

} // namespace headrace::state