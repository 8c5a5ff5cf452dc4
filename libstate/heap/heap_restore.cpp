#include "libstate/heap/heap_backend.hpp"
#include "libstate/key/key_hash.hpp"
#include "libstate/snapshot/snapshot_format.hpp"
#include "libstate/snapshot/snapshot_reader.hpp"

#include <cstring>

namespace headrace::state {

/// Puts the rows of one snapshot into the backend's states.
class heap_backend::restorer final : public snapshot_visitor {
public:
  restorer(const key_schema& schema, std::vector<state_entry*> entries)
      : is_fixed_(schema.is_fixed()), entries_(std::move(entries)) {}

  status on_row(const snapshot_row& row) override {
    auto& entry = *entries_[row.state];
    const auto key = key_from(row);
    if (entry.map) {
      entry.map->put(key, row.entry_key, row.value, row.stamp_ms);
      return {};
    }
    if (entry.table.get() != table_ || row.space != space_) {
      table_ = entry.table.get();
      space_ = row.space;
      directory_ = &table_->make_directory(space_);
    }
    auto number = directory_->find(key);
    if (number == heap_directory::none)
      number = directory_->add(key, page_pool::no_snapshot);
    auto* to = directory_->row(number);
    const auto& layout = table_->layout();
    if (table_->description().ttl_ms > 0)
      std::memcpy(to + layout.fixed_at, &row.stamp_ms, sizeof(row.stamp_ms));
    if (layout.has_blob)
      directory_->blobs().replace(layout.value(to), row.value);
    else
      std::memcpy(to + layout.fixed_at, row.value.data(), row.value.size());
    return {};
  }

private:
  key_ref key_from(const snapshot_row& row) const {
    if (!is_fixed_)
      return {hash_of_bytes(row.key), 0, row.key, false};
    if (row.key_is_null)
      return {hash_of_null, 0, {}, true};
    key_ref key;
    std::memcpy(&key.fixed, row.key.data(), sizeof(key.fixed));
    key.hash = hash_of_fixed(key.fixed);
    return key;
  }

  bool is_fixed_;
  std::vector<state_entry*> entries_;
  heap_table* table_ = nullptr;
  heap_directory* directory_ = nullptr;
  state_namespace space_ = 0;
};

status heap_backend::restore(const std::vector<keyed_state_handle>& handles) {
  HEADRACE_ASSERT(states_.empty(), "states are restored before any is opened");
  for (const auto& handle : handles) {
    if (!intersection(handle.groups, setup_.groups).is_empty())
      HEADRACE_CHECK(restore_one(handle));
  }
  return {};
}

status heap_backend::restore_one(const keyed_state_handle& handle) {
  HEADRACE_ASSERT(setup_.files != nullptr, "a backend that restores has files");
  if (handle.format != "canonical")
    return error(errc::incompatible_state, "snapshot is of another backend: " + handle.format +
                                               ", in " + handle.segment.path);
  HEADRACE_TRY(const auto reader, snapshot_reader::open(setup_.restored_files(), handle.segment));
  const auto& header = reader->header();
  HEADRACE_CHECK(check_keys(header, setup_.key, setup_.max_parallelism, handle.segment.path));
  std::vector<state_entry*> entries;
  for (const auto& description : header.states) {
    HEADRACE_TRY(auto* const entry, open(description));
    entries.push_back(entry);
  }
  restorer into(setup_.key, std::move(entries));
  const auto groups = intersection(header.groups, setup_.groups);
  for (auto group = groups.first; group < groups.end; ++group)
    HEADRACE_CHECK(reader->read_group(group, into));
  return {};
}

} // namespace headrace::state
