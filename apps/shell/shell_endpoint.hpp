#pragma once

#include "libscheduler/client/job_status.hpp"
#include "libscheduler/rest/actor_census.hpp"
#include "libscheduler/rest/handler/cluster_handlers.hpp"
#include "libactors/rpc/endpoint.hpp"
#include "libactors/rpc/outside_ask.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace headrace::shell {

/// Where the shell's actor puts what the thread of the commands waits for. Any thread.
template <class T>
class awaited {
public:
  void set(T value) {
    const std::lock_guard lock(guard_);
    if (!value_)
      value_ = std::move(value);
    there_.notify_all();
  }
  /// Nothing: it has not come after so long.
  std::optional<T> wait(std::chrono::milliseconds longest) {
    std::unique_lock lock(guard_);
    there_.wait_for(lock, longest, [&] { return value_.has_value(); });
    return value_;
  }

private:
  std::mutex guard_;
  std::condition_variable there_;
  std::optional<T> value_;
};

enum class shell_mail_kind : std::uint32_t {
  ask = 1,
  list_actors,
  watch_job,
  forget_watch,
  use_cluster
};

/// Ask the cluster this, and put the answer there.
struct ask_order final : actors::mail {
  ask_order() : mail(static_cast<std::uint32_t>(shell_mail_kind::ask)) {}
  actors::address to;
  any_message what;
  std::chrono::milliseconds timeout{0};
  std::shared_ptr<actors::awaited_answer> answer;
};
struct list_actors_order final : actors::mail {
  list_actors_order() : mail(static_cast<std::uint32_t>(shell_mail_kind::list_actors)) {}
  std::shared_ptr<awaited<std::vector<scheduler::node_actors>>> answer;
};
/// Look after a job: each change goes to `changed`, called in the actor's turns; the last state, or
/// why it cannot be told, to `end`.
struct watch_order final : actors::mail {
  watch_order() : mail(static_cast<std::uint32_t>(shell_mail_kind::watch_job)) {}
  std::uint64_t number = 0;
  job_id job;
  std::function<void(const scheduler::job_status&)> changed;
  std::shared_ptr<awaited<result<scheduler::job_status>>> end;
};
struct forget_watch_order final : actors::mail {
  forget_watch_order() : mail(static_cast<std::uint32_t>(shell_mail_kind::forget_watch)) {}
  std::uint64_t number = 0;
};

/// From now on the cluster's parts are there.
struct use_cluster_order final : actors::mail {
  use_cluster_order() : mail(static_cast<std::uint32_t>(shell_mail_kind::use_cluster)) {}
  scheduler::cluster_addresses cluster;
};

/// The shell as the cluster sees it: an actor on a node of the client's, that asks the dispatcher
/// and every node's introspection endpoint, and looks after jobs. The thread that reads commands
/// leaves orders in its mailbox.
class shell_endpoint final : public actors::endpoint {
public:
  shell_endpoint(scheduler::cluster_addresses cluster, std::chrono::milliseconds ask_timeout);

private:
  void on_mail(actors::mail_ptr content) override;
  void on_stop(const error& cause) override;

  void look(std::uint64_t number);
  void looked(std::uint64_t number, const result<message<schema::JobStatus>>& answer);

  scheduler::cluster_addresses cluster_;
  std::chrono::milliseconds ask_timeout_;
  std::map<std::uint64_t, std::unique_ptr<watch_order>> watches_;
};

} // namespace headrace::shell
