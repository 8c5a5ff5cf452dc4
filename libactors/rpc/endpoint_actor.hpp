#pragma once

#include "libactors/rpc/endpoint_host.hpp"
#include "libactors/rpc/node_core.hpp"

#include <caf/event_based_actor.hpp>

#include <optional>

namespace headrace::actors {

/// The one CAF actor class: carries an endpoint, hands it what comes, counts, and tells the parent
/// and the table when it ends. Its own messages bypass CAF's matching of handlers.
class endpoint_actor final : public caf::event_based_actor {
public:
  endpoint_actor(caf::actor_config& config, actor_setup* setup);
  ~endpoint_actor() override;

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* on) override;
  resume_result resume(caf::execution_unit* on, std::size_t throughput_max) override;
  caf::invoke_message_result consume(caf::mailbox_element& what) override;
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "headrace.endpoint"; }

private:
  struct actor_host;

  void hand_over(caf::mailbox_element& what);

  std::unique_ptr<actor_host> host_;
  std::shared_ptr<actor_record> record_;
  std::unique_ptr<endpoint> content_;
  actor_ref parent_;
  caf::strong_actor_ptr alive_; ///< itself, until it ends: senders hold it weakly
  const headrace::clock& time_;
  const bool detached_;
};

} // namespace headrace::actors
