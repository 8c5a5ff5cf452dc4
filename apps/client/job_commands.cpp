#include "apps/client/job_commands.hpp"

#include "apps/client/actors_text.hpp"
#include "apps/client/http_get.hpp"
#include "apps/client/job_text.hpp"
#include "apps/client/remote_cluster.hpp"
#include "libscheduler/rest/handler/json_text.hpp"
#include "libactors/base/clock.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <poll.h>
#include <utility>

namespace headrace::client {
namespace {

constexpr std::chrono::milliseconds page_timeout{10'000};
constexpr std::chrono::milliseconds end_patience{60'000};
constexpr int look_pause_ms = 200;

int complain(const error& failure) {
  std::fprintf(stderr, "headrace: %s\n", to_string(failure).c_str());
  return failure.code == errc::bad_usage ? bad_usage : failed;
}

status await_again(remote_cluster& cluster, const error& failure) {
  return cluster.await_again(
      failure,
      [] { std::fputs("headrace: job manager does not answer, it is waited for\n", stderr); }, {});
}

/// Asks what may be asked again; does so once a job manager that went away is back.
template <class Question>
auto ask(remote_cluster& cluster, Question question) -> decltype(question(cluster.client())) {
  while (true) {
    auto answer = question(cluster.client());
    if (answer || answer.error().code == errc::timed_out)
      return answer;
    HEADRACE_CHECK(await_again(cluster, answer.error()));
  }
}

result<std::vector<scheduler::job_status>> all_jobs(remote_cluster& cluster) {
  HEADRACE_TRY(const auto list, ask(cluster, [](auto& client) { return client.list(); }));
  return scheduler::read_job_list(list);
}

result<scheduler::job_status> status_of(remote_cluster& cluster, const job_id& job) {
  return ask(cluster, [&job](auto& client) { return client.status(job); });
}

/// Finds the one job whose id begins so.
result<job_id> find_job(remote_cluster& cluster, const std::string& digits) {
  if (auto whole = parse_id<job_tag>(digits))
    return *whole;
  if (digits.empty() || digits.find_first_not_of("0123456789abcdef") != std::string::npos)
    return error(errc::bad_usage, "a job is named by its id, or the first digits of it, as "
                                  "headrace jobs lists them: " +
                                      digits);
  HEADRACE_TRY(const auto jobs, all_jobs(cluster));
  std::vector<job_id> found;
  for (const auto& job : jobs)
    if (to_string(job.id).starts_with(digits))
      found.push_back(job.id);
  if (found.empty())
    return error(errc::job_not_found, "no such job; headrace jobs lists them: " + digits);
  if (found.size() > 1)
    return error(errc::bad_usage, "several jobs begin so, give more digits: " + digits);
  return found.front();
}

status print_job(remote_cluster& cluster, const job_id& job, bool is_json) {
  HEADRACE_TRY(const auto known, status_of(cluster, job));
  std::fputs((is_json ? job_as_json(known) : job_as_text(known, system_clock().wall_ms())).c_str(),
             stdout);
  return {};
}

status cancel(remote_cluster& cluster, const job_id& job, bool is_json) {
  const auto end = [&job](scheduler::job_client& client) -> result<scheduler::job_outcome> {
    HEADRACE_CHECK(client.cancel(job));
    return client.wait(job, end_patience);
  };
  HEADRACE_TRY(const auto ended, ask(cluster, end));
  if (is_json)
    return print_job(cluster, job, true);
  std::printf("%s: %s\n", std::string(scheduler::name_of(ended.state)).c_str(),
              to_string(job).c_str());
  return {};
}

/// That a savepoint was ordered, but the job manager was lost before it answered.
error unknown_outcome(const job_id& job, const std::string& meanwhile, error cause) {
  return {errc::peer_lost,
          "job manager was lost before it answered, so that it is not known whether the savepoint "
          "is complete" +
              meanwhile + "; headrace info " + to_string(job) + " shows how the job is",
          std::move(cause)};
}

/// Waits for the next job manager, and until the job runs: then the order may be given again.
status await_running(remote_cluster& cluster, const job_id& job, const error& lost) {
  if (auto found = await_again(cluster, lost); !found)
    return unknown_outcome(job, "", std::move(found).error());
  const system_clock time;
  const auto end_us = time.now_us() + std::chrono::microseconds(end_patience).count();
  while (true) {
    auto known = status_of(cluster, job);
    if (!known)
      return unknown_outcome(job, "", std::move(known).error());
    if (known->state == scheduler::job_state::running)
      return {};
    const std::string state(scheduler::name_of(known->state));
    if (scheduler::is_terminal(known->state) || time.now_us() > end_us)
      return unknown_outcome(job, ", and the job is " + state + " now", lost);
    ::poll(nullptr, 0, look_pause_ms);
  }
}

status take_savepoint(remote_cluster& cluster, const job_id& job, const command_options& options) {
  auto ordered = cluster.client().savepoint(job, options.savepoint);
  if (!ordered && ordered.error().code != errc::timed_out &&
      remote_cluster::is_away(ordered.error())) {
    HEADRACE_CHECK(await_running(cluster, job, ordered.error()));
    ordered = cluster.client().savepoint(job, options.savepoint);
  }
  HEADRACE_TRY(const auto taken, std::move(ordered));
  if (options.is_json)
    std::printf("%s\n", scheduler::to_text({{"id", to_string(job)},
                                            {"checkpoint", taken.checkpoint},
                                            {"path", taken.path}})
                            .c_str());
  else
    std::printf("%s\n", taken.path.c_str());
  return {};
}

status list_actors(const actors::host_port& target, bool is_json) {
  auto page = http_get(target, "/debug/actors", page_timeout);
  if (!page)
    return error(page.error().code,
                 "no cluster answers at " + to_string(target) +
                     "; name another one's REST port with --target HOST:PORT",
                 page.error());
  if (!is_json) {
    HEADRACE_TRY(const auto actors, read_actors(*page));
    *page = actors_as_text(actors);
  }
  std::fputs(page->c_str(), stdout);
  return {};
}

status carry_out(const command_options& options) {
  HEADRACE_TRY(const auto target, parse_target(options.target));
  if (options.what == command::list_actors)
    return list_actors(target, options.is_json);
  const auto files = make_local_file_system();
  HEADRACE_TRY(const auto cluster, remote_cluster::connect(options.settings, *files, target));
  if (options.what == command::list_jobs) {
    HEADRACE_TRY(const auto jobs, all_jobs(*cluster));
    std::fputs(
        (options.is_json ? jobs_as_json(jobs) : jobs_as_table(jobs, system_clock().wall_ms()))
            .c_str(),
        stdout);
    return {};
  }
  HEADRACE_TRY(const auto job, find_job(*cluster, options.job));
  switch (options.what) {
  case command::cancel_job:
    return cancel(*cluster, job, options.is_json);
  case command::stop_job:
  case command::take_savepoint:
    return take_savepoint(*cluster, job, options);
  default:
    return print_job(*cluster, job, options.is_json);
  }
}

} // namespace

int run_command(const command_options& options) {
  const auto outcome = carry_out(options);
  return outcome ? static_cast<int>(done) : complain(outcome.error());
}

} // namespace headrace::client
