#pragma once

#include "libactors/transport/hub.hpp"

namespace headrace::actors {

/// One connection of a hub, from its first byte on: runs the handshake, then hands frames on.
class hub_connection final : public opening_receiver,
                             public std::enable_shared_from_this<hub_connection> {
public:
  hub_connection(hub& owner, std::uint64_t id, handshake opening, bool is_dialed,
                 std::int64_t now_us)
      : opening_(std::move(opening)), owner_(&owner), id_(id), is_dialed_(is_dialed),
        since_us_(now_us) {}

  void on_open() override;
  void on_frame(incoming_frame what) override;
  void on_drained() override;
  void on_closed(const error& cause) override;

  /// Sends what a step of the handshake says; what is refused is told and closed.
  void follow(handshake::step step);
  void open();
  void forget_owner() { owner_ = nullptr; }

  handshake opening_;
  hub* owner_;
  const std::uint64_t id_;
  const bool is_dialed_;
  std::int64_t since_us_; ///< begun, or open
  std::shared_ptr<opening_connection> over_;
  std::string host_;                              ///< of who has dialed
  std::shared_ptr<frame_receiver> data_receiver_; ///< of a data connection that is open
  ConnectionClass class_ = ConnectionClass::CONTROL;
  node_id peer_;              ///< none: not known yet
  hub::node_answer answer_;   ///< of a connection to an unknown node
  std::uint64_t session_ = 0; ///< offered to an unknown node
  bool is_open_ = false;
  bool has_failed_ = false; ///< the owner knows already why it closes
};

} // namespace headrace::actors
