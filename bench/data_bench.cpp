// Measures what every row passes through: building columns, hashing keys, splitting by target,
// encoding. Prints one JSON line a measurement.

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/batch_codec.hpp"
#include "libgraph/data/hash.hpp"
#include "libgraph/data/key_codec.hpp"
#include "libgraph/data/key_group.hpp"
#include "libgraph/data/partition.hpp"
#include "libgraph/data/row_format.hpp"
#include "libgraph/kernel/aggregate.hpp"
#include "libgraph/kernel/compare.hpp"
#include "libgraph/kernel/filter.hpp"
#include "libactors/base/ids.hpp"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace headrace::graph {
namespace {

constexpr std::size_t batch_rows = 4096;
constexpr int repeats = 7;

/// Runs `body` over and over; prints the best of several timed rounds.
template <class Body>
void measure(const char* name, std::size_t rows, std::size_t bytes, Body body) {
  using clock = std::chrono::steady_clock;
  double best_ns = 1e300;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto start = clock::now();
    int runs = 0;
    double elapsed_ns = 0;
    while (elapsed_ns < 3e7) {
      body();
      ++runs;
      elapsed_ns = std::chrono::duration<double, std::nano>(clock::now() - start).count();
    }
    best_ns = std::min(best_ns, elapsed_ns / runs);
  }
  std::printf("{\"bench\":\"data\",\"name\":\"%s\",\"rows\":%zu,\"ns_per_row\":%.2f", name, rows,
              best_ns / static_cast<double>(rows));
  if (bytes > 0)
    std::printf(",\"gb_per_s\":%.2f", static_cast<double>(bytes) / best_ns);
  std::printf("}\n");
  std::fflush(stdout);
}

/// Keeps a value from being optimised away.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

std::uint64_t next_random() {
  static std::uint64_t state = 42;
  state += 0x9e3779b97f4a7c15ULL;
  return mix64(state);
}

/// auction, bidder, price, channel (short), url (long), time, extra (long): a Nexmark bid.
row_type_ptr bid_type() {
  const auto text = logical_type::string().not_null();
  const auto number = logical_type::bigint().not_null();
  return std::make_shared<const logical_type>(
      logical_type::row({{"auction", number, {}},
                         {"bidder", number, {}},
                         {"price", number, {}},
                         {"channel", text, {}},
                         {"url", text, {}},
                         {"time", logical_type::timestamp(3).not_null(), {}},
                         {"extra", text, {}}}));
}

struct bid_source {
  std::vector<std::int64_t> numbers;
  std::vector<std::string> channels;
  std::vector<std::string> urls;
  std::vector<std::string> extras;
};

bid_source make_bids() {
  bid_source out;
  for (std::size_t i = 0; i < batch_rows; ++i) {
    out.numbers.push_back(static_cast<std::int64_t>(next_random() % 100000));
    out.channels.push_back("channel-" + std::to_string(next_random() % 1000));
    out.urls.push_back("https://www.nexmark.com/item.htm?query=" +
                       std::to_string(next_random() % 100000));
    out.extras.push_back(std::string(60 + next_random() % 40, 'x'));
  }
  return out;
}

void append_bids(const bid_source& from, batch_builder& to) {
  for (std::size_t i = 0; i < batch_rows; ++i) {
    to.column(0).append(from.numbers[i]);
    to.column(1).append(from.numbers[i] + 1);
    to.column(2).append(from.numbers[i] + 2);
    to.column(3).append_string(from.channels[i]);
    to.column(4).append_string(from.urls[i]);
    to.column(5).append(from.numbers[i] + 3);
    to.column(6).append_string(from.extras[i]);
    to.end_row();
  }
}

void measure_builders(const bid_source& bids) {
  column_builder numbers(logical_type::bigint());
  measure("builder_int64", batch_rows, 0, [&] {
    for (const auto each : bids.numbers)
      numbers.append(each);
    keep(numbers.finish());
  });
  column_builder strings(logical_type::string());
  measure("builder_string_short", batch_rows, 0, [&] {
    for (const auto& each : bids.channels)
      strings.append_string(each);
    keep(strings.finish());
  });
  measure("builder_string_long", batch_rows, 0, [&] {
    for (const auto& each : bids.urls)
      strings.append_string(each);
    keep(strings.finish());
  });
  batch_builder rows(bid_type());
  measure("builder_bid", batch_rows, 0, [&] {
    append_bids(bids, rows);
    keep(rows.finish());
  });
}

void measure_keys(const record_batch& bids) {
  std::vector<std::uint64_t> hashes(batch_rows);
  const auto hash = [&](const char* name, std::vector<int> indices) {
    measure(name, batch_rows, 0, [&] {
      hash_columns(bids, indices, hashes);
      keep(hashes);
    });
  };
  hash("hash_int64", {0});
  hash("hash_string_short", {3});
  hash("hash_string_long", {4});
  hash("hash_two_int64_string", {0, 1, 3});
  encoded_keys keys;
  std::vector<byte_view> views(batch_rows);
  const auto code = [&](std::string name, std::vector<int> indices) {
    measure((name + "_encode").c_str(), batch_rows, 0, [&] {
      encode_keys(bids, indices, keys);
      keep(keys);
    });
    std::vector<column_builder> builders;
    for (const int index : indices)
      builders.emplace_back(bids.at(static_cast<std::size_t>(index)).type());
    std::vector<column_builder*> to;
    for (auto& each : builders)
      to.push_back(&each);
    measure((name + "_decode").c_str(), batch_rows, 0, [&] {
      for (std::size_t i = 0; i < batch_rows; ++i)
        views[i] = keys[i];
      if (!decode_keys(views, to))
        std::abort();
      for (auto& each : builders)
        keep(each.finish());
    });
  };
  code("key_int64", {0});
  code("key_string_short", {3});
  code("key_string_long", {4});
  code("key_two_int64_string", {0, 1, 3});
}

void measure_exchange(const record_batch& bids) {
  std::vector<std::uint64_t> hashes(batch_rows);
  std::vector<std::uint32_t> targets(batch_rows);
  hash_columns(bids, std::vector<int>{0}, hashes);
  for (const int parallelism : {2, 4, 16, 64}) {
    measure(("targets_" + std::to_string(parallelism)).c_str(), batch_rows, 0, [&] {
      subtasks_of(hashes, 128, parallelism, targets);
      keep(targets);
    });
    measure(("split_bid_" + std::to_string(parallelism)).c_str(), batch_rows, 0,
            [&] { keep(split_batch(bids, targets, static_cast<std::size_t>(parallelism))); });
    const auto pieces = split_batch(bids, targets, static_cast<std::size_t>(parallelism));
    std::vector<record_batch> present;
    for (const auto& each : pieces)
      if (each)
        present.push_back(*each);
    measure(("join_bid_" + std::to_string(parallelism)).c_str(), batch_rows, 0,
            [&] { keep(concatenate(present)); });
  }
}

void measure_codec(const record_batch& bids) {
  const auto bytes = encode_batch(bids).size();
  const auto frame = buffer::allocate(bytes);
  measure("codec_encode_bid", batch_rows, bytes, [&] {
    const batch_encoding encoding(bids);
    encoding.write_to(frame->mutable_data());
    keep(frame);
  });
  const auto type = bids.type();
  measure("codec_decode_bid", batch_rows, bytes, [&] {
    auto batch = decode_batch(type, {frame->as<char>(), bytes}, frame);
    if (!batch)
      std::abort();
    keep(*batch);
  });
}

void measure_kernels(const record_batch& bids) {
  std::vector<std::uint8_t> half(batch_rows);
  std::vector<std::uint32_t> rows(batch_rows);
  for (std::size_t i = 0; i < batch_rows; ++i) {
    half[i] = static_cast<std::uint8_t>(next_random() & 1U);
    rows[i] = static_cast<std::uint32_t>(i);
  }
  measure("filter_half", batch_rows, 0, [&] { keep(filter_batch(bids, half)); });
  const auto filtered = filter_batch(bids, half);
  measure("compact_half_bid", filtered.size(), 0, [&] { keep(filtered.compact()); });
  measure("sum_int64", batch_rows, 0, [&] { keep(sum_integers(bids, 0)); });
  measure("least_int64", batch_rows, 0, [&] { keep(least_row(bids, 0)); });
  std::vector<std::uint8_t> equal(batch_rows, 1);
  measure("compare_keys_int64", batch_rows, 0, [&] {
    compare_keys(bids.at(0), rows, bids.at(0), rows, equal);
    keep(equal);
  });
  measure("compare_keys_string_short", batch_rows, 0, [&] {
    compare_keys(bids.at(3), rows, bids.at(3), rows, equal);
    keep(equal);
  });
  std::string text;
  measure("format_row_bid", batch_rows, 0, [&] {
    text.clear();
    for (std::size_t i = 0; i < batch_rows; ++i)
      format_row(row_view(bids, i), text);
    keep(text);
  });
}

} // namespace
} // namespace headrace::graph

int main() {
  // A process that runs tasks keeps freed blocks: mapping and trimming them costs more than
  // filling.
  mallopt(M_MMAP_THRESHOLD, 1 << 26);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  using namespace headrace::graph;
  const auto source = make_bids();
  measure_builders(source);
  batch_builder builder(bid_type());
  append_bids(source, builder);
  const auto bids = builder.finish();
  measure_keys(bids);
  measure_exchange(bids);
  measure_codec(bids);
  measure_kernels(bids);
}
