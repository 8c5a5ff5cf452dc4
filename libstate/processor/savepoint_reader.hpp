#pragma once

#include "libstate/checkpoint/completed_checkpoint.hpp"
#include "libstate/keyed/keyed_table.hpp"
#include "libgraph/data/record_batch.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::processor {

/// What is known of one state of an operator, over all subtasks.
struct state_summary {
  std::string name;
  std::string kind; ///< "value", "map", "timers", "split list", "raw", …
  /// Of a keyed state (of raw keyed state: its key is the key group, and the values of one, bytes,
  /// are its stream). Nothing for operator state.
  std::optional<state::state_description> description;
  /// Of operator state that a function declared: broadcast state is a map, others are lists.
  /// Others' elements have no type.
  std::optional<state::state_description> declared{};
  std::uint64_t keys = 0;  ///< different ones
  std::uint64_t rows = 0;  ///< values, map entries, elements of operator state
  std::uint64_t bytes = 0; ///< of keys and values, before they are compressed
};

/// What is known of an operator.
struct operator_summary {
  operator_id id;
  std::string uid; ///< empty: none
  std::string name;
  std::int32_t parallelism = 1;
  std::int32_t max_parallelism = 128;
  std::uint64_t stored_bytes = 0;        ///< on the disk
  std::uint64_t coordinator_bytes = 0;   ///< of its operator coordinator
  graph::row_type_ptr key_type;          ///< null: it has no keyed state
  std::vector<state_summary> states;     ///< by name
  std::vector<std::string> native_forms; ///< keyed state in these forms of backends cannot be read
};

/// One entry of a keyed state.
struct keyed_entry {
  state::state_namespace space = 0; ///< 0 for users' states
  byte_string entry_key;            ///< encoded; of a map's entries
  byte_string value;                ///< encoded, as the state's description says
};

/// Some entries; row i of `keys` is the key of the i-th.
struct keyed_piece {
  graph::record_batch keys;
  std::vector<keyed_entry> entries;
};

/// Reads a savepoint or checkpoint in the canonical form. Every byte is verified before it is used.
/// May block. One thread.
class savepoint_reader {
public:
  /// `files` lives longer. @param path  the directory
  /// @errors file_not_found, corrupt_snapshot, unsupported_snapshot_version
  static result<savepoint_reader> open(file_system& files, const std::string& path);

  const state::completed_checkpoint& content() const { return content_; }
  /// The operator with this uid; else the one with this name; else the one whose id begins so.
  /// @errors state_not_found  none; names those that there are
  /// @errors bad_usage        several
  result<operator_id> find(std::string_view words) const;

  /// Reads all of an operator's states, and counts. @errors corrupt_snapshot, storage_failed
  result<operator_summary> summarize(const operator_id& of) const;
  /// Types and names only. @errors as summarize
  result<operator_summary> describe(const operator_id& of) const;

  /// Gives what of a keyed state there is, piece by piece, until `visit` returns false.
  /// @errors state_not_found     names those that there are
  /// @errors incompatible_state  it is in the native form of a backend: take a canonical savepoint
  /// @errors corrupt_snapshot, storage_failed, and what `visit` fails with
  status read(const operator_id& of, const std::string& state,
              const std::function<result<bool>(const keyed_piece&)>& visit) const;
  /// Gives the elements of an operator state, until `visit` returns false. @errors as read
  status read_elements(const operator_id& of, const std::string& state,
                       const std::function<result<bool>(byte_view)>& visit) const;

private:
  savepoint_reader(file_system& files, state::completed_checkpoint content)
      : files_(&files), content_(std::move(content)) {}
  using declared_states = std::map<std::string, state::state_description>;
  /// What functions have declared of their operator's states, by name.
  status read_declarations(const state::operator_state_handle& handle,
                           const state::operator_state_handle::list& list,
                           declared_states& out) const;
  result<operator_summary> look(const operator_id& of, bool counts) const;
  const state::operator_state& at(const operator_id& of) const;

  file_system* files_;
  state::completed_checkpoint content_;
};

} // namespace headrace::processor
