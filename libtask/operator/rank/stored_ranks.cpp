#include "libtask/operator/rank/stored_ranks.hpp"

#include "libtask/operator/rank/ordered_rows.hpp"
#include "libtask/operator/rank/row_list.hpp"
#include "libtask/operator/window/stored_windows.hpp"
#include "libgraph/data/order_key_reader.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

constexpr const char* name_in_errors = "ranked rows";

/// What keys are of as an object.
result<stored_value> read_key(const rank_parts& parts, byte_view key) {
  std::vector<graph::column_builder> built;
  for (const auto& each : parts.ordered)
    built.emplace_back(each.type.nullable());
  std::vector<graph::column_builder*> to;
  for (auto& each : built)
    to.push_back(&each);
  HEADRACE_CHECK(graph::decode_order_key(key, parts.order, to));
  stored_value::object out;
  for (std::size_t i = 0; i < built.size(); ++i)
    add_member(out, parts.ordered[i].name, {stored_value::cell{built[i].finish(), 0}});
  return stored_value{std::move(out)};
}

/// With when the list was written, where it is to expire.
stored_value stamped(std::int64_t written_ms, stored_value rows) {
  if (written_ms <= 0)
    return rows;
  stored_value::object out;
  add_member(out, "written", time_value(written_ms));
  add_member(out, "rows", std::move(rows));
  return {std::move(out)};
}

struct ranks_reader {
  rank_parts parts;
  stored_rows rows;
  bool is_of_windows = false;
  bool has_stamp = true;

  explicit ranks_reader(const std::vector<graph::logical_type::field>& told)
      : parts(split_parts(told)), rows(parts.columns) {}

  result<stored_value> read_list(const row_list& list) const {
    std::vector<byte_view> encoded;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!list.row(i).empty())
        encoded.push_back(list.row(i));
    if (encoded.size() == list.size()) {
      HEADRACE_TRY(auto read, rows.read(encoded));
      return stored_value{std::move(read)};
    }
    stored_value::list keys; // no row is kept
    for (std::size_t i = 0; i < list.size(); ++i) {
      HEADRACE_TRY(auto key, read_key(parts, list.key(i)));
      stored_value::object by;
      add_member(by, "ordered by", std::move(key));
      keys.push_back({std::move(by)});
    }
    return keys.size() == 1 ? std::move(keys.front()) : stored_value{std::move(keys)};
  }

  result<stored_reading> operator()(const stored_entry& entry) const {
    if (!row_list::is_list(entry.value))
      return not_as_written(name_in_errors);
    const row_list list(entry.value);
    stored_reading out;
    HEADRACE_TRY(auto read, read_list(list));
    out.value = stamped(has_stamp ? list.written_ms() : 0, std::move(read));
    if (is_of_windows)
      out.space = window_ending(entry.space);
    return out;
  }
};

/// Of rows that may be taken back: the state of those with ranks.
const state::state_description* find_top(const stored_operator& of) {
  const auto* top = of.find("top");
  return top != nullptr && state::is_bytes_of_parts(top->value_type) ? top : nullptr;
}

result<std::int64_t> piece_number(byte_view bytes) {
  byte_reader in(bytes);
  HEADRACE_TRY(const auto number, in.get<std::uint32_t>());
  return in.at_end() ? result<std::int64_t>(std::int64_t{number}) : not_as_written(name_in_errors);
}

} // namespace

stored_reader read_ranks(const stored_operator& /*of*/, const state::state_description& state) {
  if (!state::is_bytes_of_parts(state.value_type))
    return {};
  ranks_reader out(parts_in(state.value_type));
  out.is_of_windows = state.name == "window-ranks";
  return out;
}

stored_reader read_rank_counts(const stored_operator& /*of*/,
                               const state::state_description& state) {
  if (!state::is_bytes_of_parts(state.value_type))
    return {};
  return [](const stored_entry& entry) -> result<stored_reading> {
    byte_reader in(entry.value);
    HEADRACE_TRY(const auto written_ms, in.get<std::int64_t>());
    HEADRACE_TRY(const auto count, in.get<std::uint32_t>());
    if (!in.at_end())
      return not_as_written(name_in_errors);
    stored_value::object out;
    if (written_ms > 0)
      add_member(out, "written", time_value(written_ms));
    add_member(out, "count", {std::int64_t{count}});
    return stored_reading{{}, {}, {std::move(out)}};
  };
}

stored_reader read_other_ranks(const stored_operator& of,
                               const state::state_description& /*state*/) {
  const auto* top = find_top(of);
  if (top == nullptr)
    return {};
  ranks_reader rows(parts_in(top->value_type));
  rows.has_stamp = false;
  return [rows = std::move(rows)](const stored_entry& entry) -> result<stored_reading> {
    HEADRACE_TRY(auto out, rows(entry));
    HEADRACE_TRY(const auto number, piece_number(entry.entry_key));
    out.entry_key = stored_value{number};
    return out;
  };
}

stored_reader read_rank_directory(const stored_operator& of,
                                  const state::state_description& /*state*/) {
  const auto* top = find_top(of);
  if (top == nullptr)
    return {};
  return [parts = split_parts(parts_in(top->value_type))](
             const stored_entry& entry) -> result<stored_reading> {
    if (!row_list::is_list(entry.value))
      return not_as_written(name_in_errors);
    const row_list list(entry.value);
    stored_value::list pieces;
    for (std::size_t i = 0; i < list.size(); ++i) {
      stored_value::object piece;
      HEADRACE_TRY(const auto number, piece_number(list.row(i)));
      add_member(piece, "piece", {number});
      if (!list.key(i).empty()) { // else from the first row on
        HEADRACE_TRY(auto from, read_key(parts, list.key(i)));
        add_member(piece, "from", std::move(from));
      }
      pieces.push_back({std::move(piece)});
    }
    return stored_reading{{}, {}, {std::move(pieces)}};
  };
}

} // namespace headrace::task
