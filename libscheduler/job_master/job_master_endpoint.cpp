#include "libscheduler/job_master/job_master_endpoint.hpp"

#include "libscheduler/checkpoint/checkpoint_coordinator_endpoint.hpp"
#include "libscheduler/checkpoint/final_checkpoint.hpp"
#include "libscheduler/slot/slot_pool_endpoint.hpp"
#include "libscheduler/source/source_coordinator_endpoint.hpp"
#include "libstate/handle/subtask_state_codec.hpp"
#include "libactors/message/ids_codec.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace headrace::scheduler {
namespace {

/// Whether a last checkpoint is worth waiting for. All tasks take part in one, so it does not come
/// while one is without a slot; and before the first runs there is nothing new to keep.
bool may_be_checkpointed(const execution_graph& graph) {
  return graph.state() == job_state::running && graph.count_of(task_state::running) > 0 &&
         graph.count_of(task_state::created) == 0 && graph.count_of(task_state::scheduled) == 0;
}

} // namespace

job_master_endpoint::job_master_endpoint(std::shared_ptr<const graph::job_graph> job,
                                         std::int32_t generation, fencing_token token,
                                         actors::address dispatcher,
                                         std::shared_ptr<const job_services> services)
    : job_(std::move(job)), generation_(generation), token_(token),
      dispatcher_(std::move(dispatcher)), services_(std::move(services)),
      beats_(services_->heartbeat) {
  answer_asks();
  hear_tells();
}

job_master_endpoint::~job_master_endpoint() = default;

void job_master_endpoint::answer_asks() {
  on_ask<schema::RegisterAtJobMaster, schema::RegistrationReply>(
      [this](const auto& request, auto back) { accept_executor(request, std::move(back)); });
  on_ask<schema::OfferSlots, schema::OfferSlotsReply>([this](const auto& offer, auto back) {
    auto answer = std::make_shared<actors::reply_to<schema::OfferSlotsReply>>(std::move(back));
    ask<schema::OfferSlotsReply>(pool_address_, offer, services_->ask_timeout,
                                 [answer](const result<message<schema::OfferSlotsReply>>& reply) {
                                   if (reply)
                                     answer->send(*reply);
                                   else
                                     answer->fail(reply.error());
                                 });
  });
  on_ask<schema::RequestPartitionState, schema::PartitionState>(
      [this](const auto& request, auto back) { answer_partition_state(request, std::move(back)); });
  on_ask<schema::RequestJobStatus, schema::JobStatus>(
      [this](const auto&, auto back) { answer_status(std::move(back)); });
  on_ask<schema::FetchCollected, schema::CollectedRows>(
      [this](const auto& request, auto back) { answer_fetch(request, std::move(back)); });
  on_ask<schema::RequestJobDetails, schema::JobDetails>(
      [this](const auto&, auto back) { answer_details(std::move(back)); });
  on_ask<schema::CancelJob, schema::Acknowledge>([this](const auto&, auto back) {
    scheduler_->cancel();
    back.send(message_builder<schema::Acknowledge>().finish());
    act();
  });
  on_ask<schema::TakeSavepoint, schema::SavepointReply>(
      [this](const auto& request, auto back) { take_savepoint(request, std::move(back)); });
  on_ask<schema::SuspendJobs, schema::Acknowledge>([this](const auto& order, auto back) {
    suspend(std::chrono::milliseconds(order.view()->getTimeoutMs()), std::move(back));
  });
}

void job_master_endpoint::suspend(std::chrono::milliseconds patience,
                                  actors::reply_to<schema::Acknowledge> back) {
  suspenders_.push_back(std::move(back));
  const execution_graph& graph = scheduler_->graph();
  const bool is_ending =
      graph.state() == job_state::cancelling || graph.state() == job_state::failing;
  if (is_over_ || patience.count() <= 0 || (!is_ending && !may_be_checkpointed(graph))) {
    suspend_now();
    return;
  }
  if (!is_ending && suspenders_.size() == 1)
    post(checkpoints_, checkpoint_requested{});
  after(patience, [this] { suspend_now(); });
}

void job_master_endpoint::suspend_now() {
  scheduler_->suspend();
  act();
  answer_suspenders();
}

void job_master_endpoint::answer_suspenders() {
  for (auto& back : std::exchange(suspenders_, {}))
    back.send(message_builder<schema::Acknowledge>().finish());
}

void job_master_endpoint::hear_requested(const requested_checkpoint_ended& what) {
  if (suspenders_.empty())
    return;
  if (what.failure.code != errc::none)
    log().warn("job is suspended without a last checkpoint", {{"cause", to_string(what.failure)}});
  suspend_now();
}

void job_master_endpoint::hear_tells() {
  on_tell<schema::TaskStateChanged>(
      [this](const auto& change, const actors::address&) { hear_state(change); });
  on_tell<schema::TaskMetricsReport>(
      [this](const auto& report, const actors::address&) { hear_metrics(report); });
  on_tell<schema::OperatorEvent>(
      [this](const auto& event, const actors::address&) { hear_event(event); });
  on_tell<schema::AcknowledgeCheckpoint>([this](const auto& what, const actors::address&) {
    post(checkpoints_, checkpoint_acknowledged{what});
  });
  on_tell<schema::DeclineCheckpoint>([this](const auto& what, const actors::address&) {
    post(checkpoints_, checkpoint_declined{what});
  });
  on_tell<schema::CheckpointAwaited>(
      [this](const auto& awaited, const actors::address&) { hear_awaited(awaited); });
  on_tell<schema::NotEnoughSlots>(
      [this](const auto& shortage, const actors::address&) { tell(pool_address_, shortage); });
  on_tell<schema::Heartbeat>(
      [this](const auto& beat, const actors::address& from) { hear_heartbeat(beat, from); });
  on_tell<schema::Disconnect>([this](const auto& farewell, const actors::address& from) {
    const auto view = farewell.view();
    const auto id = read_id<task_executor_id>(view->getFrom());
    // Another instance may have registered under its id meanwhile.
    if (const auto known = executors_.find(id);
        known != executors_.end() && known->second.location == from)
      lose_executor(id, error(errc::task_executor_lost, view->getCause().cStr()));
  });
}

void job_master_endpoint::on_start() {
  set_fencing_token(token_);
  auto graph = execution_graph::build(job_, generation_);
  if (!graph) {
    quit(graph.error());
    return;
  }
  facts_.started_ms = environment().time.wall_ms();
  history_.start(graph->task_count(), facts_.started_ms);
  facts_.figures.resize(static_cast<std::size_t>(graph->task_count()));
  scheduler_.emplace(std::move(*graph), environment().random);
  unregistered_since_us_ = now_us();
  start_children();
  register_at_manager();
  beat();
  scheduler_->begin();
  act();
}

void job_master_endpoint::start_children() {
  slot_pool_settings pool_settings;
  pool_settings.request_timeout_ms = job_->slot_timeout_ms;
  pool_settings.idle_timeout_ms = services_->slot_idle_timeout.count();
  pool_address_ = spawn(
      std::make_unique<slot_pool_endpoint>(job_->id, self(), self_ref(), pool_settings,
                                           services_->ask_timeout),
      {"slot_pool", "slot_pool", actors::placement::control, actors::supervision::escalate, true});
  pool_ = child_ref("slot_pool");

  const std::string& own = job_->checkpoints.directory;
  const std::string root = own.empty() ? services_->checkpoint_directory : own;
  deployment_ = {self(), token_, services_->blob_server, root + "/" + to_string(job_->id), {}};
  deployment_.takes_final_checkpoint = takes_final_checkpoint(*job_, services_->connectors);
  checkpoint_coordinator_options checkpoint_options;
  checkpoint_options.job = job_;
  checkpoint_options.files = services_->files;
  checkpoint_options.code = services_->code;
  checkpoint_options.artifact_directory = services_->artifact_directory;
  checkpoint_options.records = services_->recorded_checkpoints;
  checkpoint_options.storage = services_->make_storage
                                   ? services_->make_storage(root, job_->id)
                                   : std::shared_ptr(headrace::state::make_file_checkpoint_storage(
                                         *services_->files, root, job_->id));
  spawn(
      std::make_unique<checkpoint_coordinator_endpoint>(std::move(checkpoint_options), self_ref()),
      {"checkpoint_coordinator", "checkpoint_coordinator", actors::placement::control,
       actors::supervision::escalate, true});
  checkpoints_ = child_ref("checkpoint_coordinator");

  for (std::size_t position = 0; position < job_->vertices.size(); ++position) {
    const graph::operator_node& head = job_->vertices[position].operators.front();
    if (!std::holds_alternative<graph::source_spec>(head.spec))
      continue;
    const std::string name = "source-" + to_string(head.id);
    spawn(std::make_unique<source_coordinator_endpoint>(
              source_coordinator_options{job_, static_cast<std::int32_t>(position),
                                         services_->connectors, services_->code,
                                         services_->artifact_directory, services_->files},
              self_ref()),
          {name, "source_coordinator", actors::placement::control, actors::supervision::escalate,
           true});
    coordinators_[head.id] = child_ref(name);
    coordinated_[head.id] = static_cast<std::int32_t>(position);
  }
  post(checkpoints_, coordinators_known{coordinators_});
}

void job_master_endpoint::on_mail(actors::mail_ptr content) {
  actors::mail& received = *content;
  open_mail<slots_ready>(
      received, [this](const slots_ready& what) { scheduler_->on_slots_assigned(what.assigned); });
  open_mail<slots_missing>(received, [this](const slots_missing& what) {
    facts_.waiting_for = what.waiting_for;
    if (what.failure.code != errc::none)
      scheduler_->on_slots_unavailable(what.failure, now_ms());
  });
  open_mail<restore_done>(received, [this](const restore_done& what) { restored(what); });
  open_mail<plan_wanted>(received, [this](const plan_wanted&) {
    post(checkpoints_, plan_made{std::make_shared<const result<checkpoint_plan>>(
                           plan_checkpoint(scheduler_->graph()))});
  });
  open_mail<checkpoint_progress>(received, [this](const checkpoint_progress& what) {
    facts_.completed_checkpoints = what.completed;
    facts_.newest_checkpoint = what.newest;
    facts_.newest_checkpoint_path = what.newest_path;
  });
  open_mail<requested_checkpoint_ended>(
      received, [this](const requested_checkpoint_ended& what) { hear_requested(what); });
  open_mail<savepoint_ended>(received,
                             [this](const savepoint_ended& what) { hear_savepoint(what); });
  open_mail<too_many_checkpoint_failures>(received,
                                          [this](const too_many_checkpoint_failures& what) {
                                            scheduler_->on_job_failure(what.reason, now_ms());
                                          });
  open_mail<coordinator_failed>(received, [this](const coordinator_failed& what) {
    scheduler_->on_job_failure(what.failure, now_ms());
  });
  open_mail<statistics_told>(received,
                             [this](const statistics_told& what) { tell_details(what.overview); });
  open_mail<checkpoints_stopped>(received, [this](const checkpoints_stopped& what) {
    final_overview_ = what.overview;
    facts_.is_settling = false;
    tell_details(final_overview_);
    store_end();
  });
  open_mail<cleaned_up>(received, [this](const cleaned_up&) { report_end(); });
  act();
}

void job_master_endpoint::on_child_ended(const std::string& name, const error& cause) {
  if (!is_over_)
    quit({errc::internal, "a part of the job master ended: " + name, cause});
}

void job_master_endpoint::act() {
  for (auto actions = scheduler_->take_actions(); !actions.empty();
       actions = scheduler_->take_actions()) {
    for (const auto& failure : scheduler_->take_failures())
      history_.failed(scheduler_->graph(), failure, environment().time.wall_ms());
    for (const auto& action : actions)
      std::visit([this](const auto& what) { carry_out(what); }, action);
  }
}

void job_master_endpoint::carry_out(const want_slots& what) {
  post(pool_, slots_wanted{what.shared_slots});
}

void job_master_endpoint::carry_out(const release_slots& what) {
  post(pool_, slots_released{what.shared_slots, false});
}

void job_master_endpoint::carry_out(const restore_tasks& what) {
  fail_ending(what.is_whole_job);
  restores_[what.epoch] = {what.tasks, what.is_whole_job, what.is_first_start};
  post(checkpoints_, restore_requested{what.epoch, what.is_first_start});
}

/// Where storage did not let a job's first state be read, which may pass: to give up for that a job
/// that a former job manager ran, or that is to go on from a savepoint, would leave it to somebody
/// to see it.
bool job_master_endpoint::restores_again(const restore_done& done) {
  if (*done.outcome || restored_ != nullptr)
    return false;
  const error& why = done.outcome->error();
  const bool may_pass = why.has(errc::storage_failed) && !why.has(errc::file_not_found) &&
                        !why.has(errc::corrupt_snapshot);
  if (!may_pass || ++recoveries_ >= services_->recoveries_max)
    return false;
  log().warn(
      "checkpoint cannot be read, and is read again",
      {{"after_ms", std::to_string(services_->recovery_retry.count())}, {"cause", to_string(why)}});
  after(services_->recovery_retry, [this, epoch = done.epoch] {
    if (const auto waiting = restores_.find(epoch); waiting != restores_.end())
      post(checkpoints_, restore_requested{epoch, waiting->second.is_first_start});
  });
  return true;
}

void job_master_endpoint::restored(const restore_done& done) {
  const auto found = restores_.find(done.epoch);
  if (found == restores_.end())
    return;
  if (restores_again(done))
    return;
  const waiting_restore restore = std::move(found->second);
  restores_.erase(found);
  if (!*done.outcome) {
    const error& why = done.outcome->error();
    // The last job manager's tasks had state, and their sinks have committed.
    stays_stored_ = generation_ > 0 && restored_ == nullptr;
    scheduler_->on_restored(done.epoch, stays_stored_ ? refused_recovery(job_->id, why) : why,
                            now_ms());
    return;
  }
  if (facts_.completed_checkpoints == 0 && has_given_rows(restore.tasks)) {
    scheduler_->fail_job(
        {errc::job_failed,
         "rows were already given to the client, and no checkpoint is there to go on from: set "
         "execution.checkpointing.interval for a job with collect() that is to survive failures",
         scheduler_->newest_failure()});
    return;
  }
  restored_ = done.outcome;
  facts_.restored_checkpoint = (*restored_)->checkpoint;
  deployment_.max_parallelism = (*restored_)->max_parallelism;
  if (facts_.restored_checkpoint != 0)
    log().info("restoring", {{"checkpoint", std::to_string(facts_.restored_checkpoint)},
                             {"tasks", std::to_string(restore.tasks.size())}});
  reset_coordinators(restore);
  scheduler_->on_restored(done.epoch, {}, now_ms());
}

void job_master_endpoint::reset_coordinators(const waiting_restore& restore) {
  const checkpoint_id checkpoint = (*restored_)->checkpoint;
  for (const auto& [source, position] : coordinated_) {
    if (restore.is_whole_job) {
      coordinator_reset reset{checkpoint, {}};
      const auto part = (*restored_)->operators.find(source);
      if (part != (*restored_)->operators.end())
        reset.state = part->second.coordinator;
      post(coordinators_[source], std::move(reset));
      continue;
    }
    readers_reset reset{{}, checkpoint};
    for (const task_index task : restore.tasks) {
      if (scheduler_->graph().vertex_position(task) == position)
        reset.readers.push_back(scheduler_->graph().subtask_of(task));
    }
    if (!reset.readers.empty())
      post(coordinators_[source], std::move(reset));
  }
}

void job_master_endpoint::carry_out(const deploy_task& what) {
  const execution& current = scheduler_->graph().current(what.task);
  deployment_state start;
  headrace::state::task_state_snapshot snapshot;
  if (restored_ != nullptr && (*restored_)->checkpoint != 0) {
    for (const auto& node : scheduler_->graph().vertex_of(what.task).operators) {
      const auto part = (*restored_)->operators.find(node.id);
      if (part == (*restored_)->operators.end())
        continue;
      const auto subtask = static_cast<std::size_t>(current.id.subtask);
      if (subtask < part->second.subtasks.size() && !part->second.subtasks[subtask].is_empty())
        snapshot.operators[node.id] = part->second.subtasks[subtask];
    }
    start.restored_checkpoint = (*restored_)->checkpoint;
    start.write_state = [&snapshot](schema::TaskDeployment::Builder out) {
      headrace::state::write_subtask_state(out.getState(), snapshot);
    };
  }
  ask<schema::Acknowledge>(current.slot.location,
                           describe_deployment(scheduler_->graph(), what.task, deployment_, start),
                           services_->ask_timeout,
                           [this, attempt = current.id, location = current.slot.location](
                               const result<message<schema::Acknowledge>>& answer) {
                             if (answer) {
                               submitted_.insert(attempt);
                               return;
                             }
                             // It may have arrived all the same.
                             message_builder<schema::CancelTask> order;
                             write(order->initAttempt(), attempt);
                             tell(location, order.finish());
                             scheduler_->on_deploy_failed(attempt, answer.error(), now_ms());
                             act();
                           });
}

void job_master_endpoint::carry_out(const cancel_task& what) {
  tell_cancel(what.task);
  if (!std::exchange(is_canceling_again_, true))
    after(services_->cancel_retry, [this] { cancel_again(); });
}

void job_master_endpoint::tell_cancel(task_index task) {
  const execution& current = scheduler_->graph().current(task);
  message_builder<schema::CancelTask> order;
  write(order->initAttempt(), current.id);
  tell(current.slot.location, order.finish());
}

void job_master_endpoint::cancel_again() {
  is_canceling_again_ = false;
  const execution_graph& graph = scheduler_->graph();
  const auto count = graph.count_of(task_state::canceling);
  if (count == 0)
    return;
  std::string first;
  for (task_index task = 0; task < graph.task_count(); ++task) {
    if (graph.current(task).state != task_state::canceling)
      continue;
    if (first.empty())
      first = graph.name_of(task);
    tell_cancel(task);
  }
  log().warn("tasks do not end", {{"count", std::to_string(count)}, {"first", first}});
  is_canceling_again_ = true;
  after(services_->cancel_retry, [this] { cancel_again(); });
}

void job_master_endpoint::carry_out(const restart_later& what) {
  after(std::chrono::milliseconds(what.delay_ms), [this] {
    scheduler_->on_restart_due(now_ms());
    act();
  });
}

void job_master_endpoint::carry_out(const task_changed& what) {
  log().debug("task changed", {{"task", scheduler_->graph().name_of(what.task)},
                               {"attempt", std::to_string(what.attempt.attempt)},
                               {"state", std::string(name_of(what.state))}});
  history_.task_entered(what.task, what.state, environment().time.wall_ms());
  if (!is_terminal(what.state))
    return;
  submitted_.erase(what.attempt);
  post(checkpoints_, task_ended{what.attempt, what.state == task_state::finished});
}

void job_master_endpoint::carry_out(const job_changed& what) {
  log().info("job changed",
             {{"from", std::string(name_of(what.from))}, {"to", std::string(name_of(what.to))}});
  history_.entered(what.to, environment().time.wall_ms());
  if (is_terminal(what.to) || what.to == job_state::suspended)
    end_job();
}

void job_master_endpoint::end_job() {
  if (std::exchange(is_over_, true))
    return;
  facts_.ended_ms = environment().time.wall_ms();
  facts_.is_settling = true;
  for (auto& [sink, rows] : collected_)
    rows.close();
  post(pool_, slots_released{{}, true});
  post(checkpoints_, job_over{}); // answered by checkpoints_stopped
}

void job_master_endpoint::store_end() {
  const job_state outcome = scheduler_->graph().state();
  stays_stored_ = stays_stored_ && outcome == job_state::failed;
  if (outcome == job_state::suspended) { // the store has the job, and keeps it
    post(checkpoints_, checkpoints_released{true, false});
    return;
  }
  const bool keeps = (outcome == job_state::failed && job_->checkpoints.keep_on_failure) ||
                     (outcome == job_state::canceled && job_->checkpoints.keep_on_cancel);
  if (!keeps) // its checkpoints are about to go
    facts_.newest_checkpoint_path =
        outcome == job_state::finished ? ending_savepoint() : std::string();
  ask<schema::Acknowledge>(dispatcher_, describe_end(), services_->ask_timeout,
                           [this, keeps](const result<message<schema::Acknowledge>>& stored) {
                             if (!stored)
                               log().error("end of the job is not stored, its checkpoints stay",
                                           {{"cause", to_string(stored.error())}});
                             const bool is_over = stored.has_value() && !stays_stored_;
                             post(checkpoints_, // answered by cleaned_up
                                  checkpoints_released{keeps || !is_over, is_over});
                           });
}

message<schema::JobEnded> job_master_endpoint::describe_end() {
  message_builder<schema::JobEnded> news;
  write_result(news->initResult(), scheduler_->graph(), facts());
  write_status(news->initStatus(), scheduler_->graph(), facts());
  write_details(news->initDetails(), scheduler_->graph(), facts(), history_, final_overview_);
  return news.finish();
}

void job_master_endpoint::report_end() {
  if (scheduler_->graph().state() == job_state::failed)
    log().error("job failed", {{"cause", to_string(scheduler_->newest_failure())}});
  if (scheduler_->graph().state() == job_state::suspended) {
    ask<schema::Acknowledge>(dispatcher_, describe_end(), services_->ask_timeout,
                             [](const result<message<schema::Acknowledge>>&) {});
  } else {
    message_builder<schema::JobCleanedUp> news;
    write(news->initJob(), job_->id);
    tell(dispatcher_, news.finish());
  }
  answer_suspenders();
  answer_savepoints();

  message_builder<schema::Disconnect> farewell;
  write(farewell->initFrom(), job_->id);
  write(farewell->initJob(), job_->id);
  const bool is_suspended = scheduler_->graph().state() == job_state::suspended;
  farewell->setCause(is_suspended ? "job is suspended" : "job is over");
  farewell->setJobGoesOn(is_suspended);
  const auto words = farewell.finish();
  tell(services_->resource_manager, words);
  for (const auto& [id, entry] : executors_)
    tell(entry.location, words);
  leaves_at_us_ = now_us() + std::chrono::microseconds(services_->collect_linger).count();
  leave();
}

void job_master_endpoint::leave() {
  const bool is_drained = std::all_of(collected_.begin(), collected_.end(),
                                      [](const auto& entry) { return entry.second.is_drained(); });
  if (leaves_at_us_ && (is_drained || now_us() >= *leaves_at_us_))
    quit();
  else if (leaves_at_us_)
    after(std::chrono::seconds(1), [this] { leave(); });
}

const job_facts& job_master_endpoint::facts() {
  facts_.restarts = scheduler_->restarts();
  facts_.failure = scheduler_->newest_failure();
  return facts_;
}

} // namespace headrace::scheduler
