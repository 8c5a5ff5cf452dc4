#include "libscheduler/checkpoint/checkpoint_coordinator_endpoint.hpp"

#include "libscheduler/source/source_mail.hpp"
#include "libstate/checkpoint/checkpoint_files.hpp"
#include "libstate/checkpoint/redistribution.hpp"
#include "libstate/handle/subtask_state_codec.hpp"
#include "libgraph/data/savepoint_codec.hpp"
#include "libactors/message/ids_codec.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace headrace::scheduler {

namespace {

/// How many aborted checkpoints are remembered whose tasks may still write.
constexpr std::size_t aborted_most = 32;

/// Whether checkpoints can be made where the job wants them, before it starts: a wrong path stays
/// wrong. A disk that is full may have room again.
status check_directory(file_system& files, const graph::checkpoint_spec& spec, const job_id& job) {
  if (spec.directory.empty())
    return {};
  auto made = files.create_directories(spec.directory + "/" + to_string(job));
  if (made || made.error().has(errc::storage_full))
    return {};
  return error(errc::bad_option_value,
               "bad value of option 'execution.checkpointing.dir': checkpoints cannot be made "
               "there: " +
                   spec.directory,
               std::move(made).error());
}

/// Stores a savepoint and, when the job ends with it, a checkpoint over the same files: sinks make
/// final what is before it, so that every restart has to begin with it.
status store_savepoint(headrace::state::checkpoint_storage& storage,
                       const checkpoint_records* records,
                       headrace::state::completed_checkpoint& savepoint,
                       headrace::state::completed_checkpoint* own) {
  HEADRACE_CHECK(storage.complete(savepoint));
  if (own == nullptr)
    return {};
  *own = savepoint;
  own->kind = headrace::state::checkpoint_kind::checkpoint;
  own->directory.clear();
  auto stored = storage.begin(own->id);
  if (stored)
    stored = store_completed(storage, records, *own);
  if (stored)
    return {};
  const auto left = storage.list();
  if (left && !std::binary_search(left->begin(), left->end(), own->id))
    // What cannot be removed either is named by the error as well as by a listing.
    static_cast<void>(storage.remove(savepoint, {}).has_value());
  return stored;
}

/// At least once, no barrier waits for another: there is nothing to overtake.
bool may_be_unaligned(const graph::checkpoint_spec& spec) {
  return spec.unaligned && !spec.at_least_once;
}

std::vector<operator_id> ids_of(const std::map<operator_id, actors::actor_ref>& coordinators) {
  std::vector<operator_id> ids;
  for (const auto& [id, ref] : coordinators)
    ids.push_back(id);
  return ids;
}

} // namespace

checkpoint_coordinator_endpoint::checkpoint_coordinator_endpoint(
    checkpoint_coordinator_options options, actors::actor_ref job_master)
    : options_(std::move(options)), job_master_(std::move(job_master)) {
  // A task executor that never knew the job answers a trigger to the one who sent it.
  on_tell<schema::DeclineCheckpoint>([this](const auto& what, const actors::address&) {
    hear(checkpoint_declined{what});
    proceed();
  });
  if (!options_.job->checkpoints.master_hooks.empty())
    hooks_ =
        std::make_shared<master_hooks>(options_.job, options_.code, options_.artifact_directory);
}

void checkpoint_coordinator_endpoint::on_start() {
  core_.emplace(options_.job, std::vector<operator_id>{}, now_us() / 1000);
}

void checkpoint_coordinator_endpoint::on_mail(actors::mail_ptr content) {
  actors::mail& received = *content;
  const std::int64_t now = now_us() / 1000;
  open_mail<coordinators_known>(received, [&](coordinators_known what) {
    coordinators_ = std::move(what.coordinators);
    core_.emplace(options_.job, ids_of(coordinators_), now);
  });
  open_mail<restore_requested>(received, [this](const restore_requested& what) { restore(what); });
  open_mail<plan_made>(received, [&](const plan_made& what) { core_->on_plan(*what.plan, now); });
  open_mail<task_ended>(received, [&](const task_ended& what) {
    core_->on_task_ended(what.attempt, what.has_finished, now);
  });
  open_mail<checkpoint_acknowledged>(received,
                                     [this](const checkpoint_acknowledged& what) { hear(what); });
  open_mail<checkpoint_declined>(received, [this](const checkpoint_declined& what) { hear(what); });
  open_mail<checkpoint_awaited>(received, [&](const checkpoint_awaited& what) {
    core_->on_awaited(what.are_all_waiting, now);
  });
  open_mail<coordinator_snapshot_taken>(received, [&](coordinator_snapshot_taken what) {
    if (what.failure.code == errc::none)
      core_->on_coordinator_snapshot(what.checkpoint, what.source, std::move(what.state), now);
    else
      core_->on_coordinator_snapshot(what.checkpoint, what.source, std::move(what.failure), now);
  });
  open_mail<checkpoint_requested>(received,
                                  [&](const checkpoint_requested&) { core_->request(now); });
  open_mail<savepoint_wanted>(received, [&](savepoint_wanted what) {
    core_->request(
        {what.number, std::make_shared<const graph::savepoint_order>(std::move(what.order))}, now);
  });
  open_mail<statistics_wanted>(received, [this](const statistics_wanted&) {
    post(job_master_, statistics_told{overview()});
  });
  open_mail<job_over>(received, [this](const job_over&) { end(); });
  open_mail<checkpoints_released>(received,
                                  [this](const checkpoints_released& what) { release(what); });
  proceed();
}

void checkpoint_coordinator_endpoint::proceed() {
  core_->poll(now_us() / 1000);
  for (auto actions = core_->take_actions(); !actions.empty(); actions = core_->take_actions()) {
    for (const auto& action : actions)
      std::visit([this](const auto& what) { carry_out(what); }, action);
  }
  if (timer_)
    cancel_timer(*timer_);
  timer_.reset();
  if (const auto deadline = core_->next_deadline_ms()) {
    const auto wait = std::max<std::int64_t>(*deadline - now_us() / 1000, 1);
    timer_ = after(std::chrono::milliseconds(wait), [this] {
      timer_.reset();
      proceed();
    });
  }
}

void checkpoint_coordinator_endpoint::carry_out(const plan_tasks& /*what*/) {
  post(job_master_, plan_wanted{});
}

void checkpoint_coordinator_endpoint::carry_out(const prepare_storage& what) {
  on_storage(
      [id = what.checkpoint,
       savepoint = what.savepoint](headrace::state::checkpoint_storage& storage) {
        return savepoint == nullptr ? storage.begin(id)
                                    : storage.begin_savepoint(savepoint->directory);
      },
      [this, id = what.checkpoint](const status& outcome) {
        core_->on_prepared(id, outcome, now_us() / 1000);
      });
}

void checkpoint_coordinator_endpoint::carry_out(const snapshot_coordinators& what) {
  for (const auto& [id, coordinator] : coordinators_)
    post(coordinator, coordinator_snapshot_wanted{what.checkpoint, self_ref()});
}

void checkpoint_coordinator_endpoint::carry_out(const trigger_tasks& what) {
  log().info(what.savepoint == nullptr ? "checkpoint triggered" : "savepoint triggered",
             {{"checkpoint", std::to_string(what.checkpoint)},
              {"tasks", std::to_string(what.tasks.size())}});
  for (const planned_task& task : what.tasks) {
    message_builder<schema::TriggerCheckpoint> order;
    write(order->initAttempt(), task.attempt);
    order->setCheckpoint(what.checkpoint);
    order->setTimestampMs(now_ms());
    order->setAtLeastOnce(options_.job->checkpoints.at_least_once && what.savepoint == nullptr);
    if (may_be_unaligned(options_.job->checkpoints) && what.savepoint == nullptr) {
      order->setUnaligned(options_.job->checkpoints.aligned_timeout_ms == 0);
      order->setAlignedTimeoutMs(options_.job->checkpoints.aligned_timeout_ms);
    }
    if (what.savepoint != nullptr)
      write(order->initSavepoint(), *what.savepoint);
    tell(task.location, order.finish());
  }
  // What they say now reaches a reader behind its trigger.
  resume_coordinators(what.checkpoint);
}

void checkpoint_coordinator_endpoint::carry_out(const store_checkpoint& what) {
  // The core's clock only tells differences; the manifest wants the time of day.
  const std::int64_t took_ms = what.checkpoint->completed_ms - what.checkpoint->triggered_ms;
  what.checkpoint->completed_ms = now_ms();
  what.checkpoint->triggered_ms = what.checkpoint->completed_ms - took_ms;
  // What restarts begin with: not a savepoint that the job outlives.
  std::shared_ptr<headrace::state::completed_checkpoint> own;
  if (what.savepoint == nullptr)
    own = what.checkpoint;
  else if (what.savepoint->stop != graph::savepoint_stop::none)
    own = std::make_shared<headrace::state::completed_checkpoint>();
  on_storage(
      [checkpoint = what.checkpoint, own,
       records = options_.records](headrace::state::checkpoint_storage& storage) {
        return checkpoint == own ? store_completed(storage, records.get(), *checkpoint)
                                 : store_savepoint(storage, records.get(), *checkpoint, own.get());
      },
      [this, checkpoint = what.checkpoint, own](const status& outcome) {
        if (outcome && own != nullptr)
          completed_.push_back(own);
        core_->on_stored(checkpoint->id, outcome, now_us() / 1000);
        for (const auto& waiting : std::exchange(waiting_restores_, {}))
          restore(waiting);
      });
}

void checkpoint_coordinator_endpoint::carry_out(const announce_completed& what) {
  const checkpoint_ptr& newest = completed_.back();
  log().info("checkpoint completed", {{"checkpoint", std::to_string(what.checkpoint)},
                                      {"bytes", std::to_string(newest->size_bytes())},
                                      {"directory", newest->directory}});
  for (const planned_task& task : what.tasks) {
    message_builder<schema::CheckpointCompleted> news;
    write(news->initAttempt(), task.attempt);
    news->setCheckpoint(what.checkpoint);
    tell(task.location, news.finish());
  }
  for (const auto& [id, coordinator] : coordinators_)
    post(coordinator, coordinator_checkpoint_completed{what.checkpoint});
  post(job_master_,
       checkpoint_progress{core_->completed_count(), what.checkpoint, newest->directory});
  remove_old();
}

void checkpoint_coordinator_endpoint::carry_out(const announce_aborted& what) {
  log().info("checkpoint aborted",
             {{"checkpoint", std::to_string(what.checkpoint)}, {"cause", to_string(what.reason)}});
  for (const planned_task& task : what.tasks) {
    message_builder<schema::CheckpointAborted> news;
    write(news->initAttempt(), task.attempt);
    news->setCheckpoint(what.checkpoint);
    tell(task.location, news.finish());
  }
  resume_coordinators(what.checkpoint);
  remove_aborted(what);
  aborted_.push_back(what);
  if (aborted_.size() > aborted_most)
    aborted_.pop_front();
}

void checkpoint_coordinator_endpoint::remove_aborted(const announce_aborted& what) {
  on_storage(
      [id = what.checkpoint,
       savepoint = what.savepoint](headrace::state::checkpoint_storage& storage) {
        return savepoint == nullptr ? storage.abort(id)
                                    : storage.abort_savepoint(savepoint->directory);
      },
      [this](const status& outcome) {
        if (!outcome)
          log().warn("aborted checkpoint not removed", {{"cause", to_string(outcome.error())}});
      });
}

void checkpoint_coordinator_endpoint::remove_aborted_again(checkpoint_id checkpoint) {
  const auto found = std::find_if(aborted_.begin(), aborted_.end(),
                                  [&](const auto& each) { return each.checkpoint == checkpoint; });
  if (found != aborted_.end())
    remove_aborted(*found);
}

void checkpoint_coordinator_endpoint::remove_all_aborted() {
  for (const auto& each : aborted_)
    remove_aborted(each);
}

void checkpoint_coordinator_endpoint::carry_out(const answer_request& what) {
  requested_checkpoint_ended news{what.checkpoint, {}, what.failure};
  if (news.failure.code == errc::none)
    news.path = completed_.back()->directory;
  post(job_master_, std::move(news));
}

void checkpoint_coordinator_endpoint::carry_out(const answer_savepoint& what) {
  if (what.failure.code == errc::none)
    log().info("savepoint completed", {{"checkpoint", std::to_string(what.checkpoint)},
                                       {"directory", what.order->directory}});
  post(job_master_, savepoint_ended{what.number, what.checkpoint, *what.order, what.failure,
                                    what.tasks, what.may_be_repeated});
}

void checkpoint_coordinator_endpoint::carry_out(const give_up& what) {
  post(job_master_, too_many_checkpoint_failures{what.reason});
}

void checkpoint_coordinator_endpoint::resume_coordinators(checkpoint_id checkpoint) {
  for (const auto& [id, coordinator] : coordinators_)
    post(coordinator, coordinator_resumed{checkpoint});
}

void checkpoint_coordinator_endpoint::hear(const checkpoint_acknowledged& acknowledged) {
  auto heard = checked_read([&]() -> status {
    const auto view = acknowledged.what.view();
    HEADRACE_TRY(auto snapshot, headrace::state::read_subtask_state(view->getState()));
    const auto measured = view->getMetrics();
    core_->on_acknowledged(view->getCheckpoint(), read_attempt(view->getAttempt()),
                           std::move(snapshot), now_us() / 1000,
                           {measured.getAlignmentUs(), measured.getInFlightBytes(),
                            measured.getProcessedBytes(), measured.getUnaligned()});
    remove_aborted_again(view->getCheckpoint());
    return {};
  });
  if (!heard)
    log().warn("acknowledgement unreadable", {{"cause", to_string(heard.error())}});
}

void checkpoint_coordinator_endpoint::hear(const checkpoint_declined& declined) {
  auto heard = checked_read([&]() -> status {
    const auto view = declined.what.view();
    core_->on_declined(view->getCheckpoint(), read_attempt(view->getAttempt()),
                       read_error(view->getReason()), now_us() / 1000);
    remove_aborted_again(view->getCheckpoint());
    return {};
  });
  if (!heard)
    log().warn("decline unreadable", {{"cause", to_string(heard.error())}});
}

void checkpoint_coordinator_endpoint::restore(const restore_requested& request) {
  if (core_->is_storing()) {
    waiting_restores_.push_back(request); // the newest one is about to be known
    return;
  }
  core_->on_restart(now_us() / 1000);
  if (request.is_first_start)
    read_first(request.epoch);
  else
    answer_restore(request.epoch);
}

void checkpoint_coordinator_endpoint::read_first(std::uint64_t epoch) {
  const graph::checkpoint_spec& spec = options_.job->checkpoints;
  struct first_read {
    recovered_checkpoints own;
    checkpoint_ptr foreign;
  };
  auto read = std::make_shared<first_read>();
  on_storage(
      [read, spec, job = options_.job->id, files = options_.files,
       records = options_.records](headrace::state::checkpoint_storage& storage) -> status {
        // Before any directory is made: where a checkpoint is to be moved back to, none may lie.
        HEADRACE_TRY(read->own, recover_checkpoints(storage, records.get(), job));
        HEADRACE_CHECK(check_directory(*files, spec, job));
        // Own checkpoints are newer than the one that the job first started from.
        if (!read->own.completed.empty() || spec.restore_from.empty())
          return {};
        HEADRACE_TRY(auto given, headrace::state::read_checkpoint(*files, spec.restore_from));
        HEADRACE_CHECK(headrace::state::check_files(*files, given));
        read->foreign = std::make_shared<headrace::state::completed_checkpoint>(std::move(given));
        return {};
      },
      [this, read, epoch](const status& outcome) {
        for (const error& refused : read->own.refused)
          log().error("checkpoint refused", {{"cause", to_string(refused)}});
        if (!outcome) {
          post(job_master_,
               restore_done{epoch, std::make_shared<const result<restored_job>>(outcome.error())});
          return;
        }
        for (auto& each : read->own.completed)
          completed_.push_back(
              std::make_shared<const headrace::state::completed_checkpoint>(std::move(each)));
        foreign_ = read->foreign;
        core_->continue_after(foreign_ == nullptr ? read->own.last : foreign_->id);
        answer_restore(epoch);
      });
}

void checkpoint_coordinator_endpoint::answer_restore(std::uint64_t epoch) {
  auto assigned = assign();
  if (assigned && assigned->checkpoint != 0) {
    const checkpoint_ptr& from = completed_.empty() ? foreign_ : completed_.back();
    core_->note_restored(from, now_us() / 1000);
  }
  if (assigned && hooks_ != nullptr) {
    restore_hooks(epoch, std::move(assigned));
    return;
  }
  post(job_master_,
       restore_done{epoch, std::make_shared<const result<restored_job>>(std::move(assigned))});
}

message<schema::CheckpointOverview> checkpoint_coordinator_endpoint::overview() const {
  return describe(core_->statistics(), now_ms() - now_us() / 1000);
}

result<restored_job> checkpoint_coordinator_endpoint::assign() const {
  const checkpoint_ptr from = completed_.empty() ? foreign_ : completed_.back();
  if (from == nullptr)
    return restored_job{};
  std::vector<headrace::state::restored_operator> operators;
  for (const graph::job_vertex& vertex : options_.job->vertices) {
    for (const graph::operator_node& node : vertex.operators)
      operators.push_back({node.id, node.name, vertex.parallelism, vertex.max_parallelism,
                           vertex.max_parallelism_is_fixed, node.uid});
  }
  auto assigned = headrace::state::assign_states(
      *from, operators, options_.job->checkpoints.allow_non_restored_state);
  if (!assigned)
    return error(assigned.error().code, "checkpoint cannot be restored: " + from->directory,
                 assigned.error());
  for (const auto& each : assigned->left_out)
    log().warn("state is left out: the job has no such operator",
               {{"operator", each}, {"checkpoint", from->directory}});
  auto states = decode_hook_states(from->master_hooks);
  auto known = states ? check_hook_states(*states, options_.job->checkpoints)
                      : status(std::move(states).error());
  if (!known)
    return error(known.error().code, "checkpoint cannot be restored: " + from->directory,
                 known.error());
  restored_job restored;
  restored.checkpoint = from->id;
  for (const graph::job_vertex& vertex : options_.job->vertices) {
    for (const graph::operator_node& node : vertex.operators) {
      auto found = assigned->operators.find(node.id);
      if (found == assigned->operators.end())
        continue;
      restored_job::per_operator& part = restored.operators[node.id];
      part.subtasks = std::move(found->second.subtasks);
      if (found->second.has_coordinator)
        part.coordinator = std::move(found->second.coordinator);
      if (found->second.max_parallelism != vertex.max_parallelism)
        restored.max_parallelism[vertex.id] = found->second.max_parallelism;
    }
  }
  return restored;
}

void checkpoint_coordinator_endpoint::remove_old() {
  const auto retained = static_cast<std::size_t>(std::max(options_.job->checkpoints.retained, 1));
  while (completed_.size() > retained) {
    const checkpoint_ptr old = completed_.front();
    completed_.pop_front();
    std::vector<headrace::state::completed_checkpoint> kept;
    for (const checkpoint_ptr& checkpoint : completed_)
      kept.push_back(*checkpoint);
    on_storage(
        [old, kept = std::move(kept)](headrace::state::checkpoint_storage& storage) {
          return storage.remove(*old, kept);
        },
        [this, old](const status& outcome) {
          if (!outcome)
            log().warn("subsumed checkpoint not removed",
                       {{"directory", old->directory}, {"cause", to_string(outcome.error())}});
        });
  }
}

void checkpoint_coordinator_endpoint::end() {
  core_->stop({errc::checkpoint_declined, "job is over"});
  remove_all_aborted();
  close_hooks();
  // Behind a store that may be under way.
  on_storage([](headrace::state::checkpoint_storage&) { return status(); },
             [this](const status&) { post(job_master_, checkpoints_stopped{overview()}); });
}

void checkpoint_coordinator_endpoint::release(const checkpoints_released& how) {
  while (!how.keeps_checkpoints && !completed_.empty()) {
    on_storage(
        [old = completed_.front()](headrace::state::checkpoint_storage& storage) {
          return storage.remove(*old, {});
        },
        [](const status&) {});
    completed_.pop_front();
  }
  remove_all_aborted();
  on_storage([is_over = how.is_over](
                 headrace::state::checkpoint_storage& storage) { return storage.leave(is_over); },
             [this](const status&) { post(job_master_, cleaned_up{}); });
}

void checkpoint_coordinator_endpoint::on_storage(storage_step step, storage_then then) {
  storage_queue_.emplace_back(std::move(step), std::move(then));
  next_storage_step();
}

void checkpoint_coordinator_endpoint::next_storage_step() {
  if (is_storage_busy_ || storage_queue_.empty())
    return;
  is_storage_busy_ = true;
  auto [step, then] = std::move(storage_queue_.front());
  storage_queue_.pop_front();
  run_blocking<status>(
      [storage = options_.storage, step = std::move(step)] { return step(*storage); },
      [this, then = std::move(then)](const status& outcome) {
        is_storage_busy_ = false;
        then(outcome);
        next_storage_step();
        proceed();
      });
}

} // namespace headrace::scheduler
