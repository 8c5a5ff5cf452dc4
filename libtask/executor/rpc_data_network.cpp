#include "libtask/executor/rpc_data_network.hpp"

#include <utility>

namespace headrace::task {

void rpc_data_network::learn(const node_id& peer, const actors::host_port& where) {
  over_.learn(peer, where);
}

void rpc_data_network::dial(const node_id& peer, std::function<void(status)> then) {
  over_.connect_data(peer, [then = std::move(then)](
                               const result<std::shared_ptr<actors::frame_connection>>& outcome) {
    then(outcome ? status() : status(outcome.error()));
  });
}

void rpc_data_network::take_links(link_taker taker) { over_.accept_data(std::move(taker)); }

} // namespace headrace::task
