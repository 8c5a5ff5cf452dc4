#pragma once

#include "libtask/executor/data_network.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace headrace::testing {

class testing_data_network;

/// Links between nodes of one thread without sockets: a frame goes from mailbox to mailbox as it is
/// sent, with its body copied once, as a socket does.
class testing_switchboard {
public:
  /// Breaks every open link, as a reset does; what is held in them is gone.
  void cut();
  /// From now on frames stay in their links, until `release`.
  void hold() { is_holding_ = true; }
  void release();
  /// Nobody can be dialed for so many times.
  void refuse(int times) { refusals_ = times; }
  /// Puts bytes in the place of the next frame.
  void spoil_next(byte_string header, byte_string body);

  std::size_t open_links() const;
  std::size_t dialed() const { return dialed_; }
  /// The most bytes that one side of a link has held at once.
  std::size_t held_bytes_most() const { return held_bytes_most_; }
  std::uint64_t frames() const { return frames_; }

private:
  friend class testing_data_network;
  class end;
  struct link;
  void carry(link& over, int from, actors::outgoing_frame frame);
  void deliver(link& over, int from, const actors::outgoing_frame& frame);
  void flush(link& over, int from);
  void close(link& gone, const error& cause);

  std::map<node_id, testing_data_network*> networks_;
  std::vector<std::shared_ptr<link>> links_;
  bool is_holding_ = false;
  int refusals_ = 0;
  std::size_t dialed_ = 0;
  std::size_t held_bytes_most_ = 0;
  std::uint64_t frames_ = 0;
  bool spoils_next_ = false;
  byte_string spoiled_header_;
  byte_string spoiled_body_;
};

/// One node's access to it.
class testing_data_network final : public task::data_network {
public:
  testing_data_network(testing_switchboard& board, const node_id& own);
  ~testing_data_network() override;

  actors::host_port own_address() const override { return {"testing", 1}; }
  void learn(const node_id&, const actors::host_port&) override {}
  void dial(const node_id& peer, std::function<void(status)> then) override;
  void take_links(link_taker taker) override { taker_ = std::move(taker); }

private:
  friend class testing_switchboard;
  testing_switchboard& board_;
  node_id own_;
  link_taker taker_;
};

} // namespace headrace::testing
