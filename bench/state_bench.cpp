// Measures keyed state in memory: sums by key, and reads, through batch access and through a value
// handle against hand-written loops over boost::unordered_flat_map, and what a snapshot of a large
// state costs. Prints one JSON line a measurement; a ratio is of rates, ours to that of the map.
// Arguments: the size of that state in MB (default 1000, 0: none), and the number of keys of the
// sums (default: several).

#include "bench/counting_target.hpp"
#include "bench/state_load.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/file_system.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace headrace::state {
namespace {

using namespace headrace::bench;

constexpr std::int32_t column_0[] = {0};
using steady = std::chrono::steady_clock;

double ms_since(steady::time_point start) {
  return std::chrono::duration<double, std::milli>(steady::now() - start).count();
}

struct summing {
  system_clock time;
  std::unique_ptr<file_system> files = make_local_file_system();
  std::unique_ptr<keyed_backend> backend;
  keyed_table* table = nullptr;
  graph::value_access* value = nullptr;
  std::vector<std::uint32_t> rows = std::vector<std::uint32_t>(batch_rows);
  located_rows at;

  summing() {
    std::iota(rows.begin(), rows.end(), 0U);
    backend = make();
    table = take(backend->open_table(description()));
    graph::state_descriptor handle;
    handle.name = "value";
    handle.value_type = graph::logical_type::bytes();
    value = &backend->value(handle);
  }
  std::unique_ptr<keyed_backend> make() {
    keyed_backend_setup setup{
        key_schema(*pair_type(), column_0), 128, {0, 128}, &time, files.get(), nullptr, "", ""};
    return take(take(make_state_backend("hashmap"))->make(std::move(setup)));
  }
  static state_description description() {
    state_description out;
    out.name = "sums";
    out.value_type = graph::logical_type::bigint();
    out.entry_key_type = graph::logical_type::null();
    out.layout = value_layout::fixed(8);
    return out;
  }
  void add(key_batch& keys, const graph::record_batch& in) {
    keys.assign(in, column_0);
    static_cast<void>(table->locate(keys, rows, 0, access::insert, at).has_value());
    const auto* values = in.at(1).values<std::int64_t>();
    for (std::size_t i = 0; i < batch_rows; ++i)
      *reinterpret_cast<std::int64_t*>(at.values[i]) += values[i];
  }
  std::int64_t read(key_batch& keys, const graph::record_batch& in) {
    keys.assign(in, column_0);
    static_cast<void>(table->locate(keys, rows, 0, access::read, at).has_value());
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < batch_rows; ++i)
      sum += at.values[i] == nullptr ? 0 : *reinterpret_cast<const std::int64_t*>(at.values[i]);
    return sum;
  }
  /// A get and a put of a user's handle a row.
  void add_by_handle(key_batch& keys, const graph::record_batch& in) {
    keys.assign(in, column_0);
    const auto* values = in.at(1).values<std::int64_t>();
    for (std::size_t row = 0; row < batch_rows; ++row) {
      backend->set_current_key(keys, row);
      const auto sum = current_sum() + values[row];
      value->put({reinterpret_cast<const char*>(&sum), sizeof(sum)});
    }
  }
  std::int64_t read_by_handle(key_batch& keys, const graph::record_batch& in) {
    keys.assign(in, column_0);
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < batch_rows; ++row) {
      backend->set_current_key(keys, row);
      sum += current_sum();
    }
    return sum;
  }
  std::int64_t current_sum() {
    std::int64_t sum = 0;
    if (const auto held = value->get())
      std::memcpy(&sum, held->data(), sizeof(sum));
    return sum;
  }
};

void print_rate(const char* name, std::uint64_t keys, std::size_t rows, double ms) {
  std::printf("{\"bench\":\"state\",\"name\":\"%s\",\"keys\":%llu,\"rows\":%zu,"
              "\"ns_per_row\":%.2f,\"million_rows_per_s\":%.1f}\n",
              name, static_cast<unsigned long long>(keys), rows,
              ms * 1e6 / static_cast<double>(rows), static_cast<double>(rows) / ms / 1e3);
  std::fflush(stdout);
}

void print_ratio(const char* name, std::uint64_t keys, double map_ms, double ours_ms) {
  std::printf("{\"bench\":\"state\",\"name\":\"%s\",\"keys\":%llu,\"ratio\":%.2f}\n", name,
              static_cast<unsigned long long>(keys), map_ms / ours_ms);
  std::fflush(stdout);
}

/// Times of the same by each way: the best round each, as rounds take turns.
struct ways {
  double batch_ms = 1e300;
  double handle_ms = 1e300;
  double map_ms = 1e300;

  template <class Run>
  static void take_best(double& best, Run run) {
    const auto start = cpu_ms();
    run();
    best = std::min(best, cpu_ms() - start);
  }
  void print(const char* what, std::uint64_t keys, std::size_t rows) const {
    const auto named = [&](const char* way) { return what + std::string(way); };
    print_rate(named("_batch").c_str(), keys, rows, batch_ms);
    print_rate(named("_handle").c_str(), keys, rows, handle_ms);
    print_rate(named("_flat_map").c_str(), keys, rows, map_ms);
    print_ratio(named("_batch_to_flat_map").c_str(), keys, map_ms, batch_ms);
    print_ratio(named("_handle_to_flat_map").c_str(), keys, map_ms, handle_ms);
  }
};

void sum_by_key(std::uint64_t keys) {
  const auto batches = make_batches(keys, std::max<std::size_t>(1000, 3 * keys / batch_rows));
  const auto rows = batches.size() * batch_rows;
  summing state;
  summing by_handle;
  key_batch keys_of_batch(state.backend->key(), 128);
  boost::unordered_flat_map<std::int64_t, std::int64_t> map;
  const auto add_by_batch = [&] {
    for (const auto& batch : batches)
      state.add(keys_of_batch, batch);
  };
  const auto add_by_handle = [&] {
    for (const auto& batch : batches)
      by_handle.add_by_handle(keys_of_batch, batch);
  };
  const auto add_to_map = [&] {
    for (const auto& batch : batches) {
      const auto* key = batch.at(0).values<std::int64_t>();
      const auto* value = batch.at(1).values<std::int64_t>();
      for (std::size_t i = 0; i < batch_rows; ++i)
        map[key[i]] += value[i];
    }
  };
  ways inserts;
  ways updates;
  for (int round = 0; round < 9; ++round) { // the first one inserts, the others update
    auto& times = round == 0 ? inserts : updates;
    ways::take_best(times.batch_ms, add_by_batch);
    ways::take_best(times.handle_ms, add_by_handle);
    ways::take_best(times.map_ms, add_to_map);
  }
  inserts.print("insert_sum", keys, rows);
  updates.print("update_sum", keys, rows);
  std::int64_t found = 0;
  ways reads;
  for (int round = 0; round < 8; ++round) {
    ways::take_best(reads.batch_ms, [&] {
      for (const auto& batch : batches)
        found += state.read(keys_of_batch, batch);
    });
    ways::take_best(reads.handle_ms, [&] {
      for (const auto& batch : batches)
        found -= by_handle.read_by_handle(keys_of_batch, batch);
    });
    ways::take_best(reads.map_ms, [&] {
      for (const auto& batch : batches) {
        const auto* key = batch.at(0).values<std::int64_t>();
        for (std::size_t i = 0; i < batch_rows; ++i) {
          const auto at = map.find(key[i]);
          found += at == map.end() ? 0 : at->second;
        }
      }
    });
  }
  reads.print("read", keys, rows);
  std::printf("{\"bench\":\"state\",\"name\":\"size\",\"keys\":%llu,\"bytes_per_key\":%.1f,"
              "\"checked\":%lld}\n",
              static_cast<unsigned long long>(keys),
              static_cast<double>(state.backend->size_bytes()) /
                  static_cast<double>(state.backend->row_count()),
              static_cast<long long>(found));
}

/// Of batches: wall time, and CPU time of the thread beside it, which tells our own work from what
/// else the machine did meanwhile.
struct latencies {
  std::vector<double> ms;
  std::vector<double> cpu;
  static double at(const std::vector<double>& sorted, double part) {
    return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
  }
  void print(const char* name) {
    std::sort(ms.begin(), ms.end());
    std::sort(cpu.begin(), cpu.end());
    std::printf("{\"bench\":\"state\",\"name\":\"%s\",\"batches\":%zu,\"batch_ms_p50\":%.3f,"
                "\"batch_ms_p99\":%.3f,\"batch_ms_max\":%.3f,\"batch_cpu_ms_p50\":%.3f,"
                "\"batch_cpu_ms_p99\":%.3f,\"batch_cpu_ms_max\":%.3f}\n",
                name, ms.size(), at(ms, 0.5), at(ms, 0.99), ms.back(), at(cpu, 0.5), at(cpu, 0.99),
                cpu.back());
  }
};

void snapshot_of(std::uint64_t bytes_wanted) {
  summing state;
  key_batch keys(state.backend->key(), 128);
  std::uint64_t next = 0;
  graph::batch_builder builder(pair_type());
  while (state.backend->size_bytes() < bytes_wanted) {
    for (std::size_t i = 0; i < batch_rows; ++i) {
      builder.column(0).append(static_cast<std::int64_t>(next++));
      builder.column(1).append(std::int64_t{1});
      builder.end_row();
    }
    state.add(keys, builder.finish());
  }
  const auto batches = make_batches(next, 2000);
  const auto run_batches = [&](auto is_over) {
    latencies out;
    for (std::size_t i = 0; !is_over(i); ++i) {
      const auto start = steady::now();
      const auto start_cpu = cpu_ms();
      state.add(keys, batches[i % batches.size()]);
      out.cpu.push_back(cpu_ms() - start_cpu);
      out.ms.push_back(ms_since(start));
    }
    return out;
  };
  run_batches([&](std::size_t i) { return i == batches.size(); }).print("batch_without_snapshot");

  const auto start = steady::now();
  auto job = take(state.backend->snapshot(1, snapshot_kind::native));
  const auto sync_ms = ms_since(start);
  std::atomic<bool> is_done = false;
  counting_target target;
  double run_ms = 0;
  double run_cpu_ms = 0;
  std::thread writer([&] {
    const auto run_start = steady::now();
    static_cast<void>(take(job->run(target)));
    run_ms = ms_since(run_start);
    run_cpu_ms = cpu_ms();
    is_done = true;
  });
  auto during = run_batches([&](std::size_t) { return is_done.load(); });
  writer.join();
  job.reset();
  during.print("batch_while_snapshot");
  std::printf("{\"bench\":\"state\",\"name\":\"snapshot\",\"rows\":%llu,\"state_mb\":%.0f,"
              "\"synchronous_ms\":%.3f,\"asynchronous_ms\":%.0f,\"asynchronous_cpu_ms\":%.0f,"
              "\"written_mb\":%.0f}\n",
              static_cast<unsigned long long>(next), static_cast<double>(bytes_wanted) / 1e6,
              sync_ms, run_ms, run_cpu_ms, static_cast<double>(target.bytes) / 1e6);
  std::fflush(stdout);
}

} // namespace
} // namespace headrace::state

int main(int count, char** arguments) {
  const auto argument = [&](int index, std::uint64_t otherwise) {
    return count > index ? std::strtoull(arguments[index], nullptr, 10) : otherwise;
  };
  if (const auto keys = argument(2, 0); keys > 0) {
    headrace::state::sum_by_key(keys);
  } else {
    for (const std::uint64_t each : {1'000ULL, 10'000ULL, 1'000'000ULL, 10'000'000ULL})
      headrace::state::sum_by_key(each);
  }
  if (const auto megabytes = argument(1, 1000); megabytes > 0)
    headrace::state::snapshot_of(megabytes * 1'000'000);
}
