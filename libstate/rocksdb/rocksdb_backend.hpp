#pragma once

#include "libstate/backend/keyed_backend.hpp"
#include "libstate/keyed/value_migration.hpp"
#include "libstate/rocksdb/native_format.hpp"
#include "libstate/rocksdb/rocksdb_instance.hpp"
#include "libstate/rocksdb/rocksdb_states.hpp"
#include "libstate/rocksdb/rocksdb_table.hpp"
#include "libstate/rocksdb/table_files.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::state {

/// Keyed state in a RocksDB database in a local directory, a column family a state. See
/// keyed_backend. Reads and writes on the mailbox may wait for the disk, as in Flink, a batch's
/// reads together with other threads; flushes, uploads, restores and compactions happen on other
/// threads.
class rocksdb_backend final : public keyed_backend {
public:
  /// @param inline_bytes_max  see rocksdb_state_backend
  rocksdb_backend(keyed_backend_setup setup, std::shared_ptr<rocksdb_memory> memory,
                  std::uint64_t inline_bytes_max = 0, batch_reading reading = {});
  ~rocksdb_backend() override;

  status restore(const std::vector<keyed_state_handle>& handles) override;
  /// @errors internal  a user kind: those are reached by handles alone
  result<keyed_table*> open_table(const state_description& wanted) override;

  status settle_restored(bool may_drop) override;
  bool has_state(std::string_view name) const override { return states_.contains(name); }
  status drop_state(std::string_view name) override;

  graph::value_access& value(const graph::state_descriptor& descriptor) override;
  graph::list_access& list(const graph::state_descriptor& descriptor) override;
  graph::map_access& map(const graph::state_descriptor& descriptor) override;

  void set_current_key(const key_batch& keys, std::size_t row) override { current_.set(keys, row); }
  key_ref current_key() const override { return current_.key(); }
  void clear_current_key() override { current_.clear(); }
  status scan_keys(const graph::state_access& state, scan_cursor& cursor, std::size_t rows_max,
                   key_batch& out) override;

  result<std::unique_ptr<snapshot_job>> snapshot(checkpoint_id checkpoint,
                                                 snapshot_kind kind) override;
  void notify_completed(checkpoint_id checkpoint) override { uploads_->on_completed(checkpoint); }
  void notify_aborted(checkpoint_id checkpoint) override { uploads_->on_aborted(checkpoint); }

  const key_schema& key() const override { return setup_.key; }
  key_group_range groups() const override { return setup_.groups; }
  std::int32_t max_parallelism() const override { return setup_.max_parallelism; }
  /// Of user states an estimate.
  std::uint64_t row_count() const override;
  std::uint64_t size_bytes() const override;
  std::shared_ptr<const backend_figures> figures() const override;

private:
  class canonical_restorer;
  class importer;
  /// One state: its column family; an operator's table, or a user's handles.
  struct state_entry {
    state_description description;
    std::uint32_t generation = 0; ///< of the column family: it is another after a change
    rocksdb::ColumnFamilyHandle* family = nullptr;
    std::shared_ptr<expiry> expires;
    std::unique_ptr<rocksdb_table> table;
    std::unique_ptr<graph::value_access> value_handle;
    std::unique_ptr<graph::list_access> list_handle;
    std::unique_ptr<graph::map_access> map_handle;
    bool is_open = false; ///< as a table of the operator's
    bool has_handle() const { return value_handle || list_handle || map_handle; }
    /// Whether it was restored for somebody who has not come.
    bool is_left(table_kind kind) const {
      return kind != table_kind::timers && !is_open && !has_handle();
    }
  };

  status ensure_open();
  rocksdb_instance::family family_of(const state_entry& entry) const;
  state_entry describe(const state_description& description, std::uint32_t generation) const;
  void make_table(state_entry& entry);
  /// @param defaults  see value_migration
  result<state_entry*> open(const state_description& wanted, const byte_string& defaults = {});
  status change(state_entry& entry, const state_description& wanted,
                const value_migration* migration);
  state_entry& open_for_user(const graph::state_descriptor& descriptor, table_kind kind);
  state_place place_of(const state_entry& entry);
  snapshot_header make_header() const;

  // --- rocksdb_restore.cpp
  status restore_base(const keyed_state_handle& handle);
  status import_native(const keyed_state_handle& handle, std::size_t number);
  status restore_canonical(const keyed_state_handle& handle);
  status delete_other_groups();

  keyed_backend_setup setup_;
  std::shared_ptr<rocksdb_memory> memory_;
  std::shared_ptr<uploaded_files> uploads_;
  batch_reading reading_;
  std::shared_ptr<rocksdb_instance> instance_; ///< dies after what reads it
  current_row current_;
  std::map<std::string, state_entry, std::less<>> states_;
};

/// Makes RocksDB backends, which share one memory budget: `state.backend.type: rocksdb`.
class rocksdb_state_backend final : public state_backend {
public:
  /// A table file of so few bytes lies in a snapshot's own stream: another file costs more than
  /// writing it anew each time does.
  static constexpr std::uint64_t inline_bytes_usual = 20U * 1024U;

  /// @param budget_bytes  of all backends together; 0: a default
  explicit rocksdb_state_backend(std::uint64_t budget_bytes,
                                 std::uint64_t inline_bytes_max = inline_bytes_usual,
                                 batch_reading reading = {})
      : memory_(std::make_shared<rocksdb_memory>(budget_bytes)),
        inline_bytes_max_(inline_bytes_max), reading_(std::move(reading)) {}
  std::string_view name() const override { return "rocksdb"; }
  /// @errors bad_usage  no local directory
  result<std::unique_ptr<keyed_backend>> make(keyed_backend_setup setup) override;

private:
  std::shared_ptr<rocksdb_memory> memory_;
  std::uint64_t inline_bytes_max_;
  batch_reading reading_; ///< its threads are those of all backends
};

} // namespace headrace::state
