#include "libactors/transport/peer_link.hpp"

#include <algorithm>
#include <utility>

namespace headrace::actors {
namespace {

std::int64_t to_us(std::chrono::milliseconds time) { return time.count() * 1'000; }

} // namespace

link_times link_times::from(std::chrono::milliseconds interval, std::chrono::milliseconds timeout) {
  using std::chrono::milliseconds;
  const auto at_least_1 = [](milliseconds time) { return std::max(time, milliseconds(1)); };
  return {.heartbeat = at_least_1(std::min(interval, timeout / 4)),
          .timeout = timeout,
          .handshake = at_least_1(timeout / 2),
          .backoff = std::min(milliseconds(10), at_least_1(interval)),
          .backoff_max = at_least_1(std::min(interval, timeout / 4))};
}

peer_link::actions peer_link::die(error cause) {
  phase_ = phase::idle;
  attempts_ = 0;
  return {.dial = false, .disconnect = true, .heartbeat = false, .lost = std::move(cause)};
}

peer_link::actions peer_link::on_wanted(std::int64_t now_us) {
  if (phase_ != phase::idle) {
    return {};
  }
  phase_ = phase::dialing;
  since_us_ = now_us;
  heard_us_ = now_us;
  last_ = {};
  return {.dial = true, .disconnect = false, .heartbeat = false, .lost = std::nullopt};
}

peer_link::actions peer_link::wait(std::int64_t now_us, const error& cause) {
  phase_ = phase::waiting;
  last_ = cause;
  const auto doublings = static_cast<unsigned>(std::clamp(attempts_ - 1, 0, 16));
  const auto delay_us = std::min(to_us(times_.backoff_max), to_us(times_.backoff) << doublings);
  retry_us_ = now_us + delay_us;
  ++attempts_;
  return {};
}

peer_link::actions peer_link::on_dial_failed(dial_failure why, const error& cause,
                                             std::int64_t now_us) {
  if (phase_ != phase::dialing) {
    return {}; // the peer's own connection came first
  }
  switch (why) {
  case dial_failure::refused:
  case dial_failure::new_instance:
  case dial_failure::stale:
  case dial_failure::not_let_in:
    return die({errc::peer_lost, "node is lost: " + name_ + ": " + cause.message, cause});
  case dial_failure::unreachable:
  case dial_failure::duplicate:
    break;
  }
  return wait(now_us, cause);
}

void peer_link::on_connected(std::int64_t now_us) {
  phase_ = phase::connected;
  heard_us_ = now_us;
  sent_us_ = now_us;
  since_us_ = now_us;
  last_ = {};
}

peer_link::actions peer_link::on_disconnected(const error& cause, bool can_dial,
                                              std::int64_t now_us) {
  if (phase_ != phase::connected) {
    return {};
  }
  if (now_us - since_us_ >= to_us(times_.heartbeat)) {
    attempts_ = 0;
  }
  if (!can_dial || attempts_ > 0) {
    return wait(now_us, cause);
  }
  ++attempts_;
  phase_ = phase::dialing;
  since_us_ = now_us;
  last_ = cause;
  return {.dial = true, .disconnect = false, .heartbeat = false, .lost = std::nullopt};
}

peer_link::actions peer_link::on_gone(error cause) {
  if (phase_ == phase::idle) {
    return {};
  }
  return die(std::move(cause));
}

peer_link::actions peer_link::on_tick(std::int64_t now_us, std::int64_t missed_us) {
  if (phase_ == phase::idle) {
    return {};
  }
  heard_us_ = std::min(now_us, heard_us_ + missed_us);
  const auto silent_us = now_us - heard_us_;
  if (silent_us >= to_us(times_.timeout)) {
    auto words = "node is lost: " + name_ + ": nothing heard for " +
                 std::to_string(silent_us / 1'000) + " ms";
    return die(last_.code == errc::none ? error(errc::peer_lost, std::move(words))
                                        : error(errc::peer_lost, std::move(words), last_));
  }
  actions out;
  if (phase_ == phase::waiting && now_us >= retry_us_) {
    phase_ = phase::dialing;
    since_us_ = now_us;
    out.dial = true;
  }
  if (phase_ == phase::connected && now_us - sent_us_ >= to_us(times_.heartbeat)) {
    sent_us_ = now_us;
    out.heartbeat = true;
  }
  return out;
}

} // namespace headrace::actors
