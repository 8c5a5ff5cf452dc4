#include "libtask/executor/data_connection_endpoint.hpp"

#include "libtask/task/task_mail.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

data_connection_endpoint::data_connection_endpoint(data_connection_settings settings,
                                                   exchange_directory& directory,
                                                   data_network& network,
                                                   std::shared_ptr<data_connection_metrics> metrics,
                                                   actors::actor_ref task_executor)
    : settings_(settings), directory_(directory), network_(network), metrics_(std::move(metrics)),
      task_executor_(std::move(task_executor)),
      routes_(std::make_shared<link_routes>(directory_, metrics_)) {}

data_connection_endpoint::~data_connection_endpoint() {
  if (link_ != nullptr)
    link_->abort({errc::peer_lost, "data connection has ended by a fault"});
}

void data_connection_endpoint::on_start() {
  used_us_ = now_us();
  watch_idleness();
}

void data_connection_endpoint::on_mail(actors::mail_ptr content) {
  switch (static_cast<mail_kind>(content->kind())) {
  case mail_kind::connection_order:
    take(static_cast<connection_order&>(*content));
    return;
  case mail_kind::link_event:
    take(static_cast<link_event&>(*content));
    return;
  default:
    log().warn("mail of an unknown kind dropped", {{"kind", std::to_string(content->kind())}});
  }
}

void data_connection_endpoint::take(connection_order& order) {
  ++orders_seen_;
  used_us_ = now_us();
  if (auto* wanted = std::get_if<open_channel>(&order.content)) {
    open(std::move(wanted->end));
  } else if (const auto* ended = std::get_if<attempt_ended>(&order.content)) {
    std::erase_if(waiting_, [&](const auto& end) { return end.consumer == ended->attempt; });
    const auto ended_routes = routes_->locked()->end_consumer(ended->attempt);
    routes_->locked()->end_producer(ended->attempt);
    if (link_ == nullptr)
      return;
    for (const auto route : ended_routes)
      writer_->abandon(route);
    writer_->send();
  } else if (auto* accepted = std::get_if<link_accepted>(&order.content)) {
    adopt(*accepted);
  } else {
    quit();
  }
}

void data_connection_endpoint::take(link_event& event) {
  if (const auto* failed = std::get_if<dial_failed>(&event.content)) {
    if (is_dialing_ && event.link == dials_)
      fail_dial(failed->cause);
    return;
  }
  if (link_ == nullptr || event.link != link_number_)
    return; // of a link that is over
  if (auto* words = std::get_if<link_words>(&event.content))
    hear(*words);
  else if (const auto* broken = std::get_if<link_broken>(&event.content))
    break_link(broken->cause);
  else if (const auto* closed = std::get_if<link_closed>(&event.content))
    end_link(closed->cause);
}

// --- the link

void data_connection_endpoint::dial() {
  is_dialing_ = true;
  const auto number = ++dials_;
  network_.dial(settings_.peer, [to = self_ref(), number](status outcome) {
    if (!outcome)
      to.send(std::make_unique<link_event>(number, dial_failed{std::move(outcome).error()}));
  });
  after(settings_.dial_timeout, [this, number] {
    if (is_dialing_ && number == dials_)
      fail_dial(error(errc::timed_out,
                      "data connection was not opened in time: node " + to_string(settings_.peer)));
  });
}

void data_connection_endpoint::fail_dial(const error& cause) {
  is_dialing_ = false;
  for (auto& end : std::exchange(waiting_, {}))
    fail_channel(std::move(end), cause);
}

void data_connection_endpoint::adopt(link_accepted& accepted) {
  end_link(error(errc::peer_lost, "another data connection to the node was opened"));
  is_dialing_ = false;
  link_ = std::move(accepted.link);
  const auto number = ++link_number_;
  writer_ = std::make_shared<link_writer>(
      link_, routes_, metrics_, settings_.writer, [to = self_ref(), number](error cause) {
        to.send(std::make_unique<link_event>(number, link_closed{std::move(cause)}));
      });
  accepted.events->bind(self_ref(), number, routes_, writer_);
  log().debug("data connection opened", {{"peer", to_string(settings_.peer)}});
  for (auto& end : std::exchange(waiting_, {}))
    request(std::move(end));
}

void data_connection_endpoint::end_link(const error& cause) {
  if (link_ == nullptr)
    return;
  std::exchange(writer_, nullptr)->stop();
  std::exchange(link_, nullptr)->abort(cause);
  frames_seen_ = 0;
  const auto routes = std::exchange(routes_, std::make_shared<link_routes>(directory_, metrics_));
  routes->close();
  const auto consumed = routes->locked()->take_consumed();
  const auto produced = routes->locked()->take_produced();
  const error lost(errc::peer_lost,
                   "data connection lost with data on it: node " + to_string(settings_.peer),
                   cause);
  for (const auto& end : consumed)
    directory_.find(end.consumer)
        .send(std::make_unique<task_control>(partition_lost{end.channel, lost}),
              actors::mail_priority::high);
  for (const auto& end : produced)
    directory_.find(end.partition.producer)
        .send(std::make_unique<task_control>(consumer_lost{lost}), actors::mail_priority::high);
}

void data_connection_endpoint::watch_idleness() {
  after(settings_.idle_timeout, [this] {
    const auto frames = routes_->frames() + (writer_ == nullptr ? 0 : writer_->frames());
    if (frames != frames_seen_) {
      frames_seen_ = frames;
      used_us_ = now_us();
    }
    const auto idle_us = now_us() - used_us_;
    const bool is_silent = writer_ == nullptr || writer_->is_empty();
    if (routes_->locked()->is_empty() && waiting_.empty() && is_silent && !is_dialing_ &&
        idle_us >= std::chrono::microseconds(settings_.idle_timeout).count())
      report(connection_idle{orders_seen_});
    watch_idleness();
  });
}

void data_connection_endpoint::on_stop(const error& cause) {
  task_executor_ = {};
  if (link_ == nullptr)
    return;
  routes_->close();
  writer_->leave(routes_->locked()->is_empty(),
                 error(errc::shut_down, "data connection is not needed any more", cause));
  writer_ = nullptr;
  link_ = nullptr;
}

// --- channels

void data_connection_endpoint::open(consumer_end end) {
  if (link_ != nullptr) {
    request(std::move(end));
    return;
  }
  waiting_.push_back(std::move(end));
  if (!is_dialing_)
    dial();
}

void data_connection_endpoint::request(consumer_end end) {
  route_request wanted{0, end.partition, end.subpartition, end.credit_bytes};
  auto opened = std::make_unique<remote_opened>();
  opened->channel = end.channel;
  const auto consumer = directory_.find(end.consumer);
  if (consumer.is_none())
    return; // has ended meanwhile
  wanted.route = routes_->locked()->open(std::move(end));
  opened->link = writer_;
  opened->route = wanted.route;
  consumer.send(std::move(opened), actors::mail_priority::high);
  writer_->add(std::move(wanted));
  writer_->send();
}

void data_connection_endpoint::fail_channel(consumer_end end, const error& cause) {
  report(channel_failed{std::move(end), cause});
}

void data_connection_endpoint::hear(link_words& words) {
  used_us_ = now_us();
  for (const auto& asked : words.frame.requests) {
    if (auto done = serve(asked); !done)
      return break_link(done.error());
  }
  for (const auto& refusal : words.frame.refusals)
    if (auto end = routes_->locked()->close_consumer(refusal.route))
      fail_channel(std::move(*end), refusal.reason);
  for (const auto route : words.frame.abandoned) {
    routes_->locked()->close_producer(route);
    writer_->drop(route);
  }
  for (const auto route : words.ended)
    writer_->abandon(route);
  writer_->send();
  if (words.frame.leaves) {
    // It has not seen what was asked for last.
    auto unseen = routes_->locked()->take_consumed();
    for (auto& end : unseen)
      fail_channel(std::move(end), error(errc::peer_lost, "the other node has left"));
    end_link(error(errc::peer_lost, "the other node has left"));
  }
}

void data_connection_endpoint::break_link(const error& cause) {
  log().warn("data connection is closed: its other side does not keep to the protocol",
             {{"peer", to_string(settings_.peer)}, {"cause", to_string(cause)}});
  end_link(cause);
}

status data_connection_endpoint::serve(const route_request& asked) {
  HEADRACE_CHECK(routes_->locked()->serve(asked.route, {asked.partition, asked.subpartition}));
  const auto producer = directory_.find(asked.partition.producer);
  if (producer.is_none()) {
    routes_->locked()->close_producer(asked.route);
    writer_->add(
        route_refusal{asked.route, error(errc::partition_not_found,
                                         "producer is not here: " + to_string(asked.partition))});
    return {};
  }
  auto mail = std::make_unique<attach_consumer>();
  mail->result = asked.partition.result;
  mail->subpartition = asked.subpartition;
  mail->credit_bytes = asked.credit_bytes;
  mail->link = writer_;
  mail->route = asked.route;
  producer.send(std::move(mail), actors::mail_priority::high);
  return {};
}

template <class Mail>
void data_connection_endpoint::report(Mail what) {
  task_executor_.send(std::make_unique<connection_report>(settings_.peer, std::move(what)));
}

} // namespace headrace::task
