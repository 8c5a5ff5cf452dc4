#include "apps/shell/shell_commands.hpp"

#include "apps/client/actors_text.hpp"
#include "apps/client/job_text.hpp"
#include "apps/client/text_table.hpp"
#include "apps/shell/shell_words.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace headrace::shell {
namespace {

using std::chrono::milliseconds;

constexpr std::int32_t parallelism_max = 32'768;
constexpr int sources_max = 8;
constexpr std::uint64_t script_bytes_max = std::uint64_t{16} << 20U;
constexpr std::int32_t seconds_max = std::numeric_limits<std::int32_t>::max();

error usage(std::string_view how) { return {errc::bad_usage, "usage: " + std::string(how)}; }

result<std::int32_t> read_number(const std::string& text, std::string_view what, std::int32_t least,
                                 std::int32_t most) {
  std::int32_t out = 0;
  const auto* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  if (read.ec != std::errc() || read.ptr != end || out < least || out > most)
    return error(errc::bad_usage, std::string(what) + " is a whole number from " +
                                      std::to_string(least) + " to " + std::to_string(most) + ": " +
                                      in_short(text));
  return out;
}

struct savepoint_words {
  scheduler::savepoint_wish wish;
  std::vector<std::string> rest; ///< names the job
};

/// Reads the options of `stop` and `savepoint`.
result<savepoint_words> read_savepoint_words(const std::vector<std::string>& given,
                                             std::string_view directory, bool ends_job) {
  savepoint_words out;
  if (ends_job)
    out.wish.stop = graph::savepoint_stop::suspend;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& word = given[i];
    const bool has_value = i + 1 < given.size();
    if (ends_job && word == "--drain") {
      out.wish.stop = graph::savepoint_stop::drain;
    } else if (word == directory && has_value) {
      out.wish.target_directory = given[++i];
    } else if (word == "--type" && has_value) {
      const auto& type = given[++i];
      if (type != "native" && type != "canonical")
        return error(errc::bad_usage, "--type is native or canonical: " + in_short(type));
      out.wish.is_native = type == "native";
    } else if (word.starts_with("-") || !out.rest.empty()) {
      return error(errc::bad_usage, "not understood: " + in_short(word) + ", help lists what is");
    } else {
      out.rest.push_back(word);
    }
  }
  return out;
}

} // namespace

constexpr std::size_t any_words = 1'000'000; ///< the command looks itself
constexpr std::string_view submit_usage = "submit JOB.so [-p N] [-s SAVEPOINT] [ARGUMENT...]";

struct shell_commands::command {
  std::string_view name;
  std::string_view usage;
  std::string_view what;
  status (shell_commands::*run)(const words&);
  bool takes_job = false;
  std::size_t words_max = 0;
};

const std::vector<shell_commands::command>& shell_commands::all() {
  static const std::vector<command> table = {
      {"submit", submit_usage, "start a job, also from the state in a savepoint",
       &shell_commands::submit, false, any_words},
      {"wait", "wait [JOB [SECONDS]]", "until the job has ended; fails when the job did",
       &shell_commands::wait, true, 2},
      {"watch", "watch [JOB]", "the same, telling each change", &shell_commands::watch, true, 1},
      {"cancel", "cancel [JOB]", "end a job", &shell_commands::cancel, true, 1},
      {"stop", "stop [JOB] [--drain] [--type native] [--savepoint-path DIRECTORY]",
       "end a job with a savepoint, to start from again", &shell_commands::stop, true, any_words},
      {"savepoint", "savepoint [JOB] [--type native] [--directory DIRECTORY]",
       "take a savepoint of a job, which runs on", &shell_commands::savepoint, true, any_words},
      {"jobs", "jobs", "all jobs", &shell_commands::jobs, false, 0},
      {"info", "info [JOB]", "one job, vertex by vertex", &shell_commands::info, true, 1},
      {"actors", "actors [PART OF A NAME]", "all actors of the cluster", &shell_commands::actors,
       false, any_words},
      {"source", "source FILE", "run a file of commands and SQL", &shell_commands::source, false,
       any_words},
      {"help", "help", "this list", &shell_commands::help, false, 0},
      {"quit", "quit", "leave, as exit does; jobs of a cluster in this process end",
       &shell_commands::quit, false, 0},
  };
  return table;
}

shell_commands::shell_commands(shell_session& session, configuration settings, printer print)
    : session_(session), settings_(std::move(settings)), print_(std::move(print)),
      sql_(session_, settings_, {"table", output(), output()}) {}

client::collected_rows::printer shell_commands::output() {
  return [this](std::string_view lines) {
    print_(lines);
    return status();
  };
}

std::int64_t shell_commands::now_ms() const { return system_clock().wall_ms(); }

status shell_commands::run(std::string_view line) {
  if (is_sql(line)) {
    HEADRACE_CHECK(sql_.run(line));
    return {};
  }
  HEADRACE_TRY(auto given, split_words(line));
  if (given.empty())
    return {};
  auto name = given.front();
  if (const auto word = in_lower_case(name); word == "quit" || word == "exit")
    name = "quit"; // in capitals, too, as scripts for a SQL client have it
  given.erase(given.begin());
  std::vector<std::string_view> names;
  for (const auto& each : all()) {
    if (each.name == name)
      return given.size() > each.words_max ? status(usage(each.usage)) : (this->*each.run)(given);
    names.push_back(each.name);
  }
  const auto nearest = nearest_name(name, names);
  return error(errc::bad_usage, "unknown command: " + in_short(name) +
                                    (nearest.empty() ? ", help lists them"
                                                     : ", did you mean " + std::string(nearest)));
}

status shell_commands::run_all(std::string_view text) {
  const auto lines = split_commands(text);
  for (const auto& line : lines) {
    if (is_over_)
      break;
    if (auto done = run(line.text); !done) {
      if (lines.back().number == 1)
        return done;
      return error(done.error().code,
                   "line " + std::to_string(line.number) + ": " + in_short(trim_text(line.text)) +
                       " failed",
                   done.error());
    }
  }
  return {};
}

std::vector<std::string> shell_commands::complete(std::string_view line) {
  std::vector<std::string> out;
  const auto blank = line.find_first_of(" \t");
  if (blank == std::string_view::npos) {
    for (const auto& each : all())
      out.emplace_back(each.name);
    return out;
  }
  const auto known = std::find_if(all().begin(), all().end(), [&](const auto& each) {
    return each.name == line.substr(0, blank) && each.takes_job;
  });
  if (known == all().end())
    return out;
  if (const auto jobs = session_.list_jobs()) {
    for (const auto& job : *jobs)
      out.push_back(to_string(job.id));
  }
  return out;
}

status shell_commands::submit(const words& given) {
  submission what;
  what.settings = settings_;
  bool takes_options = true;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (takes_options && (given[i] == "-p" || given[i] == "-s") && i + 1 == given.size())
      return usage(submit_usage);
    if (takes_options && given[i] == "-p") {
      HEADRACE_TRY(what.parallelism, read_number(given[++i], "parallelism", 1, parallelism_max));
    } else if (takes_options && given[i] == "-s") {
      HEADRACE_CHECK(what.settings.set("execution.state-recovery.path", given[++i]));
    } else if (takes_options && given[i] == "--") {
      takes_options = false;
    } else if (what.path.empty()) {
      what.path = given[i];
    } else {
      takes_options = false;
      what.arguments.push_back(given[i]);
    }
  }
  if (what.path.empty())
    return usage(submit_usage);
  if (what.path.ends_with(".sql"))
    return error(errc::bad_usage, "SQL is no job object: source " + in_short(what.path) +
                                      " runs its statements, which may be typed here, too");
  HEADRACE_TRY(const auto job, session_.submit(what));
  print_("submitted " + to_string(job) + '\n');
  return {};
}

result<job_id> shell_commands::job_of(const words& given) {
  return session_.find_job(given.empty() ? std::string_view() : std::string_view(given.front()));
}

status shell_commands::await_end(const job_id& job, milliseconds longest, bool tells) {
  std::function<void(const scheduler::job_status&)> changed;
  if (tells)
    changed = [print = print_,
               shown = std::make_shared<std::string>()](const scheduler::job_status& now) {
      auto news = std::string(scheduler::name_of(now.state)) + ' ' + std::to_string(now.restarts) +
                  ' ' + std::to_string(now.completed_checkpoints) + ' ' + now.waiting_for;
      if (news != *shown)
        print(describe_job(now, system_clock().wall_ms()) + '\n');
      *shown = std::move(news);
    };
  HEADRACE_TRY(const auto ended, session_.wait(job, longest, std::move(changed)));
  if (!tells)
    print_(describe_job(ended, now_ms()) + '\n');
  if (ended.state == scheduler::job_state::finished)
    return {};
  if (ended.state == scheduler::job_state::canceled)
    return error(errc::job_canceled, "job was canceled: " + to_string(job));
  return error(errc::job_failed, "job failed: " + to_string(job), ended.failure);
}

status shell_commands::wait(const words& given) {
  milliseconds longest{0};
  if (given.size() > 2)
    return usage("wait [JOB [SECONDS]]");
  if (given.size() == 2) {
    HEADRACE_TRY(const auto seconds, read_number(given[1], "time in seconds", 0, seconds_max));
    longest = std::chrono::seconds(seconds);
  }
  HEADRACE_TRY(const auto job, job_of(given));
  return await_end(job, longest, false);
}

status shell_commands::watch(const words& given) {
  HEADRACE_TRY(const auto job, job_of(given));
  return await_end(job, milliseconds(0), true);
}

status shell_commands::cancel(const words& given) {
  HEADRACE_TRY(const auto job, job_of(given));
  return session_.cancel(job);
}

status shell_commands::stop(const words& given) {
  HEADRACE_TRY(const auto order, read_savepoint_words(given, "--savepoint-path", true));
  HEADRACE_TRY(const auto job, job_of(order.rest));
  HEADRACE_TRY(const auto path, session_.savepoint(job, order.wish));
  print_("stopped, savepoint " + path + '\n');
  return {};
}

status shell_commands::savepoint(const words& given) {
  HEADRACE_TRY(const auto order, read_savepoint_words(given, "--directory", false));
  HEADRACE_TRY(const auto job, job_of(order.rest));
  HEADRACE_TRY(const auto path, session_.savepoint(job, order.wish));
  print_("savepoint " + path + '\n');
  return {};
}

status shell_commands::jobs(const words& /*given*/) {
  HEADRACE_TRY(const auto known, session_.list_jobs());
  print_(client::jobs_as_table(known, now_ms()));
  return {};
}

status shell_commands::info(const words& given) {
  HEADRACE_TRY(const auto job, job_of(given));
  HEADRACE_TRY(const auto seen, session_.status_of(job));
  print_(client::job_as_text(seen, now_ms()));
  return {};
}

status shell_commands::actors(const words& given) {
  HEADRACE_TRY(const auto listing, session_.list_actors());
  print_(client::actors_as_text(listing, given.empty() ? std::string_view() : given.front()));
  return {};
}

status shell_commands::source(const words& given) {
  if (given.size() != 1)
    return usage("source FILE");
  if (sources_ == sources_max)
    return error(errc::bad_usage, "files that read files, more than " +
                                      std::to_string(sources_max) +
                                      " deep: " + in_short(given.front()));
  HEADRACE_TRY(const auto text,
               make_local_file_system()->read_all(given.front(), script_bytes_max));
  ++sources_;
  auto done = run_all(text);
  --sources_;
  return done;
}

status shell_commands::help(const words& /*given*/) {
  std::vector<words> rows;
  for (const auto& each : all())
    rows.push_back({std::string(each.usage), std::string(each.what)});
  print_(client::text_table(rows) +
         "JOB is an id, the beginning of one, or last (as is none at all): the job submitted last\n"
         "SQL is typed as it is, up to a ';': CREATE TABLE, INSERT INTO (a job that goes on by "
         "itself), "
         "SELECT, SHOW JOBS\n");
  return {};
}

status shell_commands::quit(const words& /*given*/) {
  is_over_ = true;
  return {};
}

} // namespace headrace::shell
