#include "libactors/transport/rpc_system.hpp"

#include "libactors/base/version.hpp"
#include "libactors/transport/rpc_broker.hpp"
#include "libactors/transport/watch_endpoint.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/io/middleman.hpp>

#include <future>
#include <utility>

namespace headrace::actors {
namespace {

using std::chrono::milliseconds;
/// Orders that the broker takes before sockets have their turn.
constexpr int orders_a_turn = 64;
constexpr milliseconds default_deadline{1'000};

/// The node's side: hands everything to the broker.
class rpc_link final : public remote_link {
public:
  explicit rpc_link(std::shared_ptr<rpc_shared> shared) : shared_(std::move(shared)) {}
  void send(envelope what) override { shared_->send(std::move(what)); }
  void watch(const address& peer) override {
    shared_->give([peer](hub& on) { on.watch(peer); });
  }

private:
  std::shared_ptr<rpc_shared> shared_;
};

std::unique_ptr<caf::actor_system_config> make_config() {
  auto config = std::make_unique<caf::actor_system_config>();
  config->load<caf::io::middleman>();
  config->set("scheduler.policy", caf::atom("sharing"));
  config->set("scheduler.max-threads", 1);
  config->set("scheduler.max-throughput", orders_a_turn);
  config->set("middleman.workers", 1);
  return config;
}

class caf_rpc_system final : public rpc_system {
public:
  caf_rpc_system(node& under, const rpc_settings& settings, socket_handle listening,
                 std::shared_ptr<const tls_context> tls)
      : port_(port_of(listening)),
        shared_(std::make_shared<rpc_shared>(under, settings, std::move(tls))),
        config_(make_config()), system_(std::make_unique<caf::actor_system>(*config_)) {
    // Who listens on loopback alone says so, and is not dialed from elsewhere.
    const bool is_hidden = settings.advertised_host.empty() && is_loopback(settings.bind.host);
    node_identity own{.protocol_version = transport_protocol_version,
                      .product_version = std::string(version()),
                      .cluster_id = settings.cluster_id,
                      .node = under.environment().node,
                      .host = is_hidden ? settings.bind.host : settings.advertised_host,
                      .port = port_,
                      .secret = settings.secret};
    auto shared = shared_;
    shared->watcher = under.spawn(
        std::make_unique<watch_endpoint>([shared](const node_id& watcher, ended_endpoint what) {
          shared->give(
              [watcher, what = std::move(what)](hub& on) { on.tell_ended(watcher, what); });
        }),
        {.name = "transport",
         .kind = "transport",
         .where = placement::shared,
         .policy = supervision::notify,
         .addressable = true});
    caf::actor_config start{&system_->middleman().backend()};
    caf::actor broker = system_->spawn_class<rpc_broker, caf::no_spawn_options>(
        start, shared_, std::move(own), std::move(listening));
    {
      const std::lock_guard lock(shared_->guard); // it runs already, and may be given orders
      shared_->broker = std::move(broker);
    }
    under.connect(std::make_shared<rpc_link>(shared_));
  }

  ~caf_rpc_system() override {
    shut_down(default_deadline);
    system_.reset(); // waits for the broker, which has ended
  }

  std::uint16_t port() const override { return port_; }
  void learn(const node_id& peer, host_port where) override {
    shared_->book.learn(peer, std::move(where));
  }
  std::optional<host_port> find(const node_id& peer) const override {
    return shared_->book.find(peer);
  }
  void connect(const host_port& where, hub::node_answer then) override {
    shared_->give([where, then = std::move(then)](hub& on) { on.connect(where, then); });
  }
  void accept_data(data_acceptor acceptor) override {
    const std::lock_guard lock(shared_->guard);
    shared_->acceptor = std::move(acceptor);
  }
  void connect_data(const node_id& peer, hub::data_answer then) override {
    shared_->give([peer, then = std::move(then)](hub& on) { on.connect_data(peer, then); });
  }
  const transport_counters& counters() const override { return shared_->counters; }

  bool shut_down(milliseconds deadline) override {
    if (is_shut_down_) {
      return was_quiet_;
    }
    is_shut_down_ = true;
    auto* broker = caf::actor_cast<rpc_broker*>(shared_->broker);
    shared_->give([broker](hub&) { broker->stop(); });
    was_quiet_ = shared_->await(shared_->is_quiet, deadline);
    shared_->give([broker](hub&) { broker->quit(); }); // closes what is left
    shared_->await(shared_->has_ended, default_deadline);
    const std::lock_guard lock(shared_->guard);
    shared_->broker = nullptr;
    shared_->acceptor = nullptr;
    return was_quiet_;
  }

private:
  const std::uint16_t port_;
  std::shared_ptr<rpc_shared> shared_;
  std::unique_ptr<caf::actor_system_config> config_;
  std::unique_ptr<caf::actor_system> system_;
  bool is_shut_down_ = false;
  bool was_quiet_ = false;
};

} // namespace

result<std::unique_ptr<rpc_system>> rpc_system::start(node& under, const rpc_settings& settings) {
  HEADRACE_CHECK(check(settings));
  std::shared_ptr<const tls_context> tls;
  if (!settings.tls.is_none()) {
    HEADRACE_TRY(tls, tls_context::load(settings.tls));
  }
  HEADRACE_TRY(const auto where, resolve(settings.bind));
  auto listening = listen_on(where);
  if (!listening) {
    return error(errc::connection_failed,
                 listening.error().message + ": " + to_string(settings.bind));
  }
  return std::unique_ptr<rpc_system>(
      std::make_unique<caf_rpc_system>(under, settings, std::move(*listening), std::move(tls)));
}

result<node_id> rpc_system::connect_and_wait(const host_port& where, milliseconds timeout) {
  auto found = std::make_shared<std::promise<result<node_id>>>();
  connect(where, [found](result<node_id> answer) { found->set_value(std::move(answer)); });
  auto answer = found->get_future();
  if (answer.wait_for(timeout) != std::future_status::ready) {
    return error(errc::timed_out, "connecting took too long: " + to_string(where) + ", after " +
                                      std::to_string(timeout.count()) + " ms");
  }
  return answer.get();
}

} // namespace headrace::actors
