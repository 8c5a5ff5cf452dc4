#pragma once

#include "libtask/connector/file/part_file.hpp"
#include "libgraph/connector/sink.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace::task {

/// When a partition is marked as complete, with a file beside its rows.
struct partition_marking {
  std::vector<std::string> keys;
  std::string missing;           ///< name of the partition of NULL
  bool by_time = false;          ///< once event time has passed it; else as soon as it has rows
  std::string time_pattern;      ///< "$dt $hm:00"; empty: the first key's value
  std::int64_t delay_ms = 0;     ///< behind the partition's time
  std::string mark = "_SUCCESS"; ///< the file's name
};

/// When the partition begins, in milliseconds since 1970, in UTC; nothing when its values are no
/// time.
std::optional<std::int64_t> partition_time(const partition_marking& how,
                                           const std::vector<std::optional<std::string>>& values);

/// How far a writer has come: what a completed checkpoint makes known to the other ones.
struct writer_progress {
  std::int32_t subtask = 0;
  std::int32_t parallelism = 1;
  std::int64_t watermark_ms = 0;

  graph::committable encode() const;
  /// Nothing when it is another committable. @errors corrupt_snapshot
  static result<std::optional<writer_progress>> decode(byte_view bytes);
};

/// Marks the partitions that all writers of a job have passed. Each writer leaves its progress in
/// a hidden file of the table's directory when its rows before that are visible; who makes the last
/// one known marks. So no process need know the others.
///
///     DIRECTORY/.progress-JOB-SUBTASK    "PARALLELISM WATERMARK"
class partition_committer {
public:
  partition_committer(std::string directory, partition_marking how, graph::writer_context context);
  /// To be called when all rows before the watermark are visible.
  /// @errors output_failed and what else files may do
  status commit(const writer_progress& progress);

private:
  std::string progress_path(std::int32_t subtask) const;
  status publish(const writer_progress& progress);
  status remove_progress();
  /// The least watermark of all writers; nothing while one is not known.
  result<std::optional<std::int64_t>> least_watermark(std::int32_t parallelism);
  status mark_all(const std::string& directory, std::size_t depth, std::int64_t watermark_ms);
  status mark(const std::string& directory, std::int64_t watermark_ms);

  std::string directory_;
  partition_marking how_;
  graph::writer_context context_;
  part_names names_;
};

} // namespace headrace::task
