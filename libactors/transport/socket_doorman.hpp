#pragma once

#include "libactors/transport/loop_handler.hpp"
#include "libactors/transport/socket.hpp"

#include <caf/io/doorman.hpp>

#include <functional>

namespace headrace::actors {

/// The listening socket of the transport's broker: hands accepted sockets on as they are, where
/// CAF's own makes its own kind of scribe of them. Lives on the thread of CAF's multiplexer.
class socket_doorman final : public caf::io::doorman {
public:
  using receiver = std::function<void(socket_handle accepted)>;

  /// @param then  is not called any more once the broker has closed this
  socket_doorman(caf::io::network::default_multiplexer& loop, socket_handle listening,
                 receiver then);
  ~socket_doorman() override;

  // --- CAF's side
  void launch() override { add_to_loop(); }
  bool new_connection() override;
  std::string addr() const override;
  std::uint16_t port() const override;
  void graceful_shutdown() override;
  void add_to_loop() override { handler_.want(loop_handler::operation::read, true); }
  void remove_from_loop() override { handler_.leave(); }

private:
  class handler final : public loop_handler {
  public:
    handler(caf::io::network::default_multiplexer& loop, int fd, socket_doorman& owner)
        : loop_handler(loop, fd, owner), owner_(owner) {}
    void handle_event(operation what) override;

  private:
    socket_doorman& owner_;
  };

  handler handler_;
  connection_acceptor acceptor_;
  receiver then_;
};

} // namespace headrace::actors
