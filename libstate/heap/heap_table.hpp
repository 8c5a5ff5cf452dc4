#pragma once

#include "libstate/heap/heap_directory.hpp"
#include "libstate/keyed/keyed_table.hpp"

#include <array>
#include <map>
#include <memory>
#include <vector>

namespace headrace::state {

/// What a snapshot sees of one table.
struct table_image {
  state_description description;
  row_layout layout;
  std::uint32_t stamp_at = 0; ///< of the TTL stamp in a row, when the description has a TTL
  std::vector<directory_image> directories;
};

/// A table in memory: one directory of rows a namespace. See keyed_table; on the mailbox only.
///
/// `locate` goes over a batch in chunks and three passes, so that the memory of many rows is
/// fetched at once: slots of the index, then rows, then comparison (and insertion); in one
/// directory these passes are those of three chunks. A directory that fits the caches needs two.
class heap_table final : public keyed_table {
public:
  /// `extra_fixed_bytes` are in front of a variable value, for the backend's own use (TTL, links).
  heap_table(page_pool& pool, key_schema schema, std::int32_t max_parallelism,
             state_description description, std::size_t extra_fixed_bytes = 0);
  ~heap_table() override;

  const state_description& description() const override { return description_; }
  /// Says anew what is in the values, which stay as they are.
  void describe_values(const graph::logical_type& type) { description_.value_type = type; }
  status locate(const key_batch& keys, std::span<const std::uint32_t> rows,
                std::span<const state_namespace> namespaces, access mode,
                located_rows& out) override;
  status locate(const key_batch& keys, std::span<const std::uint32_t> rows, state_namespace space,
                access mode, located_rows& out) override;
  std::optional<byte_view> get(const located_rows& at, std::size_t index) override;
  status put(located_rows& at, std::size_t index, byte_view value) override;
  status append(located_rows& at, std::size_t index, byte_view more) override;
  status write_back(located_rows& at) override;
  status erase(located_rows& at, std::span<const std::uint32_t> indices) override;
  status scan(state_namespace space, scan_cursor& cursor, std::size_t rows_max,
              scanned_rows& out) override;
  status drop_namespace(state_namespace space) override;
  std::vector<state_namespace> namespaces() const override;
  std::optional<state_namespace> first_namespace() const override;
  std::uint64_t row_count(state_namespace space) const override;
  std::uint64_t row_count() const override;
  std::uint64_t size_bytes() const override { return pool_->size_bytes(); }
  scanned_rows make_piece() const override;

  // What the backend itself uses.
  const row_layout& layout() const { return layout_; }
  page_pool& pool() const { return *pool_; }
  /// The directory of a namespace, or nullptr.
  heap_directory* find_directory(state_namespace space) const;
  heap_directory& make_directory(state_namespace space);
  const std::map<state_namespace, std::unique_ptr<heap_directory>>& directories() const {
    return directories_;
  }
  table_image image() const;

private:
  static constexpr std::size_t cache_entries = 32;
  struct cached {
    state_namespace space = 0;
    heap_directory* directory = nullptr;
  };

  // --- heap_locate.cpp
  void prepare(std::size_t count, access mode, located_rows& out) const;
  template <bool HasValues, class Keys>
  void locate_near(const Keys& keys, heap_directory& directory, std::span<const std::uint32_t> rows,
                   access mode, located_rows& out);
  template <bool HasValues, class Keys>
  void locate_far(const Keys& keys, heap_directory& directory, std::span<const std::uint32_t> rows,
                  access mode, located_rows& out);
  template <class Keys, class Directories>
  void locate_rows(const Keys& keys, Directories directories, std::span<const std::uint32_t> rows,
                   access mode, located_rows& out);
  template <class Keys, class Directories>
  void locate_keys(const Keys& keys, Directories directories, std::span<const std::uint32_t> rows,
                   access mode, located_rows& out);
  template <class Directories>
  void locate_in(const key_batch& keys, Directories directories,
                 std::span<const std::uint32_t> rows, access mode, located_rows& out);
  void locate_nothing(std::size_t count, access mode, located_rows& out) const;
  static std::byte* locate_slowly(const key_ref& key, heap_directory* from, access mode,
                                  std::int64_t floor, std::uint8_t& fresh, std::uint32_t& number);

  heap_directory* directory_of(state_namespace space, bool make);
  heap_directory& directory_at(std::uint64_t token) const {
    return *by_ordinal_[static_cast<std::size_t>(token >> 32U)];
  }

  page_pool* pool_;
  key_schema schema_;
  std::int32_t max_parallelism_;
  state_description description_;
  row_layout layout_;
  std::map<state_namespace, std::unique_ptr<heap_directory>> directories_;
  std::vector<heap_directory*> by_ordinal_;
  std::vector<std::uint32_t> free_ordinals_;
  std::array<cached, cache_entries> cache_{};
  std::vector<heap_directory*> row_directories_; ///< of the batch being located
};

} // namespace headrace::state
