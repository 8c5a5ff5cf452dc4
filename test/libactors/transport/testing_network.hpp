#pragma once

#include "test/support/manual_clock.hpp"
#include "libactors/transport/hub.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::testing {

/// Hubs joined by connections that the test delivers over frame by frame, holds up and breaks, in
/// one thread and an order that it draws.
class testing_network {
public:
  struct wire;
  struct host;
  class end;

  explicit testing_network(std::uint64_t seed) : order_(make_seeded_random(seed)) {}
  ~testing_network();
  testing_network(const testing_network&) = delete;
  testing_network& operator=(const testing_network&) = delete;

  /// A new process instance that listens as `name`, under the next node id.
  host& add(const std::string& name, actors::link_times times = {},
            std::function<void(actors::node_identity&)> change = {});
  /// Without a farewell: its connections break, its port refuses.
  void kill(host& which);
  /// Delivers one thing somewhere. @returns false when nothing moves
  bool step();
  /// Until nothing moves. @returns how many steps were made
  int run(int steps_max = 100'000);
  /// Moves the time by `ms`, ticks, and runs.
  void advance(int ms);
  /// Breaks a connection that is drawn; what is under way over it is lost, a part on each side.
  void break_one();
  std::size_t open_wires() const;

  manual_clock time;
  random_source& random() { return *order_; }

private:
  friend class end;
  struct pending_close;
  std::shared_ptr<actors::opening_connection> dial(host& from, const std::string& name,
                                                   std::shared_ptr<actors::opening_receiver> to);

  std::shared_ptr<end> make_end(std::shared_ptr<actors::opening_receiver> receiver);

  std::unique_ptr<random_source> order_;
  std::vector<std::unique_ptr<host>> hosts_;
  std::vector<std::shared_ptr<wire>> wires_;
  std::deque<std::function<void()>> later_;
  std::vector<std::weak_ptr<end>> ends_;
  std::uint64_t last_id_ = 0;
};

/// One hub, and what it was told.
struct testing_network::host final : public actors::connector, public actors::hub_listener {
  host(testing_network& net_in, std::string name_in, std::uint64_t seed)
      : net(net_in), name(std::move(name_in)), random(make_seeded_random(seed)) {}

  std::shared_ptr<actors::opening_connection>
  dial(const std::string& where, std::uint16_t /*port*/,
       std::shared_ptr<actors::opening_receiver> receiver) override {
    return net.dial(*this, where, std::move(receiver));
  }
  void on_envelope(actors::envelope what) override { envelopes.push_back(std::move(what)); }
  void on_node_lost(const node_id& node, const error& cause) override {
    lost.emplace_back(node, cause);
  }
  void on_watch(const node_id& /*watcher*/, const actors::address& endpoint) override {
    watches.push_back(endpoint);
  }
  void on_endpoint_ended(const actors::address& endpoint, const error& /*cause*/) override {
    ended.push_back(endpoint);
  }
  std::shared_ptr<actors::frame_receiver>
  on_data_connection(const node_id& /*peer*/,
                     const std::shared_ptr<actors::frame_connection>& connection) override {
    data.push_back(connection);
    return data_receiver;
  }

  /// Tells `to` the number, from an endpoint that has the name of this host.
  void tell(const host& to, std::int32_t value, std::size_t payload_bytes = 0);
  void ask(const host& to, std::uint64_t correlation);
  /// The numbers that `from` has told, in the order in which they came.
  std::vector<std::int32_t> told_by(const host& from) const;

  testing_network& net;
  std::string name;
  std::unique_ptr<random_source> random;
  actors::node_identity own;
  actors::address_book book;
  actors::transport_counters counters;
  std::unique_ptr<actors::hub> hub;
  bool is_alive = true;
  std::vector<actors::envelope> envelopes;
  std::vector<std::pair<node_id, error>> lost;
  std::vector<actors::address> watches;
  std::vector<actors::address> ended;
  std::vector<std::shared_ptr<actors::frame_connection>> data;
  std::shared_ptr<actors::frame_receiver> data_receiver;
};

} // namespace headrace::testing
