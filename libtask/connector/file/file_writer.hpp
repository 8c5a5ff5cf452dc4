#pragma once

#include "libtask/connector/file/part_file.hpp"
#include "libtask/connector/file/partition_commit.hpp"
#include "libtask/connector/file/partition_path.hpp"
#include "libgraph/connector/abilities.hpp"
#include "libgraph/connector/format.hpp"
#include "libgraph/connector/sink.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headrace::task {

/// Where and how a file sink writes.
struct file_output {
  std::string directory;
  std::uint64_t part_bytes_max = 0; ///< a file is closed once it is that large
  bool has_changes = false;         ///< the format writes updates and deletions, too
  bool overwrites = false;          ///< what other jobs have written where this one writes goes
  /// Below `directory`: what becomes empty of others even when no row comes. None: nothing does.
  std::optional<std::string> overwritten;

  // Rows of a partition lie in a directory of their own, without the values that name it.
  std::vector<std::size_t> partition_columns; ///< of the rows; empty: no partitions
  std::vector<std::string> partition_keys;    ///< their names
  std::string missing_partition;              ///< name for NULL
  graph::row_type_ptr file_type;              ///< of what stands in the files
  std::optional<partition_marking> marking;   ///< of complete partitions
};

/// Writes rows to hidden files, one after the other. Each is closed when it is large enough or at
/// the next checkpoint, and is made visible by the committer when that checkpoint is complete. So
/// no file is ever both in a checkpoint and still written to. Calls come one after the other, on
/// executor threads.
///
///     write ─▶ open file ── size, checkpoint ──▶ pending ── prepare_commit ──▶ committable
///
/// With partitions, each has an open file, up to so many.
class file_writer final : public graph::sink_writer, public graph::watermarked_writer {
public:
  /// Makes the directory, and removes files that no checkpoint knows.
  /// @errors output_failed, corrupt_snapshot
  static result<std::unique_ptr<graph::sink_writer>>
  create(file_output output, std::unique_ptr<graph::encoder> encoder, graph::writer_context context,
         const std::vector<byte_string>& restored);

  /// @errors storage_full, output_failed
  /// @errors output_unusable  rows that can never be written
  status write(const graph::record_batch& rows) override;
  void advance(std::int64_t watermark_ms) override { watermark_ms_ = watermark_ms; }
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
  struct open_part {
    std::unique_ptr<writable_file> file;
    pending_part part;
  };
  using open_parts = std::map<std::string, open_part>; ///< by directory

  /// Decides about the files that are in a directory and those below it.
  status remove_unknown(const std::string& directory, std::size_t depth,
                        const std::map<std::int32_t, std::uint64_t>& known);
  status write_partitions(const graph::record_batch& rows);
  status write_to(const std::string& directory, const graph::record_batch& rows);
  result<open_part*> part_in(const std::string& directory);
  status mark_prepared(pending_part& part);
  status close_part(open_parts::iterator which);

  file_output output_;
  std::unique_ptr<graph::encoder> encoder_;
  graph::writer_context context_;
  part_names names_;
  std::uint64_t next_number_ = 0;
  std::int64_t watermark_ms_;
  open_parts open_;
  std::vector<pending_part> pending_; ///< closed, not yet handed out
  byte_string encoded_;
};

/// Makes pending files visible. Doing so twice is as good as once.
class file_committer final : public graph::committer {
public:
  file_committer(file_output output, graph::writer_context context);
  /// What the file system does not do now is for later.
  /// @errors commit_failed  a file is gone, was changed, or its name is taken by another
  result<graph::commit_later> commit(const std::vector<graph::committable>& what) override {
    return commit_all(what, false);
  }
  /// A file of which nothing is left was visible once, and was taken away: a warning.
  result<graph::commit_later>
  commit_restored(const std::vector<graph::committable>& what) override {
    return commit_all(what, true);
  }

private:
  result<graph::commit_later> commit_all(const std::vector<graph::committable>& what,
                                         bool are_restored);
  /// @returns why it has to wait; nothing: it is visible
  result<std::optional<error>> commit_part(const pending_part& part, bool is_restored);
  /// Clears the directory of others' files, when it overwrites; likewise.
  result<std::optional<error>> clear(const pending_part& part);
  /// Removes the visible files of others than this job and those it goes on from, once for each
  /// directory.
  status clear_others(const std::string& directory);

  file_output output_;
  graph::writer_context context_;
  part_names names_;
  std::optional<partition_committer> partitions_;
  std::set<std::string> cleared_;
};

} // namespace headrace::task
