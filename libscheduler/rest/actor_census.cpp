#include "libscheduler/rest/actor_census.hpp"

#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"
#include "libactors/supervision/introspection_endpoint.hpp"

#include <utility>

namespace headrace::scheduler {
namespace {

class introspection_gateway final : public actors::gateway {
public:
  using gateway::gateway;
  void list(std::chrono::milliseconds timeout, answer<schema::ActorList> then) const {
    message_builder<schema::ListActors> question;
    question->setWithFailed(true);
    ask<schema::ActorList>(question.finish(), timeout, std::move(then));
  }
};

class executors_gateway final : public actors::gateway {
public:
  using gateway::gateway;
  void list(std::chrono::milliseconds timeout, answer<schema::TaskExecutorList> then) const {
    ask<schema::TaskExecutorList>(message_builder<schema::ListTaskExecutors>().finish(), timeout,
                                  std::move(then));
  }
};

struct gathering {
  std::vector<node_actors> heard;
  std::size_t missing = 0;
  std::function<void(std::vector<node_actors>)> then;
};

} // namespace

void actor_census::take_of(const node_id& node, std::function<void(node_actors)> then) const {
  const introspection_gateway gateway(*asker_, {node, std::string(actors::introspection_name), 0});
  gateway.list(timeout_,
               [node, then = std::move(then)](const result<message<schema::ActorList>>& answer) {
                 if (answer)
                   then({node, *answer, {}});
                 else
                   then({node, std::nullopt, answer.error()});
               });
}

void actor_census::take(std::function<void(std::vector<node_actors>)> then) const {
  const executors_gateway gateway(*asker_, resource_manager_);
  gateway.list(timeout_, [census = *this, then = std::move(then)](
                             const result<message<schema::TaskExecutorList>>& answer) {
    auto nodes = census.nodes_;
    if (answer) {
      const auto view = answer->view();
      for (const auto executor : view->getExecutors())
        nodes.insert(actors::read_address(executor.getAddress()).node);
    }
    auto all = std::make_shared<gathering>();
    all->missing = nodes.size();
    all->then = then;
    if (nodes.empty())
      then({});
    for (const auto& node : nodes)
      census.take_of(node, [all](node_actors heard) {
        all->heard.push_back(std::move(heard));
        if (--all->missing == 0)
          all->then(std::move(all->heard));
      });
  });
}

} // namespace headrace::scheduler
