#include "apps/shell/shell_session.hpp"

#include "apps/cluster/job_settings.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "libgraph/job_graph/job_graph_codec.hpp"
#include "libactors/base/path.hpp"
#include "libactors/message/ids_codec.hpp"
#include "libactors/registry/actor_codec.hpp"

#include <algorithm>
#include <thread>

namespace headrace::shell {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds ask_timeout{10'000};
constexpr milliseconds savepoint_timeout{86'400'000}; // the checkpoint timeout ends it first
constexpr milliseconds census_patience{5'000};
/// How long a job manager that went away is waited for, and how often it is looked for.
constexpr milliseconds away_patience{300'000};
constexpr milliseconds find_pause{200};
/// How often a wait looks whether it was interrupted.
constexpr milliseconds look_up_interval{50};

std::int32_t default_parallelism(const submission& what) {
  if (what.parallelism > 0)
    return what.parallelism;
  if (what.settings.is_set("parallelism.default"))
    return static_cast<std::int32_t>(what.settings.get_int("parallelism.default"));
  return static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()));
}

client::listed_actor listed(const node_id& node, const actors::actor_snapshot& actor,
                            bool has_failed) {
  return {actor.id,
          to_string(node),
          actor.name,
          actor.parent,
          actor.kind,
          has_failed ? "failed" : std::string(name_of(actor.state)),
          actor.queue_depth,
          actor.taken,
          actor.refused,
          actor.busy_us,
          actor.last_error.code == errc::none ? "" : to_string(actor.last_error)};
}

error interrupted() { return {errc::job_canceled, "interrupted"}; }

} // namespace

result<job_id> match_job(std::string_view words, const std::vector<job_id>& ids,
                         const job_id& last) {
  if (words.empty() || words == "last") {
    if (last.is_none())
      return error(errc::bad_usage, "no job was submitted here: name one");
    return last;
  }
  if (auto whole = parse_id<job_tag>(words))
    return *whole;
  std::vector<job_id> fitting;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(fitting),
               [&](const job_id& id) { return to_string(id).starts_with(words); });
  if (fitting.empty())
    return error(errc::job_not_found, "no such job: " + std::string(words));
  if (fitting.size() > 1)
    return error(errc::bad_usage, "more than one job begins with " + std::string(words));
  return fitting.front();
}

shell_session::shell_session(cluster::cluster_access& cluster, file_system& files,
                             api::object_loader& loader, session_output output)
    : cluster_(cluster), files_(files), loader_(loader), output_(std::move(output)),
      client_(std::in_place, cluster.node(), cluster.addresses().dispatcher,
              cluster.addresses().blob_server),
      endpoint_(cluster.node().spawn(
          std::make_unique<shell_endpoint>(cluster.addresses(), ask_timeout),
          {"shell", "shell", actors::placement::shared, actors::supervision::notify, true})) {}

shell_session::~shell_session() = default;

void shell_session::order(actors::mail_ptr what) {
  cluster_.node().find(endpoint_).send(std::move(what));
}

/// Waits until the cluster answers again. @returns why it makes no sense to ask again
status shell_session::recover(const error& failure) {
  if (!cluster_.is_away(failure))
    return failure;
  if (is_interrupted())
    return interrupted();
  const auto& time = cluster_.node().environment().time;
  const auto end_us = time.now_us() + std::chrono::microseconds(away_patience).count();
  bool is_told = false;
  while (true) {
    const auto found = cluster_.find_again();
    if (found)
      break;
    if (!cluster_.is_away(found.error()) || time.now_us() > end_us)
      return found.error();
    if (is_interrupted())
      return interrupted();
    if (!std::exchange(is_told, true) && output_.tell)
      output_.tell("job manager does not answer, it is waited for");
    pause(find_pause);
  }
  const auto& found = cluster_.addresses();
  client_.emplace(cluster_.node(), found.dispatcher, found.blob_server);
  auto made = std::make_unique<use_cluster_order>();
  made->cluster = found;
  order(std::move(made));
  return {};
}

template <class Reply, class Request>
result<message<Reply>> shell_session::ask_once(const message<Request>& what, milliseconds timeout) {
  auto made = std::make_unique<ask_order>();
  const auto answer = std::make_shared<actors::awaited_answer>();
  made->to = cluster_.addresses().dispatcher;
  made->what = what.untyped();
  made->answer = answer;
  made->timeout = timeout.count() > 0 ? timeout : ask_timeout;
  const auto patience = made->timeout + milliseconds(1'000);
  order(std::move(made));
  const auto& time = cluster_.node().environment().time;
  const auto end_us = time.now_us() + std::chrono::microseconds(patience).count();
  auto said = answer->wait(look_up_interval);
  while (!said && !answer->is_there() && time.now_us() < end_us) {
    if (is_interrupted())
      return interrupted();
    said = answer->wait(look_up_interval);
  }
  if (!said)
    return said.error();
  if (said->type_id() != type_id_of<Reply>())
    return error(errc::malformed_message, "reply of another type");
  return message<Reply>(*std::move(said));
}

template <class Reply, class Request>
result<message<Reply>> shell_session::ask(const message<Request>& what, milliseconds timeout) {
  while (true) {
    auto answer = ask_once<Reply>(what, timeout);
    if (answer)
      return answer;
    HEADRACE_CHECK(recover(answer.error()));
  }
}

result<job_id> shell_session::submit_once(const std::vector<client::job_file>& code,
                                          graph::job_graph& job) {
  HEADRACE_CHECK(client::upload_files(*client_, files_, code, job));
  HEADRACE_CHECK(graph::validate(job));
  message_builder<schema::SubmitJob> request;
  const auto encoded = graph::encode(job);
  request->initGraph().setAs<schema::JobGraph>(*encoded.view());
  HEADRACE_TRY(const auto reply, ask_once<schema::SubmitJobReply>(request.finish()));
  return read_id<job_id>(reply.view()->getJob());
}

result<job_id> shell_session::submit(const submission& what) {
  HEADRACE_TRY(auto built, loader_.build(what.path, what.arguments, default_parallelism(what)));
  graph::connector_registry connectors;
  cluster::register_all_connectors(connectors, {});
  HEADRACE_TRY(const auto bounded, cluster::is_bounded(built.graph, *built.code, connectors));
  HEADRACE_CHECK(cluster::apply_settings(what.settings, bounded, built.graph));
  return submit(built.graph, {{what.path}},
                output_.rows ? client::collected_rows::lines_to(output_.rows)
                             : client::collected_rows::taker());
}

result<job_id> shell_session::submit(graph::job_graph& job,
                                     const std::vector<client::job_file>& code,
                                     client::collected_rows::taker take) {
  job.id = cluster_.node().environment().random.next_id<job_id>();
  cluster_.provide_slots(cluster::slots_needed(job));
  for (bool is_first = true;; is_first = false) {
    const auto submitted = submit_once(code, job);
    if (submitted || (!is_first && submitted.error().code == errc::duplicate_job))
      break; // the first one had arrived
    HEADRACE_CHECK(recover(submitted.error()));
  }
  last_job_ = job.id;
  if (take)
    collected_.try_emplace(last_job_, job, std::move(take));
  return last_job_;
}

status shell_session::print_collected(const job_id& job, bool has_ended) {
  const auto rows = collected_.find(job);
  if (rows == collected_.end())
    return {};
  auto printed = has_ended ? rows->second.take_rest(*client_) : rows->second.take_new(*client_);
  if (!printed && printed.error().code == errc::output_unusable)
    static_cast<void>(client_->cancel(job)); // nobody reads its rows any more
  return printed;
}

result<scheduler::job_status>
shell_session::wait(const job_id& job, milliseconds longest,
                    std::function<void(const scheduler::job_status&)> changed) {
  const auto end_us = longest.count() == 0 ? 0
                                           : cluster_.node().environment().time.now_us() +
                                                 std::chrono::microseconds(longest).count();
  while (true) {
    auto ended = follow(job, end_us, changed);
    if (ended) {
      HEADRACE_CHECK(print_collected(job, true));
      return ended;
    }
    if (end_us != 0 && cluster_.node().environment().time.now_us() >= end_us)
      return error(errc::timed_out, "job has not ended: " + to_string(job) + ", after " +
                                        std::to_string(longest.count()) + " ms");
    HEADRACE_CHECK(recover(ended.error()));
  }
}

/// Until the job has ended, it is late, or the cluster went away.
/// @param end_us  0: however long
result<scheduler::job_status> shell_session::follow(const job_id& job, std::int64_t end_us,
                                                    const changed_function& changed) {
  auto watch = std::make_unique<watch_order>();
  const auto end = std::make_shared<awaited<result<scheduler::job_status>>>();
  const auto number = ++watches_;
  watch->number = number;
  watch->job = job;
  watch->changed = changed;
  watch->end = end;
  order(std::move(watch));
  const auto& time = cluster_.node().environment().time;
  while (true) {
    if (auto ended = end->wait(look_up_interval))
      return *ended;
    const auto printed = print_collected(job, false);
    const bool is_late = end_us != 0 && time.now_us() >= end_us;
    if (printed && !is_late && !is_interrupted())
      continue;
    auto forget = std::make_unique<forget_watch_order>();
    forget->number = number;
    order(std::move(forget));
    if (is_interrupted())
      return interrupted();
    return printed ? error(errc::timed_out, "job has not ended") : printed.error();
  }
}

result<scheduler::job_status> shell_session::status_of(const job_id& job) {
  message_builder<schema::RequestJobStatus> question;
  write(question->initJob(), job);
  HEADRACE_TRY(const auto reply, ask<schema::JobStatus>(question.finish()));
  return scheduler::read_job_status(reply);
}

status shell_session::cancel(const job_id& job) {
  message_builder<schema::CancelJob> request;
  write(request->initJob(), job);
  HEADRACE_CHECK(ask<schema::Acknowledge>(request.finish()));
  return {};
}

result<std::string> shell_session::savepoint(const job_id& job, scheduler::savepoint_wish wish) {
  HEADRACE_TRY(wish.target_directory, absolute_path(wish.target_directory));
  HEADRACE_TRY(const auto reply,
               ask<schema::SavepointReply>(scheduler::describe(job, wish), savepoint_timeout));
  return scheduler::read_savepoint(reply).path;
}

result<std::vector<scheduler::job_status>> shell_session::list_jobs() {
  HEADRACE_TRY(const auto reply,
               ask<schema::JobList>(message_builder<schema::ListJobs>().finish()));
  return scheduler::read_job_list(reply);
}

result<client::actor_list> shell_session::list_actors() {
  HEADRACE_CHECK(list_jobs()); // finds a job manager that was restarted
  HEADRACE_TRY(const auto page, cluster_.actors_page());
  client::actor_list out;
  if (page) {
    HEADRACE_TRY(out, client::read_actors(*page));
  }
  auto made = std::make_unique<list_actors_order>();
  const auto answer = std::make_shared<awaited<std::vector<scheduler::node_actors>>>();
  made->answer = answer;
  order(std::move(made));
  const auto nodes = answer->wait(census_patience);
  if (!nodes)
    return error(errc::timed_out, "no node has told of its actors in time");
  for (const auto& node : *nodes) {
    if (page && node.node != cluster_.node().environment().node)
      continue; // the page has it
    if (!node.actors) {
      out.silent_nodes.push_back(to_string(node.node));
      continue;
    }
    const auto view = node.actors->view();
    for (const auto actor : view->getActors())
      out.actors.push_back(listed(node.node, actors::read_actor(actor), false));
    for (const auto actor : view->getFailed())
      out.actors.push_back(listed(node.node, actors::read_actor(actor), true));
  }
  return out;
}

result<job_id> shell_session::find_job(std::string_view words) {
  if (words.empty() || words == "last" || parse_id<job_tag>(words))
    return match_job(words, {}, last_job_);
  HEADRACE_TRY(const auto known, list_jobs());
  std::vector<job_id> ids;
  for (const auto& job : known)
    ids.push_back(job.id);
  return match_job(words, ids, last_job_);
}

void shell_session::pause(milliseconds how_long) {
  const auto& time = cluster_.node().environment().time;
  const auto end_us = time.now_us() + std::chrono::microseconds(how_long).count();
  awaited<bool> never;
  while (!is_interrupted() && time.now_us() < end_us)
    never.wait(std::min(look_up_interval, milliseconds(1 + (end_us - time.now_us()) / 1'000)));
}

} // namespace headrace::shell
