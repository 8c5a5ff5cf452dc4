#include "test/libscheduler/testing_task_executor.hpp"

#include "libstate/handle/subtask_state_codec.hpp"
#include "libgraph/job_graph/job_graph_codec.hpp"
#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"
#include "schema/collect.capnp.h"
#include "schema/error.capnp.h"

#include <fstream>
#include <utility>

namespace headrace::testing {

namespace {

constexpr std::chrono::milliseconds patience{10'000};

message<schema::SourceEvent> registration() {
  message_builder<schema::SourceEvent> event;
  event->initRegister();
  return event.finish();
}
message<schema::SourceEvent> request() {
  message_builder<schema::SourceEvent> event;
  event->initRequestSplit();
  return event.finish();
}
message<schema::Acknowledge> acknowledgement() {
  return message_builder<schema::Acknowledge>().finish();
}

} // namespace

testing_task_executor::testing_task_executor(task_executor_id id, int slots,
                                             actors::address resource_manager,
                                             imagined_tasks& tasks)
    : id_(id), slots_(static_cast<std::size_t>(slots)), manager_(std::move(resource_manager)),
      tasks_(tasks) {
  on_ask<schema::AllocateSlot, schema::Acknowledge>(
      [this](const auto& order, auto back) { allocate(order, std::move(back)); });
  on_ask<schema::FreeSlot, schema::Acknowledge>([this](const auto& order, auto back) {
    back.send(acknowledgement());
    free(read_id<allocation_id>(order.view()->getAllocation()));
  });
  on_ask<schema::SubmitTask, schema::Acknowledge>(
      [this](const auto& order, auto back) { submit(order, std::move(back)); });
  on_tell<schema::CancelTask>([this](const auto& order, const actors::address&) {
    const auto attempt = read_attempt(order.view()->getAttempt());
    if (tasks_.running.contains(attempt))
      end(attempt, schema::TaskState::CANCELED);
  });
  on_tell<schema::TriggerCheckpoint>(
      [this](const auto& order, const actors::address&) { trigger(order); });
  on_tell<schema::CheckpointCompleted>([this](const auto& news, const actors::address&) {
    const auto checkpoint = news.view()->getCheckpoint();
    tasks_.completed.insert(checkpoint);
    const auto attempt = read_attempt(news.view()->getAttempt());
    if (tasks_.ends_with_savepoints && tasks_.ending.contains(checkpoint) &&
        tasks_.running.contains(attempt))
      end(attempt, schema::TaskState::FINISHED);
  });
  on_tell<schema::CheckpointAborted>([this](const auto& news, const actors::address&) {
    tasks_.aborted.insert(news.view()->getCheckpoint());
  });
  on_tell<schema::OperatorEvent>(
      [this](const auto& event, const actors::address&) { hear(event); });
  on_tell<schema::Disconnect>([this](const auto&, const actors::address&) { ++disconnects; });
  on_tell<schema::Heartbeat>([this](const auto& beat, const actors::address& from) {
    if (is_silent)
      return;
    message_builder<schema::Heartbeat> reply;
    write(reply->initFrom(), id_);
    reply->setIsReply(true);
    const auto job = read_id<job_id>(beat.view()->getFrom());
    fencing_token token;
    if (job.is_none()) {
      write_slots(reply->initSlots());
    } else {
      std::vector<execution_attempt_id> mine;
      for (const auto& [attempt, task] : tasks_.running) {
        if (task.where == this && task.job == job) {
          mine.push_back(attempt);
          token = task.token;
        }
      }
      auto out = reply->initRunning(static_cast<unsigned>(mine.size()));
      for (std::size_t i = 0; i < mine.size(); ++i)
        write(out[static_cast<unsigned>(i)], mine[i]);
    }
    tell(from, reply.finish(), token);
  });
}

testing_task_executor::~testing_task_executor() {
  std::erase_if(tasks_.running, [this](const auto& entry) { return entry.second.where == this; });
}

void testing_task_executor::write_slots(schema::SlotReport::Builder out) const {
  auto slots = out.initSlots(static_cast<unsigned>(slots_.size()));
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    auto to = slots[static_cast<unsigned>(i)];
    to.setIndex(static_cast<std::int32_t>(i));
    write(to.initAllocation(), slots_[i].allocation);
    write(to.initJob(), slots_[i].job);
  }
}

void testing_task_executor::on_start() {
  message_builder<schema::RegisterTaskExecutor> question;
  write(question->initId(), id_);
  actors::write(question->initAddress(), self());
  write_slots(question->initSlots());
  ask<schema::RegistrationReply>(manager_, question.finish(), patience, [](const auto&) {});
}

void testing_task_executor::allocate(const message<schema::AllocateSlot>& order,
                                     actors::reply_to<schema::Acknowledge> back) {
  const auto view = order.view();
  const auto index = static_cast<std::size_t>(view->getIndex());
  slots_.at(index) = {read_id<allocation_id>(view->getAllocation()),
                      read_id<job_id>(view->getJob())};
  back.send(acknowledgement());
  const auto job = slots_[index].job;
  auto& known = masters_[job];
  const auto where = actors::read_address(view->getJobMaster());
  if (known.where != where)
    known = {where, read_id<fencing_token>(view->getJobMasterToken()), false, {}};
  if (known.is_registered) {
    offer(index, known);
    return;
  }
  known.waiting.push_back(index);
  if (known.waiting.size() > 1)
    return;
  message_builder<schema::RegisterAtJobMaster> question;
  write(question->initJob(), job);
  write(question->initId(), id_);
  actors::write(question->initAddress(), self());
  ask<schema::RegistrationReply>(
      known.where, question.finish(), patience,
      [this, job](const auto& answer) {
        auto& master = masters_[job];
        master.is_registered = answer && answer->view()->isAccepted();
        for (const auto waiting : std::exchange(master.waiting, {})) {
          if (master.is_registered)
            offer(waiting, master);
          else
            free(slots_[waiting].allocation);
        }
      },
      known.token);
}

void testing_task_executor::forget(const job_id& job, bool says_so) {
  std::erase_if(tasks_.running, [&](const auto& entry) {
    return entry.second.where == this && entry.second.job == job;
  });
  const auto master = masters_[job];
  masters_.erase(job);
  if (says_so) {
    message_builder<schema::Disconnect> farewell;
    write(farewell->initFrom(), id_);
    tell(master.where, farewell.finish(), master.token);
  }
  for (const auto& one : slots_)
    if (one.job == job)
      free(allocation_id(one.allocation));
}

void testing_task_executor::offer(std::size_t index, const job_master_entry& master) {
  message_builder<schema::OfferSlots> question;
  write(question->initTaskExecutor(), id_);
  auto one = question->initSlots(1)[0];
  one.setIndex(static_cast<std::int32_t>(index));
  write(one.initAllocation(), slots_[index].allocation);
  write(one.initJob(), slots_[index].job);
  ask<schema::OfferSlotsReply>(
      master.where, question.finish(), patience,
      [this, allocation = slots_[index].allocation](const auto& answer) {
        if (!answer)
          ++tasks_.refused_offers;
        if (!answer || answer->view()->getAccepted().size() == 0)
          free(allocation);
      },
      master.token);
}

void testing_task_executor::free(const allocation_id& allocation) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (allocation.is_none() || slots_[i].allocation != allocation)
      continue;
    slots_[i] = {};
    message_builder<schema::SlotAvailable> news;
    write(news->initTaskExecutor(), id_);
    news->initSlot().setIndex(static_cast<std::int32_t>(i));
    tell(manager_, news.finish());
  }
}

void testing_task_executor::submit(const message<schema::SubmitTask>& order,
                                   actors::reply_to<schema::Acknowledge> back) {
  if (tasks_.refuses_submissions > 0) {
    --tasks_.refuses_submissions;
    back.fail({errc::memory_exceeded, "no room"});
    return;
  }
  const auto view = order.view();
  const auto deployment = view->getDeployment();
  const auto attempt = read_attempt(deployment.getAttempt());
  imagined_tasks::task task;
  task.where = this;
  task.master = actors::read_address(deployment.getJobMaster());
  task.token = read_id<fencing_token>(deployment.getJobMasterToken());
  task.job = read_id<job_id>(deployment.getJobInformation().getJob());
  task.restored = deployment.getRestoredCheckpoint();
  const auto vertex = graph::decode_vertex(deployment.getVertex().getAs<schema::JobVertex>());
  for (const auto& node : vertex->operators)
    task.operators.push_back(node.id);
  task.is_source = std::holds_alternative<graph::source_spec>(vertex->operators.front().spec);
  const auto restored = headrace::state::read_subtask_state(deployment.getState());
  for (const auto& [id, part] : restored->operators) {
    for (const auto& channel : part.raw_operator)
      task.splits.insert(std::filesystem::path(channel.segment.path).filename());
  }
  tasks_.submitted.push_back(attempt);
  const bool is_source = task.is_source;
  tasks_.running[attempt] = std::move(task);
  back.send(acknowledgement());
  if (!tasks_.starts)
    return;
  report(attempt, schema::TaskState::INITIALIZING);
  report(attempt, schema::TaskState::RUNNING);
  if (is_source) {
    say(attempt, registration());
    say(attempt, request());
  }
}

void testing_task_executor::report(const execution_attempt_id& attempt, schema::TaskState now,
                                   const error& failure) {
  const auto& task = tasks_.running.at(attempt);
  message_builder<schema::TaskStateChanged> news;
  write(news->initAttempt(), attempt);
  news->setState(now);
  write(news->initFailure(), failure);
  news->initMetrics().setRecordsIn(7);
  tell(task.master, news.finish(), task.token);
}

void testing_task_executor::end(const execution_attempt_id& attempt, schema::TaskState now,
                                const error& failure) {
  report(attempt, now, failure);
  tasks_.running.erase(attempt);
}

void testing_task_executor::say(const execution_attempt_id& attempt,
                                const message<schema::SourceEvent>& event) {
  const auto& task = tasks_.running.at(attempt);
  message_builder<schema::OperatorEvent> out;
  write(out->initAttempt(), attempt);
  write(out->initOperator(), task.operators.front());
  out->setEvent(event.untyped().words().asBytes());
  tell(task.master, out.finish(), task.token);
}

void testing_task_executor::say_collected(const execution_attempt_id& attempt,
                                          const operator_id& sink, const std::string& batch,
                                          bool is_last) {
  const auto& task = tasks_.running.at(attempt);
  message_builder<schema::CollectEvent> event;
  auto data = event->initBatches(1).init(0, static_cast<unsigned>(batch.size()));
  std::copy(batch.begin(), batch.end(), data.asChars().begin());
  event->setIsLast(is_last);
  message_builder<schema::OperatorEvent> out;
  write(out->initAttempt(), attempt);
  write(out->initOperator(), sink);
  const auto words = event.finish();
  out->setEvent(words.untyped().words().asBytes());
  tell(task.master, out.finish(), task.token);
}

void testing_task_executor::hear(const message<schema::OperatorEvent>& event) {
  const auto view = event.view();
  const auto attempt = read_attempt(view->getAttempt());
  const auto found = tasks_.running.find(attempt);
  if (found == tasks_.running.end())
    return;
  const auto raw = view->getEvent().asChars();
  if (!found->second.is_source) {
    const auto taken =
        validate_message(type_id_of<schema::CollectTaken>(), {raw.begin(), raw.size()});
    found->second.taken_bytes += message<schema::CollectTaken>(*taken).view()->getBytes();
    return;
  }
  const auto inner = validate_message(type_id_of<schema::SourceEvent>(), {raw.begin(), raw.size()});
  const auto said = message<schema::SourceEvent>(*inner).view();
  if (said->isNoMoreSplits()) {
    found->second.has_all_splits = true;
  } else if (said->isAddSplits()) {
    for (const auto split : said->getAddSplits().getSplits())
      found->second.splits.insert(split.getId().cStr());
    if (tasks_.asks_for_splits)
      say(attempt, request());
  }
}

void testing_task_executor::trigger(const message<schema::TriggerCheckpoint>& order) {
  const auto view = order.view();
  const auto checkpoint = view->getCheckpoint();
  const auto source = tasks_.running.find(read_attempt(view->getAttempt()));
  if (source == tasks_.running.end() || !tasks_.acknowledges)
    return;
  if (view->getSavepoint().getStop() != schema::SavepointStop::NONE)
    tasks_.ending.insert(checkpoint);
  acknowledge(source->first, checkpoint);
  // Whoever reads no split gets the barrier, once is enough.
  for (const auto& [attempt, task] : tasks_.running) {
    if (task.job == source->second.job && !task.is_source)
      task.where->acknowledge(attempt, checkpoint);
  }
}

void testing_task_executor::acknowledge(const execution_attempt_id& attempt,
                                        checkpoint_id checkpoint) {
  const auto& task = tasks_.running.at(attempt);
  headrace::state::task_state_snapshot snapshot;
  for (const auto& split : task.splits) {
    headrace::state::operator_state_handle part;
    part.segment.path = tasks_.state_directory / split;
    std::filesystem::create_directories(tasks_.state_directory);
    std::ofstream(part.segment.path).close(); // there, and empty
    snapshot.operators[task.operators.front()].raw_operator.push_back(part);
  }
  message_builder<schema::AcknowledgeCheckpoint> news;
  write(news->initAttempt(), attempt);
  news->setCheckpoint(checkpoint);
  headrace::state::write_subtask_state(news->initState(), snapshot);
  tell(task.master, news.finish(), task.token);
}

} // namespace headrace::testing
