#include "libstate/heap/heap_table.hpp"

#include "libactors/base/assert.hpp"
#include "libactors/base/ids.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::state {

namespace {

constexpr std::size_t chunk_rows = 32;

std::uint32_t index_hash(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32U); }

/// Keys of shape fixed, as `locate` reads them.
struct fixed_keys {
  const std::uint64_t* hashes;
  const std::uint64_t* values;
  const std::uint8_t* nulls;

  bool is_null(std::uint32_t row) const { return nulls != nullptr && nulls[row] != 0; }
  bool is_equal(std::uint32_t row, const std::byte* stored) const {
    return row_layout::fixed_key(stored) == values[row];
  }
  key_ref at(std::uint32_t row) const { return {hashes[row], values[row], {}, is_null(row)}; }
};

/// Keys of shape bytes.
struct bytes_keys {
  const std::uint64_t* hashes;
  const byte_view* values;
  static constexpr const std::uint8_t* nulls = nullptr; ///< an encoded key holds its own

  static bool is_null(std::uint32_t) { return false; }
  bool is_equal(std::uint32_t row, const std::byte* stored) const {
    return row_layout::bytes_key(stored).view() == values[row];
  }
  key_ref at(std::uint32_t row) const { return {hashes[row], 0, values[row], false}; }
};

/// All rows in one directory, which is not null.
class one_directory {
public:
  explicit one_directory(heap_directory* directory)
      : directory_(directory), view_(directory->look()),
        token_(std::uint64_t{directory->ordinal} << 32U) {}
  heap_directory* operator[](std::size_t) const { return directory_; }
  const heap_directory::view& look(std::size_t) const { return view_; }
  void mark(std::size_t, std::uint32_t row) const { directory_->mark(row); }
  std::uint64_t token(std::size_t, std::uint32_t row) const { return token_ | row; }
  void refresh() { view_ = directory_->look(); }

private:
  heap_directory* directory_;
  heap_directory::view view_;
  std::uint64_t token_;
};

/// A directory a row; null where the namespace is not there.
class many_directories {
public:
  explicit many_directories(heap_directory* const* directories) : directories_(directories) {}
  heap_directory* operator[](std::size_t index) const { return directories_[index]; }
  heap_directory::view look(std::size_t index) const { return directories_[index]->look(); }
  void mark(std::size_t index, std::uint32_t row) const { directories_[index]->mark(row); }
  std::uint64_t token(std::size_t index, std::uint32_t row) const {
    return std::uint64_t{directories_[index]->ordinal} << 32U | row;
  }
  void refresh() {}

private:
  heap_directory* const* directories_;
};

} // namespace

heap_table::heap_table(page_pool& pool, key_schema schema, key_shape shape,
                       std::int32_t max_parallelism, state_description description,
                       std::size_t extra_fixed_bytes)
    : pool_(&pool), schema_(std::move(schema)), max_parallelism_(max_parallelism),
      description_(std::move(description)),
      layout_(row_layout::make(shape, description_.layout.fixed_bytes + extra_fixed_bytes,
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

void heap_table::prepare(std::size_t count, access mode, located_rows& out) const {
  out.tokens.resize(count);
  out.values.resize(description_.layout.is_variable() ? 0 : count);
  out.fresh.resize(count);
  if (mode == access::insert && count > 0)
    std::memset(out.fresh.data(), 0, count);
}

template <class Keys, class Directories>
void heap_table::locate_rows(const Keys& keys, Directories directories,
                             std::span<const std::uint32_t> rows, access mode, located_rows& out) {
  const auto floor = mode == access::read ? page_pool::no_snapshot : pool_->floor();
  const bool copies = floor != page_pool::no_snapshot && !description_.layout.is_variable();
  // Values of a fixed size are written at their addresses.
  const bool marks = mode != access::read && !description_.layout.is_variable();
  const auto fixed_at = layout_.fixed_at;
  const std::uint64_t* homes[chunk_rows];
  std::uint32_t numbers[chunk_rows];
  std::byte* found[chunk_rows];
  for (std::size_t base = 0; base < rows.size(); base += chunk_rows) {
    const auto count = std::min(chunk_rows, rows.size() - base);
    const auto* chunk = rows.data() + base;
    for (std::size_t i = 0; i < count; ++i) {
      homes[i] = directories[base + i] == nullptr
                     ? nullptr
                     : directories.look(base + i).index.home(index_hash(keys.hashes[chunk[i]]));
      __builtin_prefetch(homes[i], 1);
    }
    for (std::size_t i = 0; i < count; ++i) {
      found[i] = nullptr;
      if (homes[i] == nullptr)
        continue;
      numbers[i] = slot_index::view::guess(homes[i], index_hash(keys.hashes[chunk[i]]));
      if (numbers[i] != heap_directory::none) {
        found[i] = directories.look(base + i).row(numbers[i]);
        __builtin_prefetch(found[i], 1);
      }
    }
    // No row moves while this loop runs, unless a snapshot makes it copy pages.
    auto* tokens = out.tokens.data() + base;
    auto** values = out.values.data() + base;
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = chunk[i];
      if (found[i] == nullptr || !keys.is_equal(row, found[i]) || keys.is_null(row) || copies)
          [[unlikely]] {
        found[i] = locate_slowly(keys.at(row), directories[base + i], mode, floor,
                                 out.fresh[base + i], numbers[i]);
        directories.refresh();
      }
      if (marks && found[i] != nullptr)
        directories.mark(base + i, numbers[i]);
      tokens[i] =
          found[i] == nullptr ? located_rows::absent : directories.token(base + i, numbers[i]);
      if (!out.values.empty())
        values[i] = found[i] == nullptr ? nullptr : found[i] + fixed_at;
    }
  }
}

/// In one pass, for a near directory, keys without NULLs, and no page to copy.
template <bool HasValues, class Keys>
void heap_table::locate_near(const Keys& keys, heap_directory& directory,
                             std::span<const std::uint32_t> rows, access mode, located_rows& out) {
  if (HasValues && mode != access::read)
    directory.mark_all(); // few bytes in all: a mark a row would cost more
  for (std::size_t at = 0; at < rows.size(); ++at) {
    at = locate_guessed<HasValues>(keys, directory, rows, at, out);
    if (at == rows.size())
      return;
    std::uint32_t number = heap_directory::none;
    auto* found = locate_slowly(keys.at(rows[at]), &directory, mode, page_pool::no_snapshot,
                                out.fresh[at], number);
    out.tokens[at] =
        found == nullptr ? located_rows::absent : std::uint64_t{directory.ordinal} << 32U | number;
    if constexpr (HasValues)
      out.values[at] = found == nullptr ? nullptr : found + layout_.fixed_at;
  }
}

/// Locates rows from `at` on until the guess fails. @returns the row where it did, or the end
template <bool HasValues, class Keys>
std::size_t heap_table::locate_guessed(const Keys keys, const heap_directory& directory,
                                       std::span<const std::uint32_t> rows, std::size_t at,
                                       located_rows& out) const {
  const auto view = directory.look();
  const auto only = view.index.of(0); // the one segment
  const auto homes = slot_index::home_of(~std::uint32_t{0}, only.mask);
  const auto fixed_at = layout_.fixed_at;
  const auto token = std::uint64_t{directory.ordinal} << 32U;
  auto* tokens = out.tokens.data();
  auto** values = out.values.data();
  const auto end = rows.size();
  // Nothing is fetched ahead: rows do not wait for each other, and what is near comes in time.
  for (; at < end; ++at) {
    const auto row = rows[at];
    const auto hash = index_hash(keys.hashes[row]);
    const auto number = slot_index::view::guess(only.slots + (hash & homes), hash);
    if (number == heap_directory::none) [[unlikely]]
      return at;
    auto* found = view.row(number);
    if (!keys.is_equal(row, found)) [[unlikely]]
      return at;
    tokens[at] = token | number;
    if constexpr (HasValues)
      values[at] = found + fixed_at;
  }
  return at;
}

/// The way for rows that the guess did not find, and for those that must be copied.
std::byte* heap_table::locate_slowly(const key_ref& key, heap_directory* from, access mode,
                                     std::int64_t floor, std::uint8_t& fresh,
                                     std::uint32_t& number) {
  number = from == nullptr ? heap_directory::none : from->find(key);
  if (number == heap_directory::none) {
    if (mode != access::insert)
      return nullptr;
    fresh = 1;
    number = from->add(key, floor);
  }
  return mode == access::read ? from->row(number) : from->writable(number, floor);
}

template <class Keys, class Directories>
void heap_table::locate_keys(const Keys& keys, Directories directories,
                             std::span<const std::uint32_t> rows, access mode, located_rows& out) {
  if constexpr (std::is_same_v<Directories, one_directory>) {
    const bool copies = mode != access::read && pool_->floor() != page_pool::no_snapshot;
    if (directories[0]->is_near() && !copies && keys.nulls == nullptr) {
      if (out.values.empty())
        locate_near<false>(keys, *directories[0], rows, mode, out);
      else
        locate_near<true>(keys, *directories[0], rows, mode, out);
      return;
    }
  }
  locate_rows(keys, directories, rows, mode, out);
}

template <class Directories>
void heap_table::locate_in(const key_batch& keys, Directories directories,
                           std::span<const std::uint32_t> rows, access mode, located_rows& out) {
  prepare(rows.size(), mode, out);
  if (layout_.shape == key_shape::fixed)
    locate_keys(fixed_keys{keys.hashes(), keys.fixed(), keys.nulls()}, directories, rows, mode,
                out);
  else
    locate_keys(bytes_keys{keys.hashes(), keys.bytes()}, directories, rows, mode, out);
}

void heap_table::locate_nothing(std::size_t count, access mode, located_rows& out) const {
  prepare(count, mode, out);
  std::fill(out.tokens.begin(), out.tokens.end(), located_rows::absent);
  std::fill(out.values.begin(), out.values.end(), nullptr);
}

status heap_table::locate(const key_batch& keys, std::span<const std::uint32_t> rows,
                          state_namespace space, access mode, located_rows& out) {
  HEADRACE_ASSERT(keys.schema().shape() == layout_.shape, "keys are of the table's shape");
  auto* directory = directory_of(space, mode == access::insert);
  if (directory == nullptr) {
    locate_nothing(rows.size(), mode, out);
    return {};
  }
  if (mode == access::insert)
    directory->reserve(rows.size());
  locate_in(keys, one_directory(directory), rows, mode, out);
  return {};
}

status heap_table::locate(const key_batch& keys, std::span<const std::uint32_t> rows,
                          std::span<const state_namespace> namespaces, access mode,
                          located_rows& out) {
  HEADRACE_ASSERT(namespaces.size() == rows.size(), "a namespace a row");
  HEADRACE_ASSERT(keys.schema().shape() == layout_.shape, "keys are of the table's shape");
  row_directories_.resize(rows.size());
  const bool make = mode == access::insert;
  bool is_one = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto* directory = i > 0 && namespaces[i] == namespaces[i - 1]
                          ? row_directories_[i - 1]
                          : directory_of(namespaces[i], make);
    row_directories_[i] = directory;
    is_one = is_one && directory == row_directories_[0];
    if (make)
      ++directory->batch_rows;
  }
  if (make) {
    // Counted first, so that no row moves once its address was given.
    for (auto* directory : row_directories_) {
      if (directory->batch_rows > 0)
        directory->reserve(directory->batch_rows);
      directory->batch_rows = 0;
    }
  }
  if (rows.empty() || (is_one && row_directories_[0] == nullptr))
    locate_nothing(rows.size(), mode, out);
  else if (is_one)
    locate_in(keys, one_directory(row_directories_[0]), rows, mode, out);
  else
    locate_in(keys, many_directories(row_directories_.data()), rows, mode, out);
  return {};
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
