#include "libtask/executor/task_executor_entries.hpp"
#include "libactors/message/ids_codec.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

namespace {
constexpr std::chrono::milliseconds retry_least{5};
constexpr std::chrono::milliseconds retry_most{1'000};
constexpr int tries_before_asking = 8; ///< the job master, what has become of the producer
} // namespace

void task_executor_endpoint::connect(const execution_attempt_id& consumer, std::uint32_t channel,
                                     const channel_description& wanted, std::uint64_t credit_bytes,
                                     int tries) {
  if (find(consumer) == nullptr)
    return;
  if (wanted.location.node != self().node) {
    connect_remote(consumer, channel, wanted, credit_bytes, tries);
    return;
  }
  message_builder<schema::RequestPartition> request;
  write(request->initPartition(), wanted.partition);
  request->setSubpartition(wanted.subpartition);
  write(request->initConsumer(), consumer);
  request->setChannel(static_cast<std::int32_t>(channel));
  request->setCreditBytes(credit_bytes);
  const auto question = request.finish();
  if (wanted.task_executor == settings_.id) {
    auto done = attach(question);
    if (!done)
      connect_again(consumer, channel, wanted, credit_bytes, tries, done.error());
    return;
  }
  ask<schema::Acknowledge>(wanted.location, question, settings_.ask_timeout,
                           [this, consumer, channel, wanted, credit_bytes,
                            tries](const result<message<schema::Acknowledge>>& answer) {
                             if (!answer)
                               connect_again(consumer, channel, wanted, credit_bytes, tries,
                                             answer.error());
                           });
}

void task_executor_endpoint::connect_again(const execution_attempt_id& consumer,
                                           std::uint32_t channel, const channel_description& wanted,
                                           std::uint64_t credit_bytes, int tries,
                                           const error& cause) {
  const auto* task = find(consumer);
  if (task == nullptr)
    return;
  const auto delay = std::min(retry_least * (1 << std::min(tries, 10)), retry_most);
  const auto retry = [this, consumer, channel, wanted, credit_bytes, tries, delay] {
    after(delay, [this, consumer, channel, wanted, credit_bytes, tries] {
      connect(consumer, channel, wanted, credit_bytes, tries + 1);
    });
  };
  if (tries < tries_before_asking) {
    retry();
    return;
  }
  message_builder<schema::RequestPartitionState> question;
  write(question->initPartition(), wanted.partition);
  ask<schema::PartitionState>(
      task->what.job_master, question.finish(), settings_.ask_timeout,
      [this, consumer, channel, wanted, retry,
       cause](const result<message<schema::PartitionState>>& answer) {
        const auto producer = answer ? answer->view()->getProducerState() : task_state::RUNNING;
        if (!is_terminal(producer) && producer != task_state::CANCELING) {
          retry();
          return;
        }
        control(consumer,
                partition_lost{channel,
                               error(errc::partition_not_found,
                                     "producer has ended: " + to_string(wanted.partition), cause)});
      },
      task->what.job_master_token);
}

status task_executor_endpoint::attach(const message<schema::RequestPartition>& request) {
  return checked_read([&]() -> status {
    const auto view = request.view();
    const auto partition = read_partition(view->getPartition());
    const auto consumer = read_attempt(view->getConsumer());
    const auto producer_ref = around_.directory.find(partition.producer);
    if (producer_ref.is_none())
      return error(errc::partition_not_found, "producer is not here: " + to_string(partition));
    auto mail = std::make_unique<attach_consumer>();
    mail->consumer = around_.directory.find(consumer);
    if (mail->consumer.is_none())
      return error(errc::partition_not_found,
                   "consumer is not in this process: " + to_string(consumer));
    mail->result = partition.result;
    mail->subpartition = static_cast<std::uint32_t>(view->getSubpartition());
    mail->channel = static_cast<std::uint32_t>(view->getChannel());
    mail->credit_bytes = view->getCreditBytes();
    producer_ref.send(std::move(mail), actors::mail_priority::high);
    return {};
  });
}

// --- producers and consumers of other processes

void task_executor_endpoint::connect_remote(const execution_attempt_id& consumer,
                                            std::uint32_t channel,
                                            const channel_description& wanted,
                                            std::uint64_t credit_bytes, int tries) {
  if (around_.network == nullptr || wanted.data.is_none()) {
    control(consumer,
            partition_lost{channel, error(errc::partition_not_found,
                                          "producer is in another process, which takes no data "
                                          "connection: " +
                                              to_string(wanted.location))});
    return;
  }
  around_.network->learn(wanted.location.node, wanted.data);
  order(wanted.location.node,
        open_channel{{consumer, channel, wanted.partition,
                      static_cast<std::uint32_t>(wanted.subpartition), credit_bytes, tries}});
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
  const auto* task = find(failed.end.consumer);
  if (task != nullptr)
    connect_again(failed.end.consumer, failed.end.channel, task->what.channels[failed.end.channel],
                  failed.end.credit_bytes, failed.end.tries, failed.cause);
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
    for (std::size_t i = 0; i < task->what.channels.size(); ++i)
      if (task->what.channels[i].location.node == peer) {
        control(attempt, partition_lost{static_cast<std::uint32_t>(i), lost});
        break;
      }
  return true;
}

} // namespace headrace::task
