#include "libscheduler/rest/rest_endpoint.hpp"

#include "libscheduler/rest/handler/checkpoint_handlers.hpp"
#include "libscheduler/rest/handler/job_handlers.hpp"
#include "libscheduler/rest/handler/vertex_handlers.hpp"
#include "libactors/message/ids_codec.hpp"
#include "schema/error.capnp.h"

#include <charconv>
#include <optional>
#include <utility>

namespace headrace::scheduler {

class rest_endpoint::door {
public:
  void open(actors::actor_ref to) {
    const std::lock_guard lock(guard_);
    to_ = std::move(to);
  }
  void close() { open({}); }
  /// Any thread. Behind a closed door the request is dropped, which answers it.
  void leave(actors::http_request what, actors::http_responder back) {
    const std::lock_guard lock(guard_);
    if (!to_.is_none())
      to_.send(std::make_unique<actors::http_mail>(std::move(what), std::move(back)));
  }

private:
  std::mutex guard_;
  actors::actor_ref to_;
};

/// One request on its way to its answer.
struct rest_endpoint::exchange {
  actors::http_request request;
  actors::router::parameters path;
  actors::http_responder back;

  void send(std::string body, unsigned status = 200) {
    actors::http_response answer;
    answer.status = status;
    answer.body = std::move(body);
    back.send(std::move(answer));
  }
  void fail(const error& why) { back.send(actors::error_response(why)); }
};

rest_endpoint::rest_endpoint(rest_settings settings, std::shared_ptr<door> in,
                             std::unique_ptr<actors::http_server> server)
    : settings_(std::move(settings)), door_(std::move(in)), server_(std::move(server)) {
  add("GET", "/overview", &rest_endpoint::overview);
  add("GET", "/config", &rest_endpoint::config);
  add("GET", "/jobs", &rest_endpoint::jobs);
  add("GET", "/jobs/overview", &rest_endpoint::jobs_overview);
  add("GET", "/jobs/:job", &rest_endpoint::job);
  add("PATCH", "/jobs/:job", &rest_endpoint::end_job);
  add("GET", "/jobmanager/config", &rest_endpoint::job_manager_config);
  add("GET", "/jobs/:job/config", &rest_endpoint::job_config);
  add("GET", "/jobs/:job/status", &rest_endpoint::job_status);
  add("GET", "/jobs/:job/accumulators", &rest_endpoint::accumulators);
  add("GET", "/jobs/:job/plan", &rest_endpoint::plan);
  add("GET", "/jobs/:job/exceptions", &rest_endpoint::exceptions);
  add("GET", "/jobs/:job/checkpoints", &rest_endpoint::checkpoints);
  add("GET", "/jobs/:job/checkpoints/details/:checkpoint", &rest_endpoint::checkpoint);
  add("POST", "/jobs/:job/savepoints", &rest_endpoint::take_savepoint);
  add("GET", "/jobs/:job/savepoints/:trigger", &rest_endpoint::savepoint);
  add("POST", "/jobs/:job/stop", &rest_endpoint::stop);
  add("GET", "/jobs/:job/vertices/:vertex", &rest_endpoint::vertex);
  add("GET", "/jobs/:job/vertices/:vertex/backpressure", &rest_endpoint::back_pressure);
  add("GET", "/jobs/:job/vertices/:vertex/metrics", &rest_endpoint::vertex_metrics);
  add("GET", "/jobs/:job/vertices/:vertex/subtasks/:subtask", &rest_endpoint::subtask);
  add("GET", "/taskmanagers", &rest_endpoint::executors);
  add("GET", "/taskmanagers/:executor", &rest_endpoint::executor);
  add("GET", "/debug/cluster", &rest_endpoint::cluster);
  add("GET", "/debug/actors", &rest_endpoint::all_actors);
  add("GET", "/debug/actors/:actor", &rest_endpoint::one_actor);
}

rest_endpoint::~rest_endpoint() = default;

void rest_endpoint::add(std::string_view method, std::string_view pattern, answer_function answer) {
  for (const auto* prefix : {"", "/v1"}) {
    router_.add(method, prefix + std::string(pattern));
    answers_.push_back(answer);
  }
}

void rest_endpoint::on_start() {
  if (door_ != nullptr)
    door_->open(self_ref());
}

void rest_endpoint::on_stop(const error& /*cause*/) {
  if (door_ != nullptr)
    door_->close();
  server_.reset();
}

void rest_endpoint::on_mail(actors::mail_ptr content) {
  if (content->kind() != actors::http_mail::kind)
    return;
  auto& received = static_cast<actors::http_mail&>(*content);
  auto with = std::make_shared<exchange>();
  with->request = std::move(received.what);
  with->back = std::move(received.back);
  auto found = router_.match(with->request);
  if (!found.route) {
    with->back.send(std::move(found.refusal));
    return;
  }
  with->path = std::move(found.path);
  (this->*answers_[*found.route])(with);
}

template <class Reply, class Request>
void rest_endpoint::answer_by(const exchange_ptr& with, const actors::address& whom,
                              const message<Request>& question,
                              std::function<result<std::string>(const message<Reply>&)> describe,
                              unsigned status) {
  ask<Reply>(whom, question, settings_.ask_timeout,
             [with, describe = std::move(describe), status](const result<message<Reply>>& answer) {
               if (!answer) {
                 with->fail(answer.error());
                 return;
               }
               auto described = checked_read([&] { return describe(*answer); });
               if (described)
                 with->send(std::move(*described), status);
               else
                 with->fail(described.error());
             });
}

void rest_endpoint::answer_by_jobs(
    const exchange_ptr& with,
    std::function<std::string(const message<schema::JobList>&)> describe) {
  answer_by<schema::JobList>(
      with, settings_.cluster.dispatcher, message_builder<schema::ListJobs>().finish(),
      [describe = std::move(describe)](
          const message<schema::JobList>& jobs) -> result<std::string> { return describe(jobs); });
}

void rest_endpoint::answer_by_job(
    const exchange_ptr& with,
    std::function<result<std::string>(const message<schema::JobDetails>&)> describe) {
  const auto id = parse_id<job_tag>(with->path["job"]);
  if (!id) {
    with->fail(id.error());
    return;
  }
  message_builder<schema::RequestJobDetails> question;
  write(question->initJob(), *id);
  answer_by<schema::JobDetails>(with, settings_.cluster.dispatcher, question.finish(),
                                std::move(describe));
}

void rest_endpoint::overview(const exchange_ptr& with) {
  ask<schema::TaskExecutorList>(
      settings_.cluster.resource_manager, message_builder<schema::ListTaskExecutors>().finish(),
      settings_.ask_timeout,
      [this, with](const result<message<schema::TaskExecutorList>>& executors) {
        if (!executors) {
          with->fail(executors.error());
          return;
        }
        answer_by_jobs(with, [executors = *executors](const message<schema::JobList>& jobs) {
          return describe_overview(jobs, executors);
        });
      });
}

void rest_endpoint::config(const exchange_ptr& with) { with->send(describe_config()); }

void rest_endpoint::job_manager_config(const exchange_ptr& with) {
  with->send(describe_settings(settings_.configuration));
}

void rest_endpoint::cluster(const exchange_ptr& with) {
  with->send(describe_cluster(settings_.cluster));
}

void rest_endpoint::jobs(const exchange_ptr& with) { answer_by_jobs(with, describe_jobs); }

void rest_endpoint::jobs_overview(const exchange_ptr& with) {
  answer_by_jobs(with, [this](const message<schema::JobList>& jobs) {
    return describe_jobs_overview(jobs, environment().time.wall_ms());
  });
}

void rest_endpoint::job(const exchange_ptr& with) {
  answer_by_job(with, [this](const message<schema::JobDetails>& job) -> result<std::string> {
    return describe_job(job, environment().time.wall_ms());
  });
}

void rest_endpoint::job_config(const exchange_ptr& with) {
  answer_by_job(with, [](const message<schema::JobDetails>& job) -> result<std::string> {
    return describe_job_config(job);
  });
}

void rest_endpoint::job_status(const exchange_ptr& with) {
  answer_by_job(with, [](const message<schema::JobDetails>& job) -> result<std::string> {
    return describe_status(job);
  });
}

void rest_endpoint::accumulators(const exchange_ptr& with) {
  answer_by_job(with, [](const message<schema::JobDetails>& job) -> result<std::string> {
    return describe_accumulators(job);
  });
}

void rest_endpoint::plan(const exchange_ptr& with) {
  answer_by_job(with, [](const message<schema::JobDetails>& job) -> result<std::string> {
    return describe_plan(job);
  });
}

void rest_endpoint::exceptions(const exchange_ptr& with) {
  answer_by_job(with, [](const message<schema::JobDetails>& job) -> result<std::string> {
    return describe_exceptions(job);
  });
}

void rest_endpoint::checkpoints(const exchange_ptr& with) {
  answer_by_job(with, [](const message<schema::JobDetails>& job) -> result<std::string> {
    return describe_checkpoints(job);
  });
}

void rest_endpoint::checkpoint(const exchange_ptr& with) {
  const auto& text = with->path["checkpoint"];
  const auto* end = text.data() + text.size();
  std::int64_t id = 0;
  const auto [stop, failed] = std::from_chars(text.data(), end, id);
  if (failed != std::errc() || stop != end || id <= 0) {
    with->fail(error(errc::bad_usage, "checkpoint is named by a number above 0: " + text));
    return;
  }
  answer_by_job(
      with, [id](const message<schema::JobDetails>& job) { return describe_checkpoint(job, id); });
}

void rest_endpoint::answer_by_vertex(
    const exchange_ptr& with,
    std::function<result<std::string>(const message<schema::JobDetails>&, const vertex_id&)>
        describe) {
  const auto vertex = parse_id<vertex_tag>(with->path["vertex"]);
  if (!vertex) {
    with->fail(vertex.error());
    return;
  }
  answer_by_job(with,
                [vertex = *vertex, describe = std::move(describe)](
                    const message<schema::JobDetails>& job) { return describe(job, vertex); });
}

void rest_endpoint::vertex(const exchange_ptr& with) {
  answer_by_vertex(with, [this](const auto& job, const vertex_id& wanted) {
    return describe_vertex(job, wanted, environment().time.wall_ms());
  });
}

void rest_endpoint::subtask(const exchange_ptr& with) {
  const auto& text = with->path["subtask"];
  const auto* end = text.data() + text.size();
  std::uint32_t number = 0;
  const auto [stop, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || stop != end) {
    with->fail(error(errc::bad_usage, "subtask is named by a number from 0: " + text));
    return;
  }
  answer_by_vertex(with, [this, number](const auto& job, const vertex_id& wanted) {
    return describe_subtask(job, wanted, number, environment().time.wall_ms());
  });
}

void rest_endpoint::back_pressure(const exchange_ptr& with) {
  answer_by_vertex(with, [this](const auto& job, const vertex_id& wanted) {
    return describe_back_pressure(job, wanted, environment().time.wall_ms());
  });
}

void rest_endpoint::vertex_metrics(const exchange_ptr& with) {
  std::optional<std::string> names;
  if (const auto named = with->request.query.find("get"); named != with->request.query.end())
    names = named->second;
  answer_by_vertex(with, [names](const auto& job, const vertex_id& wanted) {
    return describe_vertex_metrics(job, wanted, names);
  });
}

void rest_endpoint::end_job(const exchange_ptr& with) {
  const auto mode = with->request.query.find("mode");
  const std::string wanted = mode == with->request.query.end() ? "cancel" : mode->second;
  if (wanted != "cancel" && wanted != "stop") {
    with->fail(error(errc::bad_usage, "mode is cancel or stop: " + wanted));
    return;
  }
  const auto id = parse_id<job_tag>(with->path["job"]);
  if (!id) {
    with->fail(id.error());
    return;
  }
  if (wanted == "stop") {
    message_builder<schema::TakeSavepoint> order;
    write(order->initJob(), *id);
    order->setStop(schema::SavepointStop::SUSPEND);
    answer_by<schema::SavepointReply>(with, settings_.cluster.dispatcher, order.finish(),
                                      describe_stopped, 202);
    return;
  }
  message_builder<schema::CancelJob> order;
  write(order->initJob(), *id);
  answer_by<schema::Acknowledge>(
      with, settings_.cluster.dispatcher, order.finish(),
      [](const message<schema::Acknowledge>&) -> result<std::string> { return std::string("{}"); },
      202);
}

void rest_endpoint::take_savepoint(const exchange_ptr& with) {
  trigger(with, read_savepoint_body(with->request.body));
}

void rest_endpoint::stop(const exchange_ptr& with) {
  trigger(with, read_stop_body(with->request.body));
}

void rest_endpoint::trigger(const exchange_ptr& with, result<savepoint_body> wanted) {
  const auto job = parse_id<job_tag>(with->path["job"]);
  if (!job || !wanted) {
    with->fail(!job ? job.error() : wanted.error());
    return;
  }
  if (wanted->trigger.is_none())
    wanted->trigger = environment().random.next_id<savepoint_trigger_id>();
  answer_by<schema::Acknowledge>(
      with, settings_.cluster.dispatcher, describe_trigger(*job, *wanted),
      [trigger = wanted->trigger](const message<schema::Acknowledge>&) -> result<std::string> {
        return describe_triggered(trigger);
      },
      202);
}

void rest_endpoint::savepoint(const exchange_ptr& with) {
  const auto job = parse_id<job_tag>(with->path["job"]);
  const auto trigger = parse_id<savepoint_trigger_tag>(with->path["trigger"]);
  if (!job || !trigger) {
    with->fail(!job ? job.error() : trigger.error());
    return;
  }
  message_builder<schema::RequestSavepointStatus> question;
  write(question->initJob(), *job);
  write(question->initTrigger(), *trigger);
  answer_by<schema::SavepointStatus>(
      with, settings_.cluster.dispatcher, question.finish(),
      [](const message<schema::SavepointStatus>& status) -> result<std::string> {
        return describe_savepoint(status);
      });
}

void rest_endpoint::executors(const exchange_ptr& with) {
  answer_by<schema::TaskExecutorList>(
      with, settings_.cluster.resource_manager,
      message_builder<schema::ListTaskExecutors>().finish(),
      [](const message<schema::TaskExecutorList>& list) -> result<std::string> {
        return describe_executors(list);
      });
}

void rest_endpoint::executor(const exchange_ptr& with) {
  const auto id = parse_id<task_executor_tag>(with->path["executor"]);
  if (!id) {
    with->fail(id.error());
    return;
  }
  answer_by<schema::TaskExecutorList>(with, settings_.cluster.resource_manager,
                                      message_builder<schema::ListTaskExecutors>().finish(),
                                      [id = *id](const message<schema::TaskExecutorList>& list) {
                                        return describe_executor(list, id);
                                      });
}

actor_census rest_endpoint::census() {
  return {*this,
          settings_.cluster.resource_manager,
          {environment().node, settings_.cluster.dispatcher.node,
           settings_.cluster.resource_manager.node},
          settings_.introspection_timeout};
}

void rest_endpoint::all_actors(const exchange_ptr& with) {
  census().take([this, with](const std::vector<node_actors>& nodes) {
    with->send(describe_actors(nodes, settings_.mail_name));
  });
}

void rest_endpoint::one_actor(const exchange_ptr& with) {
  const auto key = parse_actor_key(with->path["actor"]);
  if (!key) {
    with->fail(key.error());
    return;
  }
  census().take_of(key->node, [this, with, key = *key](const node_actors& heard) {
    auto described = describe_actor(heard, key, settings_.mail_name);
    if (described)
      with->send(std::move(*described));
    else
      with->fail(described.error());
  });
}

result<rest_access> spawn_rest(actors::node& on, rest_settings settings) {
  auto door = std::make_shared<rest_endpoint::door>();
  actors::http_server_settings server_settings;
  server_settings.bind_address = settings.bind_address;
  server_settings.port = settings.port;
  server_settings.address_option = "rest.bind-address";
  server_settings.port_option = "rest.port";
  server_settings.limits = settings.limits;
  server_settings.log = on.environment().log;
  HEADRACE_TRY(auto server, actors::http_server::start(
                                std::move(server_settings),
                                [door](actors::http_request what, actors::http_responder back) {
                                  door->leave(std::move(what), std::move(back));
                                }));
  rest_access out;
  out.port = server->port();
  out.endpoint =
      on.spawn(std::make_unique<rest_endpoint>(std::move(settings), door, std::move(server)),
               {.name = "rest",
                .kind = "rest_endpoint",
                .where = actors::placement::control,
                .policy = actors::supervision::notify,
                .addressable = true});
  if (out.endpoint.is_none())
    return error(errc::internal, "REST endpoint cannot be started: see the log");
  return out;
}

} // namespace headrace::scheduler
