#include "libstate/rocksdb/rocksdb_status.hpp"

namespace headrace::state {

status to_status(const rocksdb::Status& from, std::string_view doing) {
  if (from.ok())
    return {};
  return error(from.IsNoSpace() ? errc::storage_full : errc::storage_failed,
               "RocksDB failed to " + std::string(doing) + ": " + from.ToString());
}

} // namespace headrace::state
