#pragma once

#include "libtask/executor/data_connection_mail.hpp"
#include "libtask/executor/data_network.hpp"
#include "libtask/network/exchange_directory.hpp"
#include "libtask/network/exchange_mail.hpp"
#include "libtask/network/link_writer.hpp"
#include "libactors/rpc/endpoint.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace headrace::task {

struct data_connection_settings {
  node_id peer;
  std::chrono::milliseconds idle_timeout{30'000}; ///< without channels; then it asks to be retired
  std::chrono::milliseconds dial_timeout{10'000};
  link_writer_settings writer;
};

/// The channels between the subtasks of this node and those of another: one link at a time, opened
/// when a channel needs it, by either node.
///
///     producer subtask ── pieces ──▶ link_writer ── frames ──▶ other node
///     consumer subtask ── credit ──▶      ▲
///     connection ───────── requests ──────┘
///     consumer subtask ◀── remote_data ────── link_relay ◀──── frames ── other node
///     producer subtask ◀── exchange_credit
///
/// Subtasks write on their own threads (`link_writer`), and what comes for them is given to them on
/// the transport's thread (`link_routes`); the connection hears what is said to itself: requests,
/// refusals, and whose consumer is gone.
///
/// A link that cannot be opened fails its channels to the task executor, which tries again. With an
/// open link that is lost the data on it is lost too: the consumers and producers of its channels
/// fail, and failover restarts them. A malformed frame closes the link, and so does an element for
/// which its producer has no credit.
///
/// Child of a task executor, which alone retires it; all is touched in its own turns only.
class data_connection_endpoint final : public actors::endpoint {
public:
  data_connection_endpoint(data_connection_settings settings, exchange_directory& directory,
                           data_network& network, std::shared_ptr<data_connection_metrics> metrics,
                           actors::actor_ref task_executor);

  /// After an end by a fault of its own: the other side must not hold the link for open.
  ~data_connection_endpoint() override;

private:
  void on_start() override;
  void on_mail(actors::mail_ptr content) override;
  void on_stop(const error& cause) override;

  void take(connection_order& order);
  void take(link_event& event);

  // --- the link
  void dial();
  void fail_dial(const error& cause);
  void adopt(link_accepted& accepted);
  void end_link(const error& cause);
  void watch_idleness();

  // --- channels
  void open(consumer_end end);
  void request(consumer_end end);
  void fail_channel(consumer_end end, const error& cause);
  void hear(link_words& words);
  void break_link(const error& cause);
  status serve(const route_request& request);
  template <class Mail>
  void report(Mail what);

  data_connection_settings settings_;
  exchange_directory& directory_;
  data_network& network_;
  std::shared_ptr<data_connection_metrics> metrics_;
  actors::actor_ref task_executor_;

  std::shared_ptr<actors::frame_connection> link_; ///< null: none is open
  std::uint64_t link_number_ = 0;
  std::uint64_t dials_ = 0;
  bool is_dialing_ = false;
  std::shared_ptr<link_routes> routes_; ///< of this link
  std::shared_ptr<link_writer> writer_; ///< of this link; null: none is open
  std::vector<consumer_end> waiting_;   ///< for a link
  std::uint64_t orders_seen_ = 0;
  std::uint64_t frames_seen_ = 0; ///< of this link
  std::int64_t used_us_ = 0;
};

} // namespace headrace::task
