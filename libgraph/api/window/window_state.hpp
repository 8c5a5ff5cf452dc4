#pragma once

#include "libgraph/api/type_info.hpp"
#include "libgraph/function/state.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::api {

/// Which window of the current key is meant, encoded, and which ones have just become it. The
/// operator sets it; states of windows look at it.
class window_scope {
public:
  template <class Window>
  void set(const Window& window) {
    current_.clear();
    type_info<Window>::encode(current_, window);
  }
  template <class Window>
  void set_merged(const std::vector<Window>& windows) {
    merged_.clear();
    for (const auto& each : windows)
      type_info<Window>::encode(merged_.emplace_back(), each);
  }
  byte_view current() const { return current_; }
  const std::vector<byte_string>& merged() const { return merged_; }

private:
  byte_string current_;
  std::vector<byte_string> merged_;
};

/// A list a key and window, encoded. Elements are entries of one map, by window and place, so that
/// adding one does not write the others again.
class window_list {
public:
  /// Places of elements: [first, end).
  struct bounds {
    std::int64_t first = 0;
    std::int64_t end = 0;
  };
  void open(graph::state_provider& states, const std::string& name,
            const graph::logical_type& element_type, const graph::logical_type& window_type,
            byte_string default_element);

  bounds bounds_of(byte_view window) const;
  /// The view is valid until the next call on any state of the operator.
  byte_view at(byte_view window, std::int64_t place) const;
  void add(byte_view window, byte_view element);
  /// Appends the elements of another window, which has none then.
  void merge(byte_view into, byte_view from);
  void clear(byte_view window);
  /// Takes out the elements at [first, end) but for those at `kept`, which is ascending and of
  /// nobody else's places.
  void keep(byte_view window, const std::vector<std::int64_t>& kept);

private:
  byte_view name_of(byte_view window, std::int64_t place) const;
  void put_bounds(byte_view window, bounds to);

  graph::map_access* elements_ = nullptr;
  graph::map_access* bounds_ = nullptr;
  mutable byte_string name_;
  byte_string bounds_bytes_;
  byte_string moved_;
};

// Handles of states of a key and window, for triggers and window functions. Got in `open` of
// window_states; each means the window at hand.

/// One value a key and window.
template <class T>
class window_value_state {
public:
  window_value_state() = default;
  window_value_state(graph::map_access& access, const window_scope& scope)
      : access_(&access), scope_(&scope) {}

  std::optional<T> get() const { return of(scope_->current()); }
  T value_or(T fallback) const {
    auto held = get();
    return held ? std::move(*held) : std::move(fallback);
  }
  bool is_empty() const { return !access_->get(scope_->current()).has_value(); }
  void set(const T& value) {
    scratch_.clear();
    type_info<T>::encode(scratch_, value);
    access_->put(scope_->current(), scratch_);
  }
  void clear() { access_->remove(scope_->current()); }

protected:
  std::optional<T> of(byte_view window) const {
    const auto bytes = access_->get(window);
    return bytes ? std::optional<T>(decoded<T>(*bytes)) : std::nullopt;
  }
  const window_scope& scope() const { return *scope_; }

private:
  graph::map_access* access_ = nullptr;
  const window_scope* scope_ = nullptr;
  byte_string scratch_;
};

/// A value a key and window that is combined with each one added. Of windows that have become one
/// the values are combined by `trigger_context::merge`.
template <class T>
class window_reducing_state : private window_value_state<T> {
public:
  using combine = std::function<T(const T&, const T&)>;
  window_reducing_state() = default;
  window_reducing_state(graph::map_access& access, const window_scope& scope, combine function)
      : window_value_state<T>(access, scope), function_(std::move(function)) {}

  using window_value_state<T>::get;
  using window_value_state<T>::value_or;
  using window_value_state<T>::is_empty;
  using window_value_state<T>::clear;
  void add(const T& value) {
    const auto held = get();
    this->set(held ? function_(*held, value) : value);
  }
  /// For trigger_context.
  void merge() {
    for (const auto& window : this->scope().merged())
      if (const auto held = this->of(window))
        add(*held);
  }

private:
  combine function_;
};

/// A list a key and window, in the order of `add`.
template <class T>
class window_list_state {
public:
  window_list_state() = default;
  window_list_state(window_list list, const window_scope& scope)
      : list_(std::move(list)), scope_(&scope) {}

  bool is_empty() const { return get().empty(); }
  std::vector<T> get() const { return of(scope_->current()); }
  void add(const T& value) { list_.add(scope_->current(), encoded(value)); }
  void clear() { list_.clear(scope_->current()); }
  /// For trigger_context.
  void merge() {
    for (const auto& window : scope_->merged())
      for (const auto& value : of(window))
        add(value);
  }

private:
  std::vector<T> of(byte_view window) const {
    std::vector<T> out;
    const auto [first, end] = list_.bounds_of(window);
    for (auto place = first; place < end; ++place)
      out.push_back(decoded<T>(list_.at(window, place)));
    return out;
  }
  window_list list_;
  const window_scope* scope_ = nullptr;
};

/// Describes a map whose keys are windows or what begins with them.
template <class V>
graph::state_descriptor window_map_descriptor(std::string name, graph::logical_type key_type) {
  graph::state_descriptor out{
      std::move(name), graph::state_kind::map, info_of<V>::type(), std::move(key_type), 0, {}};
  if constexpr (has_fields<V>)
    out.default_value = encoded(V{});
  return out;
}

/// Gives states of a key and window by name, unique within a trigger or window function, in `open`.
class window_states {
public:
  /// @param refusal  why there are none; empty: there are
  window_states(graph::state_provider& states, graph::logical_type window_type,
                const window_scope& scope, std::string prefix, std::string refusal = {})
      : states_(&states), window_type_(std::move(window_type)), scope_(&scope),
        prefix_(std::move(prefix)), refusal_(std::move(refusal)) {}

  // @throws graph::failure  incompatible_state: a restored state of the name has another type;
  //         invalid_graph: windows that merge have no states for window functions
  template <class T>
  window_value_state<T> value(const std::string& name) {
    return {map<T>(name), *scope_};
  }
  template <class T>
  window_reducing_state<T> reducing(const std::string& name,
                                    typename window_reducing_state<T>::combine function) {
    return {map<T>(name), *scope_, std::move(function)};
  }
  template <class T>
  window_list_state<T> list(const std::string& name) {
    check();
    window_list out;
    byte_string default_element;
    if constexpr (has_fields<T>)
      default_element = encoded(T{});
    out.open(*states_, prefix_ + name, info_of<T>::type(), window_type_,
             std::move(default_element));
    return {std::move(out), *scope_};
  }

private:
  void check() const;
  template <class T>
  graph::map_access& map(const std::string& name) {
    check();
    return states_->map(window_map_descriptor<T>(prefix_ + name, window_type_));
  }

  graph::state_provider* states_;
  graph::logical_type window_type_;
  const window_scope* scope_;
  std::string prefix_;
  std::string refusal_;
};

} // namespace headrace::api
