#include "test/support/testing_data_network.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace headrace::testing {

struct testing_switchboard::link {
  std::array<node_id, 2> nodes;
  std::array<std::shared_ptr<actors::frame_receiver>, 2> receivers;
  std::array<std::deque<actors::outgoing_frame>, 2> held; ///< sent by each
  std::array<std::size_t, 2> held_bytes{};
  bool is_open = true;
};

/// One end of a link.
class testing_switchboard::end final : public actors::frame_connection {
public:
  end(testing_switchboard& board, std::shared_ptr<link> over, int side)
      : board_(board), over_(std::move(over)), side_(side) {}

  status send(actors::outgoing_frame frame) override {
    if (!over_->is_open)
      return error(errc::peer_lost, "link is closed");
    board_.carry(*over_, side_, std::move(frame));
    return {};
  }
  std::size_t queued_bytes() const override {
    return over_->held_bytes[static_cast<std::size_t>(side_)];
  }
  void close(error cause) override {
    board_.flush(*over_, side_);
    board_.close(*over_, cause);
  }
  void abort(error cause) override { board_.close(*over_, cause); }

private:
  testing_switchboard& board_;
  std::shared_ptr<link> over_;
  int side_;
};

namespace {

actors::incoming_frame received(const actors::outgoing_frame& sent) {
  actors::incoming_frame out;
  out.kind = sent.kind;
  out.header = sent.header;
  out.body = actors::aligned_bytes(sent.body_bytes());
  std::size_t at = 0;
  for (const auto& part : sent.body) {
    std::memcpy(out.body.data() + at, part.view.data(), part.view.size());
    at += part.view.size();
  }
  return out;
}

} // namespace

void testing_switchboard::carry(link& over, int from, actors::outgoing_frame frame) {
  const auto side = static_cast<std::size_t>(from);
  if (is_holding_) {
    over.held_bytes[side] += frame.size_bytes();
    held_bytes_most_ = std::max(held_bytes_most_, over.held_bytes[side]);
    over.held[side].push_back(std::move(frame));
    return;
  }
  deliver(over, from, frame);
}

void testing_switchboard::deliver(link& over, int from, const actors::outgoing_frame& frame) {
  ++frames_;
  auto arrived = received(frame);
  if (std::exchange(spoils_next_, false)) {
    arrived.header = spoiled_header_;
    arrived.body = actors::aligned_bytes(spoiled_body_.size());
    std::memcpy(arrived.body.data(), spoiled_body_.data(), spoiled_body_.size());
  }
  over.receivers[1 - static_cast<std::size_t>(from)]->on_frame(std::move(arrived));
}

void testing_switchboard::flush(link& over, int from) {
  const auto side = static_cast<std::size_t>(from);
  const auto held = std::exchange(over.held[side], {});
  over.held_bytes[side] = 0;
  for (const auto& frame : held)
    if (over.is_open)
      deliver(over, from, frame);
  if (over.is_open && !held.empty())
    over.receivers[side]->on_drained();
}

void testing_switchboard::release() {
  is_holding_ = false;
  for (const auto& each : std::vector(links_))
    for (const int side : {0, 1})
      flush(*each, side);
}

void testing_switchboard::close(link& gone, const error& cause) {
  if (!std::exchange(gone.is_open, false))
    return;
  gone.held = {};
  gone.held_bytes = {};
  for (auto& receiver : gone.receivers)
    std::exchange(receiver, nullptr)->on_closed(cause);
  std::erase_if(links_, [](const auto& each) { return !each->is_open; });
}

void testing_switchboard::cut() {
  for (const auto& each : std::vector(links_))
    close(*each, error(errc::peer_lost, "connection reset by peer"));
}

void testing_switchboard::spoil_next(byte_string header, byte_string body) {
  spoils_next_ = true;
  spoiled_header_ = std::move(header);
  spoiled_body_ = std::move(body);
}

std::size_t testing_switchboard::open_links() const { return links_.size(); }

testing_data_network::testing_data_network(testing_switchboard& board, const node_id& own)
    : board_(board), own_(own) {
  board_.networks_[own] = this;
}

testing_data_network::~testing_data_network() { board_.networks_.erase(own_); }

void testing_data_network::dial(const node_id& peer, std::function<void(status)> then) {
  ++board_.dialed_;
  const auto other = board_.networks_.find(peer);
  if (board_.refusals_ > 0 || other == board_.networks_.end() || !other->second->taker_) {
    board_.refusals_ -= board_.refusals_ > 0 ? 1 : 0;
    then(error(errc::peer_lost, "nobody listens there"));
    return;
  }
  for (const auto& each : board_.links_)
    if (each->nodes == std::array{own_, peer} || each->nodes == std::array{peer, own_}) {
      then({});
      return;
    }
  auto made = std::make_shared<testing_switchboard::link>();
  made->nodes = {own_, peer};
  board_.links_.push_back(made);
  made->receivers[0] = taker_(peer, std::make_shared<testing_switchboard::end>(board_, made, 0));
  made->receivers[1] =
      other->second->taker_(own_, std::make_shared<testing_switchboard::end>(board_, made, 1));
  then({});
}

} // namespace headrace::testing
