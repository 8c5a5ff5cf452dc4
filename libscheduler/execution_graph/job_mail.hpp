#pragma once

#include "libactors/rpc/actor_ref.hpp"
#include "libactors/rpc/mail.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace headrace::scheduler {

/// The kinds of mail between a job master and its children. Each content struct names its own.
enum class job_mail_kind : std::uint32_t {
  // job master → slot pool
  resource_manager_changed = 1,
  executor_joined,
  executor_left,
  slots_wanted,
  slots_released,
  // slot pool → job master
  slots_ready,
  slots_missing,
  // job master → checkpoint coordinator
  coordinators_known,
  restore_requested,
  plan_made,
  task_ended,
  checkpoint_acknowledged,
  checkpoint_declined,
  checkpoint_awaited,
  checkpoint_requested,
  savepoint_wanted,
  statistics_wanted,
  job_over,
  checkpoints_released,
  // checkpoint coordinator → job master
  restore_done,
  plan_wanted,
  checkpoint_progress,
  requested_checkpoint_ended,
  savepoint_ended,
  too_many_checkpoint_failures,
  statistics_told,
  checkpoints_stopped,
  cleaned_up,
  // checkpoint coordinator → source coordinator
  coordinator_snapshot_wanted,
  coordinator_resumed,
  coordinator_checkpoint_completed,
  // source coordinator → checkpoint coordinator
  coordinator_snapshot_taken,
  // job master → source coordinator
  coordinator_reset,
  readers_reset,
  reader_said,
  // source coordinator → job master
  coordinator_failed,
};

/// The enumerator's name; empty for a number without one.
std::string_view name_of(job_mail_kind kind);

/// A value handed from one actor of a job to another.
template <class Content>
class job_mail final : public actors::mail {
public:
  explicit job_mail(Content content_in)
      : mail(static_cast<std::uint32_t>(Content::kind)), content(std::move(content_in)) {}
  Content content;
};

/// With normal priority it comes behind messages, which go before mail.
template <class Content>
void post(const actors::actor_ref& to, Content content,
          actors::mail_priority priority = actors::mail_priority::normal) {
  if (!to.is_none())
    to.send(std::make_unique<job_mail<Content>>(std::move(content)), priority);
}

/// Calls `handle` with the content when the mail is of its kind. @returns whether it was
template <class Content, class Handle>
bool open_mail(actors::mail& received, Handle&& handle) {
  if (received.kind() != static_cast<std::uint32_t>(Content::kind))
    return false;
  handle(std::move(static_cast<job_mail<Content>&>(received).content));
  return true;
}

} // namespace headrace::scheduler
