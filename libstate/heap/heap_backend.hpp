#pragma once

#include "libstate/backend/keyed_backend.hpp"
#include "libstate/heap/heap_chain.hpp"
#include "libstate/heap/heap_map.hpp"
#include "libstate/heap/heap_states.hpp"
#include "libstate/heap/heap_table.hpp"
#include "libstate/keyed/value_migration.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::state {

/// Keyed state in memory. See keyed_backend. Its native snapshots write what has changed since the
/// one before (heap_native), canonical ones all of it.
class heap_backend final : public keyed_backend {
public:
  /// @param inline_bytes_max  see heap_state_backend
  explicit heap_backend(keyed_backend_setup setup, std::uint64_t inline_bytes_max = 0);
  ~heap_backend() override;

  status restore(const std::vector<keyed_state_handle>& handles) override;
  result<keyed_table*> open_table(const state_description& wanted) override;

  status settle_restored(bool may_drop) override;
  bool has_state(std::string_view name) const override { return states_.contains(name); }
  status drop_state(std::string_view name) override;

  graph::value_access& value(const graph::state_descriptor& descriptor) override;
  graph::list_access& list(const graph::state_descriptor& descriptor) override;
  graph::map_access& map(const graph::state_descriptor& descriptor) override;

  void set_current_key(const key_batch& keys, std::size_t row) override;
  key_ref current_key() const override { return current_.key; }
  void clear_current_key() override;
  status scan_keys(const graph::state_access& state, scan_cursor& cursor, std::size_t rows_max,
                   key_batch& out) override;

  result<std::unique_ptr<snapshot_job>> snapshot(checkpoint_id checkpoint,
                                                 snapshot_kind kind) override;
  void notify_completed(checkpoint_id checkpoint) override { chain_->on_completed(checkpoint); }
  void notify_aborted(checkpoint_id checkpoint) override { chain_->on_aborted(checkpoint); }

  const key_schema& key() const override { return setup_.key; }
  key_group_range groups() const override { return setup_.groups; }
  std::int32_t max_parallelism() const override { return setup_.max_parallelism; }
  std::uint64_t row_count() const override;
  std::uint64_t size_bytes() const override { return pool_->size_bytes(); }

private:
  class restorer;
  /// One state: a table, or a map; and its handles.
  struct state_entry {
    std::unique_ptr<heap_table> table;
    std::unique_ptr<heap_map> map;
    std::unique_ptr<graph::value_access> value_handle;
    std::unique_ptr<graph::list_access> list_handle;
    std::unique_ptr<graph::map_access> map_handle;
    bool is_open = false; ///< as a table of the operator's
    bool has_handle() const { return value_handle || list_handle || map_handle; }
    /// Whether it was restored for somebody who has not come.
    bool is_left(table_kind kind) const {
      return kind != table_kind::timers && !is_open && !has_handle();
    }
    const state_description& description() const {
      return table ? table->description() : map->description();
    }
  };

  state_entry make_entry(const state_description& description);
  /// @param defaults  see value_migration
  result<state_entry*> open(const state_description& wanted, const byte_string& defaults = {});
  status rebuild_with(state_entry& entry, const state_description& wanted,
                      const value_migration* migration);
  state_entry& open_for_user(const graph::state_descriptor& descriptor, table_kind kind);
  std::unique_ptr<snapshot_job> native_snapshot(checkpoint_id checkpoint);
  std::unique_ptr<snapshot_job> canonical_snapshot();

  // --- heap_restore.cpp
  status restore_canonical(const keyed_state_handle& handle);
  /// Takes all of a native snapshot of just these key groups over, and goes on behind it.
  status restore_native(const keyed_state_handle& handle);

  // --- heap_expiry.cpp
  void drop_expired();
  void find_expiring();
  void sweep_expired();

  keyed_backend_setup setup_;
  std::uint64_t inline_bytes_max_;
  std::shared_ptr<page_pool> pool_;
  std::shared_ptr<heap_chain> chain_ = std::make_shared<heap_chain>();
  std::map<std::string, state_entry, std::less<>> states_; ///< before pool_ in death
  state::current_key current_;
  std::vector<state_entry*> expiring_; ///< the states with TTL, once all are open
  std::uint32_t keys_since_sweep_ = 0;
  std::size_t swept_state_ = 0; ///< of them
  std::uint64_t swept_to_ = 0;  ///< row number
};

/// Makes heap backends: `state.backend.type: hashmap`.
class heap_state_backend final : public state_backend {
public:
  /// So few bytes lie in a snapshot's own file: another one costs more than they do.
  static constexpr std::uint64_t inline_bytes_usual = 20U * 1024U;

  explicit heap_state_backend(std::uint64_t inline_bytes_max = inline_bytes_usual)
      : inline_bytes_max_(inline_bytes_max) {}
  std::string_view name() const override { return "hashmap"; }
  result<std::unique_ptr<keyed_backend>> make(keyed_backend_setup setup) override;

private:
  std::uint64_t inline_bytes_max_;
};

} // namespace headrace::state
