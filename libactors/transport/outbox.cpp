#include "libactors/transport/outbox.hpp"

#include <utility>

namespace headrace::actors {
namespace {

constexpr std::uint64_t unacknowledged_messages_max = 256;
constexpr std::size_t untold_bytes_max = std::size_t{1} << 20U;

} // namespace

bool outbox::offer(lane where, item&& message) {
  const auto count = waiting() + unacknowledged();
  if (count > 0 &&
      (count >= bounds_.messages_max || bytes_ + message.bytes() > bounds_.bytes_max)) {
    return false;
  }
  bytes_ += message.bytes();
  if (message.flow != 0 && bulk_flows_.contains(message.flow)) {
    where = lane::bulk; // behind those of its flow
  }
  if (message.flow != 0 && where == lane::bulk) {
    ++bulk_flows_[message.flow];
  }
  lanes_[static_cast<std::size_t>(where)].push_back(std::move(message));
  return true;
}

bool outbox::has_next() const {
  if (resend_ < sent_.size()) {
    return true;
  }
  return waiting() > 0 && sent_bytes_ < bounds_.unacknowledged_bytes_max;
}

const outbox::item* outbox::next() {
  if (!has_next()) {
    return nullptr;
  }
  if (resend_ < sent_.size()) {
    return &sent_[resend_++];
  }
  auto& from = lanes_[0].empty() ? lanes_[1] : lanes_[0];
  sent_.push_back(std::move(from.front()));
  from.pop_front();
  resend_ = sent_.size();
  auto& leaving = sent_.back();
  if (&from == &lanes_[1] && leaving.flow != 0) {
    const auto flow = bulk_flows_.find(leaving.flow);
    if (--flow->second == 0) {
      bulk_flows_.erase(flow);
    }
  }
  leaving.sequence = ++last_;
  sent_bytes_ += leaving.bytes();
  return &leaving;
}

bool outbox::acknowledge(std::uint64_t sequence) {
  if (sequence > last_) {
    return false;
  }
  while (!sent_.empty() && sent_.front().sequence <= sequence) {
    bytes_ -= sent_.front().bytes();
    sent_bytes_ -= sent_.front().bytes();
    sent_.pop_front();
    resend_ -= resend_ > 0 ? 1 : 0;
  }
  return true;
}

bool outbox::is_forgotten(std::uint64_t received) const {
  return received + 1 < (sent_.empty() ? last_ + 1 : sent_.front().sequence);
}

bool outbox::rewind(std::uint64_t received) {
  if (is_forgotten(received) || !acknowledge(received)) {
    return false;
  }
  resend_ = 0;
  return true;
}

std::size_t outbox::clear() {
  const auto dropped = waiting() + unacknowledged();
  *this = outbox(bounds_);
  return dropped;
}

inbox::verdict inbox::take(std::uint64_t sequence, std::size_t bytes) {
  if (sequence <= received_) {
    return verdict::repeated;
  }
  if (sequence != received_ + 1) {
    return verdict::gap;
  }
  received_ = sequence;
  bytes_ += bytes;
  return verdict::fresh;
}

bool inbox::owes_acknowledgement() const {
  return received_ - told_ >= unacknowledged_messages_max || bytes_ >= untold_bytes_max;
}

} // namespace headrace::actors
