#include "libactors/rpc/endpoint_state.hpp"

#include <algorithm>
#include <new>

namespace headrace::actors {

template <class Turn>
void endpoint::state::run_guarded(Turn&& turn) {
  try {
    turn();
  } catch (const kj::Exception& failure) {
    quit(error(errc::internal, failure.getDescription().cStr()));
  } catch (const std::bad_alloc&) {
    quit(error(errc::out_of_memory, "no memory left"));
  } catch (const std::exception& failure) {
    quit(error(errc::internal, failure.what()));
  } catch (...) {
    quit(error(errc::internal, "something was thrown that is no exception"));
  }
}

void endpoint::start() {
  state_->now = state::phase::running;
  state_->under->record->set_state(actor_state::running);
  state_->run_guarded([this] { on_start(); });
  state_->finish_turn();
}

void endpoint::stop(const error& cause) {
  if (state_->is_running()) {
    state_->begin_stop(cause);
  }
}

void endpoint::deliver(delivery&& what) {
  if (state_->now == state::phase::ended) {
    return;
  }
  state_->run_guarded([&] {
    std::visit([this](auto&& content) { state_->take(std::forward<decltype(content)>(content)); },
               std::move(what.content));
  });
  state_->finish_turn();
}

void endpoint::state::finish_turn() {
  if (quit_cause) {
    auto cause = std::move(*quit_cause);
    quit_cause.reset();
    if (is_running()) {
      begin_stop(std::move(cause));
    } else if (stop_cause.code == errc::none) {
      stop_cause = std::move(cause);
    }
  }
  if (now != phase::ended) {
    set_wake();
  }
}

void endpoint::state::begin_stop(error cause) {
  now = phase::stopping;
  stop_cause = std::move(cause);
  under->record->set_state(actor_state::stopping);
  if (stop_cause.code != errc::none) {
    owner.log().warn("actor ends by a failure", {{"cause", to_string(stop_cause)}});
  }
  under->target->has_ended = true; // asks that wait for what is dropped now are answered so
  timers.clear();
  timer_times.clear();
  asks.clear();
  steps.clear();
  for (const auto& [name, child] : children) {
    owner.stop_child(name);
  }
  if (children.empty()) {
    complete_stop();
  }
}

void endpoint::state::complete_stop() {
  run_guarded([this] { owner.on_stop(stop_cause); });
  if (quit_cause && stop_cause.code == errc::none) {
    stop_cause = std::move(*quit_cause);
  }
  now = phase::ended;
  under->end(stop_cause);
}

void endpoint::state::set_wake() {
  auto& wakes = *under->core->seams.wakes;
  const auto first = timers.empty() ? wake_service::never : timers.begin()->first.first;
  if (wakes.is_exact() ? first != next_wake_us : first < next_wake_us) {
    next_wake_us = first;
    wakes.wake_at(under->target, first);
  }
}

// --- what comes

void endpoint::state::take(mail_ptr content) {
  if (is_running()) {
    owner.on_mail(std::move(content));
  }
}

void endpoint::state::take(closure what) {
  if (is_running()) {
    what.action();
  }
}

void endpoint::state::take(received_envelope what) {
  under->record->on_message(what.peek().payload.type_id());
  const auto kind = what.peek().kind;
  if (kind == envelope_kind::reply || kind == envelope_kind::failure) {
    take_answer(what.take());
  } else {
    take_ask_or_tell(std::move(what));
  }
}

/// The one place where fencing tokens are compared.
void endpoint::state::take_ask_or_tell(received_envelope what) {
  auto& core = *under->core;
  const auto refuse = [&](error why) {
    under->record->on_refused();
    const auto refused = what.take();
    owner.log().debug("message refused",
                      {{"reason", to_string(why)}, {"from", to_string(refused.from)}});
    core.refuse(refused, std::move(why));
  };
  if (!is_running()) {
    return refuse({errc::shut_down, "endpoint is stopping: " + under->self.endpoint});
  }
  if (!fence.is_none() && what.peek().fence != fence) {
    return refuse({errc::fenced_off, "stale fencing token: " + under->self.endpoint + ", got " +
                                         to_string(what.peek().fence) + ", wants " +
                                         to_string(fence)});
  }
  const auto found = handlers.find(what.peek().payload.type_id());
  if (found == handlers.end()) {
    const auto& id = what.peek().payload.type_id();
    return refuse(
        {errc::malformed_message, "endpoint does not take this message: " + under->self.endpoint +
                                      ", type " + to_hex(0, id).substr(16)});
  }
  const auto taken = what.take();
  responder back;
  if (taken.kind == envelope_kind::ask) {
    back = responder(under->target, taken.from, taken.correlation);
  }
  under->target->handled_ask = taken.kind == envelope_kind::ask ? taken.correlation : 0;
  try {
    found->second(taken.payload, taken.from, std::move(back));
  } catch (const kj::Exception& failure) {
    // The walk at the edge checked the words, not what this handler reads of them. Handlers read
    // all they need before they change anything.
    under->record->on_refused();
    owner.log().warn("malformed message dropped", {{"reason", failure.getDescription().cStr()},
                                                   {"from", to_string(taken.from)}});
    core.refuse(taken, {errc::malformed_message, "message cannot be read: " + under->self.endpoint +
                                                     ", " + failure.getDescription().cStr()});
  } catch (...) {
    core.refuse(taken, {errc::internal, "endpoint failed: " + under->self.endpoint});
    throw;
  }
  under->target->handled_ask = 0;
}

void endpoint::state::take_answer(envelope what) {
  const auto found = asks.find(what.correlation);
  if (found == asks.end()) {
    return; // came after its deadline
  }
  auto pending = std::move(found->second);
  asks.erase(found);
  owner.cancel_timer(pending.deadline);
  if (what.kind == envelope_kind::failure) {
    pending.then(std::move(what.failure));
  } else if (pending.reply_type != any_reply && what.payload.type_id() != pending.reply_type) {
    pending.then(
        error(errc::malformed_message, "reply of another type: from " + to_string(what.from)));
  } else {
    pending.then(std::move(what.payload));
  }
}

void endpoint::state::take(wake /*what*/) {
  next_wake_us = wake_service::never;
  const auto now_us = owner.now_us();
  const auto newest = last_timer; // what is set meanwhile waits for the next wake
  while (is_running() && !quit_cause && !timers.empty()) {
    const auto first = timers.begin();
    if (first->first.first > now_us || first->first.second > newest) {
      return;
    }
    auto action = std::move(first->second);
    timer_times.erase(first->first.second);
    timers.erase(first);
    action();
  }
}

void endpoint::state::take(step_done what) {
  const auto found = steps.find(what.id);
  if (found == steps.end()) {
    return;
  }
  auto then = std::move(found->second);
  steps.erase(found);
  if (what.failure.code != errc::none) {
    quit(std::move(what.failure));
  } else {
    then();
  }
}

void endpoint::state::take(stop_order /*what*/) { owner.stop({}); }

void endpoint::state::take(kill_order /*what*/) {
  for (const auto& [name, child] : children) {
    if (const auto target = under->core->find(child.where)) {
      target->kill();
    }
  }
  now = phase::ended;
  quit_cause.reset();
  under->end({errc::peer_lost, "killed"});
}

void endpoint::state::take(child_adopted what) {
  children[what.name] = {.where = what.where, .policy = what.policy};
  if (now == phase::stopping) {
    owner.stop_child(what.name);
  }
}

void endpoint::state::take(child_ended what) {
  const auto found = children.find(what.name);
  if (found == children.end() || found->second.where.instance != what.instance) {
    return;
  }
  const auto policy = found->second.policy;
  children.erase(found);
  if (now == phase::stopping) {
    if (children.empty()) {
      complete_stop();
    }
    return;
  }
  owner.on_child_ended(what.name, what.cause);
  if (policy == supervision::escalate && what.cause.code != errc::none) {
    const auto code = what.cause.code;
    error cause(code, "child ended: " + what.name, std::move(what.cause));
    if (under->is_root) {
      owner.fatal(std::move(cause));
    } else {
      quit(std::move(cause));
    }
  }
}

void endpoint::state::take(peer_ended what) {
  if (is_running()) {
    owner.on_peer_ended(what.peer, what.cause);
  }
}

void endpoint::state::take(node_lost what) {
  std::vector<std::uint64_t> lost;
  for (const auto& [correlation, pending] : asks) {
    if (pending.to.node == what.node) {
      lost.push_back(correlation);
    }
  }
  std::sort(lost.begin(), lost.end()); // in the order of asking
  for (const auto correlation : lost) {
    envelope answer;
    answer.kind = envelope_kind::failure;
    answer.to = under->self;
    answer.correlation = correlation;
    answer.failure = what.cause;
    take_answer(std::move(answer));
  }
}

} // namespace headrace::actors
