#include "apps/client/job_commands.hpp"

#include "apps/client/actors_text.hpp"
#include "apps/client/http_get.hpp"
#include "apps/client/job_text.hpp"
#include "apps/client/remote_cluster.hpp"
#include "libactors/base/clock.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>

namespace headrace::client {
namespace {

constexpr std::chrono::milliseconds page_timeout{10'000};
constexpr std::chrono::milliseconds end_patience{60'000};

int complain(const error& failure) {
  std::fprintf(stderr, "headrace: %s\n", to_string(failure).c_str());
  return failure.code == errc::bad_usage ? bad_usage : failed;
}

result<std::vector<scheduler::job_status>> all_jobs(scheduler::job_client& client) {
  HEADRACE_TRY(const auto list, client.list());
  return scheduler::read_job_list(list);
}

/// Finds the one job whose id begins so.
result<job_id> find_job(scheduler::job_client& client, const std::string& digits) {
  if (auto whole = parse_id<job_tag>(digits))
    return *whole;
  if (digits.empty() || digits.find_first_not_of("0123456789abcdef") != std::string::npos)
    return error(errc::bad_usage, "a job is named by its id, or the first digits of it, as "
                                  "headrace jobs lists them: " +
                                      digits);
  HEADRACE_TRY(const auto jobs, all_jobs(client));
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

status print_job(scheduler::job_client& client, const job_id& job, bool is_json) {
  HEADRACE_TRY(const auto known, client.status(job));
  std::fputs((is_json ? job_as_json(known) : job_as_text(known, system_clock().wall_ms())).c_str(),
             stdout);
  return {};
}

status cancel(scheduler::job_client& client, const job_id& job, bool is_json) {
  HEADRACE_CHECK(client.cancel(job));
  HEADRACE_TRY(const auto ended, client.wait(job, end_patience));
  if (is_json)
    return print_job(client, job, true);
  std::printf("%s: %s\n", std::string(scheduler::name_of(ended.state)).c_str(),
              to_string(job).c_str());
  return {};
}

status take_savepoint(scheduler::job_client& client, const job_id& job,
                      const command_options& options) {
  HEADRACE_TRY(const auto taken, client.savepoint(job, options.savepoint));
  if (options.is_json)
    std::printf("%s\n", nlohmann::ordered_json({{"id", to_string(job)},
                                                {"checkpoint", taken.checkpoint},
                                                {"path", taken.path}})
                            .dump()
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
  auto& client = cluster->client();
  if (options.what == command::list_jobs) {
    HEADRACE_TRY(const auto jobs, all_jobs(client));
    std::fputs(
        (options.is_json ? jobs_as_json(jobs) : jobs_as_table(jobs, system_clock().wall_ms()))
            .c_str(),
        stdout);
    return {};
  }
  HEADRACE_TRY(const auto job, find_job(client, options.job));
  switch (options.what) {
  case command::cancel_job:
    return cancel(client, job, options.is_json);
  case command::stop_job:
  case command::take_savepoint:
    return take_savepoint(client, job, options);
  default:
    return print_job(client, job, options.is_json);
  }
}

} // namespace

int run_command(const command_options& options) {
  const auto outcome = carry_out(options);
  return outcome ? static_cast<int>(done) : complain(outcome.error());
}

} // namespace headrace::client
