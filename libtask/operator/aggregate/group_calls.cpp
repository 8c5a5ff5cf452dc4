#include "libtask/operator/aggregate/group_calls.hpp"

#include "libtask/operator/aggregate/call_text.hpp"
#include "libgraph/kernel/compare.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace headrace::task {
namespace {

void append_state(const graph::column& results, std::size_t row, graph::column_builder& to) {
  if (results.is_null(row))
    to.append_null();
  else
    to.append_from(results, row);
}

} // namespace

group_calls::group_calls(std::vector<graph::group_aggregate_call> calls,
                         const graph::logical_type& input, const graph::logical_type& output,
                         std::size_t first_result, bool input_retracts)
    : calls_(std::move(calls)), input_(input), input_retracts_(input_retracts) {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const auto& call = calls_[i];
    const auto& result = output.child(first_result + i);
    parts_.push_back({group_cells::text_of(call, input_), result.nullable(), {}});
    slots_.push_back({});
    if (group_cells::holds(call, input_, input_retracts))
      slots_.back().cell = static_cast<std::int32_t>(cells_.add(call, input_, result));
    else
      slots_.back().value_type = result;
  }
}

std::string group_calls::name_of(std::size_t call) const {
  std::vector<std::string> types;
  for (const auto column : calls_[call].arguments)
    types.push_back(input_.child(static_cast<std::size_t>(column)).nullable().to_sql());
  return call_state_name(call, calls_[call].function, types);
}

status group_calls::open(state::keyed_backend& backend) {
  backend_ = &backend;
  open_states(0);
  return {};
}

status group_calls::open(state::keyed_backend& backend, std::span<const std::int32_t> key_columns,
                         state::keyed_table& groups, std::int64_t ttl_ms) {
  backend_ = &backend;
  for (std::size_t i = 0; ttl_ms == 0 && i < calls_.size(); ++i) {
    const auto& call = calls_[i];
    if (!call.is_distinct || call.arguments.empty())
      continue;
    const auto column = call.arguments[0];
    auto of = std::find_if(distincts_.begin(), distincts_.end(), [&](const auto& each) {
      return each.column() == column && each.takes_nulls() == takes_nulls(call);
    });
    if (of == distincts_.end())
      of = distincts_.emplace(of, column, input_.child(static_cast<std::size_t>(column)),
                              takes_nulls(call), input_retracts_);
    of->add_call(i);
    slots_[i].is_shared = true;
  }
  for (auto& each : distincts_) {
    HEADRACE_CHECK(each.open(backend, key_columns));
    for (std::size_t k = 0; k < each.calls().size(); ++k) {
      const auto before = name_of(each.calls()[k]) + "-distinct";
      if (!backend.has_state(before))
        continue;
      auto& from = backend.map(describe_bytes(before, graph::state_kind::map, 0));
      HEADRACE_CHECK(each.adopt(backend, groups, from, k));
      HEADRACE_CHECK(backend.drop_state(before));
    }
  }
  open_states(ttl_ms);
  return {};
}

void group_calls::open_states(std::int64_t ttl_ms) {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const auto& call = calls_[i];
    auto& to = slots_[i];
    const auto name = name_of(i);
    if (call.is_distinct && !call.arguments.empty() && !to.is_shared)
      to.distinct.emplace(*backend_, name + "-distinct", call.arguments[0], ttl_ms,
                          takes_nulls(call));
    if (to.cell < 0)
      to.value = make_group_value(call, input_, input_retracts_, *backend_, name, ttl_ms);
    has_states_ |= to.distinct.has_value() || to.value != nullptr;
  }
  knows_counts_ = has_states_ || !distincts_.empty();
}

bool group_calls::passes_filter(const graph::group_aggregate_call& call,
                                const graph::record_batch& in, std::uint32_t row) {
  if (call.filter < 0)
    return true;
  const auto& flags = in.at(static_cast<std::size_t>(call.filter));
  return !flags.is_null(row) && flags.values<std::uint8_t>()[row] != 0;
}

status group_calls::take_into_states(const graph::record_batch& in,
                                     std::span<const std::uint32_t> rows,
                                     const state::key_batch& keys) {
  if (!knows_counts_)
    return {};
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    auto& counts = slots_[k].counts;
    counts.assign(rows.size(), 1);
    if (calls_[k].filter < 0)
      continue;
    for (std::size_t i = 0; i < rows.size(); ++i)
      counts[i] = passes_filter(calls_[k], in, rows[i]) ? 1 : 0;
  }
  for (auto& each : distincts_) {
    of_distinct_.clear();
    for (const auto call : each.calls())
      of_distinct_.push_back(slots_[call].counts.data());
    HEADRACE_CHECK(each.take(in, rows, of_distinct_));
  }
  if (has_states_)
    take_row_by_row(in, rows, keys);
  return {};
}

void group_calls::take_row_by_row(const graph::record_batch& in,
                                  std::span<const std::uint32_t> rows,
                                  const state::key_batch& keys) {
  std::vector<std::pair<graph::column_builder, graph::column_builder>> built;
  for (const auto& each : slots_)
    built.emplace_back(graph::column_builder(each.value_type.nullable()),
                       graph::column_builder(each.value_type.nullable()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows[i];
    const bool retracts = is_retracted(in, row);
    backend_->set_current_key(keys, row);
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      auto& to = slots_[k];
      if (to.counts[i] != 0 && to.distinct)
        to.counts[i] = to.distinct->take(in, row, retracts) ? 1 : 0;
      if (to.value == nullptr)
        continue;
      auto& [before, after] = built[k];
      if (to.counts[i] != 0)
        to.value->take(in, row, retracts, before, after);
      else
        to.value->pass(before, after);
    }
  }
  for (std::size_t k = 0; k < slots_.size(); ++k)
    if (slots_[k].value != nullptr) {
      slots_[k].before = built[k].first.finish();
      slots_[k].after = built[k].second.finish();
    }
}

void group_calls::take(std::size_t index, const graph::record_batch& in, std::uint32_t row,
                       std::byte* group) const {
  const bool retracts = is_retracted(in, row);
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    const auto& to = slots_[k];
    if (to.cell >= 0 && (knows_counts_ ? to.counts[index] != 0 : passes_filter(calls_[k], in, row)))
      cells_.take(static_cast<std::size_t>(to.cell), in, row, retracts, group);
  }
}

bool group_calls::can_merge() const {
  return std::all_of(
             calls_.begin(), calls_.end(),
             [](const auto& each) { return !each.is_distinct || each.arguments.empty(); }) &&
         std::all_of(slots_.begin(), slots_.end(), [](const slot& each) { return each.cell >= 0; });
}

bool group_calls::has_changed(std::size_t first, std::size_t last, const std::byte* before,
                              const std::byte* after) const {
  for (const auto& each : slots_) {
    if (each.cell >= 0) {
      const auto cell = static_cast<std::size_t>(each.cell);
      if (!(cells_.result(cell, before) == cells_.result(cell, after)))
        return true;
    } else if (!graph::are_equal_keys(*each.before, first, *each.after, last)) {
      return true;
    }
  }
  return false;
}

void group_calls::append(std::size_t call, std::size_t index, bool is_before,
                         const std::byte* group, graph::column_builder& to) const {
  const auto& from = slots_[call];
  if (from.cell >= 0) {
    append_cell(call, group, to);
    return;
  }
  append_state(is_before ? *from.before : *from.after, index, to);
}

void group_calls::take_all(const graph::record_batch& in, std::span<const std::uint32_t> rows,
                           std::span<std::byte* const> groups, bool wants_before) {
  changed_.assign(rows.size(), 0);
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    auto& to = slots_[k];
    if (to.cell < 0) {
      for (std::size_t i = 0; i < rows.size(); ++i)
        changed_[i] =
            changed_[i] != 0 || !graph::are_equal_keys(*to.before, i, *to.after, i) ? 1 : 0;
      continue;
    }
    const bool is_filtered = calls_[k].filter >= 0 || to.is_shared;
    if (is_filtered && !knows_counts_) {
      to.counts.resize(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i)
        to.counts[i] = passes_filter(calls_[k], in, rows[i]) ? 1 : 0;
    }
    to.given.has_before = wants_before;
    cells_.take_all(static_cast<std::size_t>(to.cell), in, rows, groups,
                    is_filtered ? to.counts.data() : nullptr, changed_.data(), to.given);
  }
}

void group_calls::append_all(std::size_t call, std::span<const std::uint32_t> which,
                             graph::column_builder& to) const {
  const auto& from = slots_[call];
  if (from.cell >= 0) {
    cells_.append_all(static_cast<std::size_t>(from.cell), from.given, which, to);
    return;
  }
  const auto rows = from.after->size();
  for (const auto each : which)
    append_state(each < rows ? *from.after : *from.before, each % rows, to);
}

void group_calls::append_cell(std::size_t call, const std::byte* group,
                              graph::column_builder& to) const {
  const auto cell = static_cast<std::size_t>(slots_[call].cell);
  cells_.append(cell, cells_.result(cell, group), to);
}

void group_calls::append_value(std::size_t call, graph::column_builder& to) {
  slots_[call].value->tell(to);
}

void group_calls::clear_states() {
  for (auto& each : slots_) {
    if (each.distinct)
      each.distinct->clear();
    if (each.value)
      each.value->clear();
  }
}

} // namespace headrace::task
