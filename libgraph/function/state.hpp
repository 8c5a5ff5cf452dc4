#pragma once

#include "libgraph/types/logical_type.hpp"
#include "libactors/base/bytes.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace headrace::graph {

enum class state_kind : std::uint8_t {
  value = 1,
  list = 2,
  map = 3,
  reducing = 4,
  aggregating = 5
};

/// Describes one keyed state of a user function. Stored in snapshots and compared on restore.
struct state_descriptor {
  std::string name;
  state_kind kind = state_kind::value;
  logical_type value_type;
  logical_type key_type;   ///< of a map state's entries
  std::int64_t ttl_ms = 0; ///< 0: never expires
  /// A value as it is made, encoded: fields that a restored value has not are taken from it.
  byte_string default_value;
};

/// One state of a function: what its handles of any kind are.
class state_access {
public:
  virtual ~state_access() = default;
};

/// A value of the current key, encoded. Untyped side of `value_state<T>`; implemented by libstate.
/// Failures of storage are thrown as `failure`.
class value_access : public state_access {
public:
  /// The view is valid until the next call on any state of the operator.
  virtual std::optional<byte_view> get() = 0;
  virtual void put(byte_view value) = 0;
  virtual void clear() = 0;
};

/// A list of the current key, elements encoded one by one.
class list_access : public state_access {
public:
  virtual std::size_t size() = 0;
  virtual byte_view at(std::size_t index) = 0;
  virtual void add(byte_view element) = 0;
  virtual void clear() = 0;
};

/// A map of the current key: encoded keys to encoded values.
class map_access : public state_access {
public:
  virtual std::optional<byte_view> get(byte_view key) = 0;
  virtual void put(byte_view key, byte_view value) = 0;
  virtual void remove(byte_view key) = 0;
  virtual void clear() = 0;
  virtual bool is_empty() = 0;
  /// Calls `visit(key, value)` for each entry, ordered by encoded key, until it returns false.
  /// Entries must not be changed meanwhile.
  virtual void for_each(bool (*visit)(void* context, byte_view key, byte_view value),
                        void* context) = 0;
};

/// Gives states by descriptor, in `open` only. @throws failure  incompatible_state when a restored
/// state of that name has another kind or type
class state_provider {
public:
  virtual ~state_provider() = default;
  virtual value_access& value(const state_descriptor& descriptor) = 0;
  virtual list_access& list(const state_descriptor& descriptor) = 0;
  virtual map_access& map(const state_descriptor& descriptor) = 0;
};

/// Gives states of the operator itself, not of keys, in `open` only. Entries and elements are
/// encoded as those of keyed states are. @throws failure  incompatible_state when a restored state
/// of that name has another kind or type
class operator_state_provider {
public:
  virtual ~operator_state_provider() = default;
  /// A list whose elements are dealt out over the subtasks at another parallelism.
  virtual list_access& split_list(const state_descriptor& descriptor) = 0;
  /// A list of which, after a restore, each subtask has the elements of all.
  virtual list_access& union_list(const state_descriptor& descriptor) = 0;
  /// A map that each subtask fills alike, and of which a new one gets a copy.
  virtual map_access& broadcast_map(const state_descriptor& descriptor) = 0;
};

} // namespace headrace::graph
