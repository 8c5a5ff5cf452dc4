#include "libgraph/data/fixed_width.hpp"
#include "libgraph/expression/kernel/map.hpp"
#include "libgraph/kernel/compare.hpp"

#include <algorithm>
#include <unordered_set>

// Choices among values that are all computed; those that are computed one after the other (CASE,
// COALESCE) are the program's.
namespace headrace::graph {
namespace {

/// The values of a list of constants, NULLs apart.
template <class T>
class constant_list {
public:
  explicit constant_list(std::vector<T> values) : values_(std::move(values)) {
    if constexpr (!std::is_floating_point_v<T>)
      std::sort(values_.begin(), values_.end());
  }
  bool contains(T wanted) const {
    constexpr std::size_t linear_max = 8;
    if (std::is_floating_point_v<T> || values_.size() <= linear_max)
      return std::find(values_.begin(), values_.end(), wanted) != values_.end();
    return std::binary_search(values_.begin(), values_.end(), wanted);
  }

private:
  std::vector<T> values_;
};

template <>
class constant_list<std::string_view> {
public:
  /// @param values  views of constants that outlive this
  explicit constant_list(const std::vector<std::string_view>& values)
      : values_(values.begin(), values.end()) {}
  bool contains(std::string_view wanted) const { return values_.contains(wanted); }

private:
  std::unordered_set<std::string_view> values_;
};

template <class T>
kernel membership(const kernel_request& request, bool is_negated) {
  std::vector<T> values;
  bool has_null = false;
  std::vector<column_ptr> held(request.constants.begin() + 1, request.constants.end());
  for (const auto& each : held) {
    if (each->is_null(0))
      has_null = true;
    else
      values.push_back(reader<T>({each, true})[0]);
  }
  auto list = std::make_shared<const constant_list<T>>(std::move(values));
  return [list, has_null, is_negated, held = std::move(held)](kernel_frame& frame) {
    frame.arguments = frame.arguments.first(1); // a NULL in the list is none of the result yet
    return map_rows<std::uint8_t, T>(frame, [&](T value) -> std::optional<std::uint8_t> {
      if (list->contains(value))
        return static_cast<std::uint8_t>(is_negated ? 0 : 1);
      if (has_null)
        return std::nullopt;
      return static_cast<std::uint8_t>(is_negated ? 1 : 0);
    });
  };
}

/// Arguments behind the first one are constants. NULL when the value is not found beside a NULL.
result<kernel> make_in(const kernel_request& request) {
  const bool is_negated = request.function == "NOT IN";
  const auto physical = request.arguments[0].physical();
  for (std::size_t i = 1; i < request.arguments.size(); ++i)
    if (request.constants[i] == nullptr ||
        (request.arguments[i].physical() != physical && !request.constants[i]->is_null(0)))
      return unfit(request);
  kernel out;
  const bool is_fixed = visit_fixed_width(
      physical, [&]<class T>(std::type_identity<T>) { out = membership<T>(request, is_negated); });
  if (is_fixed)
    return out;
  if (physical != physical_type::string)
    return unfit(request);
  return membership<std::string_view>(request, is_negated);
}

/// The first argument that is least (sign 1) or greatest (-1); NULL when one is NULL.
template <class T>
column_ptr extreme(kernel_frame& frame, int sign) {
  std::vector<reader<T>> from;
  from.reserve(frame.arguments.size());
  for (const auto& each : frame.arguments)
    from.emplace_back(each);
  column_merger out(frame.type, frame.rows, frame.buffers);
  std::vector<std::vector<std::uint32_t>> chosen(from.size());
  const auto bits = joined_validity(frame);
  const auto order = [](T left, T right) {
    if constexpr (std::is_same_v<T, std::string_view>)
      return left.compare(right);
    else
      return compare_fixed(left, right);
  };
  for_each_row(frame.rows, [&](std::size_t row) {
    if (bits != nullptr && ((bits->as<std::uint8_t>()[row >> 3U] >> (row & 7U)) & 1U) == 0U)
      return;
    std::size_t best = 0;
    for (std::size_t i = 1; i < from.size(); ++i)
      if (order(from[i][row], from[best][row]) * sign < 0)
        best = i;
    chosen[best].push_back(static_cast<std::uint32_t>(row));
  });
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (!chosen[i].empty())
      out.take(frame.arguments[i], {chosen[i].data(), chosen[i].size(), frame.rows.total});
  return out.finish();
}

result<kernel> make_extreme(const kernel_request& request) {
  const int sign = request.function == "LEAST" ? 1 : -1;
  if (request.arguments.empty())
    return unfit(request);
  kernel out;
  const bool is_fixed =
      visit_fixed_width(request.type.physical(), [&]<class T>(std::type_identity<T>) {
        out = [sign](kernel_frame& frame) { return extreme<T>(frame, sign); };
      });
  if (is_fixed)
    return out;
  if (request.type.physical() != physical_type::string)
    return unfit(request);
  return kernel([sign](kernel_frame& frame) { return extreme<std::string_view>(frame, sign); });
}

/// The name of the argument's type, with its nullability.
result<kernel> make_type_name(const kernel_request& request) {
  if (request.arguments.size() != 1)
    return unfit(request);
  auto name = request.arguments[0].to_sql();
  return kernel([name = std::move(name)](kernel_frame& frame) {
    text_writer out(frame);
    for_each_row(frame.rows, [&](std::size_t row) { out.put(row, name); });
    return out.finish(frame.type, frame.rows.total, nullptr);
  });
}

/// A field of a row; NULL where the row is.
result<kernel> make_field(const kernel_request& request) {
  if (request.arguments.size() != 2 || request.arguments[0].root() != type_root::row ||
      request.constants[1] == nullptr || request.arguments[1].root() != type_root::integer)
    return unfit(request);
  const auto index = static_cast<std::size_t>(request.constants[1]->values<std::int32_t>()[0]);
  if (index >= request.arguments[0].child_count())
    return unfit(request);
  return kernel([index](kernel_frame& frame) {
    const auto& row = frame.arguments[0];
    const auto& field = row.values->content().children[index];
    if (!row.is_constant && !row.values->has_nulls() && field->type() == frame.type)
      return field;
    column_merger out(frame.type, frame.rows, frame.buffers);
    std::vector<std::uint32_t> present;
    for_each_row(frame.rows, [&](std::size_t at) {
      if (!row.values->is_null(row.is_constant ? 0 : at))
        present.push_back(static_cast<std::uint32_t>(at));
    });
    out.take({field, row.is_constant}, {present.data(), present.size(), frame.rows.total});
    return out.finish();
  });
}

constexpr kernel_entry entries[] = {
    {"IN", ".", make_in, false},
    {"NOT IN", ".", make_in, false},
    {"GREATEST", "r", make_extreme},
    {"LEAST", "r", make_extreme},
    {"TYPEOF", ".", make_type_name, false},
    {"FIELD", ".", make_field, false},
};

} // namespace

std::span<const kernel_entry> choice_kernels() { return entries; }

} // namespace headrace::graph
