#include "libgraph/expression/kernel/map.hpp"
#include "libgraph/expression/kernel/nested_access.hpp"
#include "libgraph/expression/kernel/value_printer.hpp"

#include <algorithm>

// Functions of arrays. NULL is an element like another, equal to itself.
namespace headrace::graph {
namespace {

bool is_array(const logical_type& type) { return type.root() == type_root::array; }

/// Whether the arguments are an array and, behind it, values as its elements.
bool takes_elements(const kernel_request& request, std::size_t count) {
  return request.arguments.size() == count && is_array(request.arguments[0]) &&
         (count == 1 ||
          request.arguments[1].physical() == request.arguments[0].child(0).physical());
}
bool are_same_arrays(const kernel_request& request) {
  for (const auto& each : request.arguments)
    if (!is_array(each) || each.child(0).physical() != request.type.child(0).physical())
      return false;
  return !request.arguments.empty();
}

std::optional<std::size_t> find_element(const list_reader& arrays, list_range in,
                                        const any_reader& wanted, std::size_t row) {
  for (auto i = in.begin; i < in.end; ++i)
    if (wanted.equals(row, arrays.elements(), i))
      return i - in.begin;
  return std::nullopt;
}

/// A number or truth of where an element is. NULL is looked for as well.
template <class R, class Function>
column_ptr map_places(kernel_frame& frame, Function f) {
  auto out = frame.buffers.allocate(frame.rows.total * sizeof(R));
  auto* to = out->mutable_as<R>();
  validity_writer validity(frame);
  const list_reader arrays(frame.arguments[0]);
  const any_reader wanted(frame.arguments[1]);
  for_each_row(frame.rows, [&](std::size_t row) {
    to[row] = R{};
    if (arrays.is_null(row))
      validity.set_null(row);
    else
      to[row] = f(find_element(arrays, arrays[row], wanted, row));
  });
  return make_fixed(frame.type, frame.rows.total, std::move(out), validity.finish());
}

result<kernel> make_contains(const kernel_request& request) {
  if (!takes_elements(request, 2))
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    return map_places<std::uint8_t>(frame, [](std::optional<std::size_t> at) {
      return static_cast<std::uint8_t>(at.has_value());
    });
  });
}

result<kernel> make_position(const kernel_request& request) {
  if (!takes_elements(request, 2))
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    return map_places<std::int32_t>(frame, [](std::optional<std::size_t> at) {
      return at ? static_cast<std::int32_t>(*at) + 1 : 0;
    });
  });
}

/// The elements for which `keeps(array, element, place)`.
template <class Keeps>
column_ptr filter_elements(kernel_frame& frame, std::size_t strict_arguments, Keeps keeps) {
  const list_reader arrays(frame.arguments[0]);
  const auto given = frame.arguments;
  frame.arguments = given.first(strict_arguments);
  auto out = build_rows(frame, true, [&](column_builder& to, std::size_t row) {
    const auto range = arrays[row];
    to.begin_list();
    for (auto i = range.begin; i < range.end; ++i)
      if (keeps(row, range, i))
        any_reader::append_to(arrays.elements(), i, to.child(0));
    to.end_list();
  });
  frame.arguments = given;
  return out;
}

result<kernel> make_remove(const kernel_request& request) {
  if (!takes_elements(request, 2))
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    const list_reader arrays(frame.arguments[0]);
    const any_reader wanted(frame.arguments[1]);
    return filter_elements(frame, 1, [&](std::size_t row, list_range, std::size_t i) {
      return !wanted.equals(row, arrays.elements(), i);
    });
  });
}

result<kernel> make_distinct(const kernel_request& request) {
  if (!takes_elements(request, 1))
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    const list_reader arrays(frame.arguments[0]);
    return filter_elements(frame, 1, [&](std::size_t, list_range range, std::size_t i) {
      for (auto before = range.begin; before < i; ++before)
        if (are_equal_keys(arrays.elements(), before, arrays.elements(), i))
          return false;
      return true;
    });
  });
}

/// Elements from one place to another, counted from 1, or from the end when below 0.
result<kernel> make_slice(const kernel_request& request) {
  const auto count = request.arguments.size();
  if (count < 2 || count > 3 || !is_array(request.arguments[0]))
    return unfit(request);
  for (std::size_t i = 1; i < count; ++i)
    if (request.arguments[i].root() != type_root::integer)
      return unfit(request);
  return kernel([count](kernel_frame& frame) {
    const reader<std::int32_t> from(frame.arguments[1]);
    const auto last = frame.arguments.back();
    return filter_elements(
        frame, count,
        [&, to = reader<std::int32_t>(last)](std::size_t row, list_range range, std::size_t i) {
          const auto size = static_cast<std::int64_t>(range.size());
          const auto place = [&](std::int64_t given) {
            return given < 0 ? size + given + 1 : given;
          };
          const auto at = static_cast<std::int64_t>(i - range.begin) + 1;
          const auto first = std::max<std::int64_t>(from[row] == 0 ? 1 : place(from[row]), 1);
          const auto end = count == 3 ? place(to[row]) : size;
          return at >= first && at <= end;
        });
  });
}

result<kernel> make_reverse(const kernel_request& request) {
  if (!takes_elements(request, 1))
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    const list_reader arrays(frame.arguments[0]);
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      const auto range = arrays[row];
      to.begin_list();
      for (auto i = range.end; i > range.begin; --i)
        any_reader::append_to(arrays.elements(), i - 1, to.child(0));
      to.end_list();
    });
  });
}

template <bool IsFirst>
result<kernel> make_append(const kernel_request& request) {
  if (!takes_elements(request, 2))
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    const list_reader arrays(frame.arguments[0]);
    const any_reader added(frame.arguments[1]);
    frame.arguments = frame.arguments.first(1);
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      const auto range = arrays[row];
      to.begin_list();
      if (IsFirst)
        added.append(row, to.child(0));
      for (auto i = range.begin; i < range.end; ++i)
        any_reader::append_to(arrays.elements(), i, to.child(0));
      if (!IsFirst)
        added.append(row, to.child(0));
      to.end_list();
    });
  });
}

/// All elements of all arrays; of a union each once.
template <bool IsUnion>
result<kernel> make_joined(const kernel_request& request) {
  if (!are_same_arrays(request))
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    std::vector<list_reader> arrays;
    for (const auto& each : frame.arguments)
      arrays.emplace_back(each);
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      const auto is_new = [&](std::size_t array, std::size_t element) {
        for (std::size_t k = 0; k <= array; ++k) {
          const auto range = arrays[k][row];
          for (auto i = range.begin; i < (k == array ? element : range.end); ++i)
            if (are_equal_keys(arrays[k].elements(), i, arrays[array].elements(), element))
              return false;
        }
        return true;
      };
      to.begin_list();
      for (std::size_t k = 0; k < arrays.size(); ++k) {
        const auto range = arrays[k][row];
        for (auto i = range.begin; i < range.end; ++i)
          if (!IsUnion || is_new(k, i))
            any_reader::append_to(arrays[k].elements(), i, to.child(0));
      }
      to.end_list();
    });
  });
}

/// The elements of the first array that the second has, or has not, each once.
template <bool IsIn>
result<kernel> make_selected(const kernel_request& request) {
  if (request.arguments.size() != 2 || !are_same_arrays(request))
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    const list_reader arrays(frame.arguments[0]);
    const list_reader others(frame.arguments[1]);
    return filter_elements(frame, 2, [&](std::size_t row, list_range range, std::size_t i) {
      for (auto before = range.begin; before < i; ++before)
        if (are_equal_keys(arrays.elements(), before, arrays.elements(), i))
          return false;
      const auto other = others[row];
      auto at = other.begin;
      while (at < other.end && !are_equal_keys(arrays.elements(), i, others.elements(), at))
        ++at;
      return (at < other.end) == IsIn;
    });
  });
}

/// ARRAY_SORT(array [, ascending [, NULLs first]]); NULLs are the least unless it says otherwise.
result<kernel> make_sort(const kernel_request& request) {
  const auto count = request.arguments.size();
  if (count < 1 || count > 3 || !is_array(request.arguments[0]) ||
      request.arguments[0].child(0).width_bytes() == 0)
    return unfit(request);
  for (std::size_t i = 1; i < count; ++i)
    if (request.arguments[i].physical() != physical_type::boolean)
      return unfit(request);
  return kernel([count](kernel_frame& frame) {
    const list_reader arrays(frame.arguments[0]);
    std::vector<std::size_t> order;
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      const auto flag = [&](std::size_t argument) {
        return reader<std::uint8_t>(frame.arguments[argument])[row] != 0;
      };
      const bool ascends = count < 2 || flag(1);
      const bool nulls_first = count < 3 ? ascends : flag(2);
      const auto& elements = arrays.elements();
      order.clear();
      for (auto i = arrays[row].begin; i < arrays[row].end; ++i)
        order.push_back(i);
      std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        const bool is_left_null = elements.is_null(left);
        const bool is_right_null = elements.is_null(right);
        if (is_left_null || is_right_null)
          return is_left_null != is_right_null && is_left_null == nulls_first;
        const auto compared = compare_values(elements, left, elements, right);
        return ascends ? compared < 0 : compared > 0;
      });
      to.begin_list();
      for (const auto i : order)
        any_reader::append_to(elements, i, to.child(0));
      to.end_list();
    });
  });
}

/// The least (sign 1) or greatest (-1) element that is not NULL.
template <int Sign>
result<kernel> make_extreme_element(const kernel_request& request) {
  if (!takes_elements(request, 1) || request.arguments[0].child(0).width_bytes() == 0)
    return unfit(request);
  return kernel([](kernel_frame& frame) {
    const list_reader arrays(frame.arguments[0]);
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      const auto range = arrays[row];
      const auto& elements = arrays.elements();
      auto best = range.end;
      for (auto i = range.begin; i < range.end; ++i)
        if (!elements.is_null(i) &&
            (best == range.end || compare_values(elements, i, elements, best) * Sign < 0))
          best = i;
      if (best == range.end)
        to.append_null();
      else
        to.append_from(elements, best);
    });
  });
}

/// The elements as text with a separator between them; NULLs are left out, or written as the third
/// argument.
result<kernel> make_join(const kernel_request& request) {
  const auto count = request.arguments.size();
  if (count < 2 || count > 3 || !is_array(request.arguments[0]))
    return unfit(request);
  for (std::size_t i = 1; i < count; ++i)
    if (request.arguments[i].physical() != physical_type::string)
      return unfit(request);
  return kernel([count, zone = request.zone](kernel_frame& frame) {
    const list_reader arrays(frame.arguments[0]);
    const reader<std::string_view> separator(frame.arguments[1]);
    const reader<std::string_view> missing(frame.arguments.back());
    std::string made;
    return build_rows(frame, true, [&](column_builder& to, std::size_t row) {
      const auto range = arrays[row];
      made.clear();
      bool is_first = true;
      for (auto i = range.begin; i < range.end; ++i) {
        const bool is_null = arrays.elements().is_null(i);
        if (is_null && count < 3)
          continue;
        if (!is_first)
          made += separator[row];
        is_first = false;
        if (is_null)
          made += missing[row];
        else
          append_cast_text(arrays.elements(), i, *zone, made);
      }
      to.append_string(made);
    });
  });
}

constexpr kernel_entry entries[] = {
    {"ARRAY_APPEND", ".e", make_append<false>, false},
    {"ARRAY_CONCAT", "r", make_joined<false>},
    {"ARRAY_CONTAINS", ".e", make_contains, false},
    {"ARRAY_DISTINCT", ".", make_distinct},
    {"ARRAY_EXCEPT", "r", make_selected<false>},
    {"ARRAY_INTERSECT", "r", make_selected<true>},
    {"ARRAY_JOIN", ".s", make_join},
    {"ARRAY_MAX", ".", make_extreme_element<-1>},
    {"ARRAY_MIN", ".", make_extreme_element<1>},
    {"ARRAY_POSITION", ".e", make_position, false},
    {"ARRAY_PREPEND", ".e", make_append<true>, false},
    {"ARRAY_REMOVE", ".e", make_remove, false},
    {"ARRAY_REVERSE", ".", make_reverse},
    {"ARRAY_SORT", ".", make_sort},
    {"ARRAY_SLICE", ".i", make_slice},
    {"ARRAY_UNION", "r", make_joined<true>},
};

} // namespace

std::span<const kernel_entry> array_kernels() { return entries; }

} // namespace headrace::graph
