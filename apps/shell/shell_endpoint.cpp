#include "apps/shell/shell_endpoint.hpp"

#include "libactors/message/ids_codec.hpp"

#include <utility>

namespace headrace::shell {
namespace {

constexpr std::chrono::milliseconds look_interval{100};
constexpr std::chrono::milliseconds census_timeout{1'000};

template <class Order>
std::unique_ptr<Order> as(actors::mail_ptr content) {
  return std::unique_ptr<Order>(static_cast<Order*>(content.release()));
}

} // namespace

shell_endpoint::shell_endpoint(scheduler::cluster_addresses cluster,
                               std::chrono::milliseconds ask_timeout)
    : cluster_(std::move(cluster)), ask_timeout_(ask_timeout) {}

void shell_endpoint::on_mail(actors::mail_ptr content) {
  switch (static_cast<shell_mail_kind>(content->kind())) {
  case shell_mail_kind::ask: {
    const auto order = as<ask_order>(std::move(content));
    ask_untyped(
        order->to, order->what, any_reply, order->timeout, {},
        [answer = order->answer](result<any_message> reply) { answer->set(std::move(reply)); });
    return;
  }
  case shell_mail_kind::list_actors: {
    const auto order = as<list_actors_order>(std::move(content));
    const scheduler::actor_census census(
        *this, cluster_.resource_manager,
        {environment().node, cluster_.dispatcher.node, cluster_.resource_manager.node},
        census_timeout);
    census.take([answer = order->answer](std::vector<scheduler::node_actors> nodes) {
      answer->set(std::move(nodes));
    });
    return;
  }
  case shell_mail_kind::watch_job: {
    auto order = as<watch_order>(std::move(content));
    const auto number = order->number;
    watches_[number] = std::move(order);
    look(number);
    return;
  }
  case shell_mail_kind::forget_watch:
    watches_.erase(as<forget_watch_order>(std::move(content))->number);
    return;
  case shell_mail_kind::use_cluster:
    cluster_ = std::move(as<use_cluster_order>(std::move(content))->cluster);
    return;
  }
}

void shell_endpoint::look(std::uint64_t number) {
  const auto watch = watches_.find(number);
  if (watch == watches_.end())
    return;
  message_builder<schema::RequestJobStatus> question;
  write(question->initJob(), watch->second->job);
  ask<schema::JobStatus>(
      cluster_.dispatcher, question.finish(), ask_timeout_,
      [this, number](const result<message<schema::JobStatus>>& answer) { looked(number, answer); });
}

void shell_endpoint::looked(std::uint64_t number,
                            const result<message<schema::JobStatus>>& answer) {
  const auto watch = watches_.find(number);
  if (watch == watches_.end())
    return;
  auto status =
      answer ? scheduler::read_job_status(*answer) : result<scheduler::job_status>(answer.error());
  if (!status && status.error().code == errc::timed_out) {
    look(number); // the cluster is busy, or being restarted
    return;
  }
  if (status && watch->second->changed)
    watch->second->changed(*status);
  if (status && !scheduler::is_terminal(status->state)) {
    after(look_interval, [this, number] { look(number); });
    return;
  }
  watch->second->end->set(std::move(status));
  watches_.erase(watch);
}

void shell_endpoint::on_stop(const error& /*cause*/) {
  for (const auto& [number, watch] : watches_)
    watch->end->set(error(errc::shut_down, "the shell has ended"));
}

} // namespace headrace::shell
