#include "libtask/executor/task_executor_entries.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libgraph/function/user_metrics_codec.hpp"
#include "libactors/message/ids_codec.hpp"

#include <utility>

namespace headrace::task {

namespace {

void write_metrics(schema::TaskMetrics::Builder out, const task_metrics& counted,
                   std::int64_t now_us) {
  out.setRecordsIn(counted.records_in.value());
  out.setRecordsOut(counted.records_out.value());
  out.setBytesIn(counted.bytes_in.value());
  out.setBytesOut(counted.bytes_out.value());
  out.setSkippedRecords(counted.skipped_records.value());
  out.setLateRecords(counted.late_records.value());
  out.setRestoredBytes(counted.restored_bytes.value());
  out.setRestoredLocalBytes(counted.restored_local_bytes.value());
  out.setWatermarkMs(counted.watermark_ms.value());
  const auto times = counted.times.read(now_us);
  out.setBusyUs(times.busy_us);
  out.setBackPressuredUs(times.back_pressured_us);
  out.setIdleUs(times.idle_us);
  if (const auto state = counted.state.newest(); !state.empty()) {
    auto list = out.initState(static_cast<unsigned>(state.size()));
    for (std::size_t i = 0; i < state.size(); ++i) {
      list[static_cast<unsigned>(i)].setName(state[i].name);
      list[static_cast<unsigned>(i)].setValue(state[i].value);
    }
  }
  graph::write_user_figures(out, counted.user.figures());
}

} // namespace

task_executor_endpoint::task_entry*
task_executor_endpoint::find(const execution_attempt_id& attempt) {
  const auto at = tasks_.find(attempt);
  return at == tasks_.end() ? nullptr : at->second.get();
}

void task_executor_endpoint::submit(const message<schema::SubmitTask>& request,
                                    actors::reply_to<schema::Acknowledge> back) {
  auto described = read_task_deployment(request.view()->getDeployment());
  if (!described) {
    back.fail(std::move(described).error());
    return;
  }
  const auto attempt = described->attempt;
  if (find(attempt) != nullptr) { // the acknowledgement was lost
    back.send(message_builder<schema::Acknowledge>().finish());
    return;
  }
  auto placed = slots_.add_task(described->allocation, described->job.id);
  if (!placed) {
    back.fail(std::move(placed).error());
    return;
  }
  auto entry = std::make_unique<task_entry>();
  entry->what = std::move(*described);
  entry->metrics = std::make_shared<task_metrics>();
  auto& task = *entry;
  tasks_of_job_[task.what.job.id].emplace(attempt, &task);
  tasks_.emplace(attempt, std::move(entry));
  back.send(message_builder<schema::Acknowledge>().finish());
  const auto fail = [this, attempt](error cause) {
    auto* waiting = find(attempt);
    if (waiting == nullptr)
      return;
    tell_state(*waiting, waiting->canceling ? task_state::CANCELED : task_state::FAILED,
               std::move(cause));
    end_task(attempt);
  };
  load_libraries(task.what, [this, attempt, fail](status libraries) {
    const auto* waiting = find(attempt);
    if (waiting == nullptr)
      return;
    if (!libraries) {
      fail(std::move(libraries).error());
      return;
    }
    if (!needs_code(waiting->what.vertex)) {
      start(attempt, nullptr);
      return;
    }
    load_code(waiting->what,
              [this, attempt, fail](result<std::shared_ptr<const graph::job_code>> loaded) {
                if (!loaded)
                  fail(std::move(loaded).error());
                else if (find(attempt) != nullptr)
                  start(attempt, std::move(*loaded));
              });
  });
}

void task_executor_endpoint::start(const execution_attempt_id& attempt,
                                   std::shared_ptr<const graph::job_code> code) {
  auto& task = *find(attempt);
  if (task.canceling) {
    tell_state(task, task_state::CANCELED, {});
    end_task(attempt);
    return;
  }
  const auto kind = task.what.job.state_backend.empty() ? "hashmap" : task.what.job.state_backend;
  auto& backend = backends_[kind];
  if (backend == nullptr) {
    auto made = headrace::state::make_state_backend(kind, settings_.state_memory_bytes,
                                                    settings_.state_read_threads);
    if (!made) {
      tell_state(task, task_state::FAILED, std::move(made).error());
      end_task(attempt);
      return;
    }
    backend = std::move(*made);
  }
  const auto memory = memory_.find(task.what.allocation);
  task.name = "task-" + to_string(attempt);
  attempt_by_child_.emplace(task.name, attempt);
  auto child = std::make_unique<subtask>(
      subtask_environment{around_.files, segments_, around_.connectors, around_.factories,
                          around_.directory, state_directory(), settings_.local_state_directory,
                          settings_.wire},
      task.what, std::move(code), backend, memory == memory_.end() ? nullptr : memory->second,
      task.metrics, self_ref());
  task.what.state = {}; // the subtask has it now
  spawn(std::move(child),
        {task.name, "subtask", actors::placement::shared, actors::supervision::notify, false});
  task.ref = child_ref(task.name);
}

void task_executor_endpoint::control(const execution_attempt_id& attempt,
                                     task_control::content_type what) {
  auto* task = find(attempt);
  if (task == nullptr || task->ref.is_none())
    return;
  task->ref.send(std::make_unique<task_control>(std::move(what)), actors::mail_priority::high);
}

void task_executor_endpoint::cancel(const execution_attempt_id& attempt) {
  auto* task = find(attempt);
  if (task == nullptr || std::exchange(task->canceling, true))
    return;
  if (task->ref.is_none())
    return; // its code is being loaded; it ends when that has come
  control(attempt, cancel_task{});
  watch_cancellation(attempt);
}

void task_executor_endpoint::watch_cancellation(const execution_attempt_id& attempt) {
  if (settings_.cancellation_timeout.count() == 0)
    return;
  after(settings_.cancellation_timeout, [this, attempt] {
    const auto* task = find(attempt);
    if (task == nullptr)
      return;
    fatal({errc::task_stuck,
           "task did not end in time after it was canceled: " + task->what.display_name() +
               ", after " + std::to_string(settings_.cancellation_timeout.count()) + " ms"});
  });
}

void task_executor_endpoint::take(task_report& report) {
  auto* task = find(report.attempt);
  if (task == nullptr)
    return;
  const auto& to = task->what.job_master;
  const auto token = task->what.job_master_token;
  if (auto* changed = std::get_if<state_changed>(&report.content)) {
    tell_state(*task, changed->state, changed->failure);
  } else if (auto* snapshot = std::get_if<snapshot_acknowledged>(&report.content)) {
    tell(to, snapshot->what, token);
  } else if (auto* declined = std::get_if<snapshot_declined>(&report.content)) {
    decline(to, token, report.attempt, declined->checkpoint, std::move(declined->reason));
  } else if (std::holds_alternative<checkpoint_awaited>(report.content)) {
    message_builder<schema::CheckpointAwaited> news;
    write(news->initAttempt(), report.attempt);
    tell(to, news.finish(), token);
  } else if (auto* event = std::get_if<coordinator_event>(&report.content)) {
    message_builder<schema::OperatorEvent> news;
    write(news->initAttempt(), report.attempt);
    write(news->initOperator(), event->from);
    news->setEvent(capnp::Data::Reader(reinterpret_cast<const unsigned char*>(event->event.data()),
                                       event->event.size()));
    tell(to, news.finish(), token);
  } else if (auto* wanted = std::get_if<partitions_wanted>(&report.content)) {
    connect_all(report.attempt, wanted->credit_bytes);
  }
}

void task_executor_endpoint::tell_state(task_entry& task, task_state now, const error& failure) {
  task.state = now;
  message_builder<schema::TaskStateChanged> news;
  write(news->initAttempt(), task.what.attempt);
  news->setState(now);
  if (failure.code != errc::none) {
    write(news->initFailure(), failure);
    if (now == task_state::FAILED)
      log().warn("task failed",
                 {{"task", task.what.display_name()}, {"cause", to_string(failure)}});
  }
  write_metrics(news->initMetrics(), *task.metrics, now_us());
  tell(task.what.job_master, news.finish(), task.what.job_master_token);
}

void task_executor_endpoint::decline(const actors::address& to, fencing_token token,
                                     const execution_attempt_id& attempt, checkpoint_id checkpoint,
                                     error reason) {
  message_builder<schema::DeclineCheckpoint> news;
  write(news->initAttempt(), attempt);
  news->setCheckpoint(checkpoint);
  write(news->initReason(), reason);
  if (token.is_none())
    for (const auto& [id, job] : jobs_)
      if (job->master.node == to.node &&
          to.endpoint.compare(0, job->master.endpoint.size(), job->master.endpoint) == 0) {
        tell(job->master, news.finish(), job->token);
        return;
      }
  tell(to, news.finish(), token);
}

void task_executor_endpoint::report_metrics(const job_entry& job) {
  const auto tasks = tasks_of_job_.find(job.id);
  if (tasks == tasks_of_job_.end())
    return;
  message_builder<schema::TaskMetricsReport> report;
  auto entries = report->initTasks(static_cast<unsigned>(tasks->second.size()));
  unsigned i = 0;
  for (const auto& [attempt, task] : tasks->second) {
    auto entry = entries[i++];
    write(entry.initAttempt(), attempt);
    write_metrics(entry.initMetrics(), *task->metrics, now_us());
  }
  tell(job.master, report.finish(), job.token);
}

void task_executor_endpoint::sample_states() {
  if (std::exchange(is_sampling_, true))
    return; // the last one waits for a database
  std::vector<std::shared_ptr<task_metrics>> sampled;
  for (const auto& [attempt, task] : tasks_) {
    if (task->metrics->state.has_sources())
      sampled.push_back(task->metrics);
  }
  if (sampled.empty()) {
    is_sampling_ = false;
    return;
  }
  run_blocking<bool>(
      [sampled = std::move(sampled)] {
        for (const auto& one : sampled)
          one->state.sample();
        return true;
      },
      [this](bool) { is_sampling_ = false; });
}

void task_executor_endpoint::end_task(const execution_attempt_id& attempt) {
  const auto at = tasks_.find(attempt);
  if (at == tasks_.end())
    return;
  const auto allocation = at->second->what.allocation;
  const auto job = at->second->what.job.id;
  around_.directory.remove(attempt);
  attempt_by_child_.erase(at->second->name);
  if (const auto of_job = tasks_of_job_.find(job); of_job != tasks_of_job_.end()) {
    of_job->second.erase(attempt);
    if (of_job->second.empty())
      tasks_of_job_.erase(of_job);
  }
  tasks_.erase(at);
  for (const auto& [peer, connection] : connections_)
    order(peer, attempt_ended{attempt});
  if (const auto freed = slots_.remove_task(allocation)) {
    memory_.erase(allocation);
    tell_available(*freed);
  }
  forget_job_if_unused(job);
}

} // namespace headrace::task
