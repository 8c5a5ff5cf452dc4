#pragma once

#include "libactors/registry/actor_registry.hpp"
#include "libactors/rpc/actor_target.hpp"
#include "libactors/rpc/delivery.hpp"
#include "libactors/rpc/endpoint.hpp"
#include "libactors/rpc/envelope.hpp"
#include "libactors/rpc/node.hpp"
#include "libactors/rpc/wake_service.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace headrace::actors {

/// What a new actor is made of; used up by its constructor.
struct actor_setup {
  std::shared_ptr<class node_core> core;
  std::unique_ptr<endpoint> content;
  spawn_options options;
  std::string full_name;
  actor_ref parent; ///< none: this is the root
  std::uint64_t instance = 0;
};

/// The seams of a node, and who runs its actors.
struct node_seams {
  std::unique_ptr<clock> time;
  std::unique_ptr<executor> blocking;
  std::unique_ptr<random_source> random;
  std::unique_ptr<wake_service> wakes;
  bool detaches = true; ///< whether placement::control means a thread of its own
};

/// Holds what the actors of a node share: the CAF system, the table of local endpoints, the routes.
/// The table is behind a lock that is held for look-ups only; mail between actors takes none.
/// Shared, because handles and responders may outlive the node.
class node_core : public std::enable_shared_from_this<node_core> {
public:
  node_core(node_options options, node_seams seams,
            std::unique_ptr<caf::actor_system_config> config);
  ~node_core();

  // --- life cycle
  /// Starts the root supervisor. Once, before all else.
  void start();
  /// Ends the CAF system; all actors have ended.
  void finish();
  caf::actor_system& system() { return *system_; }

  // --- actors
  /// @returns nowhere when a live actor has that name already
  address spawn(std::unique_ptr<endpoint> child, spawn_options options, const actor_ref& parent);
  /// As a child of the root, from any thread.
  address spawn_below_root(std::unique_ptr<endpoint> child, spawn_options options);
  /// Called by a new actor, before it runs: enters it under the name that `spawn` reserved.
  std::shared_ptr<const actor_ref::target> enroll(const actor_setup& setup,
                                                  caf::weak_actor_ptr actor);
  /// Called by an actor that ends, in its last turn.
  void retire(const endpoint::host& gone, const actor_ref& parent, const error& cause);
  /// The live actor of that name and instance (0: any), addressable or not.
  std::shared_ptr<const actor_ref::target> find(const address& where) const;
  std::shared_ptr<const actor_ref::target> root() const { return root_; }

  // --- messages
  /// Brings it to its receiver, here or elsewhere. An ask that cannot be brought is answered.
  void route(envelope what);
  /// Answers an ask with a failure.
  void refuse(const envelope& ask, error why);
  void watch(const address& peer, const std::shared_ptr<const actor_ref::target>& watcher);
  void connect(std::shared_ptr<remote_link> link);
  void report_lost(const node_id& lost, const error& cause);
  void report_ended(const address& peer, const error& cause);

  // --- end of all
  /// Has the root answer a fatal error; only the first one counts.
  void fatal(error cause);
  /// Asks the root to stop. From now on what is spawned is stopped at once.
  void begin_stop();
  bool has_root_ended() const;
  /// Blocks until the root has ended, at most so long. @returns whether it has
  bool await_root_end(std::chrono::milliseconds timeout);

  const node_options options;
  const node_seams seams;
  const node_id id;
  const actor_environment environment;
  actor_registry registry;

private:
  struct watch_entry {
    address peer;
    std::shared_ptr<const actor_ref::target> watcher;
  };
  struct entry {
    std::shared_ptr<const actor_ref::target> target; ///< none: reserved by a spawn
    bool addressable = false;
    std::vector<watch_entry> watchers;
  };

  address reserve(const std::string& full_name);
  bool launch(actor_setup setup, const address& reserved);
  std::shared_ptr<remote_link> link() const;
  std::vector<std::shared_ptr<const actor_ref::target>> all_targets() const;

  mutable std::mutex guard_;
  std::unordered_map<std::string, entry> table_;
  std::vector<watch_entry> remote_watches_;
  std::shared_ptr<remote_link> link_;
  std::uint64_t next_instance_ = 1;
  bool has_root_ended_ = false;
  std::condition_variable root_ended_;
  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> has_fatal_{false};
  std::shared_ptr<const actor_ref::target> root_;
  const std::unique_ptr<caf::actor_system_config> config_;
  std::optional<caf::actor_system> system_;
};

} // namespace headrace::actors
