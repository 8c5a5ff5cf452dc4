// Measures operators over batches in one subtask with state on the heap, each beside the tightest
// loop that does the same by hand: its result goes into columns too, as the next operator would
// read it. Prints one JSON line a measurement, CPU time of the thread.
//
//     operator_bench [NAME]        only those whose name begins so

#include "bench/operator_host.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

struct text_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view value) const {
    return std::hash<std::string_view>{}(value);
  }
};
template <bool are_texts>
using map_key = std::conditional_t<are_texts, std::string, std::int64_t>;
template <bool are_texts, class Value>
using hand_map =
    std::conditional_t<are_texts,
                       boost::unordered_flat_map<std::string, Value, text_hash, std::equal_to<>>,
                       boost::unordered_flat_map<std::int64_t, Value>>;

template <bool are_texts, class Value>
Value& find_or_make(hand_map<are_texts, Value>& in, const graph::record_batch& rows,
                    std::size_t row) {
  if constexpr (are_texts) {
    const auto key = rows.at(0).string_at(row);
    auto found = in.find(key);
    if (found == in.end())
      found = in.emplace(std::string(key), Value{}).first;
    return found->second;
  } else {
    return in[rows.at(0).values<std::int64_t>()[row]];
  }
}

/// SELECT key, COUNT(*), SUM(value) GROUP BY key, for a sink that takes updates by key.
template <bool are_texts>
void measure_groups(std::size_t keys) {
  const auto name = std::string("group by ") + (are_texts ? "STRING, " : "BIGINT, ") +
                    std::to_string(keys) + " keys";
  if (!is_wanted(name))
    return;
  const keys_of of{keys, are_texts};
  const auto key_type = are_texts ? text() : big();
  graph::group_aggregate_spec spec;
  spec.key_columns = {0};
  spec.calls = {{"COUNT", {}}, {"SUM", {1}}};
  spec.emits_update_before = false;
  const auto batches = make_batches(of, 256);
  struct sums {
    std::int64_t count = 0;
    std::int64_t sum = 0;
  };
  double operator_ns = 0;
  {
    host made(spec, {row_of({key_type, big()})}, row_of({key_type, big(), big()}));
    for (std::uint64_t i = 0; i < keys; i += batch_rows)
      made.add(make_rows(of, i, false));
    operator_ns = best_ns(batches, [&](const auto& rows) { made.add(rows); });
  }
  hand_map<are_texts, sums> by_hand;
  result_columns out(3);
  std::vector<graph::string_slot> key_slots(batch_rows);
  const auto loop = [&](const graph::record_batch& rows) {
    const auto* value = rows.at(1).values<std::int64_t>();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto& found = find_or_make<are_texts, sums>(by_hand, rows, i);
      ++found.count;
      found.sum += value[i];
      if constexpr (are_texts)
        key_slots[i] = rows.at(0).slots()[i];
      else
        out.values[0][i] = rows.at(0).values<std::int64_t>()[i];
      out.values[1][i] = found.count;
      out.values[2][i] = found.sum;
    }
    keep(out);
    keep(key_slots);
  };
  for (std::uint64_t i = 0; i < keys; i += batch_rows)
    loop(make_rows(of, i, false));
  print(name, operator_ns, best_ns(batches, loop));
}

/// The same for windows of a second, of which each has a hundred thousand rows.
void measure_windows(std::size_t keys) {
  const auto name = "tumbling window, " + std::to_string(keys) + " keys";
  if (!is_wanted(name))
    return;
  constexpr std::uint64_t rows_a_ms = 100;
  const auto batches = make_batches({keys}, 256, rows_a_ms);
  const auto span_ms = static_cast<std::int64_t>(batches.size() * batch_rows / rows_a_ms);
  graph::window_aggregate_spec spec;
  spec.key_columns = {0};
  spec.window = {graph::window_kind::tumbling, 1000, 0, 0, 0};
  spec.aggregates.calls = {{graph::aggregate_kind::first, 0},
                           {graph::aggregate_kind::count, -1},
                           {graph::aggregate_kind::sum, 1}};
  spec.aggregates.result_type = logical_type::null();
  double operator_ns = 1e300;
  double loop_ns = 1e300;
  for (int round = 0; round < 3; ++round) {
    host made(spec, {row_of({big(), big()})}, row_of({big(), big(), big()}));
    const auto start = cpu_ns();
    for (const auto& rows : batches) {
      made.add(rows);
      made.advance(rows.timestamps()[rows.size() - 1] - 1);
    }
    operator_ns = std::min(operator_ns, cpu_ns() - start);
    if (made.rows_out() == 0 || span_ms < 2000)
      task::fail(error(errc::internal, "no window fired"));
  }
  struct sums {
    std::int64_t count = 0;
    std::int64_t sum = 0;
  };
  for (int round = 0; round < 3; ++round) {
    boost::unordered_flat_map<std::int64_t, sums> open;
    result_columns out(3);
    std::int64_t window = 0;
    const auto start = cpu_ns();
    for (const auto& rows : batches) {
      const auto* key = rows.at(0).values<std::int64_t>();
      const auto* value = rows.at(1).values<std::int64_t>();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (const auto of = rows.timestamps()[i] / 1000; of != window) {
          std::size_t at = 0;
          for (const auto& [fired, result] : open) {
            out.values[0][at] = fired;
            out.values[1][at] = result.count;
            out.values[2][at] = result.sum;
            at = (at + 1) % batch_rows;
          }
          keep(out);
          open.clear();
          window = of;
        }
        auto& found = open[key[i]];
        ++found.count;
        found.sum += value[i];
      }
    }
    loop_ns = std::min(loop_ns, cpu_ns() - start);
  }
  const auto rows = static_cast<double>(batches.size() * batch_rows);
  print(name, operator_ns / rows, loop_ns / rows);
}

/// An inner join by key: rows that are kept, then rows that find one each.
void measure_join(std::size_t keys) {
  const auto insert_name = "join insert, " + std::to_string(keys) + " keys";
  const auto probe_name = "join probe, " + std::to_string(keys) + " keys";
  if (!is_wanted(insert_name) && !is_wanted(probe_name))
    return;
  graph::join_spec spec;
  spec.left.key_columns = {0};
  spec.right.key_columns = {0};
  spec.null_safe = {0};
  std::vector<graph::record_batch> kept;
  for (std::uint64_t i = 0; i < keys; i += batch_rows)
    kept.push_back(make_rows({keys}, i, false));
  const auto probes = make_batches({keys}, 64);
  const auto rows_kept = static_cast<double>(kept.size() * batch_rows);
  const auto rows_probed = static_cast<double>(probes.size() * batch_rows);
  const auto type = row_of({big(), big()});
  double insert_ns = 1e300;
  double probe_ns = 1e300;
  for (int round = 0; round < 3; ++round) {
    host made(spec, {type, type}, row_of({big(), big(), big(), big()}));
    auto start = cpu_ns();
    for (const auto& rows : kept)
      made.add(rows, 0);
    insert_ns = std::min(insert_ns, cpu_ns() - start);
    start = cpu_ns();
    for (const auto& rows : probes)
      made.add(rows, 1);
    probe_ns = std::min(probe_ns, cpu_ns() - start);
    if (made.rows_out() < probes.size() * batch_rows)
      task::fail(error(errc::internal, "a row found none"));
  }
  // Both sides must be kept by hand, too: a probing row is found by what comes later.
  struct kept_row {
    std::int64_t value = 0;
    std::int64_t next = -1;
  };
  double insert_loop_ns = 1e300;
  double probe_loop_ns = 1e300;
  for (int round = 0; round < 3; ++round) {
    std::array<boost::unordered_flat_map<std::int64_t, std::int64_t>, 2> heads;
    std::array<std::vector<kept_row>, 2> sides;
    result_columns out(4);
    const auto run = [&](const graph::record_batch& rows, std::size_t side) {
      const auto* key = rows.at(0).values<std::int64_t>();
      const auto* value = rows.at(1).values<std::int64_t>();
      std::size_t pairs = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (const auto found = heads[1 - side].find(key[i]); found != heads[1 - side].end())
          for (auto at = found->second; at >= 0;
               at = sides[1 - side][static_cast<std::size_t>(at)].next) {
            out.values[0][pairs] = key[i];
            out.values[1][pairs] = sides[1 - side][static_cast<std::size_t>(at)].value;
            out.values[2][pairs] = key[i];
            out.values[3][pairs] = value[i];
            pairs = (pairs + 1) % batch_rows;
          }
        const auto [own, is_new] =
            heads[side].try_emplace(key[i], static_cast<std::int64_t>(sides[side].size()));
        sides[side].push_back({value[i], is_new ? -1 : own->second});
        own->second = static_cast<std::int64_t>(sides[side].size()) - 1;
      }
      keep(out);
    };
    auto start = cpu_ns();
    for (const auto& rows : kept)
      run(rows, 0);
    insert_loop_ns = std::min(insert_loop_ns, cpu_ns() - start);
    start = cpu_ns();
    for (const auto& rows : probes)
      run(rows, 1);
    probe_loop_ns = std::min(probe_loop_ns, cpu_ns() - start);
  }
  print(insert_name, insert_ns / rows_kept, insert_loop_ns / rows_kept);
  print(probe_name, probe_ns / rows_probed, probe_loop_ns / rows_probed);
}

/// The ten greatest values of each key, given as they change.
void measure_top(std::size_t keys) {
  const auto name = "top 10, " + std::to_string(keys) + " keys";
  if (!is_wanted(name))
    return;
  constexpr std::size_t most = 10;
  graph::rank_spec spec;
  spec.key_columns = {0};
  spec.order = {{1, true, false}};
  spec.last = most;
  spec.emits_update_before = false;
  const auto batches = make_batches({keys}, 256);
  const auto type = row_of({big(), big()});
  host made(spec, {type}, type);
  const auto operator_ns = best_ns(batches, [&](const auto& rows) { made.add(rows); });
  struct top {
    std::size_t size = 0;
    std::array<std::int64_t, most> values{}; ///< the greatest first
  };
  boost::unordered_flat_map<std::int64_t, top> by_hand;
  result_columns out(2);
  const auto loop_ns = best_ns(batches, [&](const graph::record_batch& rows) {
    const auto* key = rows.at(0).values<std::int64_t>();
    const auto* value = rows.at(1).values<std::int64_t>();
    std::size_t changes = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto& found = by_hand[key[i]];
      if (found.size == most && found.values[most - 1] >= value[i])
        continue;
      const bool was_full = found.size == most;
      if (was_full) {
        out.values[0][changes] = key[i];
        out.values[1][changes++] = found.values[most - 1];
      } else {
        ++found.size;
      }
      auto at = found.size - 1;
      for (; at > 0 && found.values[at - 1] < value[i]; --at)
        found.values[at] = found.values[at - 1];
      found.values[at] = value[i];
      out.values[0][changes] = key[i];
      out.values[1][changes++] = value[i];
    }
    keep(out);
  });
  print(name, operator_ns, loop_ns);
}

/// The first row of each key.
void measure_first(std::size_t keys) {
  const auto name = "first row, " + std::to_string(keys) + " keys";
  if (!is_wanted(name))
    return;
  graph::rank_spec spec;
  spec.key_columns = {0};
  const auto batches = make_batches({keys}, 256);
  const auto type = row_of({big(), big()});
  host made(spec, {type}, type);
  const auto operator_ns = best_ns(batches, [&](const auto& rows) { made.add(rows); });
  boost::unordered_flat_map<std::int64_t, bool> seen;
  result_columns out(2);
  const auto loop_ns = best_ns(batches, [&](const graph::record_batch& rows) {
    const auto* key = rows.at(0).values<std::int64_t>();
    const auto* value = rows.at(1).values<std::int64_t>();
    std::size_t firsts = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!seen.try_emplace(key[i], true).second)
        continue;
      out.values[0][firsts] = key[i];
      out.values[1][firsts++] = value[i];
    }
    keep(out);
  });
  print(name, operator_ns, loop_ns);
}

} // namespace
} // namespace headrace::task

int main(int count, char** arguments) {
  using namespace headrace::task;
  if (count > 1)
    wanted_name = arguments[1];
  for (const std::size_t keys : {10U, 10'000U, 10'000'000U}) {
    measure_groups<false>(keys);
    measure_groups<true>(keys);
  }
  for (const std::size_t keys : {10U, 10'000U, 1'000'000U})
    measure_windows(keys);
  for (const std::size_t keys : {10'000U, 1'000'000U})
    measure_join(keys);
  for (const std::size_t keys : {1'000U, 100'000U})
    measure_top(keys);
  measure_first(100'000);
  return 0;
}
