#pragma once

#include "libgraph/connector/sink.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::task {

/// A file that is written and not yet visible: what a completed checkpoint makes final. Without
/// `hidden_path` there is no file: the directory of `final_path` is only cleared of what it
/// overwrites. A value; in snapshots.
struct pending_part {
  std::string hidden_path;
  std::string final_path;
  std::uint64_t size_bytes = 0;

  bool is_clearing() const { return hidden_path.empty(); }
  graph::committable encode() const;
  /// @errors corrupt_snapshot, unsupported_snapshot_version
  static result<pending_part> decode(byte_view bytes);
  friend bool operator==(const pending_part&, const pending_part&) = default;
};

/// Names the files of one subtask of one sink. Files of other jobs and sinks have other names.
///
///     part-JOB-SUBTASK-N                        final
///     .part-JOB-SUBTASK-N.inprogress.ATTEMPT    not yet; hidden from readers of the directory
///     .part-JOB-SUBTASK-N.prepared.ATTEMPT      whole, and in a snapshot; hidden, too
///
/// JOB is eight letters made of job and sink, left out when neither is known.
class part_names {
public:
  explicit part_names(const graph::writer_context& context);

  std::string final_name(std::int32_t subtask, std::uint64_t number) const;
  std::string hidden_name(std::int32_t subtask, std::uint64_t number) const;
  std::string prepared_name(std::int32_t subtask, std::uint64_t number) const;
  /// The names are of one job alone: whatever else has them is an older attempt's.
  bool are_of_one_job() const { return of_one_job_; }

  struct parsed {
    std::int32_t subtask = 0;
    std::uint64_t number = 0;
    bool is_hidden = false;
    bool is_prepared = false;
  };
  /// Nothing for files of others.
  std::optional<parsed> parse(std::string_view name) const { return parse(name, mark_); }
  /// Whether this job or one that it goes on from has written it.
  bool is_own(std::string_view name) const;

private:
  static std::optional<parsed> parse(std::string_view name, std::string_view mark);

  bool of_one_job_;
  std::string mark_;                      ///< "1a2b3c4d-" or empty
  std::vector<std::string> former_marks_; ///< of jobs that this one goes on from
  std::string attempt_; ///< unique, also among processes that believe to be the same attempt
};

/// What a file sink's writer keeps in a checkpoint.
struct file_writer_state {
  std::int32_t subtask = 0;
  std::uint64_t next_number = 0; ///< all files below it are in this or an earlier checkpoint

  byte_string encode() const;
  /// @errors corrupt_snapshot, unsupported_snapshot_version
  static result<file_writer_state> decode(byte_view bytes);
};

} // namespace headrace::task
