#include "libstate/rocksdb/rocksdb_snapshot_jobs.hpp"

#include "libstate/keyed/time_to_live.hpp"
#include "libstate/rocksdb/rocksdb_status.hpp"
#include "libstate/rocksdb/row_key.hpp"
#include "libstate/snapshot/snapshot_writer.hpp"

#include <cstring>
#include <utility>

namespace headrace::state {

// ---- native ------------------------------------------------------------------------------------

native_snapshot_job::native_snapshot_job(plan what, std::shared_ptr<rocksdb_instance> instance,
                                         std::shared_ptr<snapshot_cut> cut,
                                         std::shared_ptr<uploaded_files> uploads)
    : plan_(std::move(what)), instance_(std::move(instance)), cut_(std::move(cut)),
      uploads_(std::move(uploads)) {}

void native_snapshot_job::cancel() {
  is_canceled_.store(true, std::memory_order_relaxed);
  cut_->cancel();
}

result<keyed_state_handle> native_snapshot_job::run(snapshot_target& target) {
  HEADRACE_TRY(const auto live, cut_->await());
  if (is_canceled_.load(std::memory_order_relaxed))
    return error(errc::checkpoint_expired, "snapshot was canceled");
  HEADRACE_TRY(auto* const out, target.output());
  const auto& directory = instance_->directory();
  HEADRACE_TRY(auto uploaded, uploads_->upload(plan_.checkpoint, live, directory, plan_.owner,
                                               target, *plan_.files, is_canceled_));
  plan_.what.checksums = std::move(uploaded.checksums);
  plan_.what.manifest_name = live.manifest_name;
  HEADRACE_TRY(plan_.what.manifest,
               read_local(directory + "/" + live.manifest_name, live.manifest_bytes));
  HEADRACE_TRY(auto segment, write_native(plan_.what, *out));
  return keyed_state_handle{plan_.what.header.groups, std::string(native_snapshot::format),
                            std::move(segment), std::move(uploaded.files)};
}

// ---- canonical ---------------------------------------------------------------------------------

namespace {

/// Goes over the rows of one state by name.
class state_rows {
public:
  state_rows(std::uint32_t state, const state_description& description, key_shape shape,
             std::int64_t now_ms, std::unique_ptr<rocksdb::Iterator> from)
      : description_(&description), shape_(shape), now_ms_(now_ms), from_(std::move(from)) {
    row_.state = state;
  }

  /// Writes the rows of a key group; groups ascend.
  status write_group(std::int32_t group, snapshot_writer& writer) {
    const auto first = row_key::start_of_group(group);
    if (!from_->Valid() || to_view(from_->key()) < byte_view(first))
      from_->Seek(to_slice(first));
    for (; from_->Valid() && from_->key().starts_with(to_slice(first)); from_->Next())
      HEADRACE_CHECK(write_row(writer));
    return to_status(from_->status(), "read a snapshot");
  }

private:
  status write_row(snapshot_writer& writer) {
    const bool is_map = description_->kind == table_kind::map;
    HEADRACE_TRY(const auto parts, row_key::split(to_view(from_->key()), shape_, is_map));
    row_.space = parts.space;
    row_.key_is_null = parts.key_is_null;
    row_.key = parts.stored(shape_);
    row_.entry_key = parts.entry_key;
    row_.value = to_view(from_->value());
    if (description_->ttl_ms > 0) {
      if (row_.value.size() < stamp_bytes)
        return error(errc::corrupt_snapshot, "row of a state has no stamp");
      std::memcpy(&row_.stamp_ms, row_.value.data(), sizeof(row_.stamp_ms));
      row_.value.remove_prefix(stamp_bytes);
      if (is_expired(row_.stamp_ms, description_->ttl_ms, now_ms_))
        return {};
      if (description_->kind == table_kind::list) {
        copy_unexpired(row_.value, description_->ttl_ms, now_ms_, elements_);
        row_.value = elements_;
      }
    }
    return writer.add(row_);
  }

  const state_description* description_;
  key_shape shape_;
  std::int64_t now_ms_;
  std::unique_ptr<rocksdb::Iterator> from_;
  snapshot_row row_;
  byte_string elements_;
};

} // namespace

canonical_snapshot_job::canonical_snapshot_job(plan what,
                                               std::shared_ptr<rocksdb_instance> instance)
    : plan_(std::move(what)), instance_(std::move(instance)), at_(instance_->db().GetSnapshot()) {}

canonical_snapshot_job::~canonical_snapshot_job() { instance_->db().ReleaseSnapshot(at_); }

result<keyed_state_handle> canonical_snapshot_job::run(snapshot_target& target) {
  HEADRACE_TRY(auto* const out, target.output());
  snapshot_writer writer(*out, plan_.header);
  rocksdb::ReadOptions options;
  options.snapshot = at_;
  options.fill_cache = false;
  options.readahead_size = std::size_t{2} << 20U;
  std::vector<state_rows> states;
  for (std::uint32_t i = 0; i < plan_.families.size(); ++i)
    states.emplace_back(i, plan_.header.states[i],
                        keys_of(plan_.key, plan_.header.states[i]).shape(), plan_.now_ms,
                        std::unique_ptr<rocksdb::Iterator>(
                            instance_->db().NewIterator(options, plan_.families[i])));
  const auto groups = plan_.header.groups;
  for (auto group = groups.first; group < groups.end; ++group) {
    if (is_canceled_.load(std::memory_order_relaxed))
      return error(errc::checkpoint_expired, "snapshot was canceled");
    HEADRACE_CHECK(writer.begin_group(group));
    for (auto& one : states)
      HEADRACE_CHECK(one.write_group(group, writer));
  }
  HEADRACE_TRY(auto segment, writer.finish());
  return keyed_state_handle{groups, "canonical", std::move(segment), {}};
}

} // namespace headrace::state
