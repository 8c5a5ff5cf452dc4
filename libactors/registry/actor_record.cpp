#include "libactors/registry/actor_record.hpp"

#include <algorithm>

namespace headrace::actors {

std::string_view name_of(actor_state state) {
  switch (state) {
  case actor_state::starting:
    return "starting";
  case actor_state::running:
    return "running";
  case actor_state::stopping:
    return "stopping";
  case actor_state::ended:
    return "ended";
  }
  return "unknown";
}

void actor_record::on_message(std::uint64_t type_id) {
  const std::lock_guard lock(guard_);
  ++messages_[type_id];
}

void actor_record::set_last_error(const error& failure) {
  const std::lock_guard lock(guard_);
  last_error_ = failure;
}

actor_snapshot actor_record::snapshot(std::int64_t now_us) const {
  auto out = fixed_;
  out.state = state();
  out.taken = taken_.value();
  out.enqueued = std::max(out.taken, enqueued_.load(std::memory_order_relaxed));
  out.queue_depth = out.enqueued - out.taken;
  out.refused = refused_.value();
  out.busy_us = busy_us_.load(std::memory_order_relaxed);
  const auto began_us = turn_began_us_.load(std::memory_order_relaxed);
  if (began_us != idle) {
    out.in_turn_us = std::max<std::int64_t>(1, now_us - began_us);
  }
  for (std::size_t kind = 0; kind < mail_.size(); ++kind) {
    if (const auto count = mail_[kind].value(); count > 0) {
      out.messages.push_back({.type_id = kind, .is_mail = true, .count = count});
    }
  }
  const std::lock_guard lock(guard_);
  for (const auto& [type_id, count] : messages_) {
    out.messages.push_back({.type_id = type_id, .is_mail = false, .count = count});
  }
  out.last_error = last_error_;
  return out;
}

} // namespace headrace::actors
