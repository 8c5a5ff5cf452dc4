#include "libstate/rocksdb/rocksdb_figures.hpp"

#include <array>
#include <string>

namespace headrace::state {

namespace {

enum class scope : std::uint8_t { families, database, cache };
struct property {
  const char* name; ///< RocksDB's, and Flink's
  scope of;
};
constexpr std::array<property, 24> properties = {{
    {"rocksdb.actual-delayed-write-rate", scope::database},
    {"rocksdb.background-errors", scope::database},
    {"rocksdb.block-cache-capacity", scope::cache},
    {"rocksdb.block-cache-pinned-usage", scope::cache},
    {"rocksdb.block-cache-usage", scope::cache},
    {"rocksdb.compaction-pending", scope::families},
    {"rocksdb.cur-size-active-mem-table", scope::families},
    {"rocksdb.cur-size-all-mem-tables", scope::families},
    {"rocksdb.estimate-live-data-size", scope::families},
    {"rocksdb.estimate-num-keys", scope::families},
    {"rocksdb.estimate-pending-compaction-bytes", scope::families},
    {"rocksdb.estimate-table-readers-mem", scope::families},
    {"rocksdb.is-write-stopped", scope::database},
    {"rocksdb.live-sst-files-size", scope::families},
    {"rocksdb.mem-table-flush-pending", scope::families},
    {"rocksdb.num-deletes-active-mem-table", scope::families},
    {"rocksdb.num-entries-active-mem-table", scope::families},
    {"rocksdb.num-immutable-mem-table", scope::families},
    {"rocksdb.num-live-versions", scope::families},
    {"rocksdb.num-running-compactions", scope::database},
    {"rocksdb.num-running-flushes", scope::database},
    {"rocksdb.num-snapshots", scope::database},
    {"rocksdb.size-all-mem-tables", scope::families},
    {"rocksdb.total-sst-files-size", scope::families},
}};

} // namespace

std::vector<backend_figure> rocksdb_figures::read() const {
  std::vector<backend_figure> out;
  const auto instance = of_.lock();
  if (instance == nullptr)
    return out;
  for (const auto& [name, of] : properties) {
    if (const auto value = instance->property(name, of == scope::families))
      out.push_back({name, *value});
  }
  out.push_back({"rocksdb.shared-reads", instance->shared_reads()});
  return out;
}

} // namespace headrace::state
