#include "libstate/heap/heap_backend.hpp"

#include "libstate/heap/heap_native_job.hpp"
#include "libstate/heap/heap_snapshot_job.hpp"
#include "libstate/keyed/user_state.hpp"
#include "libgraph/function/failure.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::state {

namespace {

std::size_t extra_bytes(const state_description& description) {
  return description.ttl_ms > 0 ? stamp_bytes : 0;
}

} // namespace

heap_backend::heap_backend(keyed_backend_setup setup, std::uint64_t inline_bytes_max)
    : setup_(std::move(setup)), inline_bytes_max_(inline_bytes_max),
      pool_(std::make_shared<page_pool>(setup_.budget)) {}

heap_backend::~heap_backend() = default;

heap_backend::state_entry heap_backend::make_entry(const state_description& description) {
  state_entry made;
  if (description.kind == table_kind::map)
    made.map = std::make_unique<heap_map>(*pool_, setup_.key.shape(), description);
  else
    made.table =
        std::make_unique<heap_table>(*pool_, keys_of(setup_.key, description),
                                     setup_.max_parallelism, description, extra_bytes(description));
  return made;
}

result<heap_backend::state_entry*> heap_backend::open(const state_description& wanted,
                                                      const byte_string& defaults) {
  HEADRACE_ASSERT(wanted.layout.fixed_bytes % 8 == 0 &&
                      wanted.layout.fixed_bytes <= value_layout::fixed_bytes_max,
                  "fixed values are words, few");
  HEADRACE_ASSERT(wanted.ttl_ms == 0 || is_user_kind(wanted.kind), "only user states expire");
  expiring_.clear();
  const auto found = states_.find(wanted.name);
  if (found == states_.end())
    return &states_.emplace(wanted.name, make_entry(wanted)).first->second;
  const auto& stored = found->second.description();
  HEADRACE_TRY(const auto fit, check_migratable(stored, wanted));
  if (fit == state_fit::migrating) {
    const value_migration migration(stored.value_type, wanted.value_type, defaults);
    HEADRACE_CHECK(rebuild_with(found->second, wanted, &migration));
  } else if (stored.ttl_ms != wanted.ttl_ms) {
    HEADRACE_CHECK(rebuild_with(found->second, wanted, nullptr));
  } else if (found->second.table) {
    found->second.table->describe_values(wanted.value_type);
  }
  return &found->second;
}

/// Copies a restored state into one with another TTL, or with values of another type (`migration`;
/// null: the same). Values that had no stamp begin to age now.
status heap_backend::rebuild_with(state_entry& entry, const state_description& wanted,
                                  const value_migration* migration) {
  if (entry.has_handle())
    return opened_otherwise(wanted.name);
  const auto& before = entry.description();
  const auto now = setup_.time == nullptr ? 0 : setup_.time->wall_ms();
  auto made = make_entry(wanted);
  status failed;
  byte_string rewritten;
  const auto in_new_form = [&](byte_view value) -> byte_view {
    auto done = before.kind == table_kind::list
                    ? rewrite_elements(value, {before.ttl_ms > 0, wanted.ttl_ms > 0, now},
                                       migration, rewritten)
                : migration != nullptr ? migration->rewrite(value, rewritten)
                                       : status();
    if (!done && failed)
      failed = error(errc::corrupt_snapshot, "corrupt value of state `" + wanted.name + "`",
                     std::move(done).error());
    return before.kind == table_kind::list || migration != nullptr ? byte_view(rewritten) : value;
  };
  if (entry.map) {
    entry.map->for_each(
        [&](const key_ref& key, byte_view entry_key, byte_view value, std::int64_t stamp) {
          made.map->put(key, entry_key, in_new_form(value), before.ttl_ms > 0 ? stamp : now);
        });
    entry.map = std::move(made.map);
    return failed;
  }
  for (const auto& [space, from] : entry.table->directories()) {
    auto& to = made.table->make_directory(space);
    const auto& old_layout = entry.table->layout();
    const auto& layout = made.table->layout();
    from->visit(0, [&, source = from.get()](std::uint32_t number, const std::byte* row) {
      auto* copy = to.row(to.add(source->key_of(number), page_pool::no_snapshot));
      std::int64_t stamp = now;
      if (before.ttl_ms > 0)
        std::memcpy(&stamp, row + old_layout.fixed_at, sizeof(stamp));
      if (wanted.ttl_ms > 0)
        std::memcpy(copy + layout.fixed_at, &stamp, sizeof(stamp));
      to.blobs().replace(layout.value(copy), in_new_form(old_layout.value(row).view()));
      return true;
    });
  }
  entry.table = std::move(made.table);
  return failed;
}

result<keyed_table*> heap_backend::open_table(const state_description& wanted) {
  if (wanted.kind == table_kind::map)
    return error(errc::internal, "a map state is no table: `" + wanted.name + "`");
  HEADRACE_TRY(auto* const entry, open(wanted));
  entry->is_open = true;
  return static_cast<keyed_table*>(entry->table.get());
}

heap_backend::state_entry& heap_backend::open_for_user(const graph::state_descriptor& descriptor,
                                                       table_kind kind) {
  auto opened = open(describe_user_state(descriptor, kind), descriptor.default_value);
  if (!opened)
    throw graph::failure(std::move(opened).error());
  return **opened;
}

status heap_backend::settle_restored(bool may_drop) {
  const auto is_left = [](const auto& named) {
    return named.second.is_left(named.second.description().kind);
  };
  const auto left = std::find_if(states_.begin(), states_.end(), is_left);
  if (!may_drop && left != states_.end())
    return state_left(left->second.description());
  std::erase_if(states_, is_left);
  drop_expired();
  find_expiring();
  return {};
}

status heap_backend::drop_state(std::string_view name) {
  expiring_.clear();
  if (const auto found = states_.find(name); found != states_.end())
    states_.erase(found);
  return {};
}

graph::value_access& heap_backend::value(const graph::state_descriptor& descriptor) {
  auto& entry = open_for_user(descriptor, static_cast<table_kind>(descriptor.kind));
  if (!entry.value_handle)
    entry.value_handle = std::make_unique<heap_value_access>(*entry.table, current_, setup_.time);
  return *entry.value_handle;
}

graph::list_access& heap_backend::list(const graph::state_descriptor& descriptor) {
  auto& entry = open_for_user(descriptor, table_kind::list);
  if (!entry.list_handle)
    entry.list_handle = std::make_unique<heap_list_access>(*entry.table, current_, setup_.time);
  return *entry.list_handle;
}

graph::map_access& heap_backend::map(const graph::state_descriptor& descriptor) {
  auto& entry = open_for_user(descriptor, table_kind::map);
  if (!entry.map_handle)
    entry.map_handle = std::make_unique<heap_map_access>(*entry.map, current_, setup_.time);
  return *entry.map_handle;
}

void heap_backend::set_current_key(const key_batch& keys, std::size_t row) {
  // Handles look their rows up again behind it.
  if (!expiring_.empty())
    sweep_expired();
  current_.key = keys.at(row);
  current_.is_none = false;
  ++current_.version;
}

void heap_backend::clear_current_key() {
  current_.key = {};
  current_.is_none = true;
  ++current_.version;
}

result<std::unique_ptr<snapshot_job>> heap_backend::snapshot(checkpoint_id checkpoint,
                                                             snapshot_kind kind) {
  return kind == snapshot_kind::native ? native_snapshot(checkpoint) : canonical_snapshot();
}

std::unique_ptr<snapshot_job> heap_backend::canonical_snapshot() {
  heap_snapshot_job::plan plan{setup_.key,
                               setup_.max_parallelism,
                               setup_.groups,
                               setup_.time == nullptr ? 0 : setup_.time->wall_ms(),
                               {}};
  plan.tables.reserve(states_.size());
  for (const auto& [name, entry] : states_)
    plan.tables.push_back(entry.table ? entry.table->image() : entry.map->image());
  return std::make_unique<heap_snapshot_job>(std::move(plan), pool_, pool_->hold());
}

std::unique_ptr<snapshot_job> heap_backend::native_snapshot(checkpoint_id checkpoint) {
  HEADRACE_ASSERT(setup_.files != nullptr, "a backend that makes native snapshots has files");
  heap_native_job::plan plan;
  plan.checkpoint = checkpoint;
  plan.owner = setup_.name;
  plan.files = setup_.files;
  plan.inline_bytes_max = inline_bytes_max_;
  plan.header.key_type = *setup_.key.type();
  plan.header.max_parallelism = setup_.max_parallelism;
  plan.header.groups = setup_.groups;
  heap_chain::taken_marks marks;
  const auto add = [&](std::uint8_t of_map, const row_layout& layout, state_namespace space,
                       heap_directory& directory) {
    const auto state = static_cast<std::uint32_t>(plan.header.states.size());
    plan.parts.push_back({state, of_map, layout, directory.image(space)});
    marks.emplace_back(directory.id(), directory.take_marks());
  };
  for (auto& [name, entry] : states_) {
    if (entry.map) {
      for (std::uint8_t part = 0; part < heap_map::part_count; ++part)
        add(part, entry.map->layout_of(part), 0, entry.map->part(part));
    } else {
      for (const auto& [space, directory] : entry.table->directories())
        add(0, entry.table->layout(), space, *directory);
    }
    plan.header.states.push_back(entry.description());
  }
  plan.number = chain_->take(std::move(marks));
  return std::make_unique<heap_native_job>(std::move(plan), chain_, pool_, pool_->hold());
}

std::uint64_t heap_backend::row_count() const {
  std::uint64_t out = 0;
  for (const auto& [name, entry] : states_)
    out += entry.table ? entry.table->row_count() : entry.map->row_count();
  return out;
}

result<std::unique_ptr<keyed_backend>> heap_state_backend::make(keyed_backend_setup setup) {
  std::unique_ptr<keyed_backend> made =
      std::make_unique<heap_backend>(std::move(setup), inline_bytes_max_);
  return made;
}

} // namespace headrace::state
