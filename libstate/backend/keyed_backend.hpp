#pragma once

#include "libstate/backend/backend_figures.hpp"
#include "libstate/keyed/keyed_table.hpp"
#include "libstate/storage/local_first_files.hpp"
#include "libstate/storage/state_stream.hpp"
#include "libgraph/data/buffer.hpp"
#include "libgraph/function/state.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/file_system.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::state {

/// In which form a snapshot is written: the backend's own, which may share files with earlier ones,
/// or the canonical one, whole, which every backend reads. (They are one on the heap.)
enum class snapshot_kind : std::uint8_t { native, canonical };

/// The asynchronous part of a snapshot: everything it reads stands still, whatever the backend does
/// meanwhile. Run once, on any thread; dropping it (run or not) lets go of what it held. May
/// outlive its backend.
class snapshot_job {
public:
  virtual ~snapshot_job() = default;
  /// Writes the state into the target. May block and take long.
  /// @errors storage_failed, storage_full, checkpoint_expired when stopped by `cancel`
  virtual result<keyed_state_handle> run(snapshot_target& target) = 0;
  /// Makes a running `run` end soon. Any thread.
  virtual void cancel() = 0;
};

/// What a backend is made from.
struct keyed_backend_setup {
  key_schema key;
  std::int32_t max_parallelism = 128;
  key_group_range groups;
  const headrace::clock* time = nullptr;  ///< for TTL; lives longer than the backend
  headrace::file_system* files = nullptr; ///< to restore from, and for local files; lives longer
  std::shared_ptr<graph::memory_budget> budget; ///< may be null: not counted
  std::string local_directory; ///< of this one alone, for backends with files of their own
  std::string name;            ///< unique in the subtask; part of the names of shared files
  /// Where `restore` finds local copies of what is stored, and stays until then; null: nowhere.
  local_first_files* local_first = nullptr;

  headrace::file_system& restored_files() const {
    return local_first != nullptr ? *local_first : *files;
  }
};

/// The keyed state of one operator in one subtask: tables by name, user handles, snapshots.
///
/// Life: made, `restore` (at most once, before any table), tables opened, batches and snapshots,
/// dropped. On the subtask's mailbox only, `snapshot_job` excepted.
///
/// As `graph::state_provider` it gives handles that act on the current key; set it before use.
class keyed_backend : public graph::state_provider {
public:
  /// Reads the key groups of this backend out of each handle; there may be none. May block. Tables
  /// come back under their stored descriptions, and are checked when opened.
  /// @errors corrupt_snapshot (with path and block), storage_failed (also a missing file),
  ///         unsupported_snapshot_version, incompatible_state (another key type)
  virtual status restore(const std::vector<keyed_state_handle>& handles) = 0;

  /// Opens the table of that name, made new when no restored one is there. Idempotent; the table
  /// lives as long as the backend.
  /// @errors incompatible_state  the restored (or opened) table of that name is another
  virtual result<keyed_table*> open_table(const state_description& wanted) = 0;

  /// Of an operator that has opened its states: restored user states that it has not.
  /// @param may_drop  they are dropped; else they are refused
  /// @errors incompatible_state  names one
  virtual status settle_restored(bool may_drop) = 0;

  /// Whether a state of that name was restored, or opened.
  virtual bool has_state(std::string_view name) const = 0;
  /// Forgets a state with all that it holds; what was opened of it is gone. None: does nothing.
  virtual status drop_state(std::string_view name) = 0;

  /// Makes a key current for the user handles and their TTL clock. `keys` must stay until the next
  /// call of `set_current_key`.
  virtual void set_current_key(const key_batch& keys, std::size_t row) = 0;
  virtual key_ref current_key() const = 0;
  /// From now on no key is current: user handles throw user_function_failed.
  virtual void clear_current_key() = 0;
  /// Gives up to `rows_max` further keys that have something in a user state, each once; `out` is
  /// emptied first. States may be changed between pieces; which keys come is settled by the first.
  /// Keys whose values have expired may be among them.
  /// @param state  a handle that this backend has given
  virtual status scan_keys(const graph::state_access& state, scan_cursor& cursor,
                           std::size_t rows_max, key_batch& out) = 0;

  /// The synchronous part: state as of now is what the job will write. Snapshots may overlap.
  virtual result<std::unique_ptr<snapshot_job>>
  snapshot(checkpoint_id checkpoint, snapshot_kind kind = snapshot_kind::native) = 0;
  virtual void notify_completed(checkpoint_id checkpoint) = 0;
  virtual void notify_aborted(checkpoint_id checkpoint) = 0;

  virtual const key_schema& key() const = 0;
  virtual key_group_range groups() const = 0;
  virtual std::int32_t max_parallelism() const = 0;
  virtual std::uint64_t row_count() const = 0;
  virtual std::uint64_t size_bytes() const = 0;
  /// Once its states are open; null: it has none.
  virtual std::shared_ptr<const backend_figures> figures() const { return nullptr; }
};

/// Makes backends of one kind. One a task executor; any thread.
class state_backend {
public:
  virtual ~state_backend() = default;
  virtual std::string_view name() const = 0;
  virtual result<std::unique_ptr<keyed_backend>> make(keyed_backend_setup setup) = 0;
};

} // namespace headrace::state
