#pragma once

#include "libstate/checkpoint/completed_checkpoint.hpp"
#include "libstate/processor/keyed_state_writer.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::processor {

/// Writes a savepoint that no job took: one with which a job may begin. Whole once `finish` has
/// succeeded; dropped before that, it is none. May block. One thread.
class savepoint_writer {
public:
  /// Makes the directory, which may not be there yet. `files` lives longer.
  /// @param max_parallelism  number of key groups, which the jobs that begin with it will have
  /// @errors storage_failed, storage_full; bad_usage  max parallelism is out of range
  static result<savepoint_writer> create(file_system& files, std::string directory,
                                         std::int32_t max_parallelism = 128);

  /// The operator that has this uid in the job. @param key_type  a row of its key columns
  /// @errors duplicate_uid
  result<keyed_state_writer*> add_operator(const std::string& uid, graph::row_type_ptr key_type);

  /// Writes all that was added. @param now_ms  time of day, for the record
  /// @errors storage_failed, storage_full
  status finish(std::int64_t now_ms = 0);

private:
  savepoint_writer(file_system& files, std::string directory, std::int32_t max_parallelism)
      : files_(&files), directory_(std::move(directory)), max_parallelism_(max_parallelism) {}

  file_system* files_;
  std::string directory_;
  std::int32_t max_parallelism_;
  std::vector<std::pair<std::string, std::unique_ptr<keyed_state_writer>>> operators_; // by uid
};

} // namespace headrace::processor
