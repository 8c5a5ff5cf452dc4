#include "libstate/heap/heap_table.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

// How a table finds the rows of a batch.

namespace headrace::state {

namespace {

constexpr std::size_t chunk_rows = 32;
constexpr std::size_t near_chunk_rows = 128;
constexpr std::uint32_t usual_row_bits = 9; ///< of rows of 16 bytes: a key and a value

std::uint32_t index_hash(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32U); }

/// Keys of shape fixed, as `locate` reads them.
struct fixed_keys {
  const std::uint64_t* values;
  const std::uint8_t* nulls;

  /// That of a NULL means nothing.
  std::uint32_t hash(std::uint32_t row) const { return index_hash(hash_of_fixed(values[row])); }
  bool is_null(std::uint32_t row) const { return nulls != nullptr && nulls[row] != 0; }
  /// Lets what `is_equal` reads beside the row come to the caches.
  static void fetch(const std::byte*) {}
  bool is_equal(std::uint32_t row, const std::byte* stored) const {
    return row_layout::fixed_key(stored) == values[row];
  }
  key_ref at(std::uint32_t row) const {
    return {
        is_null(row) ? hash_of_null : hash_of_fixed(values[row]), values[row], {}, is_null(row)};
  }
};

/// Keys of shape bytes.
struct bytes_keys {
  const std::uint64_t* hashes;
  const byte_view* values;
  static constexpr const std::uint8_t* nulls = nullptr; ///< an encoded key holds its own

  std::uint32_t hash(std::uint32_t row) const { return index_hash(hashes[row]); }
  static bool is_null(std::uint32_t) { return false; }
  static void fetch(const std::byte* stored) {
    const auto& key = row_layout::bytes_key(stored);
    if (!key.is_inline())
      __builtin_prefetch(key.memory);
  }
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
  std::uint32_t hashes[chunk_rows];
  std::uint32_t numbers[chunk_rows];
  std::byte* found[chunk_rows];
  for (std::size_t base = 0; base < rows.size(); base += chunk_rows) {
    const auto count = std::min(chunk_rows, rows.size() - base);
    const auto* chunk = rows.data() + base;
    for (std::size_t i = 0; i < count; ++i) {
      hashes[i] = keys.hash(chunk[i]);
      homes[i] = directories[base + i] == nullptr
                     ? nullptr
                     : directories.look(base + i).index.home(hashes[i]);
      __builtin_prefetch(homes[i], 1);
    }
    for (std::size_t i = 0; i < count; ++i) {
      found[i] = nullptr;
      if (homes[i] == nullptr)
        continue;
      numbers[i] = slot_index::view::guess(homes[i], hashes[i]);
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

namespace {

/// Guesses row numbers in an index of one segment.
template <class Keys>
void guess_near(const Keys keys, const slot_index::entry only, const std::uint32_t* rows,
                std::size_t count, std::uint32_t* numbers) {
  const auto homes = slot_index::home_of(~std::uint32_t{0}, only.mask);
  for (std::size_t i = 0; i < count; ++i) {
    const auto hash = keys.hash(rows[i]);
    numbers[i] = slot_index::view::guess(only.slots + (hash & homes), hash);
  }
}

/// Where what is found goes: tokens and values of a chunk of rows.
struct chunk_output {
  std::uint64_t token; ///< of the directory
  std::uint32_t fixed_at;
  std::uint64_t* tokens;
  std::byte** values; ///< null: the layout is variable

  void put(std::size_t at, std::byte* found, std::uint32_t number) const {
    tokens[at] = found == nullptr ? located_rows::absent : token | number;
    if (values != nullptr)
      values[at] = found == nullptr ? nullptr : found + fixed_at;
  }
};

/// Looks at the rows that were guessed, from `at` on, until one is another's.
/// @returns it, or `count`
template <bool HasValues, std::uint32_t RowBits, class Keys>
std::size_t confirm_near(const Keys keys, const heap_directory::view view,
                         const std::uint32_t* rows, const std::uint32_t* numbers, std::size_t at,
                         std::size_t count, const chunk_output out) {
  const auto row_bits = RowBits == 0 ? view.row_bits : RowBits;
  for (; at < count; ++at) {
    const auto number = numbers[at];
    if (number == heap_directory::none) [[unlikely]]
      return at;
    auto* found = view.pages[number >> row_bits] + view.rows_at +
                  static_cast<std::size_t>(number & ((1U << row_bits) - 1U)) * view.stride;
    if (!keys.is_equal(rows[at], found)) [[unlikely]]
      return at;
    out.tokens[at] = out.token | number;
    if constexpr (HasValues)
      out.values[at] = found + out.fixed_at;
  }
  return at;
}

} // namespace

/// For a near directory, keys without NULLs, and no page to copy. Nothing is fetched ahead: rows do
/// not wait for each other, and what is near comes in time. Two short loops, so that each has what
/// it needs in registers.
template <bool HasValues, class Keys>
void heap_table::locate_near(const Keys& keys, heap_directory& directory,
                             std::span<const std::uint32_t> rows, access mode, located_rows& out) {
  if (HasValues && mode != access::read)
    directory.mark_all(); // few bytes in all: a mark a row would cost more
  std::uint32_t numbers[near_chunk_rows];
  chunk_output to{std::uint64_t{directory.ordinal} << 32U, layout_.fixed_at, nullptr, nullptr};
  for (std::size_t base = 0; base < rows.size(); base += near_chunk_rows) {
    const auto count = std::min(near_chunk_rows, rows.size() - base);
    const auto* chunk = rows.data() + base;
    to.tokens = out.tokens.data() + base;
    if constexpr (HasValues)
      to.values = out.values.data() + base;
    guess_near(keys, directory.look().index.of(0), chunk, count, numbers);
    for (std::size_t at = 0; at < count; ++at) {
      // Of the usual page a shift by a constant.
      at = layout_.row_bits == usual_row_bits
               ? confirm_near<HasValues, usual_row_bits>(keys, directory.look(), chunk, numbers, at,
                                                         count, to)
               : confirm_near<HasValues, 0>(keys, directory.look(), chunk, numbers, at, count, to);
      if (at == count)
        break;
      auto& number = numbers[at];
      auto* found = locate_slowly(keys.at(chunk[at]), &directory, mode, page_pool::no_snapshot,
                                  out.fresh[base + at], number);
      to.put(at, found, number);
    }
  }
}

namespace {

/// Some rows on their way through `locate_far`.
struct far_chunk {
  const std::uint32_t* rows = nullptr;
  std::size_t count = 0;
  std::uint32_t hashes[chunk_rows];
  const std::uint64_t* homes[chunk_rows];
  std::uint32_t numbers[chunk_rows];
  std::byte* found[chunk_rows]; ///< null where nothing was guessed

  template <class Keys>
  void fetch_slots(const Keys keys, const slot_index::view index) {
    for (std::size_t i = 0; i < count; ++i) {
      hashes[i] = keys.hash(rows[i]);
      homes[i] = index.home(hashes[i]);
      __builtin_prefetch(homes[i], 1);
    }
  }
  void fetch_rows(const heap_directory::view view) {
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] = slot_index::view::guess(homes[i], hashes[i]);
      found[i] = numbers[i] == heap_directory::none ? nullptr : view.row(numbers[i]);
      __builtin_prefetch(found[i], 1);
    }
  }
  /// As confirm_near.
  template <bool HasValues, class Keys>
  std::size_t confirm(const Keys keys, std::size_t at, const chunk_output out) const {
    for (; at < count; ++at) {
      if (found[at] == nullptr || !keys.is_equal(rows[at], found[at])) [[unlikely]]
        return at;
      out.tokens[at] = out.token | numbers[at];
      if constexpr (HasValues)
        out.values[at] = found[at] + out.fixed_at;
    }
    return at;
  }
};

} // namespace

/// For any directory, keys without NULLs, and no page to copy. While the rows of one chunk are
/// compared, those of the next and the slots of the one after it are on their way to the caches.
template <bool HasValues, class Keys>
void heap_table::locate_far(const Keys& keys, heap_directory& directory,
                            std::span<const std::uint32_t> rows, access mode, located_rows& out) {
  const bool marks = HasValues && mode != access::read;
  const auto chunk_count = (rows.size() + chunk_rows - 1) / chunk_rows;
  chunk_output to{std::uint64_t{directory.ordinal} << 32U, layout_.fixed_at, nullptr, nullptr};
  far_chunk ring[3];
  for (std::size_t next = 0; next < chunk_count + 2; ++next) {
    auto& fetched = ring[(next + 2) % 3]; // the one before next
    if (next >= 2) {
      auto& ready = ring[(next + 1) % 3]; // the one before that
      const auto base = (next - 2) * chunk_rows;
      to.tokens = out.tokens.data() + base;
      if constexpr (HasValues)
        to.values = out.values.data() + base;
      for (std::size_t i = 0; i < ready.count; ++i)
        if (ready.found[i] != nullptr)
          Keys::fetch(ready.found[i]);
      bool has_added = false;
      for (std::size_t at = 0; at < ready.count; ++at) {
        at = ready.template confirm<HasValues>(keys, at, to);
        if (at == ready.count)
          break;
        ready.found[at] =
            locate_slowly(keys.at(ready.rows[at]), &directory, mode, page_pool::no_snapshot,
                          out.fresh[base + at], ready.numbers[at]);
        to.put(at, ready.found[at], ready.numbers[at]);
        has_added = true;
      }
      for (std::size_t i = 0; marks && i < ready.count; ++i) {
        if (ready.found[i] != nullptr)
          directory.mark(ready.numbers[i]);
      }
      if (has_added && next <= chunk_count) // slots may be elsewhere now
        fetched.fetch_slots(keys, directory.look().index);
    }
    if (next >= 1 && next <= chunk_count)
      fetched.fetch_rows(directory.look());
    if (next < chunk_count) {
      auto& begun = ring[next % 3];
      begun.rows = rows.data() + next * chunk_rows;
      begun.count = std::min(chunk_rows, rows.size() - next * chunk_rows);
      begun.fetch_slots(keys, directory.look().index);
    }
  }
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
    const bool has_values = !out.values.empty();
    const bool copies = mode != access::read && pool_->floor() != page_pool::no_snapshot;
    if (!copies && keys.nulls == nullptr) {
      auto& directory = *directories[0];
      if (directory.is_near())
        has_values ? locate_near<true>(keys, directory, rows, mode, out)
                   : locate_near<false>(keys, directory, rows, mode, out);
      else
        has_values ? locate_far<true>(keys, directory, rows, mode, out)
                   : locate_far<false>(keys, directory, rows, mode, out);
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
    locate_keys(fixed_keys{keys.fixed(), keys.nulls()}, directories, rows, mode, out);
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

} // namespace headrace::state
