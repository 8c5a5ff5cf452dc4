#pragma once

#include "libactors/rpc/node.hpp"
#include "libactors/rpc/node_core.hpp"
#include "libactors/rpc/outside_ask.hpp"

#include <atomic>
#include <memory>

namespace headrace::actors {

/// What all kinds of node do alike. `Interface` is node or deterministic_node.
template <class Interface>
class node_base : public Interface {
public:
  const actor_environment& environment() const override { return core_->environment; }
  address spawn(std::unique_ptr<endpoint> child, spawn_options options) override {
    return core_->spawn_below_root(std::move(child), std::move(options));
  }
  actor_ref find(const address& where) const override { return actor_ref(core_->find(where)); }
  actor_registry& actors() override { return core_->registry; }
  void connect(std::shared_ptr<remote_link> link) override { core_->connect(std::move(link)); }
  void receive(envelope what) override { core_->route(std::move(what)); }
  void report_lost(const node_id& lost, const error& cause) override {
    core_->report_lost(lost, cause);
  }
  void report_ended(const address& peer, const error& cause) override {
    core_->report_ended(peer, cause);
  }

protected:
  explicit node_base(std::shared_ptr<node_core> core) : core_(std::move(core)) {}

  std::shared_ptr<awaited_answer> begin_ask(const address& to, const any_message& what,
                                            std::chrono::milliseconds timeout,
                                            fencing_token fence) {
    auto answer = std::make_shared<awaited_answer>();
    const auto where = spawn(std::make_unique<outside_ask>(to, what, timeout, fence, answer),
                             {.name = "ask-" + std::to_string(++asks_),
                              .kind = "outside_ask",
                              .where = placement::shared,
                              .policy = supervision::notify,
                              .addressable = false});
    if (where.is_none()) {
      answer->set(error(errc::shut_down, "the node is shut down"));
    }
    return answer;
  }

  std::shared_ptr<node_core> core_;

private:
  std::atomic<std::uint64_t> asks_{0};
};

} // namespace headrace::actors
