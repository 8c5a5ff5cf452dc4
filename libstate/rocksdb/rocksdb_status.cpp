#include "libstate/rocksdb/rocksdb_status.hpp"

namespace headrace::state {

status to_status(const rocksdb::Status& from, std::string_view doing) {
  if (from.ok())
    return {};
  const auto code = from.IsNoSpace()      ? errc::storage_full
                    : from.IsCorruption() ? errc::corrupt_snapshot
                                          : errc::storage_failed;
  return error(code, "RocksDB failed to " + std::string(doing) + ": " + from.ToString());
}

} // namespace headrace::state
