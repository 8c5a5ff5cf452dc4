// Measures batches of random keys read from state in RocksDB that lies on the disk, by the
// subtask's thread alone and with others: the system's cache is emptied of the database's files
// before each measurement, which only works on files that are written back (it syncs). Then the
// same with all of it in the system's cache, and in the block cache. Prints one JSON line a
// measurement. Arguments: rows of 256 random bytes in thousands (default 3000), directory for the
// database (default: a temporary one), batches of each measurement (default 20).

#include "bench/state_load.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/file_system.hpp"

#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <numeric>
#include <string>
#include <unistd.h>

namespace headrace::state {
namespace {

using namespace headrace::bench;

constexpr std::int32_t column_0[] = {0};
constexpr std::uint64_t memory_bytes = std::uint64_t{128} << 20U;
constexpr std::size_t value_bytes = 256;

/// CPU time of all threads.
double process_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

class stored_rows {
public:
  stored_rows(std::int32_t read_threads, const std::string& directory)
      : maker_(take(make_state_backend("rocksdb", memory_bytes, read_threads))),
        keys_(key_schema(*pair_type(), column_0), 128), rows_(batch_rows) {
    std::iota(rows_.begin(), rows_.end(), 0U);
    keyed_backend_setup setup{keys_.schema(), 128,     {0, 128},  &time_,
                              files_.get(),   nullptr, directory, "bench"};
    backend_ = take(maker_->make(std::move(setup)));
    check(backend_->restore({}));
    state_description description;
    description.name = "rows";
    description.value_type = graph::logical_type::bytes();
    description.entry_key_type = graph::logical_type::null();
    description.layout = value_layout::fixed(value_bytes);
    table_ = take(backend_->open_table(description));
  }

  void fill(std::uint64_t keys) {
    std::uint64_t random = 1;
    for (std::uint64_t first = 0; first < keys; first += batch_rows) {
      graph::batch_builder rows(pair_type());
      for (std::uint64_t i = 0; i < batch_rows; ++i) {
        rows.column(0).append(static_cast<std::int64_t>(first + i));
        rows.column(1).append(std::int64_t{1});
        rows.end_row();
      }
      locate(rows.finish(), access::insert);
      for (auto* value : at_.values) {
        for (std::size_t word = 0; word < value_bytes; word += sizeof(random)) {
          random += 0x9e3779b97f4a7c15ULL;
          const auto mixed = mix64(random);
          std::memcpy(value + word, &mixed, sizeof(mixed));
        }
      }
      check(table_->write_back(at_));
    }
  }
  void read(const std::vector<graph::record_batch>& batches) {
    for (const auto& batch : batches)
      locate(batch, access::read);
  }
  /// Rows that others have read.
  std::uint64_t shared_reads() const {
    for (const auto& one : backend_->figures()->read()) {
      if (one.name == "rocksdb.shared-reads")
        return one.value;
    }
    return 0;
  }

private:
  void locate(const graph::record_batch& batch, access mode) {
    keys_.assign(batch, column_0);
    check(table_->locate(keys_, rows_, 0, mode, at_));
  }

  system_clock time_;
  std::unique_ptr<file_system> files_ = make_local_file_system();
  std::unique_ptr<state_backend> maker_;
  std::unique_ptr<keyed_backend> backend_;
  keyed_table* table_ = nullptr;
  key_batch keys_;
  std::vector<std::uint32_t> rows_;
  located_rows at_;
};

/// Empties the system's cache of the files in a directory.
void forget_files(const std::string& directory) {
  ::sync();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file())
      continue;
    const auto file = ::open(entry.path().c_str(), O_RDONLY);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

void measure(std::uint64_t keys, const std::string& directory, std::size_t batches) {
  std::uint64_t seed = 1;
  for (const std::int32_t threads : {0, 1, 3, 7, 16, 32}) {
    const auto place = directory + "/" + std::to_string(threads);
    stored_rows state(threads, place);
    state.fill(keys);
    const auto print = [&](const char* where, std::size_t count, std::uint64_t distinct) {
      const auto chosen = make_batches(distinct, count, ++seed << 32U);
      const auto shared = state.shared_reads();
      const auto cpu = process_cpu_ms();
      const auto start = std::chrono::steady_clock::now();
      state.read(chosen);
      const std::chrono::duration<double, std::micro> wall =
          std::chrono::steady_clock::now() - start;
      const auto rows = static_cast<double>(count * batch_rows);
      std::printf("{\"bench\":\"rocksdb_read\",\"rows_in\":\"%s\",\"keys\":%llu,\"threads\":%d,"
                  "\"us_per_row\":%.2f,\"cpu_us_per_row\":%.2f,\"shared\":%.2f}\n",
                  where, static_cast<unsigned long long>(distinct), threads, wall.count() / rows,
                  (process_cpu_ms() - cpu) * 1e3 / rows,
                  static_cast<double>(state.shared_reads() - shared) / rows);
      std::fflush(stdout);
    };
    forget_files(place);
    print("disk", batches, keys);
    state.read(make_batches(keys / 40, 4 * batches, ++seed << 32U));
    print("block_cache", 4 * batches, keys / 40);
    state.read(make_batches(keys / 2, 16 * batches, ++seed << 32U));
    print("system_cache", 4 * batches, keys / 2);
  }
}

} // namespace
} // namespace headrace::state

int main(int count, char** arguments) {
  using namespace headrace;
  const auto keys = (count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 3000) * 1000;
  const auto directory =
      count > 2 ? std::string(arguments[2])
                : std::filesystem::temp_directory_path().string() + "/headrace-read-bench";
  const auto batches = count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 20;
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  state::measure(keys, directory, batches);
  std::filesystem::remove_all(directory);
}
