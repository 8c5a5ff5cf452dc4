#include "libactors/rpc/endpoint.hpp"

#include "libactors/base/limits.hpp"
#include "libactors/rpc/endpoint_state.hpp"

#include <algorithm>
#include <exception>

namespace headrace::actors {

endpoint::endpoint() : state_(std::make_unique<state>(*this)) {}
endpoint::~endpoint() = default;

void endpoint::attach(host& under) { state_->under = &under; }

const address& endpoint::self() const { return state_->under->self; }
actor_ref endpoint::self_ref() const { return actor_ref(state_->under->target); }
const actor_environment& endpoint::environment() const {
  HEADRACE_ASSERT(state_->under != nullptr, "the environment is there from on_start on");
  return state_->under->environment;
}
const headrace::logger& endpoint::log() const { return environment().log; }

void endpoint::set_fencing_token(fencing_token token) { state_->fence = token; }
fencing_token endpoint::current_fencing_token() const { return state_->fence; }

void endpoint::handle(std::uint64_t type_id, message_handler action) {
  const bool is_new = state_->handlers.emplace(type_id, std::move(action)).second;
  HEADRACE_ASSERT(is_new, "two handlers of one message");
}

// --- what I say

void endpoint::tell_untyped(const address& to, const any_message& what, fencing_token fence) {
  state_->under->core->route({.kind = envelope_kind::tell,
                              .to = to,
                              .from = self(),
                              .correlation = 0,
                              .fence = fence,
                              .payload = what,
                              .failure = {}});
}

void endpoint::ask_untyped(const address& to, const any_message& what, std::uint64_t reply_type,
                           std::chrono::milliseconds timeout, fencing_token fence,
                           std::function<void(result<any_message>)> then) {
  if (!state_->is_running()) {
    return; // as after `on_stop`: nobody waits any more
  }
  const auto correlation = ++state_->last_correlation;
  const auto deadline = after(timeout, [this, correlation, to, timeout] {
    state_->take_answer(
        {.kind = envelope_kind::failure,
         .to = self(),
         .from = to,
         .correlation = correlation,
         .fence = {},
         .payload = {},
         .failure = {errc::timed_out, "ask timed out: " + to_string(to) + ", after " +
                                          std::to_string(timeout.count()) + " ms"}});
  });
  const bool overflows = state_->asks.size() >= limits::pending_asks_max;
  state_->asks[correlation] = {
      .reply_type = reply_type, .to = to, .deadline = deadline, .then = std::move(then)};
  envelope ask{.kind = envelope_kind::ask,
               .to = to,
               .from = self(),
               .correlation = correlation,
               .fence = fence,
               .payload = what,
               .failure = {}};
  if (overflows) {
    state_->under->core->refuse(ask, {errc::internal, "too many asks wait for an answer"});
  } else {
    state_->under->core->route(std::move(ask));
  }
}

responder& responder::operator=(responder&& other) noexcept {
  if (this != &other) {
    responder dropped(std::move(*this));
    owner_ = std::move(other.owner_);
    to_ = std::move(other.to_);
    correlation_ = other.correlation_;
  }
  return *this;
}

responder::~responder() {
  if (owner_ && std::uncaught_exceptions() > 0 && owner_->handled_ask.load() == correlation_)
    return; // see take_ask_or_tell
  if (owner_) {
    fail(owner_->has_ended.load()
             ? error(errc::peer_lost, "endpoint ended before it answered: " + owner_->self.endpoint)
             : error(errc::internal, "ask was left without an answer: " + owner_->self.endpoint));
  }
}

void responder::send(const any_message& answer) {
  HEADRACE_ASSERT(owner_ != nullptr, "an ask is answered twice, or a tell is answered");
  const auto owner = std::move(owner_);
  owner->core->route({.kind = envelope_kind::reply,
                      .to = std::move(to_),
                      .from = owner->self,
                      .correlation = correlation_,
                      .fence = {},
                      .payload = answer,
                      .failure = {}});
}

void responder::fail(error failure) {
  HEADRACE_ASSERT(owner_ != nullptr, "an ask is answered twice, or a tell is answered");
  const auto owner = std::move(owner_);
  owner->core->route({.kind = envelope_kind::failure,
                      .to = std::move(to_),
                      .from = owner->self,
                      .correlation = correlation_,
                      .fence = {},
                      .payload = {},
                      .failure = std::move(failure)});
}

// --- later, elsewhere

timer_id endpoint::after(std::chrono::milliseconds delay, std::function<void()> action) {
  if (!state_->is_running()) {
    return 0;
  }
  constexpr std::int64_t delay_ms_max = std::int64_t{1} << 50U;
  const auto delay_us = std::clamp<std::int64_t>(delay.count(), 0, delay_ms_max) * 1'000;
  const state::timed key{now_us() + delay_us, ++state_->last_timer};
  state_->timers.emplace(key, std::move(action));
  state_->timer_times.emplace(key.second, key.first);
  return key.second;
}

void endpoint::cancel_timer(timer_id which) {
  const auto found = state_->timer_times.find(which);
  if (found != state_->timer_times.end()) {
    state_->timers.erase({found->second, which});
    state_->timer_times.erase(found);
  }
}

void endpoint::later(std::function<void()> action) {
  state_->under->target->post({closure{std::move(action)}}, mail_priority::normal);
}

void endpoint::submit_blocking(std::function<void()> step, std::function<void()> then) {
  if (!state_->is_running()) {
    return;
  }
  const auto id = ++state_->last_step;
  state_->steps.emplace(id, std::move(then));
  environment().blocking.submit([step = std::move(step), target = state_->under->target, id] {
    error failure;
    try {
      step();
    } catch (const std::exception& thrown) {
      failure = error(errc::internal, thrown.what());
    } catch (...) {
      failure = error(errc::internal, "something was thrown that is no exception");
    }
    target->post({step_done{.id = id, .failure = std::move(failure)}});
  });
}

// --- children and end

address endpoint::spawn(std::unique_ptr<endpoint> child, spawn_options options) {
  if (!state_->is_running() || state_->children.size() >= limits::children_max) {
    return {};
  }
  const auto name = options.name;
  const auto policy = options.policy;
  auto where = state_->under->core->spawn(std::move(child), std::move(options), self_ref());
  if (!where.is_none()) {
    state_->children[name] = {.where = where, .policy = policy};
  }
  return where;
}

actor_ref endpoint::child_ref(const std::string& name) const {
  const auto found = state_->children.find(name);
  if (found == state_->children.end()) {
    return {};
  }
  return actor_ref(state_->under->core->find(found->second.where));
}

void endpoint::stop_child(const std::string& name) {
  const auto found = state_->children.find(name);
  if (found != state_->children.end()) {
    if (const auto target = state_->under->core->find(found->second.where)) {
      target->post({stop_order{}});
    }
  }
}

void endpoint::monitor(const address& peer) {
  state_->under->core->watch(peer, state_->under->target);
}

void endpoint::quit(error cause) { state_->quit(std::move(cause)); }

void endpoint::fatal(error cause) { state_->under->core->fatal(std::move(cause)); }

} // namespace headrace::actors
