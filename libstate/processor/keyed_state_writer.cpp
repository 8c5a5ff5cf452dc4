#include "libstate/processor/keyed_state_writer.hpp"

#include "libstate/snapshot/snapshot_writer.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headrace::processor {

namespace {

constexpr std::size_t waiting_max = 4096;

} // namespace

keyed_state_writer::keyed_state_writer(graph::row_type_ptr key_type, std::int32_t max_parallelism)
    : max_parallelism_(max_parallelism), schema_(key_type), builder_(std::move(key_type)) {}

result<std::uint32_t> keyed_state_writer::declare(state::state_description description) {
  for (std::uint32_t i = 0; i < states_.size(); ++i) {
    if (states_[i].name != description.name)
      continue;
    HEADRACE_CHECK(state::check_compatible(states_[i], description));
    return i;
  }
  states_.push_back(std::move(description));
  return static_cast<std::uint32_t>(states_.size() - 1);
}

status keyed_state_writer::put(std::uint32_t state, byte_string entry_key, byte_string value) {
  return add({state, false, std::move(entry_key), std::move(value)});
}

status keyed_state_writer::append(std::uint32_t state, byte_view element) {
  return add({state, true, {}, byte_string(element)});
}

status keyed_state_writer::add(waiting_value what) {
  builder_.end_row();
  waiting_.push_back(std::move(what));
  return waiting_.size() < waiting_max ? status() : settle();
}

/// Sorts in what waits.
status keyed_state_writer::settle() {
  if (waiting_.empty())
    return {};
  const auto batch = builder_.finish();
  state::key_batch keys(schema_, max_parallelism_);
  std::vector<std::int32_t> columns(schema_.column_count());
  std::iota(columns.begin(), columns.end(), 0);
  keys.assign(batch, columns);
  std::vector<std::uint16_t> groups;
  HEADRACE_CHECK(keys.groups(groups));
  for (std::size_t row = 0; row < waiting_.size(); ++row) {
    auto& what = waiting_[row];
    const auto key = keys.at(row);
    byte_string stored(key.bytes);
    if (schema_.is_fixed() && !key.is_null)
      byte_writer(stored).put(key.fixed);
    auto& value = values_[{groups[row], what.state, !key.is_null, std::move(stored),
                           std::move(what.entry_key)}];
    if (what.appends)
      byte_writer(value).put_bytes(what.value);
    else
      value = std::move(what.value);
  }
  waiting_.clear();
  return {};
}

result<state::keyed_state_handle> keyed_state_writer::write(state::state_output& out) {
  HEADRACE_CHECK(settle());
  state::snapshot_header header;
  header.key_type = *schema_.type();
  header.max_parallelism = max_parallelism_;
  header.groups = {0, max_parallelism_};
  header.states = states_;
  state::snapshot_writer writer(out, std::move(header));
  std::int32_t group = -1;
  for (const auto& [where, value] : values_) {
    if (std::get<0>(where) != group) {
      group = std::get<0>(where);
      HEADRACE_CHECK(writer.begin_group(group));
    }
    state::snapshot_row row;
    row.state = std::get<1>(where);
    row.key_is_null = !std::get<2>(where);
    row.key = std::get<3>(where);
    row.entry_key = std::get<4>(where);
    row.value = value;
    HEADRACE_CHECK(writer.add(row));
  }
  HEADRACE_TRY(auto segment, writer.finish());
  return state::keyed_state_handle{{0, max_parallelism_}, "canonical", std::move(segment), {}};
}

} // namespace headrace::processor
