#pragma once

#include <rocksdb/env.h>
#include <rocksdb/system_clock.h>

#include <memory>

namespace headrace::state {

/// The machine's files and RocksDB's threads, but nothing is synced: a database is scratch, what
/// lasts is in checkpoints. Syncs would cost milliseconds a column family and flush. Lives for
/// ever. Its time never lies before 1970.
rocksdb::Env& scratch_env();

/// The same clock, but where `of` tells seconds before 1970, or fails to tell any: then 0.
std::shared_ptr<rocksdb::SystemClock>
make_clock_since_1970(const std::shared_ptr<rocksdb::SystemClock>& of);

} // namespace headrace::state
