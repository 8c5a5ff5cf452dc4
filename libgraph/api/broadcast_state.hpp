#pragma once

#include "libgraph/api/collector.hpp"
#include "libgraph/api/process_function.hpp"
#include "libgraph/api/state_handle.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::api {

/// Names a broadcast state: a map that all subtasks of an operator hold alike.
template <class Key, class Value>
class map_state_descriptor {
public:
  explicit map_state_descriptor(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }

private:
  std::string name_;
};

/// A broadcast state in one subtask. Where it may only be read it is given `const`. Each subtask
/// must do the same to it for the same row that is broadcast: a checkpoint is restored with the
/// copy of one of them where the parallelism has changed.
template <class Key, class Value>
class broadcast_state {
public:
  explicit broadcast_state(graph::map_access& access) : map_(access) {}
  broadcast_state(const broadcast_state&) = delete;
  broadcast_state& operator=(const broadcast_state&) = delete;

  std::optional<Value> get(const Key& key) const { return map_.get(key); }
  bool contains(const Key& key) const { return map_.contains(key); }
  bool is_empty() const { return map_.is_empty(); }
  /// Calls `visit(key, value)` for each entry, ordered by encoded key; the map must not be changed
  /// meanwhile.
  template <class Visit>
  void for_each(Visit&& visit) const {
    map_.for_each(std::forward<Visit>(visit));
  }
  void put(const Key& key, const Value& value) { map_.put(key, value); }
  void remove(const Key& key) { map_.remove(key); }
  void clear() { map_.clear(); }

private:
  map_state<Key, Value> map_;
};

/// The broadcast states that a stream is broadcast with. Described with the job; opened in each
/// subtask.
class broadcast_states {
public:
  /// @throws graph::failure  (invalid_graph) two of one name
  template <class Key, class Value>
  void add(const map_state_descriptor<Key, Value>& described) {
    graph::state_descriptor descriptor{described.name(),
                                       graph::state_kind::map,
                                       info_of<Value>::type(),
                                       info_of<Key>::type(),
                                       0,
                                       {}};
    if constexpr (has_fields<Value>)
      descriptor.default_value = encoded(Value{});
    add(std::move(descriptor), type_key_of<map_state_descriptor<Key, Value>>(),
        [](graph::map_access& access) -> std::shared_ptr<void> {
          return std::make_shared<broadcast_state<Key, Value>>(access);
        });
  }
  void open(graph::operator_state_provider& states);

  /// @throws graph::failure  (invalid_graph) the stream was broadcast without it; (type_mismatch)
  ///         with other types
  template <class Key, class Value>
  broadcast_state<Key, Value>& at(const map_state_descriptor<Key, Value>& described) const {
    return *static_cast<broadcast_state<Key, Value>*>(
        find(described.name(), type_key_of<map_state_descriptor<Key, Value>>()));
  }

private:
  using maker = std::shared_ptr<void> (*)(graph::map_access&);
  struct entry {
    graph::state_descriptor descriptor;
    type_key type;
    maker make;
    std::shared_ptr<void> handle; ///< once opened
  };
  void add(graph::state_descriptor descriptor, type_key type, maker make);
  void* find(const std::string& name, type_key type) const;

  std::vector<entry> entries_;
};

} // namespace headrace::api
