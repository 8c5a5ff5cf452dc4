#pragma once

#include "libtask/executor/data_connection_mail.hpp"
#include "libtask/network/link_routes.hpp"
#include "libtask/network/link_writer.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"
#include "libactors/rpc/actor_ref.hpp"
#include "libactors/transport/address_book.hpp"
#include "libactors/transport/frame_connection.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

namespace headrace::task {

/// Where links between the data planes of two nodes come from: at most one a pair at a time. Any
/// thread calls; nothing blocks.
class data_network {
public:
  virtual ~data_network() = default;
  /// Where this node is reached; none: nowhere.
  virtual actors::host_port own_address() const = 0;
  virtual void learn(const node_id& peer, const actors::host_port& where) = 0;
  /// Opens a link unless there is one; it is given to the taker. `then` is called once.
  virtual void dial(const node_id& peer, std::function<void(status)> then) = 0;
  /// Calls `taker` with each link, whichever node has dialed; it gives who hears of it. Empty: none
  /// are taken any more.
  using link_taker = std::function<std::shared_ptr<actors::frame_receiver>(
      const node_id& peer, std::shared_ptr<actors::frame_connection> link)>;
  virtual void take_links(link_taker taker) = 0;
};

/// Brings what comes over a link where it belongs, in order: data and credit to the subtasks, the
/// rest to the connection's mailbox. Keeps it until it is told which those are. When the link has
/// room again, what waits for it is written.
class link_relay final : public actors::frame_receiver {
public:
  /// From now on events go there, under this number, and data where `routes` say.
  void bind(actors::actor_ref connection, std::uint64_t link, std::shared_ptr<link_routes> routes,
            std::shared_ptr<link_writer> writer);

  void on_frame(actors::incoming_frame what) override { relay(std::move(what)); }
  void on_drained() override;
  void on_closed(const error& cause) override { relay(link_closed{cause}); }

private:
  using event = std::variant<actors::incoming_frame, link_closed>;
  void relay(event what);
  void give(event what);
  void hear(const actors::incoming_frame& frame);
  void tell(link_event::content_type what);

  std::mutex guard_;
  actors::actor_ref to_;
  std::uint64_t link_ = 0;
  std::shared_ptr<link_routes> routes_;
  std::shared_ptr<link_writer> writer_;
  bool is_broken_ = false;
  std::vector<event> kept_;
};

} // namespace headrace::task
