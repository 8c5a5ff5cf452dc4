#include "libgraph/expression/kernel/map.hpp"
#include "libgraph/expression/kernel/nested_access.hpp"
#include "libgraph/expression/kernel/utf8.hpp"

#include <algorithm>

// What makes arrays, maps, multisets and rows, and takes them apart.
namespace headrace::graph {
namespace {

bool has_entries(const logical_type& type) {
  return type.root() == type_root::map || type.root() == type_root::multiset;
}

/// Whether every `step`-th argument lies as the child of the result.
bool are_children(const kernel_request& request, std::size_t step) {
  if (request.arguments.empty() || request.arguments.size() % step != 0)
    return false;
  for (std::size_t i = 0; i < request.arguments.size(); ++i) {
    const auto& child = request.type.storage_child(i % step);
    if (request.arguments[i].physical() != child.physical() &&
        request.arguments[i].root() != type_root::null)
      return false;
  }
  return true;
}

std::vector<any_reader> read_all(const kernel_frame& frame) {
  std::vector<any_reader> out;
  for (const auto& each : frame.arguments)
    out.emplace_back(each);
  return out;
}

result<kernel> make_array(const kernel_request& request) {
  if (request.type.root() != type_root::array || !are_children(request, 1))
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    const auto items = read_all(frame);
    return build_rows(frame, false, [&](column_builder& to, std::size_t row) {
      to.begin_list();
      for (const auto& each : items)
        each.append(row, to.child(0));
      to.end_list();
    });
  });
}

bool are_same(const kernel_frame& frame, std::size_t one, std::size_t other, std::size_t row) {
  const auto& left = frame.arguments[one];
  const auto& right = frame.arguments[other];
  return are_equal_keys(*left.values, left.is_constant ? 0 : row, *right.values,
                        right.is_constant ? 0 : row);
}

/// Of equal keys the last value stays.
result<kernel> make_map(const kernel_request& request) {
  if (request.type.root() != type_root::map || !are_children(request, 2))
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    const auto items = read_all(frame);
    return build_rows(frame, false, [&](column_builder& to, std::size_t row) {
      to.begin_list();
      for (std::size_t i = 0; i < items.size(); i += 2) {
        bool comes_again = false;
        for (auto later = i + 2; later < items.size(); later += 2)
          comes_again |= are_same(frame, i, later, row);
        if (comes_again)
          continue;
        items[i].append(row, to.child(0));
        items[i + 1].append(row, to.child(1));
      }
      to.end_list();
    });
  });
}

result<kernel> make_multiset(const kernel_request& request) {
  if (request.type.root() != type_root::multiset || request.arguments.empty())
    return unfit(request);
  for (const auto& each : request.arguments)
    if (each.physical() != request.type.child(0).physical())
      return unfit(request);
  return kernel([](kernel_frame& frame) {
    const auto items = read_all(frame);
    return build_rows(frame, false, [&](column_builder& to, std::size_t row) {
      to.begin_list();
      for (std::size_t i = 0; i < items.size(); ++i) {
        std::int32_t count = 0;
        bool came_before = false;
        for (std::size_t k = 0; k < items.size(); ++k)
          if (are_same(frame, i, k, row)) {
            came_before |= k < i;
            ++count;
          }
        if (came_before)
          continue;
        items[i].append(row, to.child(0));
        to.child(1).append(count);
      }
      to.end_list();
    });
  });
}

/// The arguments themselves, as fields.
result<kernel> make_row(const kernel_request& request) {
  if (request.type.root() != type_root::row ||
      request.type.child_count() != request.arguments.size())
    return unfit(request);
  for (std::size_t i = 0; i < request.arguments.size(); ++i)
    if (request.arguments[i].physical() != request.type.child(i).physical())
      return unfit(request);
  return kernel([](kernel_frame& frame) {
    column::parts parts;
    parts.size = frame.rows.total;
    for (std::size_t i = 0; i < frame.arguments.size(); ++i) {
      auto field = operand_as_column(frame, i);
      const auto& type = frame.type.child(i);
      parts.children.push_back(field->type() == type ? std::move(field)
                                                     : column::make(type, field->content()));
    }
    return column::make(frame.type, std::move(parts));
  });
}

/// The number of elements, of a multiset with those that come again.
result<kernel> make_cardinality(const kernel_request& request) {
  if (request.arguments.size() != 1 ||
      (request.arguments[0].root() != type_root::array && !has_entries(request.arguments[0])))
    return unfit(request);
  const bool is_multiset = request.arguments[0].root() == type_root::multiset;
  return kernel([is_multiset](kernel_frame& frame) {
    auto out = frame.buffers.allocate(frame.rows.total * sizeof(std::int32_t));
    auto* to = out->mutable_as<std::int32_t>();
    const list_reader lists(frame.arguments[0]);
    for_each_row(frame.rows, [&](std::size_t row) {
      const auto range = lists[row];
      to[row] = static_cast<std::int32_t>(range.size());
      if (is_multiset) {
        to[row] = 0;
        for (auto i = range.begin; i < range.end; ++i)
          to[row] += lists.entry_values().values<std::int32_t>()[i];
      }
    });
    return make_fixed(frame.type, frame.rows.total, std::move(out), joined_validity(frame));
  });
}

/// The only element; NULL of an empty array.
result<kernel> make_only(const kernel_request& request, const char* refusal) {
  if (request.arguments.size() != 1 || request.arguments[0].root() != type_root::array)
    return unfit(request);
  return kernel([refusal](kernel_frame& frame) {
    const list_reader lists(frame.arguments[0]);
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      const auto range = lists[row];
      if (range.size() > 1)
        frame.fail(refusal, std::to_string(range.size()));
      if (range.size() != 1)
        to.append_null();
      else
        any_reader::append_to(lists.elements(), range.begin, to);
    });
  });
}

result<kernel> make_element(const kernel_request& request) {
  return make_only(request, "array has more than one element");
}
/// Of the rows of a query that stands for a value.
result<kernel> make_only_row(const kernel_request& request) {
  return make_only(request, "a query that stands for a value gave more than one row");
}

/// a[i], counted from 1, or m[key]; NULL where there is none.
result<kernel> make_item(const kernel_request& request) {
  if (request.arguments.size() != 2)
    return unfit(request);
  const auto& from = request.arguments[0];
  if (from.root() == type_root::array && request.arguments[1].root() == type_root::integer)
    return kernel([](kernel_frame& frame) {
      const list_reader lists(frame.arguments[0]);
      const reader<std::int32_t> places(frame.arguments[1]);
      return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
        const auto range = lists[row];
        const auto place = places[row];
        if (place < 1 || static_cast<std::size_t>(place) > range.size())
          to.append_null();
        else
          any_reader::append_to(lists.elements(), range.begin + static_cast<std::size_t>(place) - 1,
                                to);
      });
    });
  if (from.root() != type_root::map || request.arguments[1].physical() != from.child(0).physical())
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    const list_reader maps(frame.arguments[0]);
    const any_reader keys(frame.arguments[1]);
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      const auto range = maps[row];
      auto i = range.begin;
      while (i < range.end && !keys.equals(row, maps.elements(), i))
        ++i;
      if (i == range.end)
        to.append_null();
      else
        any_reader::append_to(maps.entry_values(), i, to);
    });
  });
}

/// The keys (0) or values (1) of a map: its children as lists.
template <std::size_t Child>
result<kernel> make_map_side(const kernel_request& request) {
  if (request.arguments.size() != 1 || request.arguments[0].root() != type_root::map ||
      request.type.root() != type_root::array)
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    const auto from = operand_as_column(frame, 0);
    auto parts = from->content();
    auto side = parts.children[Child];
    const auto& type = frame.type.child(0);
    parts.children = {side->type() == type ? std::move(side) : column::make(type, side->content())};
    return column::make(frame.type, std::move(parts));
  });
}

/// Each entry as a row of key and value.
result<kernel> make_entries(const kernel_request& request) {
  if (request.arguments.size() != 1 || request.arguments[0].root() != type_root::map ||
      request.type.root() != type_root::array || request.type.child(0).root() != type_root::row)
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    const list_reader maps(frame.arguments[0]);
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      const auto range = maps[row];
      to.begin_list();
      for (auto i = range.begin; i < range.end; ++i) {
        auto& entry = to.child(0);
        any_reader::append_to(maps.elements(), i, entry.child(0));
        any_reader::append_to(maps.entry_values(), i, entry.child(1));
        entry.end_row();
      }
      to.end_list();
    });
  });
}

/// Of equal keys the last value stays.
result<kernel> make_map_of_arrays(const kernel_request& request) {
  if (request.arguments.size() != 2 || request.type.root() != type_root::map ||
      request.arguments[0].root() != type_root::array ||
      request.arguments[1].root() != type_root::array)
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    const list_reader keys(frame.arguments[0]);
    const list_reader values(frame.arguments[1]);
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      const auto key_range = keys[row];
      const auto value_range = values[row];
      if (key_range.size() != value_range.size())
        frame.fail("as many values are wanted as keys", std::to_string(value_range.size()));
      const auto size = std::min(key_range.size(), value_range.size());
      to.begin_list();
      for (std::size_t i = 0; i < size; ++i) {
        bool comes_again = false;
        for (auto later = i + 1; later < size; ++later)
          comes_again |= are_equal_keys(keys.elements(), key_range.begin + i, keys.elements(),
                                        key_range.begin + later);
        if (comes_again)
          continue;
        any_reader::append_to(keys.elements(), key_range.begin + i, to.child(0));
        any_reader::append_to(values.elements(), value_range.begin + i, to.child(1));
      }
      to.end_list();
    });
  });
}

/// The entries of all maps; of equal keys that of the last map stays.
result<kernel> make_map_union(const kernel_request& request) {
  if (request.type.root() != type_root::map || request.arguments.empty())
    return unfit(request);
  for (const auto& each : request.arguments)
    if (each.root() != type_root::map ||
        each.child(0).physical() != request.type.child(0).physical() ||
        each.child(1).physical() != request.type.child(1).physical())
      return unfit(request);
  return kernel([](kernel_frame& frame) {
    std::vector<list_reader> maps;
    for (const auto& each : frame.arguments)
      maps.emplace_back(each);
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      const auto comes_again = [&](std::size_t map, std::size_t key) {
        for (auto later = map + 1; later < maps.size(); ++later)
          for (auto i = maps[later][row].begin; i < maps[later][row].end; ++i)
            if (are_equal_keys(maps[map].elements(), key, maps[later].elements(), i))
              return true;
        return false;
      };
      to.begin_list();
      for (std::size_t map = 0; map < maps.size(); ++map) {
        const auto range = maps[map][row];
        for (auto i = range.begin; i < range.end; ++i) {
          if (comes_again(map, i))
            continue;
          any_reader::append_to(maps[map].elements(), i, to.child(0));
          any_reader::append_to(maps[map].entry_values(), i, to.child(1));
        }
      }
      to.end_list();
    });
  });
}

/// Calls `see` for each part between separators; an empty separator parts code points.
template <class See>
void split_text(std::string_view from, std::string_view separator, See see) {
  if (separator.empty()) {
    while (!from.empty()) {
      see(front_point(from));
      from.remove_prefix(front_point(from).size());
    }
    return;
  }
  for (auto at = find_text(from, separator); at != from.npos; at = find_text(from, separator)) {
    see(from.substr(0, at));
    from.remove_prefix(at + separator.size());
  }
  see(from);
}

result<kernel> make_split(const kernel_request& request) {
  if (request.arguments.size() != 2 || request.type.root() != type_root::array ||
      request.arguments[0].physical() != physical_type::string ||
      request.arguments[1].physical() != physical_type::string)
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    const reader<std::string_view> texts(frame.arguments[0]);
    const reader<std::string_view> separators(frame.arguments[1]);
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      to.begin_list();
      if (!texts[row].empty())
        split_text(texts[row], separators[row],
                   [&](std::string_view part) { to.child(0).append_string(part); });
      to.end_list();
    });
  });
}

/// "a=1,b=2" as a map; of equal keys the last stays. What has no sign between has no value: NULL.
result<kernel> make_text_map(const kernel_request& request) {
  const auto count = request.arguments.size();
  if ((count != 1 && count != 3) || request.type.root() != type_root::map)
    return unfit(request);
  for (const auto& each : request.arguments)
    if (each.physical() != physical_type::string)
      return unfit(request);
  return kernel([count](kernel_frame& frame) {
    const reader<std::string_view> texts(frame.arguments[0]);
    const reader<std::string_view> between(frame.arguments[count == 3 ? 1 : 0]);
    const reader<std::string_view> signs(frame.arguments.back());
    std::vector<std::string_view> parts;
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      const auto sign = count == 3 ? signs[row] : std::string_view("=");
      parts.clear();
      if (!texts[row].empty())
        split_text(texts[row], count == 3 ? between[row] : std::string_view(","),
                   [&](std::string_view part) { parts.push_back(part); });
      const auto key_of = [&](std::string_view part) {
        return part.substr(0, find_text(part, sign));
      };
      to.begin_list();
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto key = key_of(parts[i]);
        bool comes_again = false;
        for (auto later = i + 1; later < parts.size(); ++later)
          comes_again |= key_of(parts[later]) == key;
        if (comes_again)
          continue;
        to.child(0).append_string(key);
        if (key.size() == parts[i].size())
          to.child(1).append_null();
        else
          to.child(1).append_string(parts[i].substr(key.size() + sign.size()));
      }
      to.end_list();
    });
  });
}

constexpr kernel_entry entries[] = {
    {"ARRAY", ".", make_array, false},
    {"CARDINALITY", ".", make_cardinality},
    {"ELEMENT", ".", make_element, true, true},
    {"ITEM", ".", make_item},
    {"MAP", ".", make_map, false},
    {"MAP_ENTRIES", ".", make_entries},
    {"MAP_FROM_ARRAYS", ".", make_map_of_arrays, true, true},
    {"MAP_UNION", "r", make_map_union},
    {"MAP_KEYS", ".", make_map_side<0>},
    {"MAP_VALUES", ".", make_map_side<1>},
    {"MULTISET", ".", make_multiset, false},
    {"ROW", ".", make_row, false},
    {"SPLIT", "s", make_split},
    {"STR_TO_MAP", "s", make_text_map},
    {"SUB-QUERY", ".", make_only_row, true, true},
};

} // namespace

std::span<const kernel_entry> collection_kernels() { return entries; }

} // namespace headrace::graph
