#include "test/simulation/simulated_network.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace headrace::simulation {

using namespace actors;

/// One side of a connection. What it sends lies here until it is due at the other side.
class simulated_network::end final : public opening_connection,
                                     public std::enable_shared_from_this<simulated_network::end> {
public:
  end(simulated_network& net, std::string host, std::shared_ptr<opening_receiver> receiver)
      : net_(net), host_(std::move(host)), receiver_(std::move(receiver)) {}

  status send(outgoing_frame frame) override {
    if (is_closed_ || is_closing_)
      return error(errc::peer_lost, "connection is closed");
    if (is_broken_)
      return {}; // behind what was lost nothing arrives
    queued_bytes_ += frame.size_bytes();
    last_due_us_ = std::max(last_due_us_, net_.now_us_ + net_.latency());
    on_way_.push_back({last_due_us_, std::move(frame)});
    return {};
  }
  std::size_t queued_bytes() const override { return queued_bytes_; }
  void close(error cause) override {
    if (on_way_.empty())
      return abort(std::move(cause));
    is_closing_ = true;
    closing_cause_ = std::move(cause);
  }
  void abort(error cause) override {
    is_closing_ = true;
    on_way_.clear();
    queued_bytes_ = 0;
    net_.later(0, [self = shared_from_this(), cause] { self->finish(cause); });
    if (const auto other = far.lock())
      net_.later(net_.latency(), [other] {
        other->finish({errc::connection_failed, "closed by the other side"});
      });
  }
  void set_limits(frame_limits /*bounds*/) override {}
  void set_queue(queue_bounds bounds) override { drained_bytes_ = bounds.drained_bytes; }
  std::string peer_host() const override {
    const auto other = far.lock();
    return other ? other->host_ : std::string();
  }

  void open() {
    if (is_closed_ || is_closing_)
      return;
    if (const auto receiver = receiver_)
      receiver->on_open();
  }
  void finish(const error& cause) {
    if (std::exchange(is_closed_, true))
      return;
    on_way_.clear();
    queued_bytes_ = 0;
    if (const auto receiver = std::exchange(receiver_, nullptr))
      receiver->on_closed(cause);
  }
  /// From some frame on nothing arrives.
  void lose_some(random_source& random) {
    is_broken_ = true;
    while (!on_way_.empty() && random.below(2) == 0)
      on_way_.pop_back();
  }
  bool has_due(std::int64_t now_us) const {
    return !is_closed_ && !on_way_.empty() && on_way_.front().first <= now_us;
  }
  /// Brings the first frame to the other side.
  void deliver() {
    const auto self = shared_from_this();
    auto frame = std::move(on_way_.front().second);
    on_way_.pop_front();
    const auto before = queued_bytes_;
    queued_bytes_ -= frame.size_bytes();
    if (const auto other = far.lock(); other && !other->is_closed_)
      other->take(frame);
    if (const auto receiver = receiver_;
        receiver && before > drained_bytes_ && queued_bytes_ <= drained_bytes_)
      receiver->on_drained();
    if (!is_closed_ && is_closing_ && on_way_.empty() && closing_cause_)
      abort(*std::exchange(closing_cause_, std::nullopt));
  }
  void forget() { receiver_.reset(); }
  /// Whose it was is gone; what it has sent may still arrive.
  void die() {
    receiver_.reset();
    is_dead_ = true;
  }
  bool is_closed() const { return is_closed_ || (is_dead_ && on_way_.empty()); }
  const std::string& host() const { return host_; }

  std::weak_ptr<end> far;

private:
  void take(const outgoing_frame& sent) {
    incoming_frame arrived;
    arrived.kind = sent.kind;
    arrived.header = sent.header;
    arrived.body = sent.body_bytes() == 0 ? aligned_bytes() : aligned_bytes(sent.body_bytes());
    std::size_t at = 0;
    for (const auto& piece : sent.body) {
      std::memcpy(arrived.body.data() + at, piece.view.data(), piece.view.size());
      at += piece.view.size();
    }
    if (const auto receiver = receiver_)
      receiver->on_frame(std::move(arrived));
  }

  simulated_network& net_;
  std::string host_;
  std::shared_ptr<opening_receiver> receiver_;
  std::deque<std::pair<std::int64_t, outgoing_frame>> on_way_; ///< with when they are due
  std::int64_t last_due_us_ = 0;
  std::size_t queued_bytes_ = 0;
  std::size_t drained_bytes_ = 0;
  bool is_closed_ = false;
  bool is_closing_ = false;
  bool is_broken_ = false;
  bool is_dead_ = false;
  std::optional<error> closing_cause_;
};

struct simulated_network::wire {
  std::shared_ptr<end> ends[2];
  bool joins(const std::string& one, const std::string& other) const {
    return (ends[0]->host() == one && ends[1]->host() == other) ||
           (ends[0]->host() == other && ends[1]->host() == one);
  }
};

simulated_network::~simulated_network() {
  for (const auto& each : ends_)
    if (const auto left = each.lock())
      left->forget();
}

void simulated_network::listen(const std::string& host, simulated_listener* who) {
  listeners_[host] = who;
}

std::int64_t simulated_network::latency() {
  return 1 + static_cast<std::int64_t>(
                 random_.below(static_cast<std::uint64_t>(within_.latency_us_max)));
}

void simulated_network::later(std::int64_t after_us, std::function<void()> what) {
  later_.emplace_back(now_us_ + after_us, std::move(what));
}

std::shared_ptr<opening_connection>
simulated_network::dial(const std::string& from, const std::string& to,
                        std::shared_ptr<opening_receiver> receiver) {
  auto near = std::make_shared<end>(*this, from, std::move(receiver));
  ends_.push_back(near);
  if (is_cut(from, to) || is_cut(to, from))
    return near; // nothing is heard of it; who dials gives up
  later(latency(), [this, near, from, to] {
    const auto found = listeners_.find(to);
    if (near->is_closed())
      return;
    auto accepted =
        found == listeners_.end() || found->second == nullptr ? nullptr : found->second->accept();
    if (!accepted)
      return near->finish({errc::connection_refused, "nobody listens"});
    auto far = std::make_shared<end>(*this, to, accepted);
    ends_.push_back(far);
    near->far = far;
    far->far = near;
    found->second->adopt(accepted, far);
    wires_.push_back(std::make_shared<wire>(wire{{near, far}}));
    far->open();
    later(latency(), [near] { near->open(); });
  });
  return near;
}

void simulated_network::reset(const std::string& one, const std::string& other) {
  for (const auto& each : wires_)
    if (each->joins(one, other))
      for (const auto& side : each->ends) {
        side->lose_some(random_);
        later(latency() + within_.latency_us_max, [side] {
          side->finish({errc::connection_failed, "connection reset by peer"});
        });
      }
}

void simulated_network::vanish(const std::string& host, bool is_silent) {
  listeners_[host] = nullptr;
  for (const auto& each : wires_)
    for (const int side : {0, 1})
      if (each->ends[side]->host() == host) {
        each->ends[side]->lose_some(random_);
        each->ends[side]->die();
        if (!is_silent)
          later(latency() + within_.latency_us_max, [far = each->ends[1 - side]] {
            far->finish({errc::connection_failed, "connection broke"});
          });
      }
}

bool simulated_network::step(std::int64_t now_us) {
  now_us_ = now_us;
  std::vector<end*> frames;
  for (const auto& each : wires_)
    for (const int side : {0, 1}) {
      auto& from = *each->ends[side];
      if (from.has_due(now_us) && !is_cut(from.host(), each->ends[1 - side]->host()))
        frames.push_back(&from);
    }
  std::vector<std::size_t> actions;
  for (std::size_t i = 0; i < later_.size(); ++i)
    if (later_[i].first <= now_us)
      actions.push_back(i);
  const auto choices = frames.size() + actions.size();
  if (choices == 0)
    return false;
  const auto which = static_cast<std::size_t>(random_.below(choices));
  trace_ = mix64(trace_ ^ (static_cast<std::uint64_t>(now_us) << 8U) ^ which);
  if (which < frames.size()) {
    ++frames_;
    const auto held = frames[which]->shared_from_this();
    held->deliver();
  } else {
    const auto at = later_.begin() + static_cast<std::ptrdiff_t>(actions[which - frames.size()]);
    const auto action = std::move(at->second);
    later_.erase(at);
    action();
  }
  std::erase_if(wires_, [](const auto& each) {
    return each->ends[0]->is_closed() && each->ends[1]->is_closed();
  });
  return true;
}

std::size_t simulated_network::open_connections() const {
  return static_cast<std::size_t>(std::count_if(wires_.begin(), wires_.end(), [](const auto& each) {
    return !each->ends[0]->is_closed() && !each->ends[1]->is_closed();
  }));
}

} // namespace headrace::simulation
