#include "libstate/heap/canonical_form.hpp"
#include "libstate/heap/heap_backend.hpp"
#include "libstate/heap/heap_native_format.hpp"
#include "libstate/heap/heap_native_restore.hpp"
#include "libstate/key/key_hash.hpp"
#include "libstate/keyed/time_to_live.hpp"
#include "libstate/snapshot/snapshot_format.hpp"
#include "libstate/snapshot/snapshot_reader.hpp"

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headrace::state {

/// Puts the rows of one snapshot into the backend's states.
class heap_backend::restorer final : public snapshot_visitor {
public:
  restorer(const key_schema& schema, std::vector<state_entry*> entries)
      : entries_(std::move(entries)) {
    for (const auto* each : entries_)
      is_fixed_.push_back(keys_of(schema, each->description()).is_fixed());
  }

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
    if (!is_fixed_[row.state])
      return {hash_of_bytes(row.key), 0, row.key, false};
    if (row.key_is_null)
      return {hash_of_null, 0, {}, true};
    key_ref key;
    std::memcpy(&key.fixed, row.key.data(), sizeof(key.fixed));
    key.hash = hash_of_fixed(key.fixed);
    return key;
  }

  std::vector<state_entry*> entries_;
  std::vector<bool> is_fixed_; ///< by state: the keys of its rows
  heap_table* table_ = nullptr;
  heap_directory* directory_ = nullptr;
  state_namespace space_ = 0;
};

status heap_backend::restore(const std::vector<keyed_state_handle>& handles) {
  HEADRACE_ASSERT(states_.empty(), "states are restored before any is opened");
  std::vector<const keyed_state_handle*> own;
  for (const auto& handle : handles) {
    if (!intersection(handle.groups, setup_.groups).is_empty())
      own.push_back(&handle);
  }
  HEADRACE_ASSERT(own.empty() || setup_.files != nullptr, "a backend that restores has files");
  if (own.size() == 1 && own.front()->format == heap_native::format &&
      own.front()->groups == setup_.groups)
    return restore_native(*own.front());
  for (const auto* handle : own)
    HEADRACE_CHECK(restore_canonical(*handle));
  return {};
}

status heap_backend::restore_canonical(const keyed_state_handle& handle) {
  HEADRACE_TRY(const auto reader, read_as_canonical(setup_.restored_files(), handle, setup_.time));
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

status heap_backend::restore_native(const keyed_state_handle& handle) {
  auto& files = setup_.restored_files();
  HEADRACE_TRY(const auto stored, read_heap_native(files, handle));
  HEADRACE_CHECK(
      check_keys(stored.header, setup_.key, setup_.max_parallelism, handle.segment.path));
  std::vector<state_entry*> entries;
  for (const auto& description : stored.header.states) {
    HEADRACE_TRY(auto* const entry, open(description));
    entries.push_back(entry);
  }
  const auto corrupt = [&](const std::string& what) {
    return error(errc::corrupt_snapshot,
                 "corrupt snapshot of the heap: " + what + ", in " + handle.segment.path);
  };
  std::map<std::uint64_t, heap_native_reader::target> directories;
  std::set<const heap_directory*> filled;
  for (const auto& one : stored.directories) {
    auto& entry = *entries[one.state];
    auto& directory =
        entry.map ? entry.map->part(one.part) : entry.table->make_directory(one.space);
    const auto& layout = entry.map ? entry.map->layout_of(one.part) : entry.table->layout();
    const bool is_new_id =
        directories.emplace(one.id, heap_native_reader::target{&directory, &layout}).second;
    if (!is_new_id || !filled.insert(&directory).second)
      return corrupt("directories are not apart");
    directory.begin_restore(one.id);
  }
  heap_native_reader reader(directories);
  std::vector<heap_chain::stored_element> chain;
  std::vector<change_set> changes;
  for (std::size_t i = 0; i < stored.elements.size(); ++i) {
    const bool is_inline = handle.shared.empty();
    const auto segment =
        is_inline ? inline_element(stored, handle.segment) : handle.shared[i].segment;
    HEADRACE_TRY(auto changed, reader.apply(files, segment, stored.elements[i].checksum));
    if (is_inline)
      continue;
    chain.push_back({{handle.shared[i], stored.elements[i].checksum}, stored.elements[i].rows});
    changes.push_back(i == 0 ? change_set() : std::move(changed));
  }
  for (const auto& one : stored.directories) {
    if (auto ended = directories.at(one.id).directory->end_restore(one.null_row); !ended)
      return corrupt(ended.error().message);
  }
  chain_->adopt(std::move(chain), std::move(changes));
  return {};
}

} // namespace headrace::state
