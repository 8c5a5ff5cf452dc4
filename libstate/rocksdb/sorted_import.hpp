#pragma once

#include "libstate/rocksdb/rocksdb_instance.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <rocksdb/sst_file_writer.h>

#include <cstdint>
#include <memory>
#include <string>

namespace headrace::state {

/// Brings rows into a column family by files that are written in its order: past the memtables, and
/// without compactions afterwards. The rows come in the order of their names, and nothing lies
/// between the first and the last yet. One at a time a database. Blocks.
///
/// Files are small enough to be shared by snapshots one by one, and each is taken in when it is
/// full, so that memory is bounded by a block.
class sorted_import {
public:
  static constexpr std::uint64_t file_bytes_usual = std::uint64_t{64} << 20U;

  /// @param file_bytes  a file ends beyond it
  sorted_import(rocksdb_instance& into, rocksdb::ColumnFamilyHandle* family,
                std::uint64_t file_bytes = file_bytes_usual);
  /// @errors storage_failed, storage_full
  status add(byte_view name, byte_view value);
  /// Takes in what is left. @errors storage_failed, storage_full
  status finish();

private:
  rocksdb_instance* into_;
  rocksdb::ColumnFamilyHandle* family_;
  rocksdb::Options options_;
  std::uint64_t file_bytes_;
  std::string path_;
  std::unique_ptr<rocksdb::SstFileWriter> writer_; ///< of the file that is written; null: none
};

} // namespace headrace::state
