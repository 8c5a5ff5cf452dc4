#pragma once

#include "libactors/base/clock.hpp"
#include "libactors/base/executor.hpp"
#include "libactors/base/log.hpp"
#include "libactors/base/random.hpp"
#include "libactors/rpc/endpoint.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace headrace::actors {

class actor_registry;
class remote_link;
struct envelope;

/// How a node's actors are run. The deterministic one of the tests implements it too.
struct node_options {
  std::string name = "node";
  int scheduler_threads = 0; ///< 0: one a core
  int executor_threads = 8;
  std::chrono::milliseconds shutdown_deadline{10'000};
  headrace::logger log;
  /// Called once, on the root's thread, when an actor reported a fatal error. Must not call
  /// `shut_down`, which awaits that thread.
  std::function<void(const error&)> on_fatal;
};

/// One process's share of the cluster: the CAF system, the root supervisor, the table of local
/// endpoints, the seams. Destroying it stops every actor within the deadline.
class node {
public:
  virtual ~node() = default;

  virtual const actor_environment& environment() const = 0;
  /// Starts an actor below the root. Any thread.
  virtual address spawn(std::unique_ptr<endpoint> child, spawn_options options) = 0;
  /// Finds a live local actor; none if there is none.
  virtual actor_ref find(const address& where) const = 0;

  /// Asks from outside of any actor (tests, the command line); blocks, or in a deterministic system
  /// runs it until the answer is there.
  virtual result<any_message> ask_and_wait(const address& to, const any_message& what,
                                           std::chrono::milliseconds timeout,
                                           fencing_token fence = {}) = 0;
  template <class Reply, class Request>
  result<message<Reply>> ask_and_wait(const address& to, const message<Request>& what,
                                      std::chrono::milliseconds timeout) {
    HEADRACE_TRY(auto answer, ask_and_wait(to, what.untyped(), timeout));
    if (answer.type_id() != type_id_of<Reply>())
      return error(errc::malformed_message, "reply of another type");
    return message<Reply>(std::move(answer));
  }

  /// Describes every live actor: see libactors/registry.
  virtual actor_registry& actors() = 0;

  /// Sends what is for other nodes over `link` from now on; without one such asks fail.
  virtual void connect(std::shared_ptr<remote_link> link) = 0;
  /// Takes a checked envelope from another node.
  virtual void receive(envelope what) = 0;
  /// All endpoints of that node are gone: pending asks to it fail, its watchers are told.
  virtual void report_lost(const node_id& lost, const error& cause) = 0;
  /// One endpoint of another node has ended.
  virtual void report_ended(const address& peer, const error& cause) = 0;

  /// Stops all actors, children first; returns whether all ended within the deadline. Those that
  /// did not are logged by name, and keep what they need of the node. May be called again.
  virtual bool shut_down() = 0;
};

/// Makes a node on real threads with the machine's clocks.
std::unique_ptr<node> make_node(node_options options);

/// Makes a node whose actors, timers and executor steps run on the calling thread only, in an order
/// drawn from `seed`, with virtual time. See `deterministic_node`.
class deterministic_node : public node {
public:
  /// Runs one runnable actor message or executor step. @returns false when nothing is runnable
  virtual bool run_once() = 0;
  /// Runs until nothing is runnable now (timers are not advanced), at most `steps_max` steps.
  virtual std::uint64_t run(std::uint64_t steps_max) = 0;
  /// Advances virtual time to the next timer and fires it. @returns false when there is none
  virtual bool advance_to_next_timer() = 0;
  /// Fires the next timer, if its time has come. @returns whether one was
  virtual bool fire_due_timer() = 0;
  /// Moves virtual time, fires the timers on the way and runs what they cause.
  virtual void advance(std::chrono::milliseconds by) = 0;
  /// Runs and advances until `done`, at most `steps_max` steps. @returns whether done
  virtual bool run_until(const std::function<bool()>& done, std::uint64_t steps_max) = 0;
  /// Ends the actor at once, without a farewell to anyone but its parent's and monitors' notices.
  virtual bool kill(const address& where) = 0;
  virtual std::uint64_t steps() const = 0;
};
std::unique_ptr<deterministic_node> make_deterministic_node(std::uint64_t seed,
                                                            node_options options);

} // namespace headrace::actors
