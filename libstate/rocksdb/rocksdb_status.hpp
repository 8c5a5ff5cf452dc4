#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <string_view>

namespace headrace::state {

/// Turns RocksDB's outcome into ours; `doing` begins the message. Damage of its files, which are
/// working files and made anew from a checkpoint, is a fault of the storage.
/// @errors storage_full, storage_failed
status to_status(const rocksdb::Status& from, std::string_view doing);

inline rocksdb::Slice to_slice(byte_view bytes) { return {bytes.data(), bytes.size()}; }
inline byte_view to_view(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

} // namespace headrace::state
