#include "libtask/operator/over/over_calls.hpp"

#include "libtask/operator/aggregate/value_bytes.hpp"
#include "libgraph/kernel/compare.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::task {
namespace {

std::int64_t word_at(const std::byte* from) {
  std::int64_t out = 0;
  std::memcpy(&out, from, sizeof(out));
  return out;
}

std::int64_t integer_at(const graph::column& values, std::size_t row) {
  switch (values.type().width_bytes()) {
  case 1:
    return values.values<std::int8_t>()[row];
  case 2:
    return values.values<std::int16_t>()[row];
  case 4:
    return values.values<std::int32_t>()[row];
  default:
    return values.values<std::int64_t>()[row];
  }
}

} // namespace

over_calls::over_calls(const graph::over_spec& spec, const graph::logical_type& input,
                       const graph::logical_type& output)
    : spec_(spec), has_peers_(!spec.is_rows && spec.time_column >= 0) {
  const auto width = input.child_count();
  for (std::size_t i = 0; i < spec.calls.size(); ++i) {
    const auto& from = spec.calls[i];
    const auto& name = from.function;
    call made(graph::column_builder(output.child(width + i)));
    made.what = name == "MIN"            ? kind::least
                : name == "MAX"          ? kind::greatest
                : name == "FIRST_VALUE"  ? kind::first
                : name == "LAST_VALUE"   ? kind::last
                : name == "LAG"          ? kind::lag
                : name == "LEAD"         ? kind::lead
                : name == "ROW_NUMBER"   ? kind::row_number
                : name == "RANK"         ? kind::rank
                : name == "DENSE_RANK"   ? kind::dense_rank
                : name == "NTILE"        ? kind::ntile
                : name == "PERCENT_RANK" ? kind::percent_rank
                : name == "CUME_DIST"    ? kind::cume_dist
                : name == "LISTAGG"      ? kind::list
                                         : kind::cell;
    auto told = from;
    told.arguments.resize(
        std::min<std::size_t>(told.arguments.size(), 1)); // the rest are no columns
    parts_.push_back({group_cells::text_of(told, input), output.child(width + i).nullable(), {}});
    if (!from.arguments.empty())
      made.column = static_cast<std::size_t>(from.arguments[0]);
    made.is_distinct = from.is_distinct && (made.what == kind::cell || made.what == kind::list);
    if (made.what == kind::list && from.arguments.size() > 1)
      made.separator = from.arguments[1];
    if (made.what == kind::cell)
      made.cell = cells_.add(from, input, output.child(width + i));
    const bool is_beside = made.what == kind::lag || made.what == kind::lead;
    if (is_beside && from.arguments.size() > 1)
      made.offset = from.arguments[1];
    if (is_beside && from.arguments.size() > 2)
      made.otherwise = from.arguments[2];
    if (made.what == kind::ntile)
      made.offset = from.arguments[0];
    calls_.push_back(std::move(made));
  }
  group_.resize(cells_.fixed_bytes());
  ignored_.resize(cells_.fixed_bytes());
}

void over_calls::begin(call& of) {
  of.queue.clear();
  of.queue_at = 0;
  of.place = nothing;
  of.seen.clear();
  of.counted.clear();
  of.text.reset();
}

bool over_calls::turns(call& of, const graph::record_batch& rows, std::uint32_t row,
                       std::int64_t by) {
  const auto& values = rows.at(of.column);
  if (values.is_null(row))
    return false;
  value_bytes::write(values, row, value_);
  const auto count = of.seen[value_] += by;
  if (count == 0)
    of.seen.erase(value_);
  return by < 0 ? count == 0 : count == by;
}

void over_calls::add_text(call& to, const graph::record_batch& rows, std::uint32_t row) {
  if (!to.text) {
    to.text.emplace();
  } else if (to.separator < 0) {
    *to.text += ',';
  } else if (const auto& between = rows.at(static_cast<std::size_t>(to.separator));
             !between.is_null(row)) {
    *to.text += between.string_at(row);
  }
  *to.text += rows.at(to.column).string_at(row);
}

void over_calls::list_again(call& of, const graph::record_batch& rows, std::size_t low,
                            std::size_t high) {
  begin(of);
  for (auto each = low; each < high; ++each) {
    const auto row = static_cast<std::uint32_t>(each);
    if (of.is_distinct ? turns(of, rows, row, 1) : !rows.at(of.column).is_null(row))
      add_text(of, rows, row);
  }
}

void over_calls::enter(const graph::record_batch& rows, std::uint32_t row, std::byte* group) {
  for (auto& each : calls_) {
    if (each.what == kind::list && is_bounded())
      continue; // from its rows, when it is given
    if (each.is_distinct && !turns(each, rows, row, 1))
      continue;
    if (each.what == kind::cell) {
      cells_.take(each.cell, rows, row, false, group);
      if (each.is_distinct)
        each.counted.push_back(row);
      continue;
    }
    if (each.what == kind::list && !rows.at(each.column).is_null(row)) {
      add_text(each, rows, row);
      each.counted.push_back(row);
    }
    if (each.what > kind::last || rows.at(each.column).is_null(row))
      continue;
    const auto& values = rows.at(each.column);
    if (each.what == kind::last) {
      each.place = row;
      continue;
    }
    if (each.what == kind::first) {
      if (each.place == nothing)
        each.place = row;
      continue;
    }
    // What is not better than a later row is never the best again.
    const int sign = each.what == kind::least ? 1 : -1;
    while (each.queue.size() > each.queue_at &&
           graph::compare_values(values, each.queue.back(), values, row) * sign >= 0)
      each.queue.pop_back();
    // Of an unbounded window none leaves: the best alone is needed.
    if (is_bounded() || each.queue.size() == each.queue_at)
      each.queue.push_back(row);
  }
}

void over_calls::leave(const graph::record_batch& rows, std::uint32_t row, std::byte* group) {
  for (auto& each : calls_) {
    if (each.what == kind::cell && (!each.is_distinct || turns(each, rows, row, -1)))
      cells_.take(each.cell, rows, row, true, group);
    else if ((each.what == kind::least || each.what == kind::greatest) &&
             each.queue_at < each.queue.size() && each.queue[each.queue_at] == row)
      ++each.queue_at;
  }
}

void over_calls::sum_again(const graph::record_batch& rows, std::size_t low, std::size_t high) {
  std::fill(group_.begin(), group_.end(), std::byte{});
  for (auto& each : calls_)
    if (each.what == kind::cell)
      each.seen.clear();
  for (auto row = low; row < high; ++row)
    for (auto& each : calls_)
      if (each.what == kind::cell &&
          (!each.is_distinct || turns(each, rows, static_cast<std::uint32_t>(row), 1)))
        cells_.take(each.cell, rows, static_cast<std::uint32_t>(row), false, group_.data());
}

std::uint32_t over_calls::first_value(const graph::record_batch& rows, call& of, std::size_t low,
                                      std::size_t high) {
  const auto& values = rows.at(of.column);
  if (of.place == nothing)
    return nothing;
  auto place = std::max<std::size_t>(of.place, low);
  while (place < high && values.is_null(place))
    ++place;
  if (place >= high)
    return nothing;
  of.place = static_cast<std::uint32_t>(place);
  return of.place;
}

std::int64_t over_calls::offset_of(const graph::record_batch& rows, const call& of,
                                   std::uint32_t row) {
  if (of.offset < 0)
    return 1;
  const auto& offsets = rows.at(static_cast<std::size_t>(of.offset));
  return offsets.is_null(row) ? 1 : integer_at(offsets, row);
}

void over_calls::give(const graph::record_batch& rows, const over_segment& of, std::uint32_t row,
                      std::size_t low, std::size_t high, const std::byte* group,
                      const over_rank& rank) {
  for (auto& each : calls_) {
    switch (each.what) {
    case kind::cell:
      cells_.append(each.cell, cells_.result(each.cell, group), each.built);
      break;
    case kind::least:
    case kind::greatest:
      each.rows.push_back(each.queue_at < each.queue.size() ? each.queue[each.queue_at] : nothing);
      break;
    case kind::first:
      each.rows.push_back(first_value(rows, each, low, high));
      break;
    case kind::last:
      each.rows.push_back(each.place != nothing && each.place >= low ? each.place : nothing);
      break;
    case kind::lag: {
      const auto back = offset_of(rows, each, row);
      const bool is_there = back >= 0 && static_cast<std::size_t>(back) <= row - of.begin;
      const bool is_default = !is_there && each.otherwise >= 0;
      each.rows.push_back(is_there
                              ? static_cast<std::uint32_t>(row - static_cast<std::size_t>(back))
                          : is_default ? row
                                       : nothing);
      each.is_default.push_back(is_default ? 1 : 0);
      break;
    }
    case kind::lead:
      give_ahead(rows, each, row, of.end);
      break;
    case kind::row_number:
      each.built.append(rank.number);
      break;
    case kind::rank:
      each.built.append(rank.rank);
      break;
    case kind::dense_rank:
      each.built.append(rank.dense_rank);
      break;
    case kind::ntile:
      each.built.append(bucket_of(rows, each, row, rank));
      break;
    case kind::percent_rank:
      each.built.append(rank.size > 1 ? static_cast<double>(rank.rank - 1) /
                                            static_cast<double>(rank.size - 1)
                                      : 0.0);
      break;
    case kind::list:
      if (is_bounded())
        list_again(each, rows, low, high);
      if (each.text)
        each.built.append_string(*each.text);
      else
        each.built.append_null();
      break;
    case kind::cume_dist:
      each.built.append(static_cast<double>(rank.up_to_equal) / static_cast<double>(rank.size));
      break;
    }
  }
}

void over_calls::compute(const graph::record_batch& rows, std::span<const std::int64_t> times_ms,
                         const over_segment& of, std::byte* carried,
                         std::vector<std::uint32_t>& keep) {
  over_rank rank;
  rank.number = word_at(carried);
  rank.dense_rank = word_at(carried + sizeof(std::int64_t));
  auto* group = carried + counters_bytes;
  if (is_bounded()) { // its sums are those of the rows that are in it
    std::fill(group_.begin(), group_.end(), std::byte{});
    group = group_.data();
  }
  for (auto& each : calls_)
    begin(each);
  // The sums of an unbounded window have the rows that are carried already.
  auto* entering = is_bounded() ? group : ignored_.data();
  for (auto row = of.begin; row < of.first_new; ++row)
    enter(rows, static_cast<std::uint32_t>(row), entering);
  auto low = of.begin;
  for (auto row = of.first_new; row < of.end;) {
    auto end = row + 1;
    while (has_peers_ && end < of.end && times_ms[end] == times_ms[row])
      ++end;
    for (auto each = row; each < end; ++each)
      enter(rows, static_cast<std::uint32_t>(each), group);
    ++rank.dense_rank;
    rank.rank = rank.number + 1;
    for (auto each = row; each < end; ++each) {
      if (is_bounded())
        while (low < each &&
               (spec_.is_rows ? static_cast<std::int64_t>(each - low) > spec_.preceding
                              : times_ms[low] < times_ms[each] - spec_.preceding))
          leave(rows, static_cast<std::uint32_t>(low++), group);
      if (is_bounded() && cells_.has_lost_sum(group))
        sum_again(rows, low, end);
      ++rank.number;
      give(rows, of, static_cast<std::uint32_t>(each), low, end, group, rank);
    }
    row = end;
  }
  std::memcpy(carried, &rank.number, sizeof(rank.number));
  std::memcpy(carried + sizeof(rank.number), &rank.dense_rank, sizeof(rank.dense_rank));
  choose_kept(rows, times_ms, of, keep);
}

void over_calls::choose_kept(const graph::record_batch& rows,
                             std::span<const std::int64_t> times_ms, const over_segment& of,
                             std::vector<std::uint32_t>& keep) {
  keep.clear();
  std::size_t tail = of.end; // all rows from here on
  if (is_bounded())
    while (tail > of.begin &&
           (spec_.is_rows ? static_cast<std::int64_t>(of.end - tail) < spec_.preceding
                          : times_ms[tail - 1] >= times_ms[of.end - 1] - spec_.preceding))
      --tail;
  for (auto& each : calls_) {
    if (each.what == kind::lag) {
      const auto back =
          std::max<std::int64_t>(offset_of(rows, each, static_cast<std::uint32_t>(of.end - 1)), 0);
      const auto count = std::min<std::size_t>(static_cast<std::size_t>(back), of.end - of.begin);
      tail = std::min(tail, of.end - count);
    }
    if (!is_bounded())
      keep.insert(keep.end(), each.counted.begin(), each.counted.end());
    if (is_bounded() || each.what > kind::last || each.what == kind::cell)
      continue;
    const auto place =
        each.what == kind::least || each.what == kind::greatest
            ? (each.queue_at < each.queue.size() ? each.queue[each.queue_at] : nothing)
            : each.place;
    if (place != nothing)
      keep.push_back(place);
  }
  std::erase_if(keep, [&](std::uint32_t row) { return row >= tail; });
  std::sort(keep.begin(), keep.end());
  keep.erase(std::unique(keep.begin(), keep.end()), keep.end());
  for (auto row = tail; row < of.end; ++row)
    keep.push_back(static_cast<std::uint32_t>(row));
}

graph::column_ptr over_calls::finish(std::size_t index, const graph::record_batch& rows) {
  auto& from = calls_[index];
  if (from.what == kind::cell || from.what >= kind::row_number)
    return from.built.finish();
  const auto& values = rows.at(from.column);
  for (std::size_t i = 0; i < from.rows.size(); ++i) {
    const bool is_default = !from.is_default.empty() && from.is_default[i] != 0;
    const auto& source = is_default ? rows.at(static_cast<std::size_t>(from.otherwise)) : values;
    if (from.rows[i] == nothing || source.is_null(from.rows[i]))
      from.built.append_null();
    else
      from.built.append_from(source, from.rows[i]);
  }
  from.rows.clear();
  from.is_default.clear();
  return from.built.finish();
}

} // namespace headrace::task
