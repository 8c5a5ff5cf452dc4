#pragma once

#include "libscheduler/execution_graph/job_mail.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/error.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/rpc/address.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::scheduler {

// What job master and checkpoint coordinator tell a source's coordinator.

/// Start, or start over, from what a checkpoint gave.
struct coordinator_reset {
  static constexpr auto kind = job_mail_kind::coordinator_reset;
  checkpoint_id checkpoint = 0;
  std::optional<byte_string> state;
};
/// These readers failed and start again from the checkpoint (0: from nothing).
struct readers_reset {
  static constexpr auto kind = job_mail_kind::readers_reset;
  std::vector<std::int32_t> readers;
  checkpoint_id restored = 0;
};
/// An event of the current attempt of a reader.
struct reader_said {
  static constexpr auto kind = job_mail_kind::reader_said;
  execution_attempt_id attempt;
  actors::address location; ///< of its task executor
  byte_string event;
};
/// Snapshot, and send nothing to readers until resumed: answer by coordinator_snapshot_taken.
struct coordinator_snapshot_wanted {
  static constexpr auto kind = job_mail_kind::coordinator_snapshot_wanted;
  checkpoint_id checkpoint = 0;
  actors::actor_ref asker;
};
/// The sources were triggered, or the checkpoint is no more: what waits may go out.
struct coordinator_resumed {
  static constexpr auto kind = job_mail_kind::coordinator_resumed;
  checkpoint_id checkpoint = 0;
};
struct coordinator_checkpoint_completed {
  static constexpr auto kind = job_mail_kind::coordinator_checkpoint_completed;
  checkpoint_id checkpoint = 0;
};

// What a source's coordinator tells them.

struct coordinator_snapshot_taken {
  static constexpr auto kind = job_mail_kind::coordinator_snapshot_taken;
  checkpoint_id checkpoint = 0;
  operator_id source;
  byte_string state;
  error failure; ///< code none: taken
};
/// To the job master: the whole job is to start over.
struct coordinator_failed {
  static constexpr auto kind = job_mail_kind::coordinator_failed;
  operator_id source;
  error failure;
};

} // namespace headrace::scheduler
