#include "libstate/heap/canonical_form.hpp"
#include "libstate/key/key_hash.hpp"
#include "libstate/rocksdb/rocksdb_backend.hpp"
#include "libstate/rocksdb/rocksdb_status.hpp"
#include "libstate/rocksdb/row_key.hpp"
#include "libstate/rocksdb/sorted_import.hpp"
#include "libstate/snapshot/snapshot_reader.hpp"
#include "libactors/base/assert.hpp"

#include <rocksdb/convenience.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace headrace::state {

namespace {

constexpr std::size_t batch_bytes = std::size_t{1} << 20U;

/// How many of its key groups a backend finds in a handle.
std::int32_t overlap(const keyed_state_handle& handle, key_group_range groups) {
  return intersection(handle.groups, groups).size();
}

/// The number behind the last `#` of a column family's name.
result<std::uint32_t> generation_of(const std::string& family, const std::string& path) {
  const auto at = family.rfind('#');
  std::uint32_t out = 0;
  if (at != std::string::npos) {
    const auto* end = family.data() + family.size();
    const auto [stop, failed] = std::from_chars(family.data() + at + 1, end, out);
    if (failed == std::errc() && stop == end)
      return out;
  }
  return error(errc::corrupt_snapshot, "corrupt snapshot of RocksDB: impossible column family `" +
                                           family + "`, in " + path);
}

result<native_snapshot> fetch_into(const keyed_backend_setup& setup,
                                   const keyed_state_handle& handle, const std::string& directory) {
  HEADRACE_TRY(auto what, read_native(setup.restored_files(), handle));
  HEADRACE_CHECK(make_local_directories(directory));
  for (std::size_t i = 0; i < handle.shared.size(); ++i) {
    const auto& from = handle.shared[i];
    HEADRACE_CHECK(setup.local_first != nullptr
                       ? take_over(*setup.local_first, from, what.checksums[i], directory)
                       : download(*setup.files, from, what.checksums[i], directory));
  }
  HEADRACE_CHECK(write_local(directory + "/" + what.manifest_name, what.manifest));
  HEADRACE_CHECK(write_local(directory + "/CURRENT", what.manifest_name + "\n"));
  return what;
}

/// Puts the files of a native snapshot into a directory, as a database that can be opened.
result<native_snapshot> fetch(const keyed_backend_setup& setup, const keyed_state_handle& handle,
                              const std::string& directory) {
  auto fetched = fetch_into(setup, handle, directory);
  if (!fetched)
    remove_local_directory(directory);
  return fetched;
}

} // namespace

status rocksdb_backend::restore(const std::vector<keyed_state_handle>& handles) {
  HEADRACE_ASSERT(states_.empty() && instance_ == nullptr,
                  "states are restored before any is opened");
  std::vector<const keyed_state_handle*> native;
  std::vector<const keyed_state_handle*> canonical;
  for (const auto& handle : handles) {
    if (overlap(handle, setup_.groups) <= 0)
      continue;
    HEADRACE_ASSERT(setup_.files != nullptr, "a backend that restores has files");
    if (handle.format == native_snapshot::format)
      native.push_back(&handle);
    else
      canonical.push_back(&handle);
  }
  // The one with the most goes on as it is; the others' rows come to it.
  const auto base =
      std::max_element(native.begin(), native.end(), [&](const auto* left, const auto* right) {
        return overlap(*left, setup_.groups) < overlap(*right, setup_.groups);
      });
  if (base != native.end()) {
    HEADRACE_CHECK(restore_base(**base));
    native.erase(base);
  }
  HEADRACE_CHECK(ensure_open());
  for (std::size_t i = 0; i < native.size(); ++i)
    HEADRACE_CHECK(import_native(*native[i], i));
  for (const auto* handle : canonical)
    HEADRACE_CHECK(restore_canonical(*handle));
  return handles.empty() ? status() : instance_->flush();
}

status rocksdb_backend::restore_base(const keyed_state_handle& handle) {
  HEADRACE_TRY(const auto what, fetch(setup_, handle, setup_.local_directory));
  HEADRACE_CHECK(check_keys(what.header, setup_.key, setup_.max_parallelism, handle.segment.path));
  std::vector<rocksdb_instance::family> families;
  for (std::size_t i = 0; i < what.states.size(); ++i) {
    const auto& description = what.header.states[i];
    HEADRACE_TRY(const auto generation, generation_of(what.states[i].family, handle.segment.path));
    auto& entry = states_[description.name];
    entry = describe(description, generation);
    families.push_back(family_of(entry));
  }
  HEADRACE_TRY(instance_, rocksdb_instance::open(memory_, setup_.local_directory, families));
  uploads_->adopt(handle.shared, what.checksums);
  for (std::size_t i = 0; i < what.states.size(); ++i) {
    auto& entry = states_.at(what.header.states[i].name);
    entry.family = instance_->find(family_of(entry).name);
    make_table(entry);
    byte_reader counts(what.states[i].counts);
    if (entry.table)
      HEADRACE_CHECK(entry.table->counts().add_encoded(counts, setup_.groups));
  }
  return intersection(handle.groups, setup_.groups) == handle.groups ? status()
                                                                     : delete_other_groups();
}

/// Deletes the rows of key groups that are others' now: whole files first, then what is left.
status rocksdb_backend::delete_other_groups() {
  const std::pair<byte_string, byte_string> outside[] = {
      {row_key::start_of_group(0), row_key::start_of_group(setup_.groups.first)},
      {row_key::start_of_group(setup_.groups.end),
       row_key::start_of_group(graph::max_parallelism_most)}};
  rocksdb::WriteBatch batch;
  for (const auto& [name, entry] : states_) {
    for (const auto& [first, end] : outside) {
      if (first >= end)
        continue;
      const auto from = to_slice(first);
      const auto to = to_slice(end);
      HEADRACE_CHECK(to_status(rocksdb::DeleteFilesInRange(&instance_->db(), entry.family, &from,
                                                           &to, /*include_end=*/false),
                               "delete files of other key groups"));
      HEADRACE_CHECK(to_status(batch.DeleteRange(entry.family, from, to), "write"));
    }
  }
  return instance_->write(batch);
}

/// Brings the rows of another database in, by files that are written in its order.
class rocksdb_backend::importer {
public:
  importer(rocksdb_backend& into, rocksdb_instance& from, key_group_range groups)
      : into_(&into), from_(&from), groups_(groups) {}

  status add(const state_entry& source, const state_entry& target) {
    const auto first = row_key::start_of_group(groups_.first);
    const auto end = row_key::start_of_group(groups_.end);
    const auto upper = to_slice(end);
    rocksdb::ReadOptions reading;
    reading.iterate_upper_bound = &upper;
    reading.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> row(from_->db().NewIterator(reading, source.family));
    sorted_import rows(*into_->instance_, target.family);
    for (row->Seek(to_slice(first)); row->Valid(); row->Next())
      HEADRACE_CHECK(rows.add(to_view(row->key()), to_view(row->value())));
    HEADRACE_CHECK(to_status(row->status(), "read a snapshot"));
    return rows.finish();
  }

private:
  rocksdb_backend* into_;
  rocksdb_instance* from_;
  key_group_range groups_;
};

status rocksdb_backend::import_native(const keyed_state_handle& handle, std::size_t number) {
  // Beside the own directory, as RocksDB takes what lies in it for its own.
  const auto directory = setup_.local_directory + ".import-" + std::to_string(number);
  HEADRACE_TRY(const auto what, fetch(setup_, handle, directory));
  HEADRACE_CHECK(check_keys(what.header, setup_.key, setup_.max_parallelism, handle.segment.path));
  std::vector<rocksdb_instance::family> families;
  std::vector<state_entry> sources;
  for (std::size_t i = 0; i < what.states.size(); ++i) {
    HEADRACE_TRY(const auto generation, generation_of(what.states[i].family, handle.segment.path));
    sources.push_back(describe(what.header.states[i], generation));
    families.push_back(family_of(sources.back()));
  }
  HEADRACE_TRY(const auto from, rocksdb_instance::open(memory_, directory, families));
  const auto groups = intersection(handle.groups, setup_.groups);
  importer rows(*this, *from, groups);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    sources[i].family = from->find(families[i].name);
    HEADRACE_TRY(auto* const target, open(sources[i].description));
    HEADRACE_CHECK(rows.add(sources[i], *target));
    byte_reader counts(what.states[i].counts);
    if (target->table)
      HEADRACE_CHECK(target->table->counts().add_encoded(counts, groups));
  }
  return {};
}

/// Puts the rows of one canonical snapshot into the backend's states.
class rocksdb_backend::canonical_restorer final : public snapshot_visitor {
public:
  canonical_restorer(rocksdb_backend& into, std::vector<state_entry*> entries)
      : into_(&into), entries_(std::move(entries)) {
    for (const auto* each : entries_)
      shapes_.push_back(keys_of(into.setup_.key, each->description).shape());
  }

  status read_group(snapshot_reader& from, std::int32_t group) {
    group_ = static_cast<std::uint16_t>(group);
    return from.read_group(group, *this);
  }

  status on_row(const snapshot_row& row) override {
    auto& entry = *entries_[row.state];
    const auto shape = shapes_[row.state];
    key_ref key;
    key.is_null = row.key_is_null;
    if (shape == key_shape::bytes)
      key.bytes = row.key;
    else if (!row.key_is_null)
      std::memcpy(&key.fixed, row.key.data(), sizeof(key.fixed));
    name_.clear();
    row_key::append_group(name_, group_);
    if (entry.description.kind == table_kind::map) {
      row_key::append_map_key(name_, key, shape);
      name_.append(row.entry_key);
    } else {
      row_key::append_space(name_, row.space);
      row_key::append_key(name_, key, shape);
    }
    value_.clear();
    if (entry.description.ttl_ms > 0)
      byte_writer(value_).put(row.stamp_ms);
    value_.append(row.value);
    HEADRACE_CHECK(to_status(batch_.Put(entry.family, name_, value_), "write"));
    if (entry.table)
      entry.table->counts().add(row.space, group_, 1);
    return batch_.GetDataSize() < batch_bytes ? status() : finish();
  }

  status finish() {
    HEADRACE_CHECK(into_->instance_->write(batch_));
    batch_.Clear();
    return {};
  }

private:
  rocksdb_backend* into_;
  std::vector<state_entry*> entries_;
  std::vector<key_shape> shapes_; ///< by state: of the keys of its rows
  std::uint16_t group_ = 0;
  rocksdb::WriteBatch batch_;
  byte_string name_;
  byte_string value_;
};

status rocksdb_backend::restore_canonical(const keyed_state_handle& handle) {
  HEADRACE_TRY(const auto reader, read_as_canonical(setup_.restored_files(), handle, setup_.time));
  const auto& header = reader->header();
  HEADRACE_CHECK(check_keys(header, setup_.key, setup_.max_parallelism, handle.segment.path));
  std::vector<state_entry*> entries;
  for (const auto& description : header.states) {
    HEADRACE_TRY(auto* const entry, open(description));
    entries.push_back(entry);
  }
  canonical_restorer into(*this, std::move(entries));
  const auto groups = intersection(header.groups, setup_.groups);
  for (auto group = groups.first; group < groups.end; ++group)
    HEADRACE_CHECK(into.read_group(*reader, group));
  return into.finish();
}

} // namespace headrace::state
