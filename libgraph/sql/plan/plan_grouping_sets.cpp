#include "libgraph/job_graph/structure_hash.hpp"
#include "libgraph/sql/plan/query_planner.hpp"

#include <algorithm>
#include <string>
#include <utility>

// GROUPING SETS, ROLLUP and CUBE: a union of the rows, once for each set of keys.
namespace headrace::sql {
namespace {

constexpr std::size_t sets_max = 256;

using key_set = std::vector<std::size_t>; ///< places of keys, ascending

key_set joined(const key_set& left, const key_set& right) {
  auto out = left;
  out.insert(out.end(), right.begin(), right.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// Of the column that has a row's set. State is kept by it, and is that of other sets when they are
/// in its name.
std::string name_of(const std::vector<key_set>& sets) {
  std::string out = "$e of ";
  for (const auto& set : sets) {
    out += '(';
    for (const auto key : set)
      out += std::to_string(key) + (key == set.back() ? "" : ",");
    out += ')';
  }
  constexpr std::size_t shown_max = 64;
  if (out.size() > shown_max)
    out = "$e of " + std::to_string(sets.size()) + " sets #" +
          std::to_string(graph::structure_hash(out).first);
  return out;
}

} // namespace

bool query_planner::has_grouping_sets(const select& from) {
  return std::any_of(from.group_by.begin(), from.group_by.end(), [](const grouping& each) {
    return each.written != grouping::kind::expressions;
  });
}

std::optional<std::vector<std::vector<std::size_t>>>
query_planner::sets_of(const grouping& from, expression_binder& binder,
                       std::vector<bound_expression>& keys) {
  using kind = grouping::kind;
  std::vector<key_set> out;
  if (from.written == kind::expressions) {
    key_set all;
    for (const auto& each : from.expressions) {
      auto bound = binder.bind(each);
      if (!bound)
        return std::nullopt;
      const auto same = std::find(keys.begin(), keys.end(), *bound);
      all.push_back(static_cast<std::size_t>(same - keys.begin()));
      if (same == keys.end())
        keys.push_back(std::move(*bound));
    }
    out.push_back(joined(all, {}));
    return out;
  }
  std::vector<std::vector<key_set>> elements;
  for (const auto& each : from.elements) {
    auto made = sets_of(each, binder, keys);
    if (!made)
      return std::nullopt;
    elements.push_back(std::move(*made));
  }
  if (from.written == kind::sets) {
    for (auto& each : elements)
      out.insert(out.end(), each.begin(), each.end());
    return out;
  }
  // Each element of ROLLUP and CUBE is one set.
  if (from.written == kind::rollup) {
    for (auto count = elements.size() + 1; count-- > 0;) {
      key_set one;
      for (std::size_t i = 0; i < count; ++i)
        one = joined(one, elements[i][0]);
      out.push_back(std::move(one));
    }
    return out;
  }
  if (elements.size() > 8) {
    unsupported("CUBE takes at most 8 keys", from.at);
    return std::nullopt;
  }
  for (auto mask = std::size_t{1} << elements.size(); mask-- > 0;) {
    key_set one;
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (((mask >> (elements.size() - 1 - i)) & 1U) != 0U)
        one = joined(one, elements[i][0]);
    out.push_back(std::move(one));
  }
  return out;
}

/// Puts key columns in place of keys outside aggregates, and what tells of the set in place of
/// GROUPING.
bool query_planner::find_keys(bound_expression& in, const grouping_sets& sets, bool in_aggregate) {
  if (auto* call = std::get_if<bound_call>(&in.node);
      call != nullptr && (call->function == "GROUPING" || call->function == "GROUPING_ID")) {
    const auto same = std::find(sets.groupings.begin(), sets.groupings.end(), in);
    if (same == sets.groupings.end()) {
      fail(diagnostic_kind::invalid, call->function + " takes keys of GROUP BY", in.at);
      return false;
    }
    in.node =
        bound_column{sets.first_grouping + static_cast<std::size_t>(same - sets.groupings.begin())};
    return true;
  }
  if (!in_aggregate) {
    const auto key = std::find(sets.keys.begin(), sets.keys.end(), in);
    if (key != sets.keys.end()) {
      const auto place = static_cast<std::size_t>(key - sets.keys.begin());
      in.node = bound_column{sets.first_key + place};
      in.type = sets.key_types[place];
      return true;
    }
  }
  bool is_sound = true;
  if (auto* field = std::get_if<bound_field>(&in.node)) {
    is_sound = find_keys(*field->row, sets, in_aggregate);
  } else if (auto* call = std::get_if<bound_call>(&in.node)) {
    const bool inside = in_aggregate || call->is_aggregate;
    for_each_child(*call, [&](bound_expression& each) {
      is_sound = find_keys(each, sets, inside) && is_sound;
    });
  }
  return is_sound;
}

void query_planner::find_groupings(const bound_expression& in, std::vector<bound_expression>& out) {
  if (const auto* field = std::get_if<bound_field>(&in.node))
    return find_groupings(*field->row, out);
  const auto* call = std::get_if<bound_call>(&in.node);
  if (call == nullptr)
    return;
  if (call->function != "GROUPING" && call->function != "GROUPING_ID") {
    for_each_child(*call, [&](const bound_expression& each) { find_groupings(each, out); });
    return;
  }
  if (std::find(out.begin(), out.end(), in) == out.end())
    out.push_back(in);
}

std::optional<query_planner::grouping_sets>
query_planner::plan_sets(plan_node& rows, const select& from, expression_binder& binder,
                         std::vector<bound_expression*> expressions) {
  grouping_sets out;
  std::vector<key_set> sets{{}};
  for (const auto& each : from.group_by) {
    auto more = sets_of(each, binder, out.keys);
    if (!more)
      return std::nullopt;
    std::vector<key_set> product;
    for (const auto& left : sets)
      for (const auto& right : *more)
        product.push_back(joined(left, right));
    sets = std::move(product);
    if (sets.size() > sets_max) {
      unsupported("GROUP BY has more than " + std::to_string(sets_max) + " sets of keys", each.at);
      return std::nullopt;
    }
  }
  for (const auto* each : expressions)
    find_groupings(*each, out.groupings);
  for (std::size_t i = 0; i < out.keys.size(); ++i) {
    const bool is_in_all = std::all_of(sets.begin(), sets.end(), [&](const key_set& each) {
      return std::find(each.begin(), each.end(), i) != each.end();
    });
    out.key_types.push_back(is_in_all ? out.keys[i].type : out.keys[i].type.nullable());
  }
  const auto width = rows.columns.size();
  out.first_key = width;
  out.first_grouping = width + out.keys.size();
  plan_node all;
  all.at = rows.at;
  all.node = set_node{set_operator::union_, true};
  const auto bigint = logical_type::bigint().not_null();
  const auto sets_name = name_of(sets);
  for (std::size_t number = 0; number < sets.size(); ++number) {
    const auto& set = sets[number];
    const auto has = [&](std::size_t key) {
      return std::find(set.begin(), set.end(), key) != set.end();
    };
    auto items = identity_items(rows.columns);
    std::vector<std::string> names;
    for (const auto& each : rows.columns)
      names.push_back(each.name);
    for (std::size_t i = 0; i < out.keys.size(); ++i) {
      const auto* column = std::get_if<bound_column>(&out.keys[i].node);
      names.push_back("$k" + std::to_string(i) +
                      (column == nullptr ? "" : " " + rows.columns[column->index].name));
      if (has(i))
        items.push_back(out.keys[i]);
      else
        items.push_back({bound_constant{}, out.key_types[i], {}});
    }
    for (const auto& each : out.groupings) {
      std::int64_t bits = 0;
      for (const auto& argument : std::get<bound_call>(each.node).arguments) {
        const auto key = std::find(out.keys.begin(), out.keys.end(), argument);
        if (key == out.keys.end()) {
          fail(diagnostic_kind::invalid, "GROUPING takes keys of GROUP BY", argument.at);
          return std::nullopt;
        }
        bits = bits * 2 + (has(static_cast<std::size_t>(key - out.keys.begin())) ? 0 : 1);
      }
      names.push_back("$g" + std::to_string(names.size()));
      items.push_back({bound_constant{std::to_string(bits), std::nullopt}, bigint, {}});
    }
    names.push_back(sets_name);
    items.push_back({bound_constant{std::to_string(number), std::nullopt}, bigint, {}});
    all.inputs.push_back(projected(rows, std::move(items), std::move(names)));
  }
  all.columns = all.inputs[0].columns;
  for (std::size_t i = 0; i < out.keys.size(); ++i) {
    // A key of all sets keeps what it has to do with time and windows.
    auto& column = all.columns[out.first_key + i];
    column.type = out.key_types[i];
    if (!(out.key_types[i] == out.keys[i].type)) {
      column.time = time_kind::none;
      column.window.reset();
    }
  }
  rows = std::move(all);
  return out;
}

} // namespace headrace::sql
