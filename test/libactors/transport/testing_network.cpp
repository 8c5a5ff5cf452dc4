#include "test/libactors/transport/testing_network.hpp"

#include "schema/ids.capnp.h"

#include <algorithm>
#include <utility>

namespace headrace::testing {

using namespace actors;

/// One side of a connection. What it sends lies here until the network delivers it.
class testing_network::end final : public opening_connection,
                                   public std::enable_shared_from_this<testing_network::end> {
public:
  end(testing_network& net, std::shared_ptr<opening_receiver> receiver)
      : net_(net), receiver_(std::move(receiver)) {}

  status send(outgoing_frame frame) override {
    if (is_closed_) {
      return error(errc::peer_lost, "connection is closed");
    }
    if (is_broken_) {
      return {}; // behind what was lost nothing arrives
    }
    queued_ += frame.size_bytes();
    on_way_.push_back(std::move(frame));
    return {};
  }
  std::size_t queued_bytes() const override { return queued_; }
  void close(error cause) override {
    is_closing_ = true;
    if (on_way_.empty()) {
      abort(std::move(cause));
    }
  }
  void abort(error cause) override {
    net_.later_.push_back([self = shared_from_this(), cause = std::move(cause)] {
      self->finish(cause);
      if (const auto far = self->far_end.lock(); far && self->on_way_.empty()) {
        far->finish({errc::connection_failed, "closed by the other side"});
      }
    });
  }
  void set_limits(frame_limits /*bounds*/) override {}
  void set_queue(queue_bounds bounds) override { drained_ = bounds.drained_bytes; }
  std::string peer_host() const override { return "somewhere"; }

  void finish(const error& cause) {
    if (!std::exchange(is_closed_, true)) {
      std::exchange(receiver_, nullptr)->on_closed(cause);
    }
  }
  bool is_closed() const { return is_closed_; }
  bool has_frame() const { return !on_way_.empty(); }
  void lose_some(random_source& random) {
    is_broken_ = true;
    while (!on_way_.empty() && random.below(2) == 0) {
      on_way_.pop_back();
    }
  }
  /// Brings the first frame to the other side.
  void deliver() {
    auto frame = std::move(on_way_.front());
    on_way_.pop_front();
    queued_ -= frame.size_bytes();
    incoming_frame arrived;
    arrived.kind = frame.kind;
    arrived.header = frame.header;
    arrived.body = aligned_bytes(std::max<std::size_t>(1, frame.body_bytes()));
    std::size_t at = 0;
    for (const auto& piece : frame.body) {
      std::copy(piece.view.begin(), piece.view.end(), arrived.body.data() + at);
      at += piece.view.size();
    }
    if (at == 0) {
      arrived.body = aligned_bytes();
    }
    const auto self = shared_from_this();
    if (const auto to = far_end.lock(); to && !to->is_closed_) {
      to->receiver_->on_frame(std::move(arrived));
    }
    if (!is_closed_ && queued_ <= drained_) {
      receiver_->on_drained();
    }
    if (is_closing_ && on_way_.empty() && !is_closed_) {
      abort({errc::connection_failed, "closed"});
    }
    if (const auto to = far_end.lock(); to && is_closed_ && on_way_.empty()) {
      to->finish({errc::connection_failed, "closed by the other side"});
    }
  }
  void open() {
    if (!is_closed_) {
      const auto receiver = receiver_;
      receiver->on_open();
    }
  }

  /// The network goes: who is held here holds this.
  void forget() { receiver_.reset(); }

  std::weak_ptr<end> far_end;

private:
  testing_network& net_;
  std::shared_ptr<opening_receiver> receiver_;
  std::deque<outgoing_frame> on_way_;
  std::size_t queued_ = 0;
  std::size_t drained_ = 0;
  bool is_closed_ = false;
  bool is_closing_ = false;
  bool is_broken_ = false;
};

struct testing_network::wire {
  std::shared_ptr<end> ends[2];
  host* hosts[2];
};

testing_network::~testing_network() {
  for (const auto& each : ends_) {
    if (const auto left = each.lock()) {
      left->forget();
    }
  }
}

std::shared_ptr<testing_network::end>
testing_network::make_end(std::shared_ptr<opening_receiver> receiver) {
  auto made = std::make_shared<end>(*this, std::move(receiver));
  ends_.push_back(made);
  return made;
}

testing_network::host& testing_network::add(const std::string& name, link_times times,
                                            std::function<void(node_identity&)> change) {
  auto& made = *hosts_.emplace_back(std::make_unique<host>(*this, name, order_->next()));
  made.own = {.protocol_version = transport_protocol_version,
              .product_version = "0.1.0",
              .cluster_id = "test",
              .node = {7, ++last_id_},
              .host = name,
              .port = 1,
              .secret = "secret"};
  if (change) {
    change(made.own);
  }
  made.hub = std::make_unique<actors::hub>(made.own, times,
                                           hub::seams{.dialer = made,
                                                      .listener = made,
                                                      .time = time,
                                                      .random = *made.random,
                                                      .book = made.book,
                                                      .counters = made.counters,
                                                      .log = {}});
  return made;
}

std::shared_ptr<opening_connection> testing_network::dial(host& from, const std::string& name,
                                                          std::shared_ptr<opening_receiver> to) {
  auto near = make_end(std::move(to));
  const auto found = std::find_if(hosts_.rbegin(), hosts_.rend(), [&](const auto& each) {
    return each->name == name && each->is_alive;
  });
  if (found == hosts_.rend()) {
    later_.push_back([near] { near->finish({errc::connection_refused, "nobody listens"}); });
    return near;
  }
  auto& there = **found;
  later_.push_back([this, near, &from, &there] {
    auto receiver = there.is_alive ? there.hub->accept() : nullptr;
    if (!receiver) {
      near->finish({errc::connection_refused, "nobody listens"});
      return;
    }
    auto far = make_end(receiver);
    near->far_end = far;
    far->far_end = near;
    there.hub->adopt(receiver, far);
    wires_.push_back(std::make_shared<wire>(wire{{near, far}, {&from, &there}}));
    far->open();
    near->open();
  });
  return near;
}

void testing_network::kill(host& which) {
  which.is_alive = false;
  for (const auto& each : wires_) {
    for (int side = 0; side < 2; ++side) {
      if (each->hosts[side] == &which) {
        later_.push_back([far = each->ends[1 - side]] {
          far->finish({errc::connection_failed, "connection broke"});
        });
      }
    }
  }
}

bool testing_network::step() {
  std::vector<end*> movable;
  for (const auto& each : wires_) {
    for (int side = 0; side < 2; ++side) {
      if (each->ends[side]->has_frame() && each->hosts[0]->is_alive && each->hosts[1]->is_alive) {
        movable.push_back(each->ends[side].get());
      }
    }
  }
  const auto choices = movable.size() + (later_.empty() ? 0 : 1);
  if (choices == 0) {
    return false;
  }
  const auto which = order_->below(choices);
  if (which < movable.size()) {
    const auto held = movable[which]->shared_from_this();
    held->deliver();
  } else {
    const auto action = std::move(later_.front());
    later_.pop_front();
    action();
  }
  std::erase_if(wires_, [](const auto& each) {
    return each->ends[0]->is_closed() && each->ends[1]->is_closed();
  });
  return true;
}

int testing_network::run(int steps_max) {
  int steps = 0;
  while (steps < steps_max && step()) {
    ++steps;
  }
  return steps;
}

void testing_network::advance(int ms) {
  time.advance_ms(ms);
  for (const auto& each : hosts_) {
    if (each->is_alive) {
      each->hub->tick();
    }
  }
  run();
}

void testing_network::break_one() {
  if (wires_.empty()) {
    return;
  }
  const auto broken = wires_[order_->below(wires_.size())];
  for (const auto& each : broken->ends) {
    each->lose_some(*order_);
  }
  // What was not lost arrives, then each side notices by itself.
  for (const auto& each : broken->ends) {
    while (each->has_frame()) {
      each->deliver();
    }
  }
  for (const auto& each : broken->ends) {
    later_.push_back([each] { each->finish({errc::connection_failed, "connection broke"}); });
  }
}

std::size_t testing_network::open_wires() const {
  return static_cast<std::size_t>(std::count_if(wires_.begin(), wires_.end(), [](const auto& w) {
    return !w->ends[0]->is_closed() && !w->ends[1]->is_closed();
  }));
}

namespace {

envelope make_envelope(const testing_network::host& from, const testing_network::host& to,
                       envelope_kind kind, std::uint64_t correlation, any_message payload) {
  return {.kind = kind,
          .to = {.node = to.own.node, .endpoint = "taker", .instance = 0},
          .from = {.node = from.own.node, .endpoint = from.name, .instance = 1},
          .correlation = correlation,
          .fence = {},
          .payload = std::move(payload),
          .failure = {}};
}

void send(testing_network::host& from, envelope what) {
  auto encoded = encode_envelope(what);
  HEADRACE_ASSERT(encoded.has_value(), "what a test sends can be encoded");
  from.hub->send(what, std::move(*encoded));
}

any_message number_message(std::int32_t value, std::size_t payload_bytes) {
  message_builder<schema::Address> made;
  made->setInstance(static_cast<std::uint64_t>(value));
  made->setEndpoint(std::string(payload_bytes, 'x'));
  return made.finish().untyped();
}

} // namespace

void testing_network::host::tell(const host& to, std::int32_t value, std::size_t payload_bytes) {
  testing::send(*this, make_envelope(*this, to, envelope_kind::tell, 0,
                                     number_message(value, payload_bytes)));
}

void testing_network::host::ask(const host& to, std::uint64_t correlation) {
  testing::send(*this,
                make_envelope(*this, to, envelope_kind::ask, correlation, number_message(1, 0)));
}

std::vector<std::int32_t> testing_network::host::told_by(const host& from) const {
  std::vector<std::int32_t> out;
  for (const auto& each : envelopes) {
    if (each.kind == envelope_kind::tell && each.from.node == from.own.node) {
      const message<schema::Address> read(each.payload);
      out.push_back(static_cast<std::int32_t>(read.view()->getInstance()));
    }
  }
  return out;
}

} // namespace headrace::testing
