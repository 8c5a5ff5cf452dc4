#include "libstate/rocksdb/rocksdb_backend.hpp"
#include "libstate/rocksdb/rocksdb_status.hpp"
#include "libstate/rocksdb/row_key.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>

namespace headrace::state {

namespace {

/// Reads a column family as it was when the scan began.
struct key_scan {
  std::shared_ptr<rocksdb_instance> of; ///< an iterator does not outlive its database
  std::unique_ptr<rocksdb::Iterator> from;
  bool is_map = false;
  byte_string prefix; ///< of a map's entries of one key
};

} // namespace

status rocksdb_backend::scan_keys(const graph::state_access& state, scan_cursor& cursor,
                                  std::size_t rows_max, key_batch& out) {
  out.clear();
  if (cursor.held == nullptr) {
    const auto found = std::find_if(states_.begin(), states_.end(), [&](const auto& named) {
      const auto& entry = named.second;
      return entry.value_handle.get() == &state || entry.list_handle.get() == &state ||
             entry.map_handle.get() == &state;
    });
    HEADRACE_ASSERT(found != states_.end(), "the handle is of this backend");
    auto begun = std::make_shared<key_scan>();
    begun->of = instance_;
    begun->from.reset(instance_->db().NewIterator(rocksdb::ReadOptions(), found->second.family));
    begun->from->SeekToFirst();
    begun->is_map = found->second.map_handle != nullptr;
    cursor.held = std::move(begun);
  }
  auto& scan = *static_cast<key_scan*>(cursor.held.get());
  const auto shape = setup_.key.shape();
  while (out.size() < rows_max && scan.from->Valid()) {
    HEADRACE_TRY(const auto parts, row_key::split(to_view(scan.from->key()), shape, scan.is_map));
    const auto key = parts.key(shape);
    out.append(key);
    ++cursor.position;
    if (!scan.is_map) {
      scan.from->Next();
      continue;
    }
    scan.prefix.clear();
    row_key::append_group(scan.prefix, parts.group);
    row_key::append_map_key(scan.prefix, key, shape);
    // There is always something behind: a group is less than 32768.
    scan.from->Seek(to_slice(row_key::end_of_prefix(scan.prefix)));
  }
  HEADRACE_CHECK(to_status(scan.from->status(), "scan"));
  cursor.done = !scan.from->Valid();
  if (cursor.done)
    scan.from.reset();
  return {};
}

} // namespace headrace::state
