#include "libtask/operator/aggregate/stored_calls.hpp"

#include "libtask/operator/aggregate/call_text.hpp"
#include "libtask/operator/aggregate/cell_bytes.hpp"
#include "libtask/operator/window/stored_windows.hpp"
#include "libgraph/types/type_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace headrace::task {
namespace {

using graph::logical_type;

constexpr std::size_t word_bytes = sizeof(std::int64_t);

/// Others are users', and kept elsewhere.
bool is_of_cells(const std::string& function) {
  constexpr std::array<std::string_view, 11> functions = {
      "AVG",        "COUNT",       "FIRST_VALUE", "LAST_VALUE", "MAX",     "MIN",
      "STDDEV_POP", "STDDEV_SAMP", "SUM",         "VAR_POP",    "VAR_SAMP"};
  return std::find(functions.begin(), functions.end(), function) != functions.end();
}

/// The call over a row of its arguments alone. Types that hold others are no arguments of cells,
/// but of COUNT, to which all are alike.
std::pair<graph::group_aggregate_call, logical_type> call_of(const told_call& told) {
  graph::group_aggregate_call call;
  call.function = told.function;
  call.is_distinct = told.is_distinct;
  std::vector<logical_type::field> input;
  for (const auto& each : told.arguments) {
    call.arguments.push_back(static_cast<std::int32_t>(input.size()));
    input.push_back({{}, graph::parse_scalar_type(each).value_or(logical_type::bytes()), {}});
  }
  return {std::move(call), logical_type::row(std::move(input))};
}

const std::byte* bytes_of(byte_view value) {
  return reinterpret_cast<const std::byte*>(value.data());
}

result<stored_reading> read_group(const stored_calls& calls, const stored_entry& entry) {
  if (entry.value.size() < calls.fixed_bytes())
    return not_as_written("groups");
  const auto* group = bytes_of(entry.value);
  stored_value::object out;
  add_member(out, "rows", {cell_bytes::load<std::int64_t>(group)});
  if (const auto written_ms = cell_bytes::load<std::int64_t>(group + word_bytes); written_ms > 0)
    add_member(out, "written", time_value(written_ms));
  calls.tell(group, out);
  return stored_reading{{}, {}, {std::move(out)}};
}

/// Behind what the calls keep is the window's start.
result<stored_reading> read_window_group(const stored_calls& calls, const stored_entry& entry) {
  if (entry.value.size() < calls.fixed_bytes() + word_bytes)
    return not_as_written("groups");
  const auto* group = bytes_of(entry.value);
  const auto start_ms = cell_bytes::load<std::int64_t>(group + calls.fixed_bytes());
  stored_value::object out;
  calls.tell(group, out);
  return stored_reading{window_between(start_ms, entry.space), {}, {std::move(out)}};
}

} // namespace

stored_calls::stored_calls(const std::vector<logical_type::field>& parts, bool retracts) {
  for (const auto& part : parts) {
    const auto told = read_call_text(part.name);
    if (!told)
      continue;
    const auto [made, input] = call_of(*told);
    call to{part.name, {}, 0, part.type.nullable()};
    if (is_of_cells(told->function) && group_cells::holds(made, input, retracts))
      to.cell = cells_.add(made, input, to.result);
    else
      to.state = call_state_name(calls_.size(), told->function, told->arguments);
    calls_.push_back(std::move(to));
  }
}

stored_calls stored_calls::of_inserts(const std::vector<logical_type::field>& parts) {
  return {parts, false};
}

std::optional<stored_calls> stored_calls::of(const std::vector<logical_type::field>& parts,
                                             std::size_t fixed_bytes) {
  for (const bool retracts : {false, true})
    if (stored_calls made(parts, retracts); made.fixed_bytes() == fixed_bytes)
      return made;
  return std::nullopt;
}

void stored_calls::tell(const std::byte* group, stored_value::object& to) const {
  for (const auto& each : calls_) {
    if (!each.state.empty()) {
      stored_value::object elsewhere;
      add_member(elsewhere, "state", {each.state});
      add_member(to, each.text, {std::move(elsewhere)});
      continue;
    }
    graph::column_builder built(each.result);
    cells_.append(each.cell, cells_.result(each.cell, group), built);
    add_member(to, each.text, {stored_value::cell{built.finish(), 0}});
  }
}

stored_reader read_groups(const stored_operator& /*of*/, const state::state_description& state) {
  if (!state::is_bytes_of_parts(state.value_type))
    return {};
  const auto& parts = parts_in(state.value_type);
  const auto width = state.layout.fixed_bytes;
  if (auto groups = stored_calls::of(parts, width))
    return [calls = *std::move(groups)](const stored_entry& entry) {
      return read_group(calls, entry);
    };
  if (width < word_bytes)
    return {};
  if (auto windows = stored_calls::of(parts, width - word_bytes))
    return [calls = *std::move(windows)](const stored_entry& entry) {
      return read_window_group(calls, entry);
    };
  return {}; // in several tables
}

stored_reader read_distinct_values(const stored_operator& of,
                                   const state::state_description& state) {
  const auto* groups = of.find("groups");
  if (!state::is_bytes_of_parts(state.value_type) || groups == nullptr ||
      !state::is_bytes_of_parts(groups->value_type))
    return {};
  // "aggregate 3" is the fourth call of the groups.
  std::vector<std::string> names;
  bool counts = false;
  const auto& calls = parts_in(groups->value_type);
  for (const auto& part : parts_in(state.value_type)) {
    counts = part.type.root() == graph::type_root::bigint;
    auto name = part.name;
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (part.name == "aggregate " + std::to_string(i))
        name = calls[i].name;
    names.push_back(std::move(name));
  }
  return [names = std::move(names), counts](const stored_entry& entry) -> result<stored_reading> {
    constexpr std::size_t word_bits = 64;
    const auto words = counts ? names.size() : (names.size() + word_bits - 1) / word_bits;
    if (entry.value.size() < words * word_bytes)
      return not_as_written("distinct values");
    stored_value::object out;
    const auto* seen = bytes_of(entry.value);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (counts) {
        add_member(out, names[i], {cell_bytes::load<std::int64_t>(seen + i * word_bytes)});
        continue;
      }
      const auto word = cell_bytes::load<std::uint64_t>(seen + i / word_bits * word_bytes);
      add_member(out, names[i], {((word >> i % word_bits) & 1U) != 0});
    }
    return stored_reading{{}, {}, {std::move(out)}};
  };
}

} // namespace headrace::task
