// Measures keyed state in RocksDB against RocksDB used by hand, in the same run: sums by key
// through batch access and through a value handle, reads of them, and the synchronous part of a
// snapshot. Prints one JSON line a measurement; a ratio is of rates, by batch or handle to by hand.
// Arguments: number of keys (default 1 million), rows of each measurement (default 1 million),
// directory for the databases (default: a temporary one), bytes of a value (default 8).

#include "bench/state_load.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/file_system.hpp"

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>

namespace headrace::state {
namespace {

using namespace headrace::bench;

constexpr std::int32_t column_0[] = {0};
constexpr std::uint64_t memory_bytes = std::uint64_t{512} << 20U;
constexpr std::size_t by_hand_rows = 64; ///< of one MultiGet and write batch
using steady = std::chrono::steady_clock;

struct load {
  std::uint64_t keys;
  std::size_t value_bytes; ///< of which the first 8 are a sum
  std::vector<graph::record_batch> batches;
  std::size_t rows() const { return batches.size() * batch_rows; }
};

/// @returns nanoseconds a row
double print_rate(const char* name, const load& of, double ms) {
  const auto rows = static_cast<double>(of.rows());
  std::printf("{\"bench\":\"rocksdb_state\",\"name\":\"%s\",\"keys\":%llu,\"value_bytes\":%zu,"
              "\"rows\":%zu,\"ns_per_row\":%.0f,\"thousand_rows_per_s\":%.0f}\n",
              name, static_cast<unsigned long long>(of.keys), of.value_bytes, of.rows(),
              ms * 1e6 / rows, rows / ms);
  std::fflush(stdout);
  return ms * 1e6 / rows;
}

/// The best of some rounds.
template <class Run>
double best_ms(int rounds, Run run) {
  double best = 1e300;
  for (int round = 0; round < rounds; ++round) {
    const auto start = cpu_ms();
    run();
    best = std::min(best, cpu_ms() - start);
  }
  return best;
}

/// A value as it is changed by hand.
class wide_sum {
public:
  explicit wide_sum(std::size_t bytes) : bytes_(bytes) {}
  /// Takes a stored value, or none; adds to its sum. @returns what is to be stored
  rocksdb::Slice add(const char* stored, std::int64_t more) {
    if (stored == nullptr)
      std::memset(held_, 0, bytes_);
    else
      std::memcpy(held_, stored, bytes_);
    std::int64_t sum = 0;
    std::memcpy(&sum, held_, sizeof(sum));
    sum += more;
    std::memcpy(held_, &sum, sizeof(sum));
    return {held_, bytes_};
  }

private:
  std::size_t bytes_;
  char held_[value_layout::fixed_bytes_max] = {};
};

/// RocksDB as one would use it: same memory, bloom filters, no log.
class plain_database {
public:
  explicit plain_database(const std::string& directory) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = std::size_t{64} << 20U;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(memory_bytes);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB* opened = nullptr;
    check_ok(rocksdb::DB::Open(options, directory, &opened));
    db_.reset(opened);
    write_.disableWAL = true;
  }

  /// One get and put a row.
  void sum(const load& of) {
    wide_sum value(of.value_bytes);
    for (const auto& batch : of.batches) {
      for (std::size_t row = 0; row < batch_rows; ++row) {
        const auto name = name_of(batch.at(0).values<std::int64_t>()[row]);
        const auto got = db_->Get({}, db_->DefaultColumnFamily(), name, &value_);
        const auto changed =
            value.add(got.ok() ? value_.data() : nullptr, batch.at(1).values<std::int64_t>()[row]);
        value_.Reset();
        check_ok(db_->Put(write_, name, changed));
      }
    }
  }
  /// A MultiGet and a write batch for some rows; each is taken for a key of its own.
  void sum_batches(const load& of) {
    wide_sum value(of.value_bytes);
    for_pieces(of, [&](const graph::record_batch& batch, std::size_t first) {
      rocksdb::WriteBatch changes;
      for (std::size_t i = 0; i < by_hand_rows; ++i) {
        check_ok(changes.Put(names_[i], value.add(outcomes_[i].ok() ? values_[i].data() : nullptr,
                                                  batch.at(1).values<std::int64_t>()[first + i])));
      }
      check_ok(db_->Write(write_, &changes));
    });
  }
  void read(const load& of) {
    for (const auto& batch : of.batches) {
      for (std::size_t row = 0; row < batch_rows; ++row) {
        static_cast<void>(db_->Get({}, db_->DefaultColumnFamily(),
                                   name_of(batch.at(0).values<std::int64_t>()[row]), &value_)
                              .ok());
        value_.Reset();
      }
    }
  }
  void read_batches(const load& of) {
    for_pieces(of, [](const graph::record_batch&, std::size_t) {});
  }

private:
  static void check_ok(const rocksdb::Status& done) {
    if (!done.ok()) {
      std::fprintf(stderr, "%s\n", done.ToString().c_str());
      std::exit(1);
    }
  }
  rocksdb::Slice name_of(std::int64_t key, std::size_t place = 0) {
    words_[place] = __builtin_bswap64(static_cast<std::uint64_t>(key));
    return {reinterpret_cast<const char*>(&words_[place]), sizeof(words_[place])};
  }
  template <class Body>
  void for_pieces(const load& of, Body body) {
    for (const auto& batch : of.batches) {
      for (std::size_t first = 0; first < batch_rows; first += by_hand_rows) {
        for (std::size_t i = 0; i < by_hand_rows; ++i)
          names_[i] = name_of(batch.at(0).values<std::int64_t>()[first + i], i);
        db_->MultiGet({}, db_->DefaultColumnFamily(), by_hand_rows, names_, values_, outcomes_);
        body(batch, first);
        for (auto& value : values_)
          value.Reset();
      }
    }
  }

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions write_;
  rocksdb::PinnableSlice value_;
  std::uint64_t words_[by_hand_rows] = {};
  rocksdb::Slice names_[by_hand_rows];
  rocksdb::PinnableSlice values_[by_hand_rows];
  rocksdb::Status outcomes_[by_hand_rows];
};

class stored_sums {
public:
  stored_sums(const std::string& directory, std::size_t value_bytes)
      : maker_(take(make_state_backend("rocksdb", memory_bytes))),
        keys_(key_schema(*pair_type(), column_0), 128), rows_(batch_rows) {
    std::iota(rows_.begin(), rows_.end(), 0U);
    keyed_backend_setup setup{keys_.schema(), 128,     {0, 128},  &time_,
                              files_.get(),   nullptr, directory, "bench"};
    backend_ = take(maker_->make(std::move(setup)));
    check(backend_->restore({}));
    state_description description;
    description.name = "sums";
    description.value_type = graph::logical_type::bigint();
    description.entry_key_type = graph::logical_type::null();
    description.layout = value_layout::fixed(value_bytes);
    table_ = take(backend_->open_table(description));
    graph::state_descriptor handle;
    handle.name = "value";
    handle.value_type = graph::logical_type::bytes();
    value_ = &backend_->value(handle);
  }

  void sum(const load& of) {
    for (const auto& batch : of.batches)
      sum(batch);
  }
  void sum(const graph::record_batch& batch) {
    keys_.assign(batch, column_0);
    check(table_->locate(keys_, rows_, 0, access::insert, at_));
    const auto* values = batch.at(1).values<std::int64_t>();
    for (std::size_t i = 0; i < batch_rows; ++i)
      *reinterpret_cast<std::int64_t*>(at_.values[i]) += values[i];
    check(table_->write_back(at_));
  }
  void read(const load& of) {
    for (const auto& batch : of.batches) {
      keys_.assign(batch, column_0);
      check(table_->locate(keys_, rows_, 0, access::read, at_));
    }
  }
  /// A get and a put of a user's handle a row.
  void sum_by_handle(const load& of) {
    wide_sum value(of.value_bytes);
    for (const auto& batch : of.batches) {
      keys_.assign(batch, column_0);
      const auto* values = batch.at(1).values<std::int64_t>();
      for (std::size_t row = 0; row < batch_rows; ++row) {
        backend_->set_current_key(keys_, row);
        const auto held = value_->get();
        const auto changed = value.add(held ? held->data() : nullptr, values[row]);
        value_->put({changed.data(), changed.size()});
      }
    }
  }
  void read_by_handle(const load& of) {
    for (const auto& batch : of.batches) {
      keys_.assign(batch, column_0);
      for (std::size_t row = 0; row < batch_rows; ++row) {
        backend_->set_current_key(keys_, row);
        static_cast<void>(value_->get().has_value());
      }
    }
  }
  /// @returns milliseconds that the caller of a snapshot waits
  double seal() {
    const auto start = steady::now();
    const auto job = take(backend_->snapshot(++snapshots_));
    return std::chrono::duration<double, std::milli>(steady::now() - start).count();
  }

private:
  system_clock time_;
  std::unique_ptr<file_system> files_ = make_local_file_system();
  std::unique_ptr<state_backend> maker_;
  std::unique_ptr<keyed_backend> backend_;
  keyed_table* table_ = nullptr;
  graph::value_access* value_ = nullptr;
  key_batch keys_;
  std::vector<std::uint32_t> rows_;
  located_rows at_;
  checkpoint_id snapshots_ = 0;
};

void measure(const load& of, const std::string& directory) {
  const auto print_ratio = [&](const char* name, double by_hand_ns, double ours_ns) {
    std::printf("{\"bench\":\"rocksdb_state\",\"name\":\"%s\",\"keys\":%llu,\"ratio\":%.2f}\n",
                name, static_cast<unsigned long long>(of.keys), by_hand_ns / ours_ns);
  };
  {
    stored_sums state(directory + "/batch", of.value_bytes);
    plain_database by_hand(directory + "/plain");
    plain_database by_hand_batches(directory + "/plain_batches");
    // The first round inserts, the others update.
    print_rate("insert_batch", of, best_ms(1, [&] { state.sum(of); }));
    print_rate("insert_by_hand", of, best_ms(1, [&] { by_hand.sum(of); }));
    print_rate("insert_by_hand_multiget", of, best_ms(1, [&] { by_hand_batches.sum_batches(of); }));
    const auto update = print_rate("update_batch", of, best_ms(2, [&] { state.sum(of); }));
    const auto hand = print_rate("update_by_hand", of, best_ms(2, [&] { by_hand.sum(of); }));
    const auto hand_batches = print_rate("update_by_hand_multiget", of,
                                         best_ms(2, [&] { by_hand_batches.sum_batches(of); }));
    print_ratio("update_batch_to_by_hand", hand, update);
    print_ratio("update_batch_to_by_hand_multiget", hand_batches, update);
    const auto read = print_rate("read_batch", of, best_ms(2, [&] { state.read(of); }));
    const auto hand_read = print_rate("read_by_hand", of, best_ms(2, [&] { by_hand.read(of); }));
    const auto hand_read_batches = print_rate(
        "read_by_hand_multiget", of, best_ms(2, [&] { by_hand_batches.read_batches(of); }));
    print_ratio("read_batch_to_by_hand", hand_read, read);
    print_ratio("read_batch_to_by_hand_multiget", hand_read_batches, read);
    std::vector<double> seals;
    for (int i = 0; i < 20; ++i) {
      for (std::size_t batch = 0; batch < 50 && batch < of.batches.size(); ++batch)
        state.sum(of.batches[batch]);
      seals.push_back(state.seal());
    }
    std::sort(seals.begin(), seals.end());
    std::printf("{\"bench\":\"rocksdb_state\",\"name\":\"snapshot_synchronous\",\"snapshots\":20,"
                "\"ms_p50\":%.3f,\"ms_max\":%.3f}\n",
                seals[10], seals.back());
  }
  stored_sums state(directory + "/handle", of.value_bytes);
  plain_database by_hand(directory + "/plain_for_handle");
  state.sum_by_handle(of);
  by_hand.sum(of);
  const auto ours = print_rate("update_handle", of, best_ms(2, [&] { state.sum_by_handle(of); }));
  const auto hand = print_rate("update_by_hand", of, best_ms(2, [&] { by_hand.sum(of); }));
  print_ratio("update_handle_to_by_hand", hand, ours);
  const auto read = print_rate("read_handle", of, best_ms(2, [&] { state.read_by_handle(of); }));
  const auto hand_read = print_rate("read_by_hand", of, best_ms(2, [&] { by_hand.read(of); }));
  print_ratio("read_handle_to_by_hand", hand_read, read);
}

} // namespace
} // namespace headrace::state

int main(int count, char** arguments) {
  using namespace headrace;
  const auto argument = [&](int index, std::uint64_t otherwise) {
    return count > index ? std::strtoull(arguments[index], nullptr, 10) : otherwise;
  };
  const auto keys = argument(1, 1'000'000);
  const auto rows = argument(2, 1'000'000);
  const auto directory =
      count > 3 ? std::string(arguments[3])
                : std::filesystem::temp_directory_path().string() + "/headrace-rocksdb-bench";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const auto value_bytes = argument(4, 8) / 8 * 8;
  state::measure({keys, value_bytes, bench::make_batches(keys, rows / bench::batch_rows)},
                 directory);
  std::filesystem::remove_all(directory);
}
