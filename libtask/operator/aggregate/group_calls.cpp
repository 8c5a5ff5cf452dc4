#include "libtask/operator/aggregate/group_calls.hpp"

#include "libgraph/kernel/compare.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace headrace::task {

group_calls::group_calls(std::vector<graph::group_aggregate_call> calls,
                         const graph::logical_type& input, const graph::logical_type& output,
                         std::size_t first_result, bool input_retracts)
    : calls_(std::move(calls)), input_(input), input_retracts_(input_retracts) {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const auto& call = calls_[i];
    const auto& result = output.child(first_result + i);
    slots_.push_back({});
    if (group_cells::holds(call, input_, input_retracts))
      slots_.back().cell = static_cast<std::int32_t>(cells_.add(call, input_, result));
    else
      slots_.back().value_type = result;
  }
}

void group_calls::open(state::keyed_backend& backend, std::int64_t ttl_ms) {
  backend_ = &backend;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const auto& call = calls_[i];
    auto& to = slots_[i];
    auto name = std::to_string(i) + "-" + call.function;
    for (const auto column : call.arguments)
      name += "-" + input_.child(static_cast<std::size_t>(column)).nullable().to_sql();
    name.resize(std::min<std::size_t>(name.size(), 200));
    if (call.is_distinct && !call.arguments.empty())
      to.distinct.emplace(backend, name + "-distinct", call.arguments[0], ttl_ms,
                          takes_nulls(call));
    if (to.cell < 0)
      to.value = make_group_value(call, input_, input_retracts_, backend, name, ttl_ms);
    has_states_ |= to.distinct.has_value() || to.value != nullptr;
  }
}

bool group_calls::passes_filter(const graph::group_aggregate_call& call,
                                const graph::record_batch& in, std::uint32_t row) {
  if (call.filter < 0)
    return true;
  const auto& flags = in.at(static_cast<std::size_t>(call.filter));
  return !flags.is_null(row) && flags.values<std::uint8_t>()[row] != 0;
}

void group_calls::take_into_states(const graph::record_batch& in,
                                   std::span<const std::uint32_t> rows,
                                   const state::key_batch& keys) {
  if (!has_states_)
    return;
  std::vector<std::pair<graph::column_builder, graph::column_builder>> built;
  for (auto& each : slots_) {
    each.counts.assign(rows.size(), 1);
    built.emplace_back(graph::column_builder(each.value_type.nullable()),
                       graph::column_builder(each.value_type.nullable()));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows[i];
    const bool retracts = is_retracted(in, row);
    backend_->set_current_key(keys, row);
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      auto& to = slots_[k];
      bool counts = passes_filter(calls_[k], in, row);
      if (counts && to.distinct)
        counts = to.distinct->take(in, row, retracts);
      to.counts[i] = counts ? 1 : 0;
      if (to.value == nullptr)
        continue;
      auto& [before, after] = built[k];
      if (counts)
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
    if (to.cell >= 0 && (has_states_ ? to.counts[index] != 0 : passes_filter(calls_[k], in, row)))
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
  const auto& source = is_before ? *from.before : *from.after;
  if (source.is_null(index))
    to.append_null();
  else
    to.append_from(source, index);
}

bool group_calls::takes_all() const {
  return !has_states_ &&
         std::all_of(slots_.begin(), slots_.end(), [](const slot& each) { return each.cell >= 0; });
}

void group_calls::take_all(const graph::record_batch& in, std::span<const std::uint32_t> rows,
                           std::span<std::byte* const> groups) {
  changed_.assign(rows.size(), 0);
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    auto& to = slots_[k];
    const bool is_filtered = calls_[k].filter >= 0;
    if (is_filtered) {
      to.counts.resize(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i)
        to.counts[i] = passes_filter(calls_[k], in, rows[i]) ? 1 : 0;
    }
    cells_.take_all(static_cast<std::size_t>(to.cell), in, rows, groups,
                    is_filtered ? to.counts.data() : nullptr, to.given);
    for (std::size_t i = 0; i < rows.size(); ++i)
      changed_[i] = changed_[i] != 0 || to.given.has_changed(i) ? 1 : 0;
  }
}

void group_calls::append_all(std::size_t call, std::span<const std::uint32_t> which,
                             graph::column_builder& to) const {
  const auto& from = slots_[call];
  cells_.append_all(static_cast<std::size_t>(from.cell), from.given, which, to);
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
