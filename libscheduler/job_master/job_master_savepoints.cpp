#include "libscheduler/job_master/job_master_endpoint.hpp"

#include <algorithm>
#include <utility>

namespace headrace::scheduler {

namespace {

constexpr int own_digits = 12; // of a savepoint's name: nobody else has these
constexpr int job_digits = 6;
/// How often a savepoint is taken again that failed as a task had finished: a job whose tasks
/// finish one after the other has as many such moments.
constexpr int repeats_most = 100;

error behind_savepoint(const std::string& path, const error& cause) {
  return {cause.code, "savepoint is complete, but the job did not end with it: " + path, cause};
}

/// The next job manager runs the job on: the order may be given again there.
error suspended(const error& cause) {
  return {errc::shut_down,
          "job manager stops before the savepoint is complete; ask again when it is back", cause};
}

} // namespace

void job_master_endpoint::take_savepoint(const message<schema::TakeSavepoint>& request,
                                         actors::reply_to<schema::SavepointReply> back) {
  const auto view = request.view();
  const job_state now = scheduler_->graph().state();
  if (now != job_state::running) {
    back.fail({errc::checkpoint_declined,
               "job cannot take a savepoint now; try again when it runs: job is " +
                   std::string(name_of(now))});
    return;
  }
  if (view->getStop() > schema::SavepointStop::DRAIN) {
    back.fail({errc::malformed_message, "savepoint of an unknown kind"});
    return;
  }
  std::string root = view->getTargetDirectory().cStr();
  if (root.empty())
    root = job_->checkpoints.savepoint_directory;
  if (root.empty())
    root = job_->checkpoints.directory;
  if (root.empty())
    root = services_->checkpoint_directory;
  while (root.size() > 1 && root.ends_with('/'))
    root.pop_back();
  savepoint_wanted wanted;
  wanted.number = ++savepoint_number_;
  wanted.order.directory = new_savepoint(root);
  wanted.order.is_native = view->getNative();
  wanted.order.stop = static_cast<graph::savepoint_stop>(view->getStop());
  savepoints_[wanted.number] = {std::move(back), wanted.order.stop, 0, {}, std::move(root), 0};
  post(checkpoints_, std::move(wanted));
}

std::string job_master_endpoint::new_savepoint(const std::string& root) {
  const auto own = to_string(environment().random.next_id<job_id>());
  return root + "/savepoint-" + to_string(job_->id).substr(0, job_digits) + "-" +
         own.substr(0, own_digits);
}

void job_master_endpoint::hear_savepoint(const savepoint_ended& what) {
  const auto found = savepoints_.find(what.number);
  if (found == savepoints_.end())
    return;
  auto& waiting = found->second;
  if (what.failure.code != errc::none && scheduler_->graph().state() == job_state::suspended) {
    waiting.back.fail(suspended(what.failure));
    savepoints_.erase(found);
    return;
  }
  if (what.may_be_repeated && scheduler_->graph().state() == job_state::running &&
      waiting.repeats < repeats_most) {
    ++waiting.repeats;
    savepoint_wanted again{what.number, what.order};
    again.order.directory = new_savepoint(waiting.root);
    log().info(
        "savepoint is taken again: a task has finished meanwhile",
        {{"checkpoint", std::to_string(what.checkpoint)}, {"directory", again.order.directory}});
    post(checkpoints_, std::move(again));
    return;
  }
  if (what.failure.code != errc::none) {
    auto failed = std::move(waiting);
    savepoints_.erase(found);
    const bool another_ends_it =
        std::any_of(savepoints_.begin(), savepoints_.end(), [](const auto& each) {
          return each.second.stop != graph::savepoint_stop::none;
        });
    failed.back.fail({what.failure.code,
                      failed.stop == graph::savepoint_stop::none ? "savepoint failed"
                      : another_ends_it ? "savepoint failed; another one is to stop the job"
                                        : "savepoint failed, so that the job was not stopped",
                      what.failure});
    return;
  }
  waiting.checkpoint = what.checkpoint;
  waiting.path = what.order.directory;
  if (waiting.stop != graph::savepoint_stop::none && !is_over_) {
    // Answered when the job has finished. Tasks that have started again meanwhile will not.
    const auto& graph = scheduler_->graph();
    if (!std::all_of(what.tasks.begin(), what.tasks.end(), [&](const planned_task& task) {
          return graph.find(task.attempt).has_value();
        }))
      fail_ending(false);
    return;
  }
  message_builder<schema::SavepointReply> reply;
  reply->setCheckpoint(waiting.checkpoint);
  reply->setPath(waiting.path);
  waiting.back.send(reply.finish());
  savepoints_.erase(found);
}

std::string job_master_endpoint::ending_savepoint() const {
  for (const auto& [number, waiting] : savepoints_)
    if (waiting.stop != graph::savepoint_stop::none && !waiting.path.empty())
      return waiting.path;
  return {};
}

/// A savepoint is lasting that was to end the job, and the job goes on: from it, and as a whole,
/// because some tasks have finished.
void job_master_endpoint::fail_ending(bool restarts_whole_job) {
  const error& failure = scheduler_->newest_failure();
  const error cause(failure.code == errc::none ? errc::checkpoint_declined : failure.code,
                    "job goes on after a failure", failure);
  bool was_ending = false;
  for (auto at = savepoints_.begin(); at != savepoints_.end();) {
    if (at->second.checkpoint == 0) {
      ++at;
      continue;
    }
    at->second.back.fail(behind_savepoint(at->second.path, cause));
    at = savepoints_.erase(at);
    was_ending = true;
  }
  if (was_ending && !restarts_whole_job)
    scheduler_->on_job_failure(cause, now_ms());
}

/// The job has ended.
void job_master_endpoint::answer_savepoints() {
  const auto outcome = scheduler_->graph().state();
  for (auto& [number, waiting] : std::exchange(savepoints_, {})) {
    if (waiting.checkpoint == 0 && outcome == job_state::suspended) {
      waiting.back.fail(suspended({errc::checkpoint_declined, "job is suspended"}));
    } else if (waiting.checkpoint == 0) {
      waiting.back.fail({errc::checkpoint_declined, "job ended before its savepoint was complete"});
    } else if (outcome == job_state::finished) {
      message_builder<schema::SavepointReply> reply;
      reply->setCheckpoint(waiting.checkpoint);
      reply->setPath(waiting.path);
      waiting.back.send(reply.finish());
    } else {
      const error is_other(errc::checkpoint_declined, "job is " + std::string(name_of(outcome)));
      const error& failure = scheduler_->newest_failure();
      waiting.back.fail(
          behind_savepoint(waiting.path, outcome == job_state::failed ? failure : is_other));
    }
  }
}

} // namespace headrace::scheduler
