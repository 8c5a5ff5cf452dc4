#include "libstate/keyed/state_description.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

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

/// When a row was written stands in the value, of an operator whose rows expire.
constexpr std::string_view written_field = "$written";
constexpr std::string_view bytes_field = "$bytes";

const std::vector<graph::logical_type::field>& parts_of(const graph::logical_type& type) {
  return is_bytes_of_parts(type) ? type.fields().front().type.fields() : type.fields();
}

bool has_stamp(const graph::logical_type& type) {
  const auto& parts = parts_of(type);
  return !parts.empty() && parts.back().name == written_field;
}

/// Whether rows were stored by a release that did not yet say what is in their bytes.
bool is_undescribed(const graph::logical_type& stored, const graph::logical_type& wanted) {
  const auto bytes = graph::logical_type::bytes();
  return is_bytes_of_parts(wanted) && has_stamp(stored) == has_stamp(wanted) &&
         (stored == bytes || (has_stamp(stored) && !is_bytes_of_parts(stored)));
}

std::string rows_difference(const graph::logical_type& stored, const graph::logical_type& wanted) {
  if (is_undescribed(stored, wanted))
    return {};
  if (!is_bytes_of_parts(stored) || !is_bytes_of_parts(wanted))
    return first_difference(stored, wanted, "value");
  return first_difference(stored.fields().front().type, wanted.fields().front().type, "value");
}

/// With state that an operator has for itself.
constexpr const char* what_to_do =
    "; go on with the query and its settings (as time to live, mini-batches) as they were, or "
    "begin without the checkpoint";

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

graph::logical_type bytes_of(std::vector<graph::logical_type::field> parts) {
  auto content = graph::logical_type::row(std::move(parts)).not_null();
  return graph::logical_type::row({{std::string(bytes_field), std::move(content), {}}}).not_null();
}

bool is_bytes_of_parts(const graph::logical_type& type) {
  return type.root() == graph::type_root::row && type.fields().size() == 1 &&
         type.fields().front().name == bytes_field;
}

error state_left(const state_description& left) {
  return {errc::incompatible_state,
          "checkpoint has a state that the operator no longer declares: `" + left.name + "`" +
              (is_user_kind(left.kind) ? "; keep its name, or drop it with "
                                         "--allow-non-restored-state"
                                       : what_to_do)};
}

status check_compatible(const state_description& stored, const state_description& wanted) {
  if (stored.kind != wanted.kind)
    return incompatible(wanted.name, "kind: was " + std::string(name_of(stored.kind)) + ", is " +
                                         std::string(name_of(wanted.kind)));
  auto difference = first_difference(stored.entry_key_type, wanted.entry_key_type, "map key");
  if (difference.empty())
    difference = rows_difference(stored.value_type, wanted.value_type);
  if (difference.empty() && stored.layout != wanted.layout)
    difference = "layout: was " + words_of(stored.layout) + ", is " + words_of(wanted.layout);
  if (!difference.empty())
    return incompatible(wanted.name, difference + (is_user_kind(wanted.kind) ? "" : what_to_do));
  return {};
}

} // namespace headrace::state
