#pragma once

#include <rocksdb/env.h>

namespace headrace::state {

/// The machine's files and RocksDB's threads, but nothing is synced: a database is scratch, what
/// lasts is in checkpoints. Syncs would cost milliseconds a column family and flush. Lives for
/// ever.
rocksdb::Env& scratch_env();

} // namespace headrace::state
