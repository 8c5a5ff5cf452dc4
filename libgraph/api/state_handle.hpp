#pragma once

#include "libgraph/api/type_info.hpp"
#include "libgraph/function/state.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::api {

// Handles of keyed states: each means the state of the key of the row or timer that is being
// processed. Got in `open` (see open_context), kept as members, used until `close`. Storage
// failures are thrown as graph::failure and fail the task.

/// One value a key.
template <class T>
class value_state {
public:
  value_state() = default;
  explicit value_state(graph::value_access& access) : access_(&access) {}

  /// Nothing when it was never set, was cleared or has expired. Views inside the value are valid
  /// until the next call on any state.
  std::optional<T> get() const {
    const auto bytes = access_->get();
    return bytes ? std::optional<T>(decoded<T>(*bytes)) : std::nullopt;
  }
  T value_or(T fallback) const {
    const auto bytes = access_->get();
    return bytes ? decoded<T>(*bytes) : std::move(fallback);
  }
  bool has_value() const { return access_->get().has_value(); }
  bool is_empty() const { return !has_value(); }
  void set(const T& value) {
    scratch_.clear();
    type_info<T>::encode(scratch_, value);
    access_->put(scratch_);
  }
  void clear() { access_->clear(); }
  /// For the API.
  const graph::state_access& access() const { return *access_; }

private:
  graph::value_access* access_ = nullptr;
  byte_string scratch_;
};

/// A list a key, in the order of `add`.
template <class T>
class list_state {
public:
  list_state() = default;
  explicit list_state(graph::list_access& access) : access_(&access) {}

  std::size_t size() const { return access_->size(); }
  bool is_empty() const { return size() == 0; }
  T at(std::size_t index) const { return decoded<T>(access_->at(index)); }
  std::vector<T> get() const {
    std::vector<T> out;
    const auto count = size();
    out.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(at(i));
    return out;
  }
  void add(const T& value) {
    scratch_.clear();
    type_info<T>::encode(scratch_, value);
    access_->add(scratch_);
  }
  void set(const std::vector<T>& values) {
    clear();
    for (const auto& value : values)
      add(value);
  }
  void clear() { access_->clear(); }
  /// For the API.
  const graph::state_access& access() const { return *access_; }

private:
  graph::list_access* access_ = nullptr;
  byte_string scratch_;
};

/// A map a key.
template <class K, class V>
class map_state {
public:
  map_state() = default;
  explicit map_state(graph::map_access& access) : access_(&access) {}

  std::optional<V> get(const K& key) const {
    const auto bytes = access_->get(encoded_key(key));
    return bytes ? std::optional<V>(decoded<V>(*bytes)) : std::nullopt;
  }
  bool contains(const K& key) const { return access_->get(encoded_key(key)).has_value(); }
  void put(const K& key, const V& value) {
    value_scratch_.clear();
    type_info<V>::encode(value_scratch_, value);
    access_->put(encoded_key(key), value_scratch_);
  }
  void remove(const K& key) { access_->remove(encoded_key(key)); }
  bool is_empty() const { return access_->is_empty(); }
  void clear() { access_->clear(); }
  /// Calls `visit(key, value)` for each entry, ordered by encoded key; the map must not be changed
  /// meanwhile.
  template <class Visit>
  void for_each(Visit&& visit) const {
    access_->for_each(
        [](void* context, byte_view key, byte_view value) {
          (*static_cast<std::remove_reference_t<Visit>*>(context))(decoded<K>(key),
                                                                   decoded<V>(value));
          return true;
        },
        &visit);
  }
  /// For the API.
  const graph::state_access& access() const { return *access_; }

private:
  byte_view encoded_key(const K& key) const {
    key_scratch_.clear();
    type_info<K>::encode(key_scratch_, key);
    return key_scratch_;
  }

  graph::map_access* access_ = nullptr;
  mutable byte_string key_scratch_;
  byte_string value_scratch_;
};

/// A value a key that is combined with each one added.
template <class T>
class reducing_state {
public:
  using combine = std::function<T(const T&, const T&)>;
  reducing_state() = default;
  reducing_state(graph::value_access& access, combine function)
      : state_(access), function_(std::move(function)) {}

  std::optional<T> get() const { return state_.get(); }
  void add(const T& value) {
    const auto held = state_.get();
    state_.set(held ? function_(*held, value) : value);
  }
  void clear() { state_.clear(); }
  bool is_empty() const { return state_.is_empty(); }
  /// For the API.
  const graph::state_access& access() const { return state_.access(); }

private:
  value_state<T> state_;
  combine function_;
};

/// An accumulator a key, and the result of it. `Aggregate` derives from aggregate_function.
template <class Aggregate>
class aggregating_state {
public:
  using input_type = typename Aggregate::input_type;
  using accumulator_type = typename Aggregate::accumulator_type;
  using output_type = typename Aggregate::output_type;

  aggregating_state() = default;
  aggregating_state(graph::value_access& access, Aggregate function)
      : state_(access), function_(std::move(function)) {}

  std::optional<output_type> get() {
    const auto held = state_.get();
    return held ? std::optional<output_type>(function_->result(*held)) : std::nullopt;
  }
  void add(const input_type& value) {
    auto held = state_.get();
    if (!held)
      held = function_->create_accumulator();
    function_->add(value, *held);
    state_.set(*held);
  }
  void clear() { state_.clear(); }
  bool is_empty() const { return state_.is_empty(); }
  /// For the API.
  const graph::state_access& access() const { return state_.access(); }

private:
  value_state<accumulator_type> state_;
  std::optional<Aggregate> function_;
};

} // namespace headrace::api
