#include "libstate/keyed/state_description.hpp"

#include <algorithm>

namespace headrace::state {

namespace {

std::string_view name_of(table_kind kind) {
  switch (kind) {
  case table_kind::value:
    return "value";
  case table_kind::list:
    return "list";
  case table_kind::map:
    return "map";
  case table_kind::reducing:
    return "reducing";
  case table_kind::aggregating:
    return "aggregating";
  case table_kind::operator_rows:
    return "operator rows";
  case table_kind::timers:
    return "timers";
  }
  return "unknown";
}

/// Says where two types first differ, as a path into them; empty when they do not.
std::string first_difference(const graph::logical_type& stored, const graph::logical_type& wanted,
                             const std::string& path) {
  if (stored == wanted)
    return {};
  const auto& left = stored.fields();
  const auto& right = wanted.fields();
  if (stored.root() == wanted.root() && !left.empty() && left.size() == right.size() &&
      stored.is_nullable() == wanted.is_nullable()) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      const auto name = left[i].name.empty() ? std::to_string(i) : left[i].name;
      if (left[i].name != right[i].name)
        return path + ": field " + std::to_string(i) + " was `" + left[i].name + "`, is `" +
               right[i].name + "`";
      auto found = first_difference(left[i].type, right[i].type, path + "." + name);
      if (!found.empty())
        return found;
    }
  }
  if (stored.root() == graph::type_root::row && wanted.root() == graph::type_root::row &&
      left.size() != right.size())
    return path + ": had " + std::to_string(left.size()) + " fields, has " +
           std::to_string(right.size());
  return path + ": was " + stored.to_sql() + ", is " + wanted.to_sql();
}

error incompatible(const std::string& name, const std::string& difference) {
  return {errc::incompatible_state,
          "state is incompatible with the restored one: `" + name + "`, " + difference};
}

std::string words_of(value_layout layout) {
  return layout.is_variable() ? std::string("variable")
                              : std::to_string(layout.fixed_bytes) + " bytes";
}

} // namespace

key_schema keys_of(const key_schema& key, const state_description& state) {
  const bool has_entries = state.kind == table_kind::operator_rows &&
                           state.entry_key_type.root() != graph::type_root::null;
  return has_entries ? key.with_entry(state.entry_key_type) : key;
}

status check_compatible(const state_description& stored, const state_description& wanted) {
  if (stored.kind != wanted.kind)
    return incompatible(wanted.name, "kind: was " + std::string(name_of(stored.kind)) + ", is " +
                                         std::string(name_of(wanted.kind)));
  auto difference = first_difference(stored.entry_key_type, wanted.entry_key_type, "map key");
  if (difference.empty())
    difference = first_difference(stored.value_type, wanted.value_type, "value");
  if (!difference.empty())
    return incompatible(wanted.name, difference);
  if (stored.layout != wanted.layout)
    return incompatible(wanted.name, "layout: was " + words_of(stored.layout) + ", is " +
                                         words_of(wanted.layout));
  return {};
}

} // namespace headrace::state
