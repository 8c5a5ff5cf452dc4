#pragma once

#include "libscheduler/rest/actor_census.hpp"
#include "libscheduler/rest/handler/actor_handlers.hpp"
#include "libscheduler/rest/handler/cluster_handlers.hpp"
#include "libscheduler/rest/handler/savepoint_handlers.hpp"
#include "libactors/http/http_server.hpp"
#include "libactors/http/router.hpp"
#include "libactors/rpc/node.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headrace::scheduler {

struct rest_settings {
  std::string bind_address = "127.0.0.1";
  std::uint16_t port = 8081; ///< 0: any free one
  actors::http_limits limits;
  std::chrono::milliseconds ask_timeout{10'000};
  std::chrono::milliseconds introspection_timeout{1'000}; ///< then a node is silent
  cluster_addresses cluster;
  std::map<std::string, std::string, std::less<>> configuration = {}; ///< of the job manager
  mail_namer mail_name;
};

/// Answers the REST interface: asks the dispatcher, the resource manager and every node's
/// introspection endpoint, and describes what they say in JSON. Holds no state of its own; blocks
/// nowhere. Owns the HTTP server. One a cluster.
class rest_endpoint final : public actors::endpoint {
public:
  /// Where the server's thread leaves requests, before the actor is there and after it has ended.
  class door;
  /// `in` and `server` may both be null: then requests come as mail only.
  rest_endpoint(rest_settings settings, std::shared_ptr<door> in,
                std::unique_ptr<actors::http_server> server);
  ~rest_endpoint() override;

private:
  struct exchange;
  using exchange_ptr = std::shared_ptr<exchange>;
  using answer_function = void (rest_endpoint::*)(const exchange_ptr&);

  void on_start() override;
  void on_mail(actors::mail_ptr content) override;
  void on_stop(const error& cause) override;

  void add(std::string_view method, std::string_view pattern, answer_function answer);
  template <class Reply, class Request>
  void answer_by(const exchange_ptr& with, const actors::address& whom,
                 const message<Request>& question,
                 std::function<result<std::string>(const message<Reply>&)> describe,
                 unsigned status = 200);
  void answer_by_jobs(const exchange_ptr& with,
                      std::function<std::string(const message<schema::JobList>&)> describe);
  void
  answer_by_job(const exchange_ptr& with,
                std::function<result<std::string>(const message<schema::JobDetails>&)> describe);
  void answer_by_vertex(
      const exchange_ptr& with,
      std::function<result<std::string>(const message<schema::JobDetails>&, const vertex_id&)>
          describe);
  actor_census census();

  void overview(const exchange_ptr& with);
  void config(const exchange_ptr& with);
  void job_manager_config(const exchange_ptr& with);
  void cluster(const exchange_ptr& with);
  void jobs(const exchange_ptr& with);
  void jobs_overview(const exchange_ptr& with);
  void job(const exchange_ptr& with);
  void job_config(const exchange_ptr& with);
  void job_status(const exchange_ptr& with);
  void accumulators(const exchange_ptr& with);
  void plan(const exchange_ptr& with);
  void exceptions(const exchange_ptr& with);
  void checkpoints(const exchange_ptr& with);
  void checkpoint(const exchange_ptr& with);
  void vertex(const exchange_ptr& with);
  void subtask(const exchange_ptr& with);
  void vertex_metrics(const exchange_ptr& with);
  void back_pressure(const exchange_ptr& with);
  void end_job(const exchange_ptr& with);
  void take_savepoint(const exchange_ptr& with);
  void stop(const exchange_ptr& with);
  void trigger(const exchange_ptr& with, result<savepoint_body> wanted);
  void savepoint(const exchange_ptr& with);
  void executors(const exchange_ptr& with);
  void executor(const exchange_ptr& with);
  void all_actors(const exchange_ptr& with);
  void one_actor(const exchange_ptr& with);

  rest_settings settings_;
  std::shared_ptr<door> door_;
  std::unique_ptr<actors::http_server> server_;
  actors::router router_;
  std::vector<answer_function> answers_; // by route
};

struct rest_access {
  actors::address endpoint;
  std::uint16_t port = 0; ///< that it listens on
};
/// Starts the REST interface on a node. Its server is bound when this returns.
/// @errors connection_failed  names port and option
/// @errors bad_option_value     of rest.bind-address
result<rest_access> spawn_rest(actors::node& on, rest_settings settings);

} // namespace headrace::scheduler
