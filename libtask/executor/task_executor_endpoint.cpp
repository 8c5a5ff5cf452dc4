#include "libtask/executor/task_executor_endpoint.hpp"

#include "libtask/executor/task_executor_entries.hpp"
#include "libgraph/data/savepoint_codec.hpp"
#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"

#include <utility>

namespace headrace::task {

task_executor_endpoint::task_executor_endpoint(task_executor_settings settings,
                                               task_executor_environment around)
    : settings_(std::move(settings)), around_(around),
      segments_(std::make_shared<headrace::state::snapshot_segments>(around_.files,
                                                                     settings_.segment_bytes)),
      slots_(settings_.slots),
      unused_copies_(std::chrono::microseconds(settings_.local_state_patience).count()),
      registration_retry_(settings_.registration_retry_least) {
  answer_messages();
}

task_executor_endpoint::~task_executor_endpoint() = default;

void task_executor_endpoint::answer_messages() {
  on_tell<schema::Heartbeat>(
      [this](const auto& what, const actors::address& from) { hear_heartbeat(what, from); });
  on_tell<schema::Disconnect>([this](const auto& what, const actors::address& from) {
    const auto view = what.view();
    if (read_id<task_executor_id>(view->getFrom()) == settings_.id) {
      hear_replaced(view->getCause().cStr(), from);
      return;
    }
    const auto named = read_id<job_id>(view->getJob());
    const auto job = named.is_none() ? read_id<job_id>(view->getFrom()) : named;
    if (const auto known = jobs_.find(job); known != jobs_.end())
      known->second->is_over = !view->getJobGoesOn();
    else if (!named.is_none() && !view->getJobGoesOn())
      drop_state(job); // all its slots were freed before
    lose_job(job, view->getCause().cStr(), true);
  });
  on_ask<schema::LeaveCluster, schema::Acknowledge>([this](const auto& order, auto back) {
    take_leave(order.view()->getCause().cStr());
    std::vector<execution_attempt_id> running;
    for (const auto& [attempt, task] : tasks_)
      running.push_back(attempt);
    for (const auto& attempt : running)
      cancel(attempt);
    back.send(message_builder<schema::Acknowledge>().finish());
  });
  on_ask<schema::AllocateSlot, schema::Acknowledge>(
      [this](const auto& order, auto back) { allocate_slot(order, std::move(back)); });
  on_ask<schema::FreeSlot, schema::Acknowledge>([this](const auto& order, auto back) {
    const auto view = order.view();
    free_slot(read_id<allocation_id>(view->getAllocation()), view->getCause().cStr());
    back.send(message_builder<schema::Acknowledge>().finish());
  });
  on_ask<schema::SubmitTask, schema::Acknowledge>(
      [this](const auto& request, auto back) { submit(request, std::move(back)); });
  on_tell<schema::CancelTask>([this](const auto& order, const actors::address&) {
    cancel(read_attempt(order.view()->getAttempt()));
  });
  on_tell<schema::TriggerCheckpoint>([this](const auto& order, const actors::address& from) {
    const auto view = order.view();
    const auto attempt = read_attempt(view->getAttempt());
    if (find(attempt) == nullptr) {
      decline(from, {}, attempt, view->getCheckpoint(),
              error(errc::checkpoint_declined, "task is not here: " + to_string(attempt)));
      return;
    }
    graph::barrier split{view->getCheckpoint(), view->getTimestampMs(),
                         view->getAtLeastOnce() ? graph::barrier_alignment::at_least_once
                         : view->getUnaligned() ? graph::barrier_alignment::unaligned
                                                : graph::barrier_alignment::exactly_once};
    split.aligned_timeout_ms = view->getAlignedTimeoutMs();
    if (view->hasSavepoint()) {
      auto savepoint = graph::read_savepoint_order(view->getSavepoint());
      if (!savepoint) {
        decline(from, {}, attempt, split.checkpoint, std::move(savepoint).error());
        return;
      }
      split.savepoint = std::make_shared<const graph::savepoint_order>(*std::move(savepoint));
    }
    control(attempt, trigger_checkpoint{std::move(split)});
  });
  on_tell<schema::CheckpointCompleted>([this](const auto& news, const actors::address&) {
    const auto view = news.view();
    control(read_attempt(view->getAttempt()), checkpoint_completed{view->getCheckpoint()});
  });
  on_tell<schema::CheckpointAborted>([this](const auto& news, const actors::address&) {
    const auto view = news.view();
    control(read_attempt(view->getAttempt()), checkpoint_aborted{view->getCheckpoint()});
  });
  on_tell<schema::OperatorEvent>([this](const auto& event, const actors::address&) {
    const auto view = event.view();
    const auto bytes = view->getEvent().asChars();
    control(read_attempt(view->getAttempt()),
            operator_event{read_id<operator_id>(view->getOperator()),
                           byte_string(bytes.begin(), bytes.size())});
  });
  on_ask<schema::RequestPartition, schema::Acknowledge>([this](const auto& request, auto back) {
    auto done = attach(request);
    if (done)
      back.send(message_builder<schema::Acknowledge>().finish());
    else
      back.fail(std::move(done).error());
  });
}

void task_executor_endpoint::on_start() {
  manager_heard_us_ = now_us();
  unregistered_since_us_ = now_us();
  find_manager();
  after(settings_.heartbeat_interval, [this] { beat(); });
  if (!settings_.local_state_directory.empty())
    look_for_unused_copies();
  take_links();
}

void task_executor_endpoint::on_mail(actors::mail_ptr content) {
  if (content->kind() == static_cast<std::uint32_t>(mail_kind::connection_report)) {
    take(static_cast<connection_report&>(*content));
    return;
  }
  if (content->kind() != static_cast<std::uint32_t>(mail_kind::task_report)) {
    log().warn("mail of an unknown kind dropped", {{"kind", std::to_string(content->kind())}});
    return;
  }
  take(static_cast<task_report&>(*content));
}

void task_executor_endpoint::on_child_ended(const std::string& name, const error& cause) {
  // Behind the child's own last words, which wait in the mailbox while its end overtakes them.
  later([this, name, cause] { hear_end(name, cause); });
}

void task_executor_endpoint::hear_end(const std::string& name, const error& cause) {
  if (lose_connection(name, cause))
    return;
  const auto known = attempt_by_child_.find(name);
  if (known == attempt_by_child_.end())
    return;
  const auto attempt = known->second;
  if (auto& task = *find(attempt); !is_terminal(task.state))
    tell_state(
        task, task_state::FAILED,
        error(errc::internal, "task ended without a word: " + task.what.display_name(), cause));
  end_task(attempt);
}

void task_executor_endpoint::on_peer_ended(const actors::address& peer, const error& cause) {
  if (peer == manager_) {
    lose_manager(to_string(cause), cause.code == errc::none);
    return;
  }
  for (const auto& [id, job] : jobs_) {
    if (job->master == peer) {
      lose_job(job_id(id), to_string(cause), cause.code == errc::none);
      return;
    }
  }
}

void task_executor_endpoint::on_stop(const error& cause) {
  take_leave(cause.code == errc::none ? "task executor shuts down" : cause.message);
  if (around_.network != nullptr)
    around_.network->take_links({});
  connections_.clear();
  for (auto& [attempt, task] : tasks_) {
    around_.directory.remove(attempt);
    task->ref = {};
  }
}

} // namespace headrace::task
