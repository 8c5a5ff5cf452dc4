#pragma once

#include "libtask/mailbox/mail_kind.hpp"
#include "libtask/task/task_description.hpp"
#include "libtask/task/task_state.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/error.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/message/message.hpp"
#include "libactors/rpc/mail.hpp"
#include "schema/checkpoint.capnp.h"

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

namespace headrace::task {

// What a task executor tells a subtask, and a subtask its task executor, within their process.

struct cancel_task {};
struct trigger_checkpoint {
  graph::barrier barrier;
};
struct checkpoint_completed {
  checkpoint_id checkpoint = 0;
};
struct checkpoint_aborted {
  checkpoint_id checkpoint = 0;
};
struct operator_event {
  operator_id to;
  byte_string event;
};
/// A channel's partition is not there and does not come.
struct partition_lost {
  std::uint32_t channel = 0;
  error cause;
};

/// What this task has written for a consumer of another process is lost.
struct consumer_lost {
  error cause;
};

/// Goes before data.
struct task_control final : actors::mail {
  using content_type =
      std::variant<cancel_task, trigger_checkpoint, checkpoint_completed, checkpoint_aborted,
                   operator_event, partition_lost, consumer_lost>;
  explicit task_control(content_type what)
      : mail(static_cast<std::uint32_t>(mail_kind::task_control)), content(std::move(what)) {}
  content_type content;
};

/// Something that an operator waits for is there: the task takes a turn.
struct task_wake final : actors::mail {
  task_wake() : mail(static_cast<std::uint32_t>(mail_kind::task_wake)) {}
};

struct state_changed {
  task_state state = task_state::CREATED;
  error failure; ///< with FAILED
};
struct snapshot_acknowledged {
  message<schema::AcknowledgeCheckpoint> what;
};
struct snapshot_declined {
  checkpoint_id checkpoint = 0;
  error reason;
};
/// The input has ended: the task finishes with the next checkpoint.
struct checkpoint_awaited {};
struct coordinator_event {
  operator_id from;
  byte_string event;
};
/// Connect the task's channels to their producers.
struct partitions_wanted {
  std::uint64_t credit_bytes = 0;
};

struct task_report final : actors::mail {
  using content_type = std::variant<state_changed, snapshot_acknowledged, snapshot_declined,
                                    checkpoint_awaited, coordinator_event, partitions_wanted>;
  task_report(execution_attempt_id from, content_type what)
      : mail(static_cast<std::uint32_t>(mail_kind::task_report)), attempt(from),
        content(std::move(what)) {}
  execution_attempt_id attempt;
  content_type content;
};

} // namespace headrace::task
