#include "libactors/rpc/node_core.hpp"

#include "libactors/base/limits.hpp"
#include "libactors/rpc/endpoint_actor.hpp"
#include "libactors/rpc/root_supervisor.hpp"

#include <algorithm>
#include <thread>

namespace headrace::actors {
namespace {

constexpr std::string_view root_name = "root";

std::string last_part(const std::string& full_name) {
  const auto slash = full_name.rfind('/');
  return slash == std::string::npos ? full_name : full_name.substr(slash + 1);
}

/// Tries whether the process may have one more thread. CAF counts an actor as running before it
/// starts its thread, and where that fails the system waits for it at its end, for ever. The stack
/// of this thread is kept for the next one, which so comes through most likely.
void try_a_thread() {
  std::thread([] {}).join(); // lint(thread): ends at once
}

error not_launched() {
  return {errc::internal, "no thread can be started for it: the process is at its limit of threads "
                          "or memory (ulimit -u, ulimit -v, or its control group's)"};
}

} // namespace

node_core::node_core(node_options options_in, node_seams seams_in,
                     std::unique_ptr<caf::actor_system_config> config)
    : options(std::move(options_in)), seams(std::move(seams_in)),
      id(seams.random->next_id<node_id>()), environment{.time = *seams.time,
                                                        .blocking = *seams.blocking,
                                                        .random = *seams.random,
                                                        .log = options.log.with(
                                                            {{"node", options.name}}),
                                                        .node = id},
      config_(std::move(config)) {
  system_.emplace(*config_);
}

node_core::~node_core() = default;

void node_core::start() {
  spawn_options root_options{.name = std::string(root_name), .kind = "root_supervisor"};
  const auto where =
      spawn(std::make_unique<root_supervisor>(registry), std::move(root_options), {});
  root_ = find(where);
}

void node_core::finish() {
  {
    const std::lock_guard lock(guard_);
    link_.reset();
    remote_watches_.clear();
  }
  seams.wakes->stop();
  system_.reset();
  root_.reset();
}

// --- actors

address node_core::reserve(const std::string& full_name) {
  const std::lock_guard lock(guard_);
  if (full_name.size() > limits::endpoint_name_bytes_max || !table_.try_emplace(full_name).second) {
    return {};
  }
  return {.node = id, .endpoint = full_name, .instance = next_instance_++};
}

bool node_core::launch(actor_setup setup, const address& reserved) {
  setup.instance = reserved.instance;
  const bool detached = seams.detaches && setup.options.where == placement::control;
  try {
    if (detached) {
      try_a_thread();
      system_->spawn<endpoint_actor, caf::detached>(&setup);
    } else {
      system_->spawn<endpoint_actor>(&setup);
    }
    return true;
  } catch (const std::exception& failure) { // no more threads, or no memory
    environment.log.error("cannot start an actor",
                          {{"endpoint", reserved.endpoint}, {"reason", failure.what()}});
    const std::lock_guard lock(guard_);
    table_.erase(reserved.endpoint);
    return false;
  }
}

address node_core::spawn(std::unique_ptr<endpoint> child, spawn_options spawn_as,
                         const actor_ref& parent) {
  const bool below_root = parent.is_none() || parent.get()->self.endpoint == root_name;
  auto full_name = below_root ? spawn_as.name : parent.get()->self.endpoint + '/' + spawn_as.name;
  const auto reserved = reserve(full_name);
  if (reserved.is_none()) {
    environment.log.error("cannot start an actor: name is taken or too long",
                          {{"endpoint", full_name}});
    return {};
  }
  const bool launched = launch({.core = shared_from_this(),
                                .content = std::move(child),
                                .options = std::move(spawn_as),
                                .full_name = std::move(full_name),
                                .parent = parent},
                               reserved);
  if (!launched && !parent.is_none()) {
    // The parent hears of it as of every other end, soon.
    parent.get()->post({child_ended{.name = last_part(reserved.endpoint),
                                    .instance = reserved.instance,
                                    .cause = not_launched()}});
    return reserved;
  }
  return launched ? reserved : address();
}

address node_core::spawn_below_root(std::unique_ptr<endpoint> child, spawn_options spawn_as) {
  const auto reserved = reserve(spawn_as.name);
  if (reserved.is_none()) {
    environment.log.error("cannot start an actor: name is taken or too long",
                          {{"endpoint", spawn_as.name}});
    return {};
  }
  // Before it runs, so that its end cannot come first.
  root_->post({child_adopted{
      .name = last_part(spawn_as.name), .where = reserved, .policy = spawn_as.policy}});
  auto full_name = spawn_as.name;
  const bool launched = launch({.core = shared_from_this(),
                                .content = std::move(child),
                                .options = std::move(spawn_as),
                                .full_name = std::move(full_name),
                                .parent = actor_ref(root_)},
                               reserved);
  if (!launched) {
    root_->post({child_ended{.name = last_part(reserved.endpoint),
                             .instance = reserved.instance,
                             .cause = not_launched()}});
    return {};
  }
  if (is_stopping_) {
    if (const auto started = find(reserved)) {
      started->post({stop_order{}});
    }
  }
  return reserved;
}

std::shared_ptr<const actor_ref::target> node_core::enroll(const actor_setup& setup,
                                                           caf::weak_actor_ptr actor) {
  auto made = std::make_shared<actor_ref::target>(
      std::move(actor),
      address{.node = id, .endpoint = setup.full_name, .instance = setup.instance},
      shared_from_this());
  const std::lock_guard lock(guard_);
  auto& reserved = table_[setup.full_name];
  reserved.target = made;
  reserved.addressable = setup.options.addressable;
  return made;
}

void node_core::retire(const endpoint::host& gone, const actor_ref& parent, const error& cause) {
  std::vector<watch_entry> watchers;
  {
    const std::lock_guard lock(guard_);
    const auto found = table_.find(gone.self.endpoint);
    if (found != table_.end() && found->second.target == gone.target) {
      watchers = std::move(found->second.watchers);
      table_.erase(found);
    }
  }
  registry.remove(gone.record, seams.time->now_us());
  if (seams.wakes->is_exact()) {
    seams.wakes->wake_at(gone.target, wake_service::never);
  }
  for (auto& each : watchers) {
    each.watcher->post({peer_ended{.peer = std::move(each.peer), .cause = cause}});
  }
  if (!parent.is_none()) {
    parent.get()->post({child_ended{
        .name = last_part(gone.self.endpoint), .instance = gone.self.instance, .cause = cause}});
  } else {
    const std::lock_guard lock(guard_);
    has_root_ended_ = true;
    root_ended_.notify_all();
  }
}

std::shared_ptr<const actor_ref::target> node_core::find(const address& where) const {
  const std::lock_guard lock(guard_);
  const auto found = table_.find(where.endpoint);
  if (found == table_.end() || !found->second.target ||
      (where.instance != 0 && found->second.target->self.instance != where.instance)) {
    return nullptr;
  }
  return found->second.target;
}

std::vector<std::shared_ptr<const actor_ref::target>> node_core::all_targets() const {
  std::vector<std::shared_ptr<const actor_ref::target>> out;
  {
    const std::lock_guard lock(guard_);
    for (const auto& [name, each] : table_) {
      if (each.target) {
        out.push_back(each.target);
      }
    }
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a->self.instance < b->self.instance; });
  return out;
}

// --- messages

void node_core::route(envelope what) {
  if (what.to.node != id && !what.to.is_none()) {
    if (const auto over = link()) {
      over->send(std::move(what));
    } else if (what.kind == envelope_kind::ask) {
      refuse(what, {errc::peer_lost, "node is not connected: " + to_string(what.to)});
    }
    return;
  }
  std::shared_ptr<const actor_ref::target> receiver;
  bool known = false;
  {
    const std::lock_guard lock(guard_);
    const auto found = table_.find(what.to.endpoint);
    const bool is_answer = what.kind == envelope_kind::reply || what.kind == envelope_kind::failure;
    if (found != table_.end() && found->second.target && (found->second.addressable || is_answer)) {
      known = true;
      if (what.to.instance == 0 || found->second.target->self.instance == what.to.instance) {
        receiver = found->second.target;
      }
    }
  }
  if (receiver) {
    receiver->post({received_envelope(std::move(what), shared_from_this())});
  } else if (what.kind == envelope_kind::ask) {
    // An instance that was named has once been there.
    const bool was_there = known || what.to.instance != 0;
    refuse(what, was_there
                     ? error(errc::peer_lost, "endpoint has ended: " + to_string(what.to))
                     : error(errc::endpoint_not_found, "no such endpoint: " + to_string(what.to)));
  }
}

void node_core::refuse(const envelope& ask, error why) {
  if (ask.kind != envelope_kind::ask) {
    return;
  }
  route({.kind = envelope_kind::failure,
         .to = ask.from,
         .from = ask.to,
         .correlation = ask.correlation,
         .fence = {},
         .payload = {},
         .failure = std::move(why)});
}

void node_core::watch(const address& peer,
                      const std::shared_ptr<const actor_ref::target>& watcher) {
  if (peer.node != id && !peer.is_none()) {
    const auto over = link();
    if (over) {
      {
        const std::lock_guard lock(guard_);
        remote_watches_.push_back({.peer = peer, .watcher = watcher});
      }
      over->watch(peer);
      return;
    }
  } else {
    const std::lock_guard lock(guard_);
    const auto found = table_.find(peer.endpoint);
    if (found != table_.end() && found->second.target &&
        (peer.instance == 0 || found->second.target->self.instance == peer.instance)) {
      found->second.watchers.push_back({.peer = peer, .watcher = watcher});
      return;
    }
  }
  watcher->post({peer_ended{.peer = peer,
                            .cause = {errc::peer_lost, "endpoint has ended: " + to_string(peer)}}});
}

std::shared_ptr<remote_link> node_core::link() const {
  const std::lock_guard lock(guard_);
  return link_;
}

void node_core::connect(std::shared_ptr<remote_link> over) {
  const std::lock_guard lock(guard_);
  link_ = std::move(over);
}

void node_core::report_lost(const node_id& lost, const error& cause) {
  std::vector<watch_entry> watches;
  {
    const std::lock_guard lock(guard_);
    const auto gone =
        std::stable_partition(remote_watches_.begin(), remote_watches_.end(),
                              [&](const auto& each) { return each.peer.node != lost; });
    watches.assign(std::make_move_iterator(gone), std::make_move_iterator(remote_watches_.end()));
    remote_watches_.erase(gone, remote_watches_.end());
  }
  for (auto& each : watches) {
    each.watcher->post({peer_ended{.peer = std::move(each.peer), .cause = cause}});
  }
  for (const auto& each : all_targets()) {
    each->post({node_lost{.node = lost, .cause = cause}});
  }
}

void node_core::report_ended(const address& peer, const error& cause) {
  std::vector<watch_entry> watches;
  {
    const std::lock_guard lock(guard_);
    const auto is_other = [&](const watch_entry& each) {
      return each.peer.node != peer.node || each.peer.endpoint != peer.endpoint ||
             (each.peer.instance != 0 && each.peer.instance != peer.instance);
    };
    const auto gone =
        std::stable_partition(remote_watches_.begin(), remote_watches_.end(), is_other);
    watches.assign(std::make_move_iterator(gone), std::make_move_iterator(remote_watches_.end()));
    remote_watches_.erase(gone, remote_watches_.end());
  }
  for (auto& each : watches) {
    each.watcher->post({peer_ended{.peer = std::move(each.peer), .cause = cause}});
  }
}

// --- end of all

void node_core::fatal(error cause) {
  if (!root_ || has_fatal_.exchange(true)) {
    return;
  }
  root_->post({closure{[this, cause = std::move(cause)] { // a turn of the root, which ends last
    environment.log.error("fatal error", {{"cause", to_string(cause)}});
    if (options.on_fatal) {
      options.on_fatal(cause);
    }
  }}});
}

void node_core::begin_stop() {
  is_stopping_ = true;
  root_->post({stop_order{}});
}

bool node_core::has_root_ended() const {
  const std::lock_guard lock(guard_);
  return has_root_ended_;
}

bool node_core::await_root_end(std::chrono::milliseconds timeout) {
  std::unique_lock lock(guard_);
  return root_ended_.wait_for(lock, timeout, [&] { return has_root_ended_; });
}

} // namespace headrace::actors
