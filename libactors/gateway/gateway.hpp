#pragma once

#include "libactors/rpc/endpoint.hpp"

#include <chrono>
#include <functional>
#include <utility>

namespace headrace::actors {

/// The base of typed gateways: one endpoint as another sees it. A role's gateway derives from it
/// and names each message as a function:
///
///     class dispatcher_gateway final : public gateway {
///     public:
///       using gateway::gateway;
///       void submit(const message<schema::JobSubmission>& job, milliseconds timeout,
///                   answer<schema::Acknowledge> then) const {
///         ask<schema::Acknowledge>(job, timeout, std::move(then));
///       }
///     };
///
/// A value, used in the turns of the endpoint that owns it; the answer comes in one of its turns.
class gateway {
public:
  template <class S>
  using answer = std::function<void(result<message<S>>)>;

  /// Leads nowhere: asks fail with `endpoint_not_found`.
  explicit gateway(endpoint& asker) : asker_(&asker) {}
  /// @param fence  sent with every message; none where the receiver is not fenced
  gateway(endpoint& asker, actors::address where, fencing_token fence = {})
      : asker_(&asker), where_(std::move(where)), fence_(fence) {}

  const actors::address& where() const { return where_; }
  fencing_token fence() const { return fence_; }
  bool is_none() const { return where_.is_none(); }

protected:
  template <class Reply, class Request>
  void ask(const message<Request>& what, std::chrono::milliseconds timeout,
           answer<Reply> then) const {
    asker_->ask<Reply>(where_, what, timeout, std::move(then), fence_);
  }
  template <class S>
  void tell(const message<S>& what) const {
    asker_->tell(where_, what, fence_);
  }

private:
  endpoint* asker_;
  actors::address where_;
  fencing_token fence_;
};

} // namespace headrace::actors
