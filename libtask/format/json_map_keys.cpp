#include "libtask/format/json_map_keys.hpp"

#include "libtask/format/scalar_text.hpp"
#include "libgraph/kernel/compare.hpp"

#include <algorithm>
#include <cstddef>

namespace headrace::task {
namespace {

constexpr std::size_t few_keys = 16;

bool all_differ(std::span<const std::string_view> keys) {
  if (keys.size() <= few_keys) {
    for (auto i = keys.begin(); i != keys.end(); ++i)
      if (std::find(i + 1, keys.end(), *i) != keys.end())
        return false;
    return true;
  }
  std::vector<std::string_view> sorted;
  sorted.assign(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

} // namespace

std::vector<bool> last_of_equal_keys(const graph::logical_type& type,
                                     std::span<const std::string_view> keys) {
  if (is_character(type) && all_differ(keys))
    return {};
  graph::column_builder builder(type);
  scalar_reader parser(type);
  for (const auto each : keys)
    if (!parser.append(each, false, builder))
      return {};
  const auto values = builder.finish();
  std::vector<bool> out(keys.size(), true);
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (auto later = i + 1; later < keys.size() && out[i]; ++later)
      out[i] = !graph::are_equal_keys(*values, i, *values, later);
  if (std::find(out.begin(), out.end(), false) == out.end())
    out.clear();
  return out;
}

status check_map_keys(const graph::logical_type& type) {
  if (type.physical() == graph::physical_type::map && !is_scalar(type.storage_child(0)))
    return error(errc::type_mismatch, "format 'json' has no place for keys of " + type.to_sql() +
                                          ": they must be scalars");
  for (std::size_t i = 0; i < type.storage_child_count(); ++i)
    HEADRACE_CHECK(check_map_keys(type.storage_child(i)));
  return {};
}

} // namespace headrace::task
