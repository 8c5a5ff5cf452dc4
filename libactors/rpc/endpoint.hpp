#pragma once

#include "libactors/base/clock.hpp"
#include "libactors/base/executor.hpp"
#include "libactors/base/log.hpp"
#include "libactors/base/random.hpp"
#include "libactors/base/result.hpp"
#include "libactors/message/message.hpp"
#include "libactors/rpc/actor_ref.hpp"
#include "libactors/rpc/address.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headrace::actors {

class endpoint;
class gateway;

/// Where an actor runs.
enum class placement : std::uint8_t {
  control, ///< a thread of its own (in a simulation: the one scheduler)
  shared,  ///< the scheduler's threads, with all subtasks
};

/// What a parent does when a child ends by failure.
enum class supervision : std::uint8_t {
  notify,   ///< only `on_child_ended`
  escalate, ///< the parent ends too, with the child's cause
};

struct spawn_options {
  std::string name; ///< last part of the endpoint's name: unique among the parent's live children
  std::string kind; ///< e.g. "job_master": what inspection groups by
  placement where = placement::control;
  supervision policy = supervision::notify;
  /// Makes it known as an address under its full name; a subtask needs none.
  bool addressable = true;
};

/// What every actor is given. References live as long as the node.
struct actor_environment {
  const headrace::clock& time;
  headrace::executor& blocking;
  headrace::random_source& random;
  headrace::logger log;
  node_id node;
};

using timer_id = std::uint64_t;

/// Answers one ask, once: `send(message)` or `fail(error)`. May be kept and used in a later turn of
/// the same endpoint; dropped unanswered, the asker gets an error: `peer_lost` when the endpoint
/// has ended, else `internal`.
class responder {
public:
  responder() = default;
  void send(const any_message& answer);
  void fail(error failure);
  bool is_open() const { return owner_ != nullptr; }

  responder(responder&& other) noexcept = default;
  responder& operator=(responder&& other) noexcept;
  ~responder();

private:
  friend class endpoint;
  responder(std::shared_ptr<const actor_ref::target> owner, address to, std::uint64_t correlation)
      : owner_(std::move(owner)), to_(std::move(to)), correlation_(correlation) {}
  std::shared_ptr<const actor_ref::target> owner_; ///< none: answered
  address to_;
  std::uint64_t correlation_ = 0;
};

/// A typed `responder`.
template <class S>
class reply_to {
public:
  reply_to() = default;
  explicit reply_to(responder inner) : inner_(std::move(inner)) {}
  void send(const message<S>& answer) { inner_.send(answer.untyped()); }
  void fail(error failure) { inner_.fail(std::move(failure)); }
  bool is_open() const { return inner_.is_open(); }

private:
  responder inner_;
};

/// The base of every thin actor. Owned by one CAF actor; everything here is called in that actor's
/// turn, one thread at a time. No CAF type is seen by who derives.
///
/// Life cycle: constructor → `on_start` (the environment is there) → turns (handlers, mail, timers,
/// child ends) → children stop → `on_stop` → destructor. What a turn throws ends the actor with
/// `internal` and the words of the exception.
///
/// Order: messages from one sender to one endpoint (tell, ask, their answers) keep their order, and
/// go before mail of normal priority; so do timers, answers of the executor, and ends of children.
class endpoint {
public:
  endpoint();
  virtual ~endpoint();
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  /// CAF's side calls these; see endpoint_actor.
  struct host;
  void attach(host& under);
  void start();
  void stop(const error& cause);
  struct delivery;
  void deliver(delivery&& what);

protected:
  virtual void on_start() {}
  /// The last turn: all children have ended. `cause` has code none for an orderly stop. Asks that
  /// were kept may still be answered.
  virtual void on_stop(const error& /*cause*/) {}
  virtual void on_mail(mail_ptr /*content*/) {}
  /// A child ended; `cause` has code none when it stopped in order.
  virtual void on_child_ended(const std::string& /*name*/, const error& /*cause*/) {}
  /// A monitored actor ended (`monitor`).
  virtual void on_peer_ended(const address& /*peer*/, const error& /*cause*/) {}

  // --- who I am
  const address& self() const;
  actor_ref self_ref() const;
  const actor_environment& environment() const;
  const headrace::logger& log() const;
  std::int64_t now_us() const { return environment().time.now_us(); }

  // --- what I answer
  /// Registers the handler of a one-way message. Call in the constructor.
  template <class S>
  void on_tell(std::function<void(const message<S>&, const address& from)> handler) {
    handle(type_id_of<S>(),
           [handler = std::move(handler)](const any_message& payload, const address& from,
                                          responder) { handler(message<S>(payload), from); });
  }
  /// Registers the handler of an ask. Call in the constructor.
  template <class Request, class Reply>
  void on_ask(std::function<void(const message<Request>&, reply_to<Reply>)> handler) {
    handle(type_id_of<Request>(), [handler = std::move(handler)](const any_message& payload,
                                                                 const address&, responder back) {
      handler(message<Request>(payload), reply_to<Reply>(std::move(back)));
    });
  }
  /// From now on a message must carry this token, or is refused with `fenced_off` (asks) or dropped
  /// and counted (tells). None: unfenced.
  void set_fencing_token(fencing_token token);
  fencing_token current_fencing_token() const;

  // --- what I say
  template <class S>
  void tell(const address& to, const message<S>& what, fencing_token fence = {}) {
    tell_untyped(to, what.untyped(), fence);
  }
  /// Asks with a deadline. `then` runs exactly once in a turn of this endpoint: with the reply, the
  /// failure that the other side sent, `timed_out`, `endpoint_not_found`, `peer_lost` or
  /// `fenced_off`; never after `on_stop`.
  template <class Reply, class Request>
  void ask(const address& to, const message<Request>& what, std::chrono::milliseconds timeout,
           std::function<void(result<message<Reply>>)> then, fencing_token fence = {}) {
    ask_untyped(to, what.untyped(), type_id_of<Reply>(), timeout, fence,
                [then = std::move(then)](result<any_message> answer) {
                  if (answer)
                    then(message<Reply>(std::move(*answer)));
                  else
                    then(std::move(answer).error());
                });
  }

  // --- later, elsewhere
  /// Runs `action` in a turn of this endpoint after `delay`. Ends with the endpoint.
  timer_id after(std::chrono::milliseconds delay, std::function<void()> action);
  void cancel_timer(timer_id which);
  /// Runs `action` in a later turn, behind what waits already.
  void later(std::function<void()> action);
  /// Runs `step` on the executor, then `then(value)` in a turn of this endpoint (dropped if ended).
  template <class T>
  void run_blocking(std::function<T()> step, std::function<void(T)> then) {
    auto slot = std::make_shared<std::unique_ptr<T>>();
    submit_blocking([slot, step = std::move(step)] { *slot = std::make_unique<T>(step()); },
                    [slot, then = std::move(then)] { then(std::move(**slot)); });
  }

  // --- children and end
  /// Starts a child. Its full name is `<own name>/<options.name>`, or `options.name` below the
  /// root.
  address spawn(std::unique_ptr<endpoint> child, spawn_options options);
  /// The handle of a live child, none if there is none of that name.
  actor_ref child_ref(const std::string& name) const;
  /// Asks a child to stop in order; `on_child_ended` follows.
  void stop_child(const std::string& name);
  /// `on_peer_ended` is called with `peer` once, when it ends; soon, when there is none.
  void monitor(const address& peer);
  /// Ends this actor after the turn: its children first, during which it takes no message.
  void quit(error cause = {});
  /// Tells the root supervisor: the process must not go on.
  void fatal(error cause);

  // --- without types, for what carries messages of others
  static constexpr std::uint64_t any_reply = 0;
  void tell_untyped(const address& to, const any_message& what, fencing_token fence);
  /// As `ask`; `any_reply` takes a reply of every type.
  void ask_untyped(const address& to, const any_message& what, std::uint64_t reply_type,
                   std::chrono::milliseconds timeout, fencing_token fence,
                   std::function<void(result<any_message>)> then);

private:
  friend class gateway;
  using message_handler = std::function<void(const any_message&, const address& from, responder)>;
  void handle(std::uint64_t type_id, message_handler action);
  void submit_blocking(std::function<void()> step, std::function<void()> then);

  struct state;
  std::unique_ptr<state> state_;
};

} // namespace headrace::actors
