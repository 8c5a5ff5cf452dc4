#include "libscheduler/dispatcher/dispatcher_endpoint.hpp"

#include "libscheduler/job_master/job_master_endpoint.hpp"
#include "libgraph/job_graph/job_graph_codec.hpp"
#include "libactors/message/ids_codec.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace headrace::scheduler {

namespace {

/// Before a request is tried again whose job master is ending: the news of its end is on the way.
constexpr std::chrono::milliseconds gone_pause{10};

/// Makes a message of a part of another.
template <class S>
message<S> copy_out(typename S::Reader part) {
  capnp::MallocMessageBuilder arena;
  arena.setRoot(part);
  return message<S>(any_message(type_id_of<S>(), capnp::messageToFlatArray(arena)));
}

/// Collects the statuses of all jobs while their masters answer.
struct status_gathering {
  std::map<job_id, message<schema::JobStatus>> statuses;
  std::size_t missing = 0;
  actors::reply_to<schema::JobList> back;

  void send() {
    message_builder<schema::JobList> reply;
    auto list = reply->initJobs(static_cast<unsigned>(statuses.size()));
    unsigned at = 0;
    for (const auto& [id, one] : statuses)
      list.setWithCaveats(at++, *one.view());
    back.send(reply.finish());
  }
};

template <class Id>
void mix_into(Id& id, const job_id& job) {
  id = {mix64(id.high ^ job.high), mix64(id.low ^ job.low)};
}

/// Makes ids of vertices and results those of this job alone: as they come they follow from the
/// program, and task executors, which tell tasks apart by them, may run it in several jobs.
void make_ids_own(graph::job_graph& job) {
  for (auto& vertex : job.vertices) {
    mix_into(vertex.id, job.id);
    for (auto& input : vertex.inputs)
      mix_into(input.id, job.id);
    for (auto& output : vertex.outputs)
      mix_into(output.id, job.id);
  }
}

} // namespace

dispatcher_endpoint::dispatcher_endpoint(dispatcher_settings settings,
                                         std::shared_ptr<job_store> store,
                                         std::shared_ptr<const job_services> services)
    : settings_(settings), store_(std::move(store)), services_(std::move(services)),
      book_(settings.ended_jobs_max), savepoints_(settings.savepoints_max) {
  on_client_ask(&dispatcher_endpoint::submit);
  on_client_ask(&dispatcher_endpoint::cancel);
  on_client_ask(&dispatcher_endpoint::take_savepoint);
  on_client_ask(&dispatcher_endpoint::trigger_savepoint);
  on_client_ask(&dispatcher_endpoint::answer_savepoint);
  on_client_ask(&dispatcher_endpoint::suspend);
  on_client_ask(&dispatcher_endpoint::answer_status);
  on_client_ask(&dispatcher_endpoint::answer_details);
  on_client_ask(&dispatcher_endpoint::answer_result);
  on_client_ask(&dispatcher_endpoint::answer_list);
  on_client_ask(&dispatcher_endpoint::answer_fetch);
  on_ask<schema::JobEnded, schema::Acknowledge>(
      [this](const auto& how, auto back) { hear_end(how, std::move(back)); });
  on_tell<schema::JobCleanedUp>([this](const auto& news, const actors::address&) {
    close(read_id<job_id>(news.view()->getJob()));
  });
}

template <class Request, class Reply>
void dispatcher_endpoint::on_client_ask(
    void (dispatcher_endpoint::*answer)(const message<Request>&, actors::reply_to<Reply>)) {
  on_ask<Request, Reply>(
      [this, answer](const message<Request>& request, actors::reply_to<Reply> back) {
        if (!is_recovering_) {
          (this->*answer)(request, std::move(back));
          return;
        }
        if (until_recovered_.size() >= settings_.early_asks_max) {
          back.fail({errc::timed_out, "dispatcher is still reading its jobs; ask again"});
          return;
        }
        auto kept = std::make_shared<actors::reply_to<Reply>>(std::move(back));
        until_recovered_.emplace_back(
            [this, answer, request, kept] { (this->*answer)(request, std::move(*kept)); });
      });
}

namespace {

/// Why stored jobs were not all read, where that may be otherwise in a moment.
template <class Jobs>
std::optional<error> passing_failure(const result<Jobs>& jobs, const std::vector<error>& refused) {
  const auto may_pass = [](const error& cause) {
    return cause.code == errc::storage_failed || cause.code == errc::storage_full;
  };
  if (!jobs && may_pass(jobs.error()))
    return jobs.error();
  const auto one = std::find_if(refused.begin(), refused.end(), may_pass);
  return one == refused.end() ? std::nullopt : std::optional(*one);
}

} // namespace

void dispatcher_endpoint::on_start() { recover(); }

void dispatcher_endpoint::recover() {
  struct loaded {
    result<std::vector<stored_job>> jobs = std::vector<stored_job>();
    std::vector<message<schema::JobEnded>> ended;
    std::vector<error> refused;
  };
  auto read = std::make_shared<loaded>();
  on_store(
      [read](job_store& store) -> status {
        read->jobs = store.load(read->refused);
        auto ended = store.load_ended(read->refused);
        if (ended)
          read->ended = std::move(*ended);
        else
          read->refused.push_back(ended.error());
        return {};
      },
      [this, read](const status&) {
        if (const auto cause = passing_failure(read->jobs, read->refused);
            cause && ++recoveries_ < settings_.recoveries_max) {
          log().warn("stored jobs cannot be read, and are read again",
                     {{"after_ms", std::to_string(settings_.recovery_pause.count())},
                      {"cause", to_string(*cause)}});
          after(settings_.recovery_pause, [this] { recover(); });
          return;
        }
        for (const error& refused : read->refused)
          log().error("stored job refused", {{"cause", to_string(refused)}});
        if (!read->jobs) {
          fatal({errc::storage_failed, "stored jobs cannot be read", read->jobs.error()});
          return;
        }
        for (const auto& how : read->ended)
          book_.remember(read_id<job_id>(how.view()->getResult().getJob()), how);
        for (stored_job& stored : *read->jobs) {
          auto job = std::make_shared<const graph::job_graph>(std::move(stored.graph));
          if (!book_.add(job->id, job->name, environment().time.wall_ms())) {
            // It has ended, and the last dispatcher could not forget it any more.
            on_store([id = job->id](job_store& store) { return store.remove(id); },
                     [](const status&) {});
            continue;
          }
          log().info("job recovered", {{"job", to_string(job->id)},
                                       {"name", job->name},
                                       {"generation", std::to_string(stored.generation)}});
          start_master(job, stored.generation);
        }
        recovered();
      });
}

void dispatcher_endpoint::recovered() {
  is_recovering_ = false;
  for (const auto& answer : std::exchange(until_recovered_, {}))
    answer();
}

void dispatcher_endpoint::submit(const message<schema::SubmitJob>& request,
                                 actors::reply_to<schema::SubmitJobReply> back) {
  if (is_suspending_) {
    back.fail({errc::shut_down, "job manager stops; submit again when it is back"});
    return;
  }
  auto decoded = checked_read(
      [&] { return graph::decode(request.view()->getGraph().getAs<schema::JobGraph>()); });
  if (!decoded) {
    log().warn("job refused", {{"cause", to_string(decoded.error())}});
    back.fail(decoded.error());
    return;
  }
  if (decoded->id.is_none())
    decoded->id = environment().random.next_id<job_id>();
  make_ids_own(*decoded);
  auto job = std::make_shared<const graph::job_graph>(std::move(*decoded));
  auto graph = execution_graph::build(job);
  const auto added =
      graph ? book_.add(job->id, job->name, environment().time.wall_ms()) : status(graph.error());
  if (!added) {
    back.fail(added.error());
    return;
  }
  log().info("job submitted", {{"job", to_string(job->id)}, {"name", job->name}});
  auto answer = std::make_shared<actors::reply_to<schema::SubmitJobReply>>(std::move(back));
  on_store([job](job_store& store) { return store.put(*job); },
           [this, job, answer](const status& stored) {
             if (!stored) {
               book_.forget(job->id);
               answer->fail({stored.error().code, "job cannot be stored", stored.error()});
               return;
             }
             start_master(job, 0);
             message_builder<schema::SubmitJobReply> reply;
             write(reply->initJob(), job->id);
             answer->send(reply.finish());
           });
}

void dispatcher_endpoint::start_master(const job_ptr& job, std::int32_t generation, int restarts) {
  const auto token = environment().random.next_id<fencing_token>();
  // What is left of a master that has ended may still have its name.
  const std::string name =
      "jobmaster-" + to_string(job->id) + (restarts == 0 ? "" : "-" + std::to_string(restarts + 1));
  masters_[name] = {job, restarts};
  const actors::address master =
      spawn(std::make_unique<job_master_endpoint>(job, generation, token, self(), services_),
            {name, "job_master", actors::placement::control, actors::supervision::notify, true});
  if (book_.started(job->id, master, token)) {
    message_builder<schema::CancelJob> order;
    write(order->initJob(), job->id);
    ask<schema::Acknowledge>(
        master, order.finish(), settings_.ask_timeout,
        [](const result<message<schema::Acknowledge>>&) {}, token);
  }
}

template <class Reply, class Request>
void dispatcher_endpoint::pass_on(const job_book::running_job& job, const message<Request>& request,
                                  actors::reply_to<Reply> back, answerer<Reply, Request> again,
                                  std::chrono::milliseconds timeout) {
  auto answer = std::make_shared<actors::reply_to<Reply>>(std::move(back));
  ask<Reply>(
      job.master, request, timeout.count() > 0 ? timeout : settings_.ask_timeout,
      [this, answer, request, again, asked = job.master](const result<message<Reply>>& reply) {
        if (reply) {
          answer->send(*reply);
          return;
        }
        const auto code = reply.error().code;
        const bool is_gone =
            code == errc::shut_down || code == errc::peer_lost || code == errc::endpoint_not_found;
        const auto* now = book_.find_running(read_id<job_id>(request.view()->getJob()));
        const bool is_known_gone = now == nullptr || now->master != asked;
        if (again != nullptr && is_gone && is_known_gone)
          after(gone_pause,
                [this, answer, request, again] { (this->*again)(request, std::move(*answer)); });
        else
          answer->fail(reply.error());
      },
      job.token);
}

void dispatcher_endpoint::cancel(const message<schema::CancelJob>& request,
                                 actors::reply_to<schema::Acknowledge> back) {
  const auto job = read_id<job_id>(request.view()->getJob());
  if (auto* running = book_.find_running(job)) {
    if (!running->master.is_none()) {
      pass_on<schema::Acknowledge>(*running, request, std::move(back),
                                   &dispatcher_endpoint::cancel);
      return;
    }
    running->is_cancel_wanted = true;
  } else if (refused_.contains(job)) {
    give_up(job, std::move(back));
    return;
  } else if (const auto* ended = book_.find_ended(job); ended == nullptr) {
    back.fail(unknown(job));
    return;
  } else if (const auto how = ended->how.view()->getStatus().getState();
             how != schema::JobState::CANCELED) { // which may be the answer asked for again
    back.fail({errc::illegal_transition, "job has ended already, as " +
                                             std::string(name_of(static_cast<job_state>(how))) +
                                             ": " + to_string(job)});
    return;
  }
  back.send(message_builder<schema::Acknowledge>().finish());
}

void dispatcher_endpoint::give_up(const job_id& job, actors::reply_to<schema::Acknowledge> back) {
  const auto* ended = book_.find_ended(job);
  auto answer = std::make_shared<actors::reply_to<schema::Acknowledge>>(std::move(back));
  store_end(job, ended == nullptr ? message<schema::JobEnded>() : ended->how, 1,
            [this, job, answer](const status& stored) {
              if (!stored) {
                answer->fail(stored.error());
                return;
              }
              refused_.erase(job);
              answer->send(message_builder<schema::Acknowledge>().finish());
            });
}

error dispatcher_endpoint::unknown(const job_id& job) const {
  if (is_suspending_) // it was suspended, most likely
    return {errc::shut_down, "job manager stops; ask again when it is back"};
  return {errc::job_not_found, "no such job: " + to_string(job)};
}

error dispatcher_endpoint::without_master(const job_id& job) {
  if (book_.find_running(job) != nullptr)
    return {errc::checkpoint_declined, "job has not started yet: " + to_string(job)};
  if (book_.find_ended(job) != nullptr)
    return {errc::checkpoint_declined, "job has ended already: " + to_string(job)};
  return unknown(job);
}

void dispatcher_endpoint::take_savepoint(const message<schema::TakeSavepoint>& request,
                                         actors::reply_to<schema::SavepointReply> back) {
  const auto job = read_id<job_id>(request.view()->getJob());
  const auto* running = book_.find_running(job);
  if (running != nullptr && !running->master.is_none())
    pass_on<schema::SavepointReply>(*running, request, std::move(back),
                                    &dispatcher_endpoint::take_savepoint,
                                    settings_.savepoint_timeout);
  else
    back.fail(without_master(job));
}

void dispatcher_endpoint::trigger_savepoint(const message<schema::TriggerSavepoint>& request,
                                            actors::reply_to<schema::Acknowledge> back) {
  const auto view = request.view();
  const auto job = read_id<job_id>(view->getOrder().getJob());
  const auto trigger = read_id<savepoint_trigger_id>(view->getTrigger());
  const auto* running = book_.find_running(job);
  if (savepoints_.status_of(job, trigger)) {
    back.send(message_builder<schema::Acknowledge>().finish());
    return;
  }
  if (running == nullptr || running->master.is_none()) {
    back.fail(without_master(job));
    return;
  }
  savepoints_.begin(job, trigger);
  ask<schema::SavepointReply>(
      running->master, copy_out<schema::TakeSavepoint>(view->getOrder()),
      settings_.savepoint_timeout,
      [this, job, trigger](const result<message<schema::SavepointReply>>& answer) {
        savepoints_.end(job, trigger, answer);
      },
      running->token);
  back.send(message_builder<schema::Acknowledge>().finish());
}

void dispatcher_endpoint::answer_savepoint(const message<schema::RequestSavepointStatus>& request,
                                           actors::reply_to<schema::SavepointStatus> back) {
  const auto view = request.view();
  auto status = savepoints_.status_of(read_id<job_id>(view->getJob()),
                                      read_id<savepoint_trigger_id>(view->getTrigger()));
  if (status)
    back.send(*status);
  else
    back.fail(status.error());
}

void dispatcher_endpoint::suspend(const message<schema::SuspendJobs>& order,
                                  actors::reply_to<schema::Acknowledge> back) {
  is_suspending_ = true;
  struct gathering {
    std::size_t missing = 1; // this turn counts too
    actors::reply_to<schema::Acknowledge> back;
    void heard() {
      if (--missing == 0)
        back.send(message_builder<schema::Acknowledge>().finish());
    }
  };
  auto all = std::make_shared<gathering>();
  all->back = std::move(back);
  const auto patience = std::chrono::milliseconds(order.view()->getTimeoutMs());
  for (const auto& [job, running] : book_.running()) {
    if (running.master.is_none())
      continue;
    ++all->missing;
    ask<schema::Acknowledge>(
        running.master, order, patience + settings_.ask_timeout,
        [this, all, id = job](const result<message<schema::Acknowledge>>& answer) {
          if (!answer)
            log().warn("job not suspended in order",
                       {{"job", to_string(id)}, {"cause", to_string(answer.error())}});
          all->heard();
        },
        running.token);
  }
  all->heard();
}

message<schema::JobStatus> dispatcher_endpoint::created_status(const job_id& job,
                                                               const job_book::running_job& known) {
  message_builder<schema::JobStatus> reply;
  write(reply->initJob(), job);
  reply->setName(known.name);
  reply->setState(schema::JobState::CREATED);
  reply->setStartedMs(known.submitted_ms);
  return reply.finish();
}

void dispatcher_endpoint::answer_status(const message<schema::RequestJobStatus>& request,
                                        actors::reply_to<schema::JobStatus> back) {
  const auto job = read_id<job_id>(request.view()->getJob());
  if (const auto* running = book_.find_running(job)) {
    if (running->master.is_none())
      back.send(created_status(job, *running));
    else
      pass_on<schema::JobStatus>(*running, request, std::move(back),
                                 &dispatcher_endpoint::answer_status);
  } else if (const auto* ended = book_.find_ended(job)) {
    back.send(copy_out<schema::JobStatus>(ended->how.view()->getStatus()));
  } else {
    back.fail(unknown(job));
  }
}

void dispatcher_endpoint::answer_details(const message<schema::RequestJobDetails>& request,
                                         actors::reply_to<schema::JobDetails> back) {
  const auto job = read_id<job_id>(request.view()->getJob());
  if (const auto* running = book_.find_running(job)) {
    if (!running->master.is_none()) {
      pass_on<schema::JobDetails>(*running, request, std::move(back),
                                  &dispatcher_endpoint::answer_details);
      return;
    }
    const auto created = created_status(job, *running);
    message_builder<schema::JobDetails> reply;
    reply->setStatus(*created.view());
    back.send(reply.finish());
  } else if (const auto* ended = book_.find_ended(job)) {
    back.send(copy_out<schema::JobDetails>(ended->how.view()->getDetails()));
  } else {
    back.fail(unknown(job));
  }
}

void dispatcher_endpoint::answer_result(const message<schema::RequestJobResult>& request,
                                        actors::reply_to<schema::JobResult> back) {
  const auto job = read_id<job_id>(request.view()->getJob());
  if (const auto* ended = book_.find_ended(job)) {
    back.send(copy_out<schema::JobResult>(ended->how.view()->getResult()));
    return;
  }
  if (book_.find_running(job) == nullptr) {
    back.fail(unknown(job));
    return;
  }
  auto& waiting = waiting_[job];
  waiting.push_back(std::move(back));
  if (waiting.size() > settings_.waiting_clients_max) {
    // Its deadline is over, most likely: clients ask again after theirs.
    waiting.front().fail({errc::timed_out, "too many wait for the job: " + to_string(job)});
    waiting.pop_front();
  }
}

void dispatcher_endpoint::answer_list(const message<schema::ListJobs>& /*request*/,
                                      actors::reply_to<schema::JobList> back) {
  auto gathering = std::make_shared<status_gathering>();
  gathering->back = std::move(back);
  for (const job_id& job : book_.ended_jobs())
    gathering->statuses[job] =
        copy_out<schema::JobStatus>(book_.find_ended(job)->how.view()->getStatus());
  for (const auto& [job, running] : book_.running()) {
    gathering->statuses[job] = created_status(job, running); // unless its master answers
    gathering->missing += running.master.is_none() ? 0 : 1;
  }
  if (gathering->missing == 0) {
    gathering->send();
    return;
  }
  for (const auto& [job, running] : book_.running()) {
    if (running.master.is_none())
      continue;
    message_builder<schema::RequestJobStatus> question;
    write(question->initJob(), job);
    ask<schema::JobStatus>(
        running.master, question.finish(), settings_.ask_timeout,
        [gathering, id = job](const result<message<schema::JobStatus>>& answer) {
          if (answer)
            gathering->statuses[id] = *answer;
          if (--gathering->missing == 0)
            gathering->send();
        },
        running.token);
  }
}

void dispatcher_endpoint::answer_fetch(const message<schema::FetchCollected>& request,
                                       actors::reply_to<schema::CollectedRows> back) {
  const auto view = request.view();
  const auto job = read_id<job_id>(view->getJob());
  const auto* running = book_.find_running(job);
  if (running != nullptr && !running->master.is_none()) {
    pass_on<schema::CollectedRows>(*running, request, std::move(back),
                                   &dispatcher_endpoint::answer_fetch);
    return;
  }
  if (const auto at = lingering_.find(job); at != lingering_.end()) {
    job_book::running_job master;
    master.master = at->second.first;
    master.token = at->second.second;
    pass_on<schema::CollectedRows>(master, request, std::move(back),
                                   &dispatcher_endpoint::answer_fetch);
    return;
  }
  if (running == nullptr && book_.find_ended(job) == nullptr) {
    back.fail(unknown(job));
    return;
  }
  message_builder<schema::CollectedRows> reply; // not started, or all was fetched
  reply->setNextOffset(view->getOffset());
  reply->setIsLast(running == nullptr);
  back.send(reply.finish());
}

void dispatcher_endpoint::hear_end(const message<schema::JobEnded>& how,
                                   actors::reply_to<schema::Acknowledge> back) {
  const auto job = read_id<job_id>(how.view()->getResult().getJob());
  if (book_.find_running(job) == nullptr) {
    back.fail(unknown(job));
    return;
  }
  if (how.view()->getResult().getState() == schema::JobState::SUSPENDED) {
    log().info("job suspended", {{"job", to_string(job)}});
    book_.forget(job); // the store keeps it
    if (auto waiting = waiting_.extract(job))
      for (auto& client : waiting.mapped())
        client.fail({errc::shut_down, "job manager stops; ask again when it is back"});
    back.send(message_builder<schema::Acknowledge>().finish());
    return;
  }
  if (is_refused_recovery(read_error(how.view()->getResult().getFailure()))) {
    log().error("job refused, and stays stored", {{"job", to_string(job)}});
    refused_.insert(job);
    ending_[job] = {how, true};
    back.send(message_builder<schema::Acknowledge>().finish());
    return;
  }
  ending_[job] = {how, false};
  auto answer = std::make_shared<actors::reply_to<schema::Acknowledge>>(std::move(back));
  store_end(job, how, settings_.end_tries, [this, job, answer](const status& stored) {
    if (!stored) {
      answer->fail(stored.error());
      return;
    }
    if (const auto ending = ending_.find(job); ending != ending_.end())
      ending->second.is_stored = true;
    answer->send(message_builder<schema::Acknowledge>().finish());
  });
}

void dispatcher_endpoint::close(const job_id& job) {
  const auto ending = ending_.extract(job);
  const auto* running = book_.find_running(job);
  if (ending.empty() || running == nullptr)
    return;
  lingering_[job] = {running->master, running->token};
  book_.ended(job, ending.mapped().how);
  log().info("job ended", {{"job", to_string(job)}});
  answer_waiting(job);
  if (!ending.mapped().is_stored)
    store_end(job, ending.mapped().how, settings_.recoveries_max, [](const status&) {});
}

void dispatcher_endpoint::on_child_ended(const std::string& name, const error& cause) {
  const auto master = masters_.find(name);
  if (master == masters_.end())
    return;
  const job_master lost = std::move(master->second);
  const job_id job = lost.job->id;
  masters_.erase(master);
  close(job);
  lingering_.erase(job);
  if (book_.find_running(job) == nullptr)
    return; // it had said how the job ended
  if (is_suspending_ || lost.restarts >= settings_.master_restarts_max) {
    fail_without_master(job, cause);
    return;
  }
  log().error("job master lost, another one is started",
              {{"job", to_string(job)}, {"cause", to_string(cause)}});
  book_.master_gone(job);
  restart_master(lost, cause, settings_.recoveries_max);
}

void dispatcher_endpoint::restart_master(const job_master& lost, const error& cause, int tries) {
  auto generation = std::make_shared<std::int32_t>();
  on_store(
      [job = lost.job->id, generation](job_store& store) -> status {
        HEADRACE_TRY(*generation, store.next_generation(job));
        return {};
      },
      [this, lost, generation, cause, tries](const status& stored) {
        if (stored)
          start_master(lost.job, *generation, lost.restarts + 1);
        else if (tries > 1)
          after(settings_.recovery_pause,
                [this, lost, cause, tries] { restart_master(lost, cause, tries - 1); });
        else
          fail_without_master(lost.job->id, {cause.code, cause.message, stored.error()});
      });
}

void dispatcher_endpoint::fail_without_master(const job_id& job, const error& cause) {
  if (!book_.master_lost(job, cause, environment().time.wall_ms()))
    return;
  log().error("job master lost", {{"job", to_string(job)}, {"cause", to_string(cause)}});
  answer_waiting(job);
  const auto* ended = book_.find_ended(job);
  store_end(job, ended == nullptr ? message<schema::JobEnded>() : ended->how,
            settings_.recoveries_max, [](const status&) {});
}

void dispatcher_endpoint::answer_waiting(const job_id& job) {
  if (auto waiting = waiting_.extract(job)) {
    const auto* ended = book_.find_ended(job);
    for (auto& back : waiting.mapped()) {
      if (ended != nullptr)
        back.send(copy_out<schema::JobResult>(ended->how.view()->getResult()));
      else
        back.fail(unknown(job));
    }
  }
}

void dispatcher_endpoint::store_end(const job_id& job, const message<schema::JobEnded>& how,
                                    int tries, store_then then) {
  on_store(
      [job, how, is_told = book_.find_ended(job) != nullptr, tries](job_store& store) -> status {
        auto kept = how.is_empty() ? status() : store.put_ended(job, how);
        if (!kept && !is_told && tries > 1)
          return kept; // what is lost now goes on from its last checkpoint, and ends again
        HEADRACE_CHECK(store.remove(job)); // else it would run again
        return kept;
      },
      [this, job, how, tries, then = std::move(then)](const status& stored) {
        if (!stored)
          log().error("end of a job not stored", {{"job", to_string(job)},
                                                  {"cause", to_string(stored.error())},
                                                  {"tries_left", std::to_string(tries - 1)}});
        if (stored || tries <= 1)
          then(stored);
        else
          after(settings_.recovery_pause,
                [this, job, how, tries, then] { store_end(job, how, tries - 1, then); });
      });
}

void dispatcher_endpoint::on_store(store_step step, store_then then) {
  store_queue_.emplace_back(std::move(step), std::move(then));
  next_store_step();
}

void dispatcher_endpoint::next_store_step() {
  if (is_store_busy_ || store_queue_.empty())
    return;
  is_store_busy_ = true;
  auto [step, then] = std::move(store_queue_.front());
  store_queue_.pop_front();
  run_blocking<status>([store = store_, step = std::move(step)] { return step(*store); },
                       [this, then = std::move(then)](const status& outcome) {
                         is_store_busy_ = false;
                         then(outcome);
                         next_store_step();
                       });
}

} // namespace headrace::scheduler
