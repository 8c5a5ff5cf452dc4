#pragma once

#include "libstate/keyed/state_description.hpp"
#include "libstate/keyed/value_migration.hpp"
#include "libstate/rocksdb/rocksdb_instance.hpp"

#include <cstdint>

namespace headrace::state {

/// A restored user's state, and as what it is opened: with a TTL or without one, and with values of
/// another type.
struct row_rewriting {
  const state_description& stored;
  const state_description& wanted;
  const value_migration* migration = nullptr; ///< null: the values stay as they are
  std::int64_t now_ms = 0;                    ///< stamps values that have none
};

/// Copies the rows of one column family into another of the same database, which is empty, in the
/// form that is wanted: once, by sorted files. Blocks as long as that takes.
/// @errors corrupt_snapshot  a value is none of the stored type; storage_failed, storage_full
status rewrite_rows(rocksdb_instance& in, rocksdb::ColumnFamilyHandle* from,
                    rocksdb::ColumnFamilyHandle* to, const row_rewriting& how);

} // namespace headrace::state
