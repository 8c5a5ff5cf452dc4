#pragma once

#include "libtask/connector/file/part_file.hpp"
#include "libgraph/connector/format.hpp"
#include "libgraph/connector/sink.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headrace::task {

/// Where and how a file sink writes.
struct file_output {
  std::string directory;
  std::uint64_t part_bytes_max = 0; ///< a file is closed once it is that large
};

/// Writes rows to hidden files, one after the other. Each is closed when it is large enough or at
/// the next checkpoint, and is made visible by the committer when that checkpoint is complete. So
/// no file is ever both in a checkpoint and still written to. Calls come one after the other, on
/// executor threads.
///
///     write ─▶ open file ── size, checkpoint ──▶ pending ── prepare_commit ──▶ committable
class file_writer final : public graph::sink_writer {
public:
  /// Makes the directory, and removes files that no checkpoint knows.
  /// @errors output_failed, corrupt_snapshot
  static result<std::unique_ptr<graph::sink_writer>>
  create(file_output output, std::unique_ptr<graph::encoder> encoder, graph::writer_context context,
         const std::vector<byte_string>& restored);

  /// @errors storage_full, output_failed
  status write(const graph::record_batch& rows) override;
  result<std::vector<graph::committable>> prepare_commit(bool end_of_input) override;
  result<byte_string> snapshot(checkpoint_id checkpoint) override;
  /// Removes what was written and is in no checkpoint.
  status close() override;

private:
  file_writer(file_output output, std::unique_ptr<graph::encoder> encoder,
              graph::writer_context context);
  status start(const std::vector<byte_string>& restored);
  /// Makes a file and removes it, so that what is not allowed shows before the first row.
  status try_out();
  status open_part();
  status close_part();
  std::string path_of(const std::string& name) const;

  file_output output_;
  std::unique_ptr<graph::encoder> encoder_;
  graph::writer_context context_;
  part_names names_;
  std::uint64_t next_number_ = 0;
  std::unique_ptr<writable_file> file_;
  pending_part part_;                 ///< of `file_`
  std::vector<pending_part> pending_; ///< closed, not yet handed out
  byte_string encoded_;
};

/// Makes pending files visible. Doing so twice is as good as once.
class file_committer final : public graph::committer {
public:
  explicit file_committer(graph::writer_context context) : context_(std::move(context)) {}
  /// What the file system does not do now is for later.
  /// @errors commit_failed  a file is gone, was changed, or its name is taken by another
  result<graph::commit_later> commit(const std::vector<graph::committable>& what) override;

private:
  /// @returns why it has to wait; nothing: it is visible
  result<std::optional<error>> commit_part(const pending_part& part);
  graph::writer_context context_;
};

} // namespace headrace::task
