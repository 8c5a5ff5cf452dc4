#include "libactors/transport/socket_doorman.hpp"

#include <caf/io/network/native_socket.hpp>

#include <utility>

namespace headrace::actors {

using caf::io::network::accept_hdl_from_socket;
using caf::io::network::local_addr_of_fd;
using caf::io::network::local_port_of_fd;

socket_doorman::socket_doorman(caf::io::network::default_multiplexer& loop, socket_handle listening,
                               receiver then)
    : doorman(accept_hdl_from_socket(listening.get())), handler_(loop, listening.release(), *this),
      then_(std::move(then)) {}

socket_doorman::~socket_doorman() = default;

void socket_doorman::handler::handle_event(operation what) {
  if (what == operation::read && !owner_.detached()) {
    owner_.new_connection();
  }
}

bool socket_doorman::new_connection() {
  if (auto accepted = acceptor_.accept(handler_.fd()); !accepted.is_none()) {
    then_(std::move(accepted));
  }
  return !detached();
}

std::string socket_doorman::addr() const {
  const auto found = local_addr_of_fd(handler_.fd());
  return found ? *found : std::string();
}

std::uint16_t socket_doorman::port() const {
  const auto found = local_port_of_fd(handler_.fd());
  return found ? *found : std::uint16_t{0};
}

void socket_doorman::graceful_shutdown() {
  ::shutdown(handler_.fd(), SHUT_RDWR); // the port refuses at once
  detach(&handler_.backend(), false);
}

} // namespace headrace::actors
