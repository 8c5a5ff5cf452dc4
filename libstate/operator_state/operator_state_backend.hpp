#pragma once

#include "libstate/keyed/state_description.hpp"
#include "libstate/storage/state_stream.hpp"
#include "libgraph/function/state.hpp"
#include "libactors/base/file_system.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headrace::state {

/// Elements of one operator (not keyed) state of one subtask. Owned by its backend.
class operator_list_state {
public:
  const std::vector<byte_string>& elements() const { return elements_; }
  void add(byte_string element) { elements_.push_back(std::move(element)); }
  void replace(std::vector<byte_string> elements) { elements_ = std::move(elements); }
  void clear() { elements_.clear(); }

private:
  std::vector<byte_string> elements_;
};

/// A map that each subtask holds alike, fed by a broadcast stream. Ordered by encoded key, and
/// found by its hash: each row of a stream may ask for a key.
class broadcast_state {
public:
  broadcast_state() = default;
  broadcast_state(const broadcast_state&) = delete;
  broadcast_state& operator=(const broadcast_state&) = delete;

  const byte_string* get(byte_view key) const;
  void put(byte_view key, byte_view value);
  void remove(byte_view key);
  void clear() {
    by_hash_.clear();
    entries_.clear();
  }
  const std::map<byte_string, byte_string>& entries() const { return entries_; }

private:
  using ordered = std::map<byte_string, byte_string>;
  ordered entries_;
  std::unordered_map<byte_view, ordered::iterator> by_hash_; ///< views of the keys there
};

/// The asynchronous part of an operator state snapshot; as `snapshot_job`.
class operator_snapshot_job {
public:
  virtual ~operator_snapshot_job() = default;
  virtual result<operator_state_handle> run(snapshot_target& target) = 0;
};

/// One entry of a broadcast state, as an element of a snapshot has it. Views are into the element.
struct broadcast_entry {
  byte_view key;
  byte_view value;
};
/// @errors malformed_message
result<broadcast_entry> read_broadcast_entry(byte_view element);
/// What a function declared: an entry of `operator_state_backend::declarations`. A broadcast state
/// is a map, others are lists. @errors malformed_message
result<state_description> read_declaration(const broadcast_entry& entry);

/// The operator state of one operator in one subtask. Small by nature, so a snapshot copies.
/// On the subtask's mailbox only, the job excepted.
///
/// As `graph::operator_state_provider` it gives handles of user functions. What they declare is
/// stored in a state of its own (`declarations`), so that a restored state is checked, and its
/// values are migrated as those of keyed states are.
class operator_state_backend final : public graph::operator_state_provider {
public:
  /// Of the state that holds what functions declared, by name.
  static constexpr std::string_view declarations = "declared-states";

  operator_state_backend();
  ~operator_state_backend() override;
  operator_state_backend(const operator_state_backend&) = delete;
  operator_state_backend& operator=(const operator_state_backend&) = delete;

  /// Reads elements out of the handles that `redistribute` gave; before any state is opened.
  /// @errors corrupt_snapshot, file_not_found, storage_failed
  status restore(const std::vector<operator_state_handle>& handles, file_system& files);

  /// Opens a list whose elements are dealt out over the subtasks on restore.
  /// @errors incompatible_state  a restored state of that name has another mode
  result<operator_list_state*> list(std::string_view name);
  /// Opens a list of which each subtask gets all elements on restore.
  result<operator_list_state*> union_list(std::string_view name);
  result<broadcast_state*> broadcast(std::string_view name);

  graph::list_access& split_list(const graph::state_descriptor& descriptor) override;
  graph::list_access& union_list(const graph::state_descriptor& descriptor) override;
  graph::map_access& broadcast_map(const graph::state_descriptor& descriptor) override;
  /// Of an operator whose functions have opened their states: restored ones that they have not.
  /// @param may_drop  they are dropped; else they are refused
  /// @errors incompatible_state  names one
  status settle_restored(bool may_drop);

  /// Whether anything is to be stored.
  bool is_empty() const;
  std::unique_ptr<operator_snapshot_job> snapshot();

private:
  struct entry;
  result<entry*> open(std::string_view name, operator_state_handle::mode how);
  entry& open_for_user(const graph::state_descriptor& descriptor, operator_state_handle::mode how);
  status migrate(const graph::state_descriptor& wanted, entry& restored, byte_view stored);
  std::map<std::string, std::unique_ptr<entry>, std::less<>> entries_;
};

} // namespace headrace::state
