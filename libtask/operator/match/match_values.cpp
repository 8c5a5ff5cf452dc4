#include "libtask/operator/match/match_values.hpp"

#include "libgraph/kernel/compare.hpp"
#include "libgraph/spec/match_types.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace headrace::task {
namespace {

constexpr auto none = partial_match::none;
constexpr std::size_t row_bytes = 8; ///< of a row's number + 1, with room

bool is_over_values(const graph::expression& from, std::size_t width) {
  return std::ranges::any_of(from.nodes, [&](const graph::expression_node& node) {
    const auto* column = std::get_if<graph::input_column>(&node.form);
    return column != nullptr && column->index >= width;
  });
}

std::uint32_t row_at(const std::byte* from) {
  std::uint32_t out = 0;
  std::memcpy(&out, from, sizeof(out));
  return out;
}

result<bool> truth_of(const lazy_columns& from, std::uint32_t row) {
  if (const auto* failure = from.failure_of(row))
    return *failure;
  const auto& column = from.columns().at(0);
  return !column.is_null(row) && column.values<std::uint8_t>()[row] != 0;
}

} // namespace

result<match_values> match_values::make(const graph::match_spec& spec,
                                        const graph::logical_type& input,
                                        const graph::row_type_ptr& output,
                                        const graph::program_settings& settings) {
  match_values out;
  out.spec_ = spec;
  out.output_ = output;
  HEADRACE_CHECK(out.add_aggregates(input, settings));
  for (const auto& each : spec.variables) {
    condition made;
    if (!each.condition.is_empty() && is_over_values(each.condition, input.child_count())) {
      std::vector<graph::expression> moved{each.condition};
      asked added;
      added.from = out.gather(input, moved);
      HEADRACE_TRY(added.program, lazy_columns::compile(*added.from.type, moved, settings));
      made.of_match = static_cast<std::int32_t>(out.of_matches_.size());
      out.of_matches_.push_back(std::move(added));
    } else if (!each.condition.is_empty()) {
      HEADRACE_TRY(auto added, lazy_columns::compile(input, {each.condition}, settings));
      made.of_row = static_cast<std::int32_t>(out.of_rows_.size());
      out.of_rows_.push_back(std::move(added));
    }
    out.conditions_.push_back(made);
  }
  auto measures = spec.measures;
  out.measured_ = out.gather(input, measures);
  HEADRACE_TRY(out.measures_,
               graph::expression_program::compile(*out.measured_.type, {}, measures, settings));
  return out;
}

status match_values::add_aggregates(const graph::logical_type& input,
                                    const graph::program_settings& settings) {
  aggregate_of_.assign(spec_.values.size(), -1);
  for (std::size_t i = 0; i < spec_.values.size(); ++i) {
    const auto& value = spec_.values[i];
    if (value.what != graph::pattern_value::kind::aggregate)
      continue;
    aggregate made;
    made.value = i;
    made.offset = sums_bytes_;
    if (!value.arguments.empty()) {
      HEADRACE_TRY(auto arguments, lazy_columns::compile(input, value.arguments, settings));
      made.arguments = arguments_.size();
      arguments_.push_back(std::move(arguments));
    }
    const auto call = graph::aggregate_call_of(value);
    const auto type = graph::argument_row_type(value);
    if (group_cells::holds(call, type, false)) {
      made.cell.emplace();
      made.cell->add(call, type, value.type);
    }
    sums_bytes_ += made.cell ? made.cell->fixed_bytes() : row_bytes;
    aggregate_of_[i] = static_cast<std::int32_t>(aggregates_.size());
    aggregates_.push_back(std::move(made));
  }
  return {};
}

/// Lets the expressions count the columns and values that they are over.
match_values::gathered match_values::gather(const graph::logical_type& input,
                                            std::vector<graph::expression>& expressions) {
  gathered out;
  const auto width = input.child_count();
  std::vector<std::size_t> used;
  for (const auto& whole : expressions)
    for (const auto& node : whole.nodes)
      if (const auto* column = std::get_if<graph::input_column>(&node.form))
        used.push_back(column->index);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::vector<graph::logical_type::field> fields;
  for (const auto each : used) {
    if (each < width)
      out.columns.push_back(each);
    else
      out.values.push_back(each - width);
    const auto& type = each < width ? input.child(each) : spec_.values[each - width].type;
    fields.push_back({"c" + std::to_string(fields.size()), type, {}});
    out.built.emplace_back(type);
  }
  for (auto& whole : expressions)
    for (auto& node : whole.nodes)
      if (auto* column = std::get_if<graph::input_column>(&node.form))
        column->index = static_cast<std::uint32_t>(
            std::lower_bound(used.begin(), used.end(), column->index) - used.begin());
  out.type = std::make_shared<const graph::logical_type>(
      graph::logical_type::row(std::move(fields)).not_null());
  return out;
}

void match_values::begin(graph::record_batch rows, const graph::program_time& time) {
  rows_ = std::move(rows);
  time_ = time;
  for (auto& each : of_rows_)
    each.run(rows_, time_);
  for (auto& each : arguments_)
    each.run(rows_, time_);
}

result<bool> match_values::holds(std::uint32_t variable, std::uint32_t row) const {
  const auto place = conditions_[variable].of_row;
  if (place < 0)
    return true;
  return truth_of(of_rows_[static_cast<std::size_t>(place)], row);
}

result<std::uint32_t> match_values::ask(std::uint32_t variable, const summed_matches& of,
                                        std::uint32_t tip, std::uint32_t row) {
  auto& from = of_matches_[static_cast<std::size_t>(conditions_[variable].of_match)].from;
  const candidate next{row, variable};
  std::size_t at = 0;
  for (const auto column : from.columns)
    from.built[at++].append_from(rows_.at(column), row);
  for (const auto value : from.values)
    HEADRACE_CHECK(append(value, of, tip, &next, from.built[at++]));
  return static_cast<std::uint32_t>(from.count++);
}

graph::record_batch match_values::rows_of(gathered& from) {
  std::vector<graph::column_ptr> columns;
  for (auto& each : from.built)
    columns.push_back(each.finish());
  return {from.type, std::exchange(from.count, 0), std::move(columns)};
}

void match_values::answer_all() {
  for (auto& each : of_matches_)
    if (each.from.count > 0)
      each.program->run(rows_of(each.from), time_);
}

result<bool> match_values::answer(std::uint32_t variable, std::uint32_t number) const {
  return truth_of(*of_matches_[static_cast<std::size_t>(conditions_[variable].of_match)].program,
                  number);
}

status match_values::take(const aggregate& to, std::uint32_t row, std::byte* sums) const {
  const lazy_columns* arguments = to.arguments ? &arguments_[*to.arguments] : nullptr;
  if (arguments != nullptr)
    if (const auto* failure = arguments->failure_of(row))
      return *failure;
  auto* at = sums + to.offset;
  if (to.cell) {
    to.cell->take(0, arguments != nullptr ? arguments->columns() : rows_, row, false, at);
    return {};
  }
  const auto& values = arguments->columns().at(0);
  if (values.is_null(row))
    return {};
  const auto kept = row_at(at);
  const auto& function = spec_.values[to.value].function;
  bool is_better = kept == 0 || function == "LAST_VALUE";
  if (!is_better && function != "FIRST_VALUE") {
    const auto order = graph::compare_values(values, row, values, kept - 1);
    is_better = function == "MIN" ? order < 0 : order > 0;
  }
  if (is_better) {
    const auto stored = row + 1;
    std::memcpy(at, &stored, sizeof(stored));
  }
  return {};
}

status match_values::extend(summed_matches& of) const {
  if (sums_bytes_ == 0)
    return {};
  const auto& nodes = of.matches.nodes();
  auto known = of.sums.size() / sums_bytes_;
  of.sums.resize(nodes.size() * sums_bytes_);
  for (; known < nodes.size(); ++known) {
    const auto& node = nodes[known];
    auto* sums = of.sums.data() + known * sums_bytes_;
    if (node.parent == none)
      std::fill_n(sums, sums_bytes_, std::byte{});
    else
      std::copy_n(of.sums.data() + node.parent * sums_bytes_, sums_bytes_, sums);
    for (const auto& each : aggregates_)
      if (counts(spec_.values[each.value], node.variable))
        HEADRACE_CHECK(take(each, node.row, sums));
  }
  return {};
}

status match_values::append_aggregate(const aggregate& from, const summed_matches& of,
                                      std::uint32_t tip, const candidate* next,
                                      graph::column_builder& to) const {
  scratch_.assign(sums_bytes_, std::byte{});
  if (tip != none)
    std::copy_n(of.sums.data() + tip * sums_bytes_, sums_bytes_, scratch_.data());
  if (next != nullptr && counts(spec_.values[from.value], next->variable))
    HEADRACE_CHECK(take(from, next->row, scratch_.data()));
  const auto* at = scratch_.data() + from.offset;
  if (from.cell) {
    from.cell->append(0, from.cell->result(0, at), to);
    return {};
  }
  if (const auto row = row_at(at); row != 0)
    to.append_from(arguments_[*from.arguments].columns().at(0), row - 1);
  else
    to.append_null();
  return {};
}

status match_values::append(std::size_t index, const summed_matches& of, std::uint32_t tip,
                            const candidate* next, graph::column_builder& to) const {
  const auto& value = spec_.values[index];
  if (value.what == graph::pattern_value::kind::aggregate)
    return append_aggregate(aggregates_[static_cast<std::size_t>(aggregate_of_[index])], of, tip,
                            next, to);
  if (value.what == graph::pattern_value::kind::match_time) {
    to.append(found_ms_);
    return {};
  }
  // The row that comes next counts as the last one of its variable.
  const bool has_next = next != nullptr && counts(value, next->variable);
  const auto offset = static_cast<std::uint32_t>(value.offset);
  auto row = none;
  auto node = none;
  if (value.what == graph::pattern_value::kind::last) {
    if (has_next && offset == 0)
      row = next->row;
    else
      node = of.matches.last_of(tip, value.variable, has_next ? offset - 1 : offset);
  } else {
    node = of.matches.first_of(tip, value.variable, offset);
    if (node == none && has_next && of.matches.count_of(tip, value.variable) == offset)
      row = next->row;
  }
  if (node != none)
    row = of.matches.nodes()[node].row;
  if (row == none)
    to.append_null();
  else
    to.append_from(rows_.at(static_cast<std::size_t>(value.column)), row);
  return {};
}

status match_values::add_match(const summed_matches& of, const found_match& found) {
  found_ms_ = found.time_ms;
  std::size_t at = measured_.columns.size();
  for (const auto value : measured_.values)
    HEADRACE_CHECK(append(value, of, found.node, nullptr, measured_.built[at++]));
  ++measured_.count;
  times_ms_.push_back(found.time_ms);
  return {};
}

result<graph::record_batch> match_values::finish() {
  auto times = graph::buffer::allocate(times_ms_.size() * sizeof(std::int64_t));
  std::copy(times_ms_.begin(), times_ms_.end(), times->mutable_as<std::int64_t>());
  times_ms_.clear();
  HEADRACE_TRY(const auto made, measures_->run(rows_of(measured_), output_, time_));
  return made.with_timestamps(std::move(times));
}

} // namespace headrace::task
