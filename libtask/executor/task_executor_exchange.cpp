#include "libtask/executor/task_executor_entries.hpp"
#include "libactors/message/ids_codec.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

namespace {
constexpr std::chrono::milliseconds retry_least{5};
constexpr std::chrono::milliseconds retry_most{1'000};
constexpr std::size_t channels_a_turn = 1024;
constexpr int tries_before_asking = 8; ///< the job master, what has become of the producer
} // namespace

void task_executor_endpoint::connect_all(const execution_attempt_id& consumer,
                                         std::uint64_t credit_bytes) {
  const auto* task = find(consumer);
  if (task == nullptr)
    return;
  for (const auto& place : task->what.inputs->places)
    if (place.location.node != self().node && around_.network != nullptr && !place.data.is_none())
      around_.network->learn(place.location.node, place.data);
  const auto count = static_cast<std::uint32_t>(task->what.channels().size());
  connecting_.push_back({{consumer, 0, credit_bytes, 0}, count});
  if (connecting_.size() == 1)
    connect_some();
}

void task_executor_endpoint::connect_some() {
  for (std::size_t left = channels_a_turn; left > 0 && !connecting_.empty(); --left) {
    auto& run = connecting_.front();
    if (run.next.channel < run.count) {
      connect(run.next);
      ++run.next.channel;
    }
    if (run.next.channel >= run.count)
      connecting_.pop_front();
  }
  if (!connecting_.empty())
    later([this] { connect_some(); });
}

void task_executor_endpoint::connect(const channel_wish& wish) {
  const auto* task = find(wish.consumer);
  if (task == nullptr)
    return;
  const auto& wanted = task->what.channels()[wish.channel];
  const auto& where = task->what.inputs->place_of(wanted);
  if (where.location.node != self().node) {
    connect_remote(wish, where);
  } else if (where.task_executor != settings_.id) {
    ask_elsewhere(wish, where.location);
  } else if (auto done = attach_here(wish, wanted); !done) {
    connect_again(wish, done.error());
  }
}

/// Another task executor of this process.
void task_executor_endpoint::ask_elsewhere(const channel_wish& wish, const actors::address& whom) {
  const auto& wanted = find(wish.consumer)->what.channels()[wish.channel];
  message_builder<schema::RequestPartition> request;
  write(request->initPartition(), wanted.partition);
  request->setSubpartition(wanted.subpartition);
  write(request->initConsumer(), wish.consumer);
  request->setChannel(static_cast<std::int32_t>(wish.channel));
  request->setCreditBytes(wish.credit_bytes);
  ask<schema::Acknowledge>(whom, request.finish(), settings_.ask_timeout,
                           [this, wish](const result<message<schema::Acknowledge>>& answer) {
                             if (!answer)
                               connect_again(wish, answer.error());
                           });
}

void task_executor_endpoint::connect_again(const channel_wish& wish, const error& cause) {
  const auto* task = find(wish.consumer);
  if (task == nullptr)
    return;
  const auto delay = std::min(retry_least * (1 << std::min(wish.tries, 10)), retry_most);
  const auto retry = [this, wish, delay] {
    auto next = wish;
    ++next.tries;
    after(delay, [this, next] { connect(next); });
  };
  if (wish.tries < tries_before_asking) {
    retry();
    return;
  }
  const auto partition = task->what.channels()[wish.channel].partition;
  message_builder<schema::RequestPartitionState> question;
  write(question->initPartition(), partition);
  ask<schema::PartitionState>(
      task->what.job_master, question.finish(), settings_.ask_timeout,
      [this, wish, partition, retry, cause](const result<message<schema::PartitionState>>& answer) {
        const auto producer = answer ? answer->view()->getProducerState() : task_state::RUNNING;
        if (!is_terminal(producer) && producer != task_state::CANCELING) {
          retry();
          return;
        }
        control(wish.consumer,
                partition_lost{wish.channel,
                               error(errc::partition_not_found,
                                     "producer has ended: " + to_string(partition), cause)});
      },
      task->what.job_master_token);
}

status task_executor_endpoint::attach_here(const channel_wish& wish,
                                           const channel_description& wanted) {
  const auto producer = around_.directory.find(wanted.partition.producer);
  if (producer.is_none())
    return error(errc::partition_not_found, "producer is not here: " + to_string(wanted.partition));
  auto mail = std::make_unique<attach_consumer>();
  mail->consumer = around_.directory.find(wish.consumer);
  if (mail->consumer.is_none())
    return error(errc::partition_not_found,
                 "consumer is not in this process: " + to_string(wish.consumer));
  mail->result = wanted.partition.result;
  mail->subpartition = static_cast<std::uint32_t>(wanted.subpartition);
  mail->channel = wish.channel;
  mail->credit_bytes = wish.credit_bytes;
  producer.send(std::move(mail), actors::mail_priority::high);
  return {};
}

status task_executor_endpoint::attach(const message<schema::RequestPartition>& request) {
  return checked_read([&]() -> status {
    const auto view = request.view();
    const channel_description wanted{read_partition(view->getPartition()), 0,
                                     view->getSubpartition(), 0};
    return attach_here({read_attempt(view->getConsumer()),
                        static_cast<std::uint32_t>(view->getChannel()), view->getCreditBytes(), 0},
                       wanted);
  });
}

// --- producers and consumers of other processes

void task_executor_endpoint::connect_remote(const channel_wish& wish, const producer_place& where) {
  if (around_.network == nullptr || where.data.is_none()) {
    control(wish.consumer,
            partition_lost{wish.channel, error(errc::partition_not_found,
                                               "producer is in another process, which takes no "
                                               "data connection: " +
                                                   to_string(where.location))});
    return;
  }
  const auto& wanted = find(wish.consumer)->what.channels()[wish.channel];
  order(where.location.node, open_channel{{wish.consumer, wish.channel, wanted.partition,
                                           static_cast<std::uint32_t>(wanted.subpartition),
                                           wish.credit_bytes, wish.tries}});
}

void task_executor_endpoint::order(const node_id& peer, connection_order::content_type what) {
  auto& entry = connections_[peer];
  if (entry.name.empty()) {
    entry.name = "connection-" + std::to_string(++connections_made_);
    data_connection_settings settings;
    settings.peer = peer;
    settings.idle_timeout = settings_.connection_idle_timeout;
    spawn(
        std::make_unique<data_connection_endpoint>(settings, around_.directory, *around_.network,
                                                   connection_metrics_, self_ref()),
        {entry.name, "connection", actors::placement::control, actors::supervision::notify, false});
    entry.ref = child_ref(entry.name);
  }
  ++entry.orders_sent;
  entry.ref.send(std::make_unique<connection_order>(std::move(what)));
}

void task_executor_endpoint::take_links() {
  if (around_.network == nullptr)
    return;
  around_.network->take_links(
      [to = self_ref()](const node_id& peer, std::shared_ptr<actors::frame_connection> link) {
        auto events = std::make_shared<link_relay>();
        to.send(std::make_unique<connection_report>(peer, link_offered{std::move(link), events}));
        return events;
      });
}

void task_executor_endpoint::take(connection_report& report) {
  if (auto* offered = std::get_if<link_offered>(&report.content)) {
    order(report.peer, link_accepted{std::move(offered->link), std::move(offered->events)});
    return;
  }
  if (const auto* idle = std::get_if<connection_idle>(&report.content)) {
    const auto at = connections_.find(report.peer);
    if (at == connections_.end() || at->second.orders_sent != idle->orders_seen)
      return; // it is wanted again
    at->second.ref.send(std::make_unique<connection_order>(retire_connection{}));
    connections_.erase(at);
    return;
  }
  const auto& failed = std::get<channel_failed>(report.content);
  if (find(failed.end.consumer) != nullptr)
    connect_again(
        {failed.end.consumer, failed.end.channel, failed.end.credit_bytes, failed.end.tries},
        failed.cause);
}

/// A connection that was not retired has ended, and what was on it is lost. The other node learns
/// it from its link.
bool task_executor_endpoint::lose_connection(const std::string& child, const error& cause) {
  const auto at = std::find_if(connections_.begin(), connections_.end(),
                               [&](const auto& one) { return one.second.name == child; });
  if (at == connections_.end())
    return false;
  const auto peer = at->first;
  connections_.erase(at);
  const error lost(errc::peer_lost, "data connection has ended: node " + to_string(peer), cause);
  for (const auto& [attempt, task] : tasks_)
    for (std::size_t i = 0; i < task->what.channels().size(); ++i)
      if (task->what.inputs->place_of(task->what.channels()[i]).location.node == peer) {
        control(attempt, partition_lost{static_cast<std::uint32_t>(i), lost});
        break;
      }
  return true;
}

} // namespace headrace::task
