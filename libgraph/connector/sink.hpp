#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/log.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::graph {

/// Something written that a completed checkpoint makes final, encoded by the connector.
using committable = byte_string;

/// What a writer gets.
struct writer_context {
  std::int32_t subtask = 0;
  std::int32_t parallelism = 1;
  std::int32_t attempt = 0;
  std::string task_name;
  headrace::file_system& files;
  const headrace::clock& time;
  headrace::logger log;
  headrace::job_id job{};            ///< what is written is marked with both, so that several jobs
  headrace::operator_id operator_{}; ///< and sinks can write to one place; none: not known
  bool is_fresh = false; ///< the job starts without checkpoint: what older attempts left is void
  /// Jobs that this one goes on from, by savepoints: what they have made final is a part of its own
  /// output.
  std::vector<headrace::job_id> former_jobs{};
};

/// Writes rows. `write` and the rest are called one after the other, on executor threads: they may
/// block.
class sink_writer {
public:
  virtual ~sink_writer() = default;
  virtual status write(const record_batch& rows) = 0;
  /// Before a barrier (and at the end of input): all rows so far are safe to commit with what is
  /// returned. After that, `snapshot` gives the writer's own state (e.g. an in-progress file).
  virtual result<std::vector<committable>> prepare_commit(bool end_of_input) = 0;
  virtual result<byte_string> snapshot(checkpoint_id checkpoint) = 0;
  virtual status close() = 0;
};

/// What a committer could not make final now, as while a store does not answer, and why. Empty:
/// all is final.
struct commit_later {
  std::vector<committable> what;
  std::optional<error> cause;
};

/// Makes committables final. Must be idempotent: after a recovery the same ones come again.
class committer {
public:
  virtual ~committer() = default;
  /// @returns what it wants to be given again after a pause
  /// @errors  of what can never become final: the job fails
  virtual result<commit_later> commit(const std::vector<committable>& what) = 0;
  /// The same of what a snapshot held: it may have been final long ago, and its result used and
  /// removed since.
  virtual result<commit_later> commit_restored(const std::vector<committable>& what) {
    return commit(what);
  }
};

/// A sink: makes writers, and a committer when it is exactly-once. Together they are a two-phase
/// commit: a writer prepares transactions, each named by a committable, and the committer ends them
/// once a completed checkpoint holds their names.
///
/// After a failure the committer gets those of the restored checkpoint first. A writer is created
/// when all of these are final: what else stands prepared in the store under the names of this job,
/// operator and subtask is in no checkpoint, and the writer aborts it.
class sink {
public:
  virtual ~sink() = default;
  /// `restored`: writer states of the checkpoint that are now this subtask's (several after a
  /// smaller parallelism, none at first start).
  virtual result<std::unique_ptr<sink_writer>>
  create_writer(writer_context context, std::vector<byte_string> restored) const = 0;
  /// Null for a sink without commits.
  virtual result<std::unique_ptr<committer>> create_committer(writer_context context) const = 0;
  /// Whether it wants the old rows of updates (-U), too. Without them SQL computes less.
  virtual bool takes_update_before() const { return true; }
};

} // namespace headrace::graph
