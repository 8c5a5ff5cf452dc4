#include "libstate/rocksdb/rocksdb_backend.hpp"

#include "libstate/keyed/user_state.hpp"
#include "libstate/rocksdb/rocksdb_figures.hpp"
#include "libstate/rocksdb/rocksdb_snapshot_jobs.hpp"
#include "libstate/rocksdb/row_rewriting.hpp"
#include "libgraph/function/failure.hpp"
#include "libactors/base/assert.hpp"

#include <utility>

namespace headrace::state {

rocksdb_backend::rocksdb_backend(keyed_backend_setup setup, std::shared_ptr<rocksdb_memory> memory,
                                 std::uint64_t inline_bytes_max, batch_reading reading)
    : setup_(std::move(setup)), memory_(std::move(memory)),
      uploads_(std::make_shared<uploaded_files>(inline_bytes_max)), reading_(std::move(reading)) {}

rocksdb_backend::~rocksdb_backend() {
  // Jobs may keep the database open for longer than there is a clock.
  for (const auto& [name, entry] : states_)
    entry.expires->stop();
}

status rocksdb_backend::ensure_open() {
  if (instance_ == nullptr) {
    HEADRACE_TRY(instance_, rocksdb_instance::open(memory_, setup_.local_directory));
  }
  return {};
}

rocksdb_instance::family rocksdb_backend::family_of(const state_entry& entry) const {
  return {entry.description.name + "#" + std::to_string(entry.generation), entry.description.kind,
          entry.expires};
}

rocksdb_backend::state_entry rocksdb_backend::describe(const state_description& description,
                                                       std::uint32_t generation) const {
  state_entry out;
  out.description = description;
  out.generation = generation;
  out.expires = std::make_shared<expiry>(description.kind, description.ttl_ms, setup_.time);
  return out;
}

void rocksdb_backend::make_table(state_entry& entry) {
  if (!is_user_kind(entry.description.kind))
    entry.table = std::make_unique<rocksdb_table>(
        instance_, entry.family, keys_of(setup_.key, entry.description), setup_.max_parallelism,
        setup_.groups, entry.description, reading_, setup_.time);
}

result<rocksdb_backend::state_entry*> rocksdb_backend::open(const state_description& wanted,
                                                            const byte_string& defaults) {
  HEADRACE_ASSERT(wanted.layout.fixed_bytes % 8 == 0 &&
                      wanted.layout.fixed_bytes <= value_layout::fixed_bytes_max,
                  "fixed values are words, few");
  HEADRACE_ASSERT(wanted.ttl_ms == 0 || is_user_kind(wanted.kind), "only user states expire");
  HEADRACE_CHECK(ensure_open());
  const auto found = states_.find(wanted.name);
  if (found == states_.end()) {
    auto made = describe(wanted, 0);
    HEADRACE_TRY(made.family, instance_->make(family_of(made)));
    make_table(made);
    return &states_.emplace(wanted.name, std::move(made)).first->second;
  }
  const auto& stored = found->second.description;
  HEADRACE_TRY(const auto fit, check_migratable(stored, wanted));
  if (fit == state_fit::migrating) {
    const value_migration migration(stored.value_type, wanted.value_type, defaults);
    HEADRACE_CHECK(change(found->second, wanted, &migration));
  } else if (stored.ttl_ms != wanted.ttl_ms) {
    HEADRACE_CHECK(change(found->second, wanted, nullptr));
  } else {
    found->second.description.value_type = wanted.value_type;
  }
  return &found->second;
}

/// Gives a restored state another TTL, or values of another type (`migration`; null: the same).
/// Values that had no stamp begin to age now.
status rocksdb_backend::change(state_entry& entry, const state_description& wanted,
                               const value_migration* migration) {
  if (entry.has_handle())
    return opened_otherwise(wanted.name);
  if (migration == nullptr && (entry.description.ttl_ms > 0) == (wanted.ttl_ms > 0)) {
    entry.description = wanted;
    entry.expires->set_ttl(wanted.ttl_ms);
    return {};
  }
  auto made = describe(wanted, entry.generation + 1);
  HEADRACE_TRY(made.family, instance_->make(family_of(made)));
  const auto now = setup_.time == nullptr ? 0 : setup_.time->wall_ms();
  auto rewritten = rewrite_rows(*instance_, entry.family, made.family,
                                {entry.description, made.description, migration, now});
  if (!rewritten) {
    static_cast<void>(instance_->drop(family_of(made).name).has_value());
    return rewritten;
  }
  const auto before = family_of(entry).name;
  entry = std::move(made);
  return instance_->drop(before);
}

result<keyed_table*> rocksdb_backend::open_table(const state_description& wanted) {
  if (is_user_kind(wanted.kind))
    return error(errc::internal, "a user's state is no table: `" + wanted.name + "`");
  HEADRACE_TRY(auto* const entry, open(wanted));
  entry->is_open = true;
  return static_cast<keyed_table*>(entry->table.get());
}

rocksdb_backend::state_entry&
rocksdb_backend::open_for_user(const graph::state_descriptor& descriptor, table_kind kind) {
  auto opened = open(describe_user_state(descriptor, kind), descriptor.default_value);
  if (!opened)
    throw graph::failure(std::move(opened).error());
  return **opened;
}

state_place rocksdb_backend::place_of(const state_entry& entry) {
  return {instance_.get(),          entry.family, setup_.key.shape(),
          entry.description.ttl_ms, &current_,    setup_.time};
}

status rocksdb_backend::settle_restored(bool may_drop) {
  std::vector<std::string> left;
  for (const auto& [name, entry] : states_) {
    if (entry.is_left(entry.description.kind))
      left.push_back(name);
  }
  if (!may_drop && !left.empty())
    return state_left(states_.at(left.front()).description);
  for (const auto& name : left)
    HEADRACE_CHECK(drop_state(name));
  return {};
}

status rocksdb_backend::drop_state(std::string_view name) {
  const auto found = states_.find(name);
  if (found == states_.end())
    return {};
  HEADRACE_CHECK(instance_->drop(family_of(found->second).name));
  states_.erase(found);
  return {};
}

graph::value_access& rocksdb_backend::value(const graph::state_descriptor& descriptor) {
  auto& entry = open_for_user(descriptor, static_cast<table_kind>(descriptor.kind));
  if (!entry.value_handle)
    entry.value_handle = std::make_unique<rocksdb_value_access>(place_of(entry));
  return *entry.value_handle;
}

graph::list_access& rocksdb_backend::list(const graph::state_descriptor& descriptor) {
  auto& entry = open_for_user(descriptor, table_kind::list);
  if (!entry.list_handle)
    entry.list_handle = std::make_unique<rocksdb_list_access>(place_of(entry));
  return *entry.list_handle;
}

graph::map_access& rocksdb_backend::map(const graph::state_descriptor& descriptor) {
  auto& entry = open_for_user(descriptor, table_kind::map);
  if (!entry.map_handle)
    entry.map_handle = std::make_unique<rocksdb_map_access>(place_of(entry));
  return *entry.map_handle;
}

snapshot_header rocksdb_backend::make_header() const {
  snapshot_header out;
  out.key_type = *setup_.key.type();
  out.max_parallelism = setup_.max_parallelism;
  out.groups = setup_.groups;
  for (const auto& [name, entry] : states_)
    out.states.push_back(entry.description);
  return out;
}

result<std::unique_ptr<snapshot_job>> rocksdb_backend::snapshot(checkpoint_id checkpoint,
                                                                snapshot_kind kind) {
  HEADRACE_CHECK(ensure_open());
  std::unique_ptr<snapshot_job> job;
  if (kind == snapshot_kind::canonical) {
    canonical_snapshot_job::plan plan{
        make_header(), {}, setup_.key, setup_.time == nullptr ? 0 : setup_.time->wall_ms()};
    for (const auto& [name, entry] : states_)
      plan.families.push_back(entry.family);
    job = std::make_unique<canonical_snapshot_job>(std::move(plan), instance_);
    return job;
  }
  HEADRACE_ASSERT(setup_.files != nullptr, "a backend that makes native snapshots has files");
  native_snapshot_job::plan plan{checkpoint, {}, setup_.name, setup_.files};
  plan.what.header = make_header();
  for (const auto& [name, entry] : states_) {
    native_snapshot::state_part part{family_of(entry).name, {}};
    byte_writer counts(part.counts);
    if (entry.table)
      entry.table->counts().encode(counts);
    plan.what.states.push_back(std::move(part));
  }
  job =
      std::make_unique<native_snapshot_job>(std::move(plan), instance_, instance_->cut(), uploads_);
  return job;
}

std::uint64_t rocksdb_backend::row_count() const {
  std::uint64_t out = 0;
  for (const auto& [name, entry] : states_) {
    std::uint64_t estimate = 0;
    if (entry.table)
      out += entry.table->row_count();
    else if (instance_->db().GetIntProperty(entry.family, rocksdb::DB::Properties::kEstimateNumKeys,
                                            &estimate))
      out += estimate;
  }
  return out;
}

std::uint64_t rocksdb_backend::size_bytes() const {
  return instance_ == nullptr ? 0 : instance_->size_bytes();
}

std::shared_ptr<const backend_figures> rocksdb_backend::figures() const {
  return instance_ == nullptr ? nullptr : std::make_shared<const rocksdb_figures>(instance_);
}

result<std::unique_ptr<keyed_backend>> rocksdb_state_backend::make(keyed_backend_setup setup) {
  if (setup.local_directory.empty())
    return error(errc::bad_usage, "RocksDB has no directory for its files");
  std::unique_ptr<keyed_backend> made =
      std::make_unique<rocksdb_backend>(std::move(setup), memory_, inline_bytes_max_, reading_);
  return made;
}

} // namespace headrace::state
