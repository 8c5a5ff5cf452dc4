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

} // namespace headrace::task
