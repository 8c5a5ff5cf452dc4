#include "test/simulation/simulated_process.hpp"

#include "libactors/transport/envelope_codec.hpp"
#include "libactors/transport/watch_endpoint.hpp"

#include <utility>

namespace headrace::simulation {

using namespace actors;

/// What the node sends. Lives as long as the node; the process may be gone before.
class simulated_process::link final : public remote_link {
public:
  explicit link(simulated_process& from) : from_(from) {}
  void send(envelope what) override { from_.send(std::move(what)); }
  void watch(const address& peer) override {
    if (from_.is_alive_)
      from_.hub_->watch(peer);
  }

private:
  simulated_process& from_;
};

simulated_process::simulated_process(simulated_network& network, std::string host,
                                     std::uint64_t seed, const link_times& times, logger log)
    : network_(network), host_(std::move(host)) {
  node_options options;
  options.name = host_;
  options.log = std::move(log);
  options.on_fatal = [this](const error& cause) { fatal_ = cause; };
  node_ = make_deterministic_node(seed, std::move(options));
  const auto& around = node_->environment();
  node_identity own{.protocol_version = transport_protocol_version,
                    .product_version = "0.1.0",
                    .cluster_id = "simulated",
                    .node = around.node,
                    .host = host_,
                    .port = port,
                    .secret = "secret"};
  hub_ = std::make_unique<hub>(std::move(own), times,
                               hub::seams{.dialer = *this,
                                          .listener = *this,
                                          .time = around.time,
                                          .random = around.random,
                                          .book = book_,
                                          .counters = counters_,
                                          .log = around.log.with({{"endpoint", "transport"}})});
  watcher_ = node_->spawn(
      std::make_unique<watch_endpoint>([this](const node_id& watcher, ended_endpoint what) {
        if (is_alive_)
          hub_->tell_ended(watcher, what);
      }),
      {.name = "transport",
       .kind = "transport",
       .where = placement::shared,
       .policy = supervision::notify,
       .addressable = true});
  node_->connect(std::make_shared<link>(*this));
  network_.listen(host_, this);
}

simulated_process::~simulated_process() {
  is_alive_ = false;
  HEADRACE_ASSERT(node_->shut_down(), "an actor of a simulated process does not end");
}

status simulated_process::start_job_manager(file_system& files, graph::job_code_loader& code,
                                            const graph::connector_registry& connectors,
                                            cluster::job_manager_options options) {
  job_manager_.emplace(*node_, files, code, connectors, std::move(options));
  return job_manager_->start();
}

void simulated_process::start_task_manager(file_system& files, graph::job_code_loader& code,
                                           const graph::connector_registry& connectors,
                                           std::shared_ptr<leader_retrieval> leader,
                                           cluster::task_manager_options options) {
  options.network = this;
  task_manager_.emplace(*node_, files, code, connectors, std::move(leader), std::move(options));
  task_manager_->start_task_executor();
}

bool simulated_process::run(std::uint64_t steps) {
  bool any = false;
  while (steps-- > 0 && node_->run_once())
    any = true;
  return any;
}

void simulated_process::advance(std::chrono::milliseconds by) {
  node_->advance(by);
  until_tick_ms_ -= by.count();
  if (until_tick_ms_ > 0)
    return;
  hub_->tick();
  until_tick_ms_ = hub_->tick_interval().count();
}

void simulated_process::send(envelope what) {
  if (!is_alive_)
    return;
  auto encoded = encode_envelope(what);
  HEADRACE_ASSERT(encoded.has_value(), "a control message is larger than a frame may be");
  what.payload = {};
  hub_->send(what, std::move(*encoded));
}

std::shared_ptr<opening_connection>
simulated_process::dial(const std::string& host, std::uint16_t /*port*/,
                        std::shared_ptr<opening_receiver> receiver) {
  return network_.dial(host_, host, std::move(receiver));
}

void simulated_process::on_envelope(envelope what) { node_->receive(std::move(what)); }

void simulated_process::on_node_lost(const node_id& node, const error& cause) {
  node_->report_lost(node, cause);
  node_->find(watcher_).send(std::make_unique<watcher_lost>(node));
}

void simulated_process::on_watch(const node_id& watcher, const address& endpoint) {
  node_->find(watcher_).send(std::make_unique<watch_request>(watcher, endpoint));
}

void simulated_process::on_endpoint_ended(const address& endpoint, const error& cause) {
  node_->report_ended(endpoint, cause);
}

std::shared_ptr<frame_receiver>
simulated_process::on_data_connection(const node_id& peer,
                                      const std::shared_ptr<frame_connection>& connection) {
  return taker_ ? taker_(peer, connection) : nullptr;
}

void simulated_process::dial(const node_id& peer, std::function<void(status)> then) {
  hub_->connect_data(
      peer, [then = std::move(then)](const result<std::shared_ptr<frame_connection>>& outcome) {
        then(outcome ? status() : status(outcome.error()));
      });
}

} // namespace headrace::simulation
