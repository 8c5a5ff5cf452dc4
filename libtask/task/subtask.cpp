#include "libtask/task/subtask.hpp"

#include "libtask/checkpoint/snapshot_writer.hpp"
#include "libtask/network/local_consumer.hpp"
#include "libtask/network/remote_consumer.hpp"
#include "libtask/task/in_flight.hpp"
#include "libgraph/function/failure.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

subtask::subtask(subtask_environment around, task_description what,
                 std::shared_ptr<const graph::job_code> code,
                 std::shared_ptr<headrace::state::state_backend> backend,
                 std::shared_ptr<slot_memory> memory, std::shared_ptr<task_metrics> metrics,
                 actors::actor_ref task_executor)
    : around_(around), what_(std::move(what)), code_(std::move(code)), backend_(std::move(backend)),
      memory_(memory == nullptr ? nullptr : std::make_shared<task_memory>(std::move(memory))),
      metrics_(std::move(metrics)), task_executor_(std::move(task_executor)),
      waking_(std::make_shared<waking>()),
      services_(std::make_shared<chain_services>(static_cast<operator_services&>(*this))),
      producers_(what_.channels().size()) {
  if (!around_.local_state_directory.empty())
    copies_ = std::make_shared<headrace::state::local_copies>(
        around_.files,
        around_.local_state_directory + "/" + to_string(what_.job.id) + "/" +
            to_string(what_.attempt.vertex) + "-" + std::to_string(what_.attempt.subtask),
        what_.job.checkpoint_directory);
}

subtask::~subtask() = default;

void subtask::on_start() {
  {
    const std::lock_guard lock(waking_->mutex);
    waking_->to = self_ref();
  }
  awaits_first_rows_ = what_.attempt.attempt > 0 || what_.attempt.generation > 0;
  around_.directory.add(what_.attempt, self_ref());
  change(task_state::INITIALIZING);
  guarded([this] { return initialize(); });
}

status subtask::initialize() {
  stream_task::setup setup;
  for (const auto& channel : what_.channels())
    setup.channel_inputs.push_back(channel.input);
  for (const auto& type : what_.vertex.operators.front().input_types)
    input_types_.push_back(std::make_shared<const graph::logical_type>(type));
  setup.gate_limits = input_gate_limits::for_channels(what_.channels().size());
  HEADRACE_TRY(setup.partitions, make_partitions());
  for (std::size_t i = 0; i < what_.partitions.size(); ++i)
    partition_by_result_[what_.partitions[i].partition.result] = static_cast<std::uint32_t>(i);
  setup.checkpointing = what_.job.checkpointing;
  setup.buffer_timeout_us = what_.job.buffer_timeout_ms * 1000;
  setup.time = &environment().time;
  setup.metrics = metrics_.get();
  setup.memory = memory_;
  task_ = std::make_unique<stream_task>(std::move(setup));
  const auto context = make_context();
  HEADRACE_TRY(auto chain, operator_chain::make(what_.vertex, around_.factories, context, *task_));
  task_->set_chain(std::move(chain));
  restore();
  return {};
}

operator_context subtask::make_context() {
  return operator_context{what_.display_name(),
                          what_.attempt.subtask,
                          what_.vertex.parallelism,
                          what_.vertex.max_parallelism,
                          what_.attempt.attempt,
                          what_.job.checkpointing,
                          environment().time,
                          around_.files,
                          around_.connectors,
                          *services_,
                          *metrics_,
                          code_,
                          memory_,
                          log(),
                          what_.job.id,
                          what_.job.periodic_checkpoints,
                          what_.restored_checkpoint == 0,
                          what_.job.committer_retries};
}

result<std::vector<std::unique_ptr<result_partition>>> subtask::make_partitions() const {
  std::vector<std::unique_ptr<result_partition>> out;
  for (std::size_t i = 0; i < what_.partitions.size(); ++i) {
    const auto& described = what_.partitions[i];
    partitioner_setup setup;
    setup.spec = what_.vertex.outputs[i].partitioner;
    setup.targets = static_cast<std::uint32_t>(described.subpartitions);
    setup.subtask = static_cast<std::uint32_t>(what_.attempt.subtask);
    setup.max_parallelism = static_cast<std::uint32_t>(described.consumer_max_parallelism > 0
                                                           ? described.consumer_max_parallelism
                                                           : what_.vertex.max_parallelism);
    setup.seed = environment().random.next();
    if (setup.spec.kind == graph::partitioner_kind::custom) {
      if (code_ == nullptr || setup.spec.function.index < 0 ||
          static_cast<std::size_t>(setup.spec.function.index) >= code_->functions.size())
        return error(errc::graph_mismatch, "job code has no such partitioner");
      auto made = code_->functions[static_cast<std::size_t>(setup.spec.function.index)]();
      if (auto* custom = std::get_if<std::unique_ptr<graph::custom_partitioner>>(&made))
        setup.custom = std::move(*custom);
    }
    HEADRACE_TRY(auto split, make_partitioner(std::move(setup)));
    out.push_back(std::make_unique<result_partition>(
        std::move(split), static_cast<std::uint32_t>(described.subpartitions)));
  }
  return out;
}

void subtask::on_mail(actors::mail_ptr content) {
  switch (static_cast<mail_kind>(content->kind())) {
  case mail_kind::exchange_data: {
    if (closing_ || task_ == nullptr)
      return;
    auto& data = static_cast<exchange_data&>(*content);
    task_->enqueue(data.channel, std::move(data.elements), data.closes);
    wake();
    return;
  }
  case mail_kind::remote_data:
    take(static_cast<remote_data&>(*content));
    return;
  case mail_kind::remote_opened: {
    const auto& opened = static_cast<const remote_opened&>(*content);
    if (!closing_)
      producers_[opened.channel] = {{}, known(opened.link), opened.route};
    return;
  }
  case mail_kind::exchange_credit:
    take(static_cast<const exchange_credit&>(*content));
    return;
  case mail_kind::attach_consumer:
    take(static_cast<attach_consumer&>(*content));
    return;
  case mail_kind::task_wake:
    wake();
    return;
  case mail_kind::task_control:
    take(static_cast<const task_control&>(*content));
    return;
  default:
    log().warn("mail of an unknown kind dropped", {{"kind", std::to_string(content->kind())}});
  }
}

void subtask::take(remote_data& data) {
  if (closing_ || task_ == nullptr)
    return;
  guarded([&]() -> status {
    const auto input = static_cast<std::size_t>(what_.channels()[data.channel].input);
    HEADRACE_TRY(auto decoded,
                 decode_elements(std::move(data.elements), input_types_[input], memory_));
    task_->enqueue(data.channel, std::move(decoded.elements), data.closes, decoded.costs);
    return {};
  });
  wake();
}

void subtask::take(const exchange_credit& credit) {
  const auto at = partition_by_result_.find(credit.result);
  if (closing_ || at == partition_by_result_.end())
    return;
  task_->add_credit(at->second, credit.subpartition, credit.bytes);
  wake();
}

void subtask::take(attach_consumer& consumer) {
  if (closing_)
    return; // they end together
  const auto at = partition_by_result_.find(consumer.result);
  if (task_ == nullptr || at == partition_by_result_.end() ||
      consumer.subpartition >= task_->partition(at->second).subpartition_count()) {
    log().warn("consumer of an unknown partition", {{"result", to_string(consumer.result)}});
    return;
  }
  task_->attach(at->second, consumer.subpartition, consumer_of(consumer), consumer.credit_bytes);
  wake();
}

std::unique_ptr<exchange_channel> subtask::consumer_of(attach_consumer& asked) {
  if (asked.link == nullptr)
    return std::make_unique<local_consumer>(std::move(asked.consumer), asked.channel);
  return std::make_unique<remote_consumer>(
      remote_consumer::setup{known(asked.link), asked.route, around_.wire, memory_,
                             [this](error cause) { send_failure_ = std::move(cause); }});
}

void subtask::take(const task_control& control) {
  if (std::holds_alternative<cancel_task>(control.content)) {
    begin_closing(task_state::CANCELED, {});
    return;
  }
  if (closing_ || task_ == nullptr)
    return;
  guarded([&]() -> status {
    if (const auto* trigger = std::get_if<trigger_checkpoint>(&control.content)) {
      if (opened_)
        task_->trigger(trigger->barrier);
      else
        report(snapshot_declined{
            trigger->barrier.checkpoint,
            error(errc::checkpoint_declined, "task is not running yet: " + what_.display_name())});
    } else if (const auto* done = std::get_if<checkpoint_completed>(&control.content)) {
      if (opened_) {
        HEADRACE_CHECK(task_->complete_checkpoint(done->checkpoint));
        prune_copies(done->checkpoint, true);
      }
    } else if (const auto* aborted = std::get_if<checkpoint_aborted>(&control.content)) {
      if (opened_) {
        HEADRACE_CHECK(task_->abort_checkpoint(aborted->checkpoint));
        prune_copies(aborted->checkpoint, false);
      }
    } else if (const auto* event = std::get_if<operator_event>(&control.content)) {
      HEADRACE_CHECK(task_->on_event(event->to, event->event));
    } else if (const auto* lost = std::get_if<partition_lost>(&control.content)) {
      return lost->cause;
    } else if (const auto* gone = std::get_if<consumer_lost>(&control.content)) {
      return gone->cause;
    }
    return {};
  });
  wake();
}

void subtask::wake() {
  if (turn_pending_ || !opened_ || closing_)
    return;
  turn_pending_ = true;
  later([this] {
    turn_pending_ = false;
    take_turn();
  });
}

void subtask::take_turn() {
  if (closing_)
    return;
  guarded([this]() -> status {
    HEADRACE_TRY(const auto left, task_->turn());
    if (send_failure_)
      return *std::move(send_failure_);
    after_turn(left);
    return {};
  });
}

void subtask::after_turn(turn_result left) {
  send_grants();
  for (const auto& link : links_)
    link->send();
  if (awaits_first_rows_)
    note_first_rows();
  for (const auto checkpoint : task_->take_subsumed())
    report(snapshot_declined{
        checkpoint,
        error(errc::checkpoint_subsumed, "a newer checkpoint began at " + what_.display_name())});
  while (auto taken = task_->take_snapshot())
    write_snapshot(std::move(*taken));
  if (task_->take_awaiting_checkpoint())
    report(checkpoint_awaited{});
  if (left == turn_result::finished)
    begin_closing(task_state::FINISHED, {});
  else if (left == turn_result::again)
    wake();
  set_alarm();
  set_overtaking_alarm();
}

void subtask::set_overtaking_alarm() {
  const auto next = task_->next_overtaking_us();
  if (!next || closing_ || next == overtaking_alarm_us_)
    return; // none; or it has been set, and went off where the time is over
  overtaking_alarm_us_ = next;
  const auto delay_ms = std::max<std::int64_t>((*next - now_us() + 999) / 1000, 0);
  endpoint::after(std::chrono::milliseconds(delay_ms), [this] { wake(); });
}

void subtask::send_grants() {
  for (const auto& grant : task_->take_grants()) {
    const auto& channel = what_.channels()[grant.channel];
    auto& producer = producers_[grant.channel];
    if (producer.link != nullptr) {
      producer.link->add(route_credit{producer.route, grant.bytes});
      continue;
    }
    if (producer.to.is_none())
      producer.to = around_.directory.find(channel.partition.producer);
    auto credit = std::make_unique<exchange_credit>();
    credit->result = channel.partition.result;
    credit->subpartition = static_cast<std::uint32_t>(channel.subpartition);
    credit->bytes = grant.bytes;
    producer.to.send(std::move(credit), actors::mail_priority::high);
  }
}

const std::shared_ptr<link_writer>& subtask::known(const std::shared_ptr<link_writer>& link) {
  if (std::find(links_.begin(), links_.end(), link) == links_.end())
    links_.push_back(link);
  return link;
}

void subtask::note_first_rows() {
  const auto rows = metrics_->records_out.value();
  if (rows == 0)
    return;
  awaits_first_rows_ = false;
  log().info("restarted task emits its first rows",
             {{"task", what_.display_name()},
              {"attempt", std::to_string(what_.attempt.attempt)},
              {"restored_checkpoint", std::to_string(what_.restored_checkpoint)}});
}

void subtask::write_snapshot(begun_checkpoint taken) {
  const auto checkpoint = taken.id();
  if (taken.snapshot->failure) {
    report(snapshot_declined{checkpoint, *std::move(taken.snapshot->failure)});
    return;
  }
  const auto& savepoint = taken.barrier.savepoint;
  snapshot_order order{what_.attempt,
                       what_.job.checkpoint_directory,
                       taken.alignment_us,
                       taken.snapshot->synchronous_us,
                       0,
                       savepoint == nullptr ? std::string() : savepoint->directory,
                       taken.processed_bytes,
                       taken.is_unaligned};
  auto content = std::shared_ptr<chain_snapshot>(std::move(taken.snapshot->content));
  content->add_in_flight(what_.vertex.operators.front().id,
                         describe_in_flight(what_, std::move(taken.in_flight)));
  auto written =
      std::make_shared<result<written_snapshot>>(error(errc::internal, "snapshot was not run"));
  const auto started_us = now_us();
  run_blocking(
      [content, order, written, copies = copies_, segments = around_.segments] {
        try {
          *written = task::write_snapshot(*content, order, *segments, copies.get());
        } catch (const std::exception& failure) {
          *written = error(errc::storage_failed, failure.what());
        }
      },
      [this, checkpoint, order, written, started_us]() mutable {
        if (auto failure = copies_ == nullptr ? std::nullopt : copies_->take_failure())
          log().warn("snapshot has no local copy",
                     {{"task", what_.display_name()}, {"cause", to_string(*failure)}});
        settle_snapshot(checkpoint, std::move(order), std::move(written), started_us);
      });
}

void subtask::settle_snapshot(checkpoint_id checkpoint, snapshot_order order,
                              std::shared_ptr<result<written_snapshot>> written,
                              std::int64_t started_us) {
  auto end = [this, checkpoint, order = std::move(order), written, started_us]() mutable {
    if (!*written) {
      report(snapshot_declined{checkpoint, std::move(*written).error()});
      return;
    }
    order.asynchronous_us = now_us() - started_us;
    report(snapshot_acknowledged{acknowledge((*written)->state, checkpoint, order)});
  };
  if (!*written || (*written)->part == nullptr) {
    end();
    return;
  }
  // A step of its own, behind those of the other subtasks that write: one sync is for all of them.
  run_blocking(
      [written, copies = copies_] {
        auto settled = (*written)->settle();
        (*written)->part.reset();
        if (!settled)
          *written = std::move(settled).error();
      },
      std::move(end));
}

void subtask::prune_copies(checkpoint_id checkpoint, bool is_completed) {
  if (copies_ == nullptr || copies_->is_empty())
    return;
  run_blocking(
      [copies = copies_, checkpoint, is_completed] {
        if (is_completed)
          copies->on_completed(checkpoint);
        else
          copies->on_aborted(checkpoint);
      },
      [] {});
}

void subtask::set_alarm() {
  if (closing_)
    return;
  const auto next = task_->next_processing_time_ms();
  if (next == alarm_ms_)
    return;
  if (alarm_ms_)
    cancel_timer(alarm_);
  alarm_ms_ = next;
  if (!next)
    return;
  const auto delay = std::max<std::int64_t>(*next - environment().time.wall_ms(), 0);
  alarm_ = endpoint::after(std::chrono::milliseconds(delay), [this] {
    alarm_ms_.reset();
    if (closing_)
      return;
    guarded([this]() -> status {
      task_->fire_processing_time(environment().time.wall_ms());
      return {};
    });
    set_alarm();
    wake();
  });
}

void subtask::begin_closing(task_state outcome, error cause) {
  if (ended_)
    return;
  if (closing_) { // a failure while it finishes counts, one while it is canceled does not
    if (*closing_ == task_state::FINISHED && outcome != task_state::FINISHED) {
      closing_ = outcome;
      failure_ = std::move(cause);
    }
    return;
  }
  closing_ = outcome;
  failure_ = std::move(cause);
  if (outcome == task_state::CANCELED)
    change(task_state::CANCELING);
  around_.directory.remove(what_.attempt);
  if (alarm_ms_)
    cancel_timer(alarm_);
  if (opened_)
    task_->chain().close();
  end_if_closed();
}

void subtask::end_if_closed() {
  if (!closing_ || ended_ || blocking_steps_ > 0)
    return;
  ended_ = true;
  change(*closing_, failure_);
  quit();
}

void subtask::on_stop(const error& cause) {
  {
    const std::lock_guard lock(waking_->mutex);
    waking_->to = {};
  }
  around_.directory.remove(what_.attempt);
  producers_.clear();
  links_.clear();
  if (!ended_) {
    ended_ = true;
    change(task_state::FAILED,
           error(errc::internal, "task was stopped: " + what_.display_name(), cause));
  }
  task_executor_ = {};
}

void subtask::change(task_state to, error failure) {
  if (!is_transition(state_, to))
    log().warn("unexpected change of a task's state",
               {{"from", std::to_string(static_cast<int>(state_))},
                {"to", std::to_string(static_cast<int>(to))}});
  state_ = to;
  report(state_changed{to, std::move(failure)});
}

void subtask::report(task_report::content_type what) {
  // As early as the end of this child, which would overtake normal mail and take the cause with it.
  task_executor_.send(std::make_unique<task_report>(what_.attempt, std::move(what)),
                      actors::mail_priority::high);
}

void subtask::run_blocking(std::function<void()> step, std::function<void()> then) {
  ++blocking_steps_;
  endpoint::run_blocking<bool>(
      [step = std::move(step)] {
        step();
        return true;
      },
      [this, then = std::move(then)](bool) {
        --blocking_steps_;
        if (closing_) {
          end_if_closed();
          return;
        }
        guarded([&]() -> status {
          then();
          return {};
        });
        wake();
      });
}

void subtask::after(std::chrono::milliseconds delay, std::function<void()> action) {
  endpoint::after(delay, [this, action = std::move(action)] {
    if (closing_)
      return;
    guarded([&]() -> status {
      action();
      return {};
    });
    wake();
  });
}

std::function<void()> subtask::waker() {
  return [waking = waking_] {
    const std::lock_guard lock(waking->mutex);
    waking->to.send(std::make_unique<task_wake>(), actors::mail_priority::high);
  };
}

void subtask::send_to_coordinator(operator_id from, byte_string event) {
  report(coordinator_event{from, std::move(event)});
}

void subtask::fail(error cause) {
  if (ended_)
    return;
  begin_closing(task_state::FAILED,
                error(cause.code, "task failed: " + what_.display_name(), std::move(cause)));
}

void subtask::guarded(const std::function<status()>& action) {
  if (auto done = caught(action); !done)
    fail(std::move(done).error());
}

status subtask::caught(const std::function<status()>& action) {
  try {
    return action();
  } catch (const graph::failure& failure) {
    return failure.cause();
  } catch (const std::bad_alloc&) {
    return error(errc::out_of_memory, "no memory left");
  } catch (const std::exception& failure) {
    return error(errc::user_function_failed, failure.what());
  }
}

} // namespace headrace::task
