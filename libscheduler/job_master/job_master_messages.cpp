#include "libscheduler/job_master/job_master_endpoint.hpp"
#include "libscheduler/source/source_mail.hpp"
#include "libactors/message/ids_codec.hpp"
#include "schema/collect.capnp.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace headrace::scheduler {

namespace {

/// About how many bytes of rows one answer carries.
constexpr std::uint64_t fetched_bytes_max = std::uint64_t{4} << 20U;
constexpr std::size_t waiting_details_max = 64;

byte_string copy_of(capnp::Data::Reader data) { return {data.asChars().begin(), data.size()}; }

} // namespace

void job_master_endpoint::hear_state(const message<schema::TaskStateChanged>& change) {
  const auto view = change.view();
  const auto attempt = read_attempt(view->getAttempt());
  const auto task = scheduler_->graph().find(attempt);
  const auto raw = static_cast<std::size_t>(view->getState());
  if (!task || raw >= task_state_count)
    return; // of an older attempt
  if (view->hasMetrics())
    take_figures(*task, attempt, view->getMetrics());
  const auto legal = scheduler_->on_task_state(attempt, static_cast<task_state>(raw),
                                               read_error(view->getFailure()), now_ms());
  if (!legal)
    log().error("report of a task refused", {{"cause", to_string(legal.error())}});
  act();
}

void job_master_endpoint::hear_metrics(const message<schema::TaskMetricsReport>& report) {
  const auto view = report.view();
  for (const auto entry : view->getTasks()) {
    const auto attempt = read_attempt(entry.getAttempt());
    if (const auto task = scheduler_->graph().find(attempt))
      take_figures(*task, attempt, entry.getMetrics());
  }
}

void job_master_endpoint::take_figures(task_index task, const execution_attempt_id& attempt,
                                       schema::TaskMetrics::Reader metrics) {
  auto& figures = facts_.figures[static_cast<std::size_t>(task)];
  figures = read_figures(metrics, attempt, figures);
}

void job_master_endpoint::hear_event(const message<schema::OperatorEvent>& event) {
  const auto view = event.view();
  const auto attempt = read_attempt(view->getAttempt());
  const auto task = scheduler_->graph().find(attempt);
  if (!task)
    return; // of an older attempt
  const auto id = read_id<operator_id>(view->getOperator());
  if (const auto coordinator = coordinators_.find(id); coordinator != coordinators_.end())
    post(coordinator->second, reader_said{attempt, scheduler_->graph().current(*task).slot.location,
                                          copy_of(view->getEvent())});
  else
    hear_rows(attempt, *task, id, copy_of(view->getEvent()));
}

void job_master_endpoint::hear_rows(const execution_attempt_id& from, task_index task,
                                    const operator_id& sink, byte_view event) {
  const graph::job_vertex& vertex = scheduler_->graph().vertex_of(task);
  const bool is_sink = std::any_of(
      vertex.operators.begin(), vertex.operators.end(), [&](const graph::operator_node& node) {
        return node.id == sink && std::holds_alternative<graph::sink_spec>(node.spec);
      });
  if (!is_sink) {
    log().warn("event for an unknown operator", {{"operator", to_string(sink)}});
    return;
  }
  auto& rows = collected_.try_emplace(sink, vertex.parallelism, services_->collected_bytes_max)
                   .first->second;
  auto added = checked_read([&]() -> status {
    HEADRACE_TRY(auto raw, validate_message(type_id_of<schema::CollectEvent>(), event));
    const auto view = message<schema::CollectEvent>(std::move(raw)).view();
    std::vector<byte_string> batches;
    for (const auto batch : view->getBatches())
      batches.push_back(copy_of(batch));
    return rows.add(from, view->getSequence(), std::move(batches), view->getIsLast());
  });
  if (!added)
    scheduler_->fail_job(added.error());
  tell_taken(sink, rows);
  act();
}

void job_master_endpoint::tell_taken(const operator_id& sink, collected_rows& rows) {
  for (const auto& [attempt, bytes] : rows.take_taken()) {
    const auto task = scheduler_->graph().find(attempt);
    if (!task || is_terminal(scheduler_->graph().current(*task).state))
      continue; // nobody waits for it
    message_builder<schema::CollectTaken> taken;
    taken->setBytes(bytes);
    const auto whole = taken.finish();
    message_builder<schema::OperatorEvent> out;
    write(out->initAttempt(), attempt);
    write(out->initOperator(), sink);
    out->setEvent(whole.untyped().words().asBytes());
    tell(scheduler_->graph().current(*task).slot.location, out.finish());
  }
}

bool job_master_endpoint::has_given_rows(const std::vector<task_index>& tasks) const {
  return std::any_of(tasks.begin(), tasks.end(), [&](task_index task) {
    const auto& operators = scheduler_->graph().vertex_of(task).operators;
    return std::any_of(operators.begin(), operators.end(), [&](const graph::operator_node& node) {
      const auto rows = collected_.find(node.id);
      return rows != collected_.end() &&
             rows->second.has_given_at_once(scheduler_->graph().subtask_of(task));
    });
  });
}

void job_master_endpoint::hear_awaited(const message<schema::CheckpointAwaited>& awaited) {
  scheduler_->on_checkpoint_awaited(read_attempt(awaited.view()->getAttempt()));
  const auto plan = plan_checkpoint(scheduler_->graph());
  post(checkpoints_, checkpoint_awaited{plan && plan->are_all_waiting});
}

void job_master_endpoint::answer_partition_state(
    const message<schema::RequestPartitionState>& request,
    actors::reply_to<schema::PartitionState> back) {
  const auto producer = read_partition(request.view()->getPartition()).producer;
  const auto task = scheduler_->graph().find(producer);
  message_builder<schema::PartitionState> reply;
  reply->setProducerState(static_cast<schema::TaskState>(
      task ? scheduler_->graph().current(*task).state : task_state::canceled)); // an older attempt
  back.send(reply.finish());
}

void job_master_endpoint::answer_status(actors::reply_to<schema::JobStatus> back) {
  message_builder<schema::JobStatus> reply;
  write_status(*reply, scheduler_->graph(), facts());
  back.send(reply.finish());
}

void job_master_endpoint::answer_details(actors::reply_to<schema::JobDetails> back) {
  if (is_over_ && !facts_.is_settling) { // the coordinator may have ended
    send_details(std::move(back), final_overview_);
    return;
  }
  waiting_details_.push_back(std::move(back));
  if (waiting_details_.size() > waiting_details_max) {
    waiting_details_.front().fail({errc::timed_out, "too many ask about the job"});
    waiting_details_.pop_front();
  }
  post(checkpoints_, statistics_wanted{});
}

void job_master_endpoint::tell_details(const message<schema::CheckpointOverview>& checkpoints) {
  for (auto& back : std::exchange(waiting_details_, {}))
    send_details(std::move(back), checkpoints);
}

void job_master_endpoint::send_details(actors::reply_to<schema::JobDetails> back,
                                       const message<schema::CheckpointOverview>& checkpoints) {
  message_builder<schema::JobDetails> reply;
  write_details(*reply, scheduler_->graph(), facts(), history_, checkpoints);
  back.send(reply.finish());
}

void job_master_endpoint::answer_fetch(const message<schema::FetchCollected>& request,
                                       actors::reply_to<schema::CollectedRows> back) {
  const auto view = request.view();
  const auto found = collected_.find(read_id<operator_id>(view->getOperator()));
  message_builder<schema::CollectedRows> reply;
  if (found == collected_.end()) {
    reply->setNextOffset(view->getOffset());
    reply->setIsLast(is_over_);
    back.send(reply.finish());
    return;
  }
  const auto fetched = found->second.fetch(view->getOffset(), fetched_bytes_max);
  tell_taken(found->first, found->second);
  reply->setNextOffset(fetched.next_offset);
  reply->setIsLast(fetched.is_last);
  auto batches = reply->initBatches(static_cast<unsigned>(fetched.batches.size()));
  for (std::size_t i = 0; i < fetched.batches.size(); ++i) {
    auto out =
        batches.init(static_cast<unsigned>(i), static_cast<unsigned>(fetched.batches[i].size()));
    std::copy(fetched.batches[i].begin(), fetched.batches[i].end(), out.asChars().begin());
  }
  back.send(reply.finish());
}

} // namespace headrace::scheduler
