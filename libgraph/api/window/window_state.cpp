#include "libgraph/api/window/window_state.hpp"

#include "libgraph/function/failure.hpp"
#include "libactors/base/assert.hpp"

namespace headrace::api {

void window_list::open(graph::state_provider& states, const std::string& name,
                       const graph::logical_type& element_type,
                       const graph::logical_type& window_type, byte_string default_element) {
  const auto place =
      graph::logical_type::row(
          {{"window", window_type, {}}, {"place", graph::logical_type::bigint().not_null(), {}}})
          .not_null();
  elements_ = &states.map(
      {name, graph::state_kind::map, element_type, place, 0, std::move(default_element)});
  bounds_ = &states.map(
      window_map_descriptor<std::pair<std::int64_t, std::int64_t>>(name + ".bounds", window_type));
}

window_list::bounds window_list::bounds_of(byte_view window) const {
  const auto held = bounds_->get(window);
  if (!held)
    return {};
  const auto [first, end] = decoded<std::pair<std::int64_t, std::int64_t>>(*held);
  return {first, end};
}

byte_view window_list::at(byte_view window, std::int64_t place) const {
  const auto held = elements_->get(name_of(window, place));
  HEADRACE_ASSERT(held.has_value(), "an element lies within its list's bounds");
  return *held;
}

void window_list::add(byte_view window, byte_view element) {
  auto now = bounds_of(window);
  elements_->put(name_of(window, now.end), element);
  ++now.end;
  put_bounds(window, now);
}

void window_list::merge(byte_view into, byte_view from) {
  const auto gone = bounds_of(from);
  auto now = bounds_of(into);
  for (auto place = gone.first; place < gone.end; ++place) {
    moved_.assign(at(from, place));
    elements_->put(name_of(into, now.end), moved_);
    ++now.end;
  }
  put_bounds(into, now);
  clear(from);
}

void window_list::clear(byte_view window) {
  const auto gone = bounds_of(window);
  if (gone.first == gone.end)
    return;
  for (auto place = gone.first; place < gone.end; ++place)
    elements_->remove(name_of(window, place));
  bounds_->remove(window);
}

void window_list::keep(byte_view window, const std::vector<std::int64_t>& kept) {
  const auto now = bounds_of(window);
  const auto size = static_cast<std::int64_t>(kept.size());
  if (size == now.end - now.first)
    return;
  if (kept.empty())
    return clear(window);
  // The last ones stay where they are; those before a gap move up to it.
  auto to = now.end;
  for (auto from = kept.rbegin(); from != kept.rend(); ++from) {
    --to;
    if (*from == to)
      continue;
    moved_.assign(at(window, *from));
    elements_->put(name_of(window, to), moved_);
  }
  for (auto place = now.first; place < to; ++place)
    elements_->remove(name_of(window, place));
  put_bounds(window, {to, now.end});
}

byte_view window_list::name_of(byte_view window, std::int64_t place) const {
  name_.assign(window);
  type_info<std::int64_t>::encode(name_, place);
  return name_;
}

void window_list::put_bounds(byte_view window, bounds to) {
  bounds_bytes_.clear();
  type_info<std::pair<std::int64_t, std::int64_t>>::encode(bounds_bytes_, {to.first, to.end});
  bounds_->put(window, bounds_bytes_);
}

void window_states::check() const {
  if (!refusal_.empty())
    throw graph::failure({errc::invalid_graph, refusal_});
}

} // namespace headrace::api
