#include "apps/shell/shell_sql.hpp"

#include "apps/client/sql_job.hpp"
#include "apps/cluster/job_settings.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "libtask/connector/registration.hpp"
#include "libgraph/sql/parse/parser.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace headrace::shell {
namespace {

/// First words of statements. `stop` alone is a command of the shell.
constexpr std::array<std::string_view, 19> first_words = {
    "ALTER",    "BEGIN",    "COMPILE", "CREATE", "DESC",   "DESCRIBE", "DROP",
    "EXECUTE",  "EXPLAIN",  "INSERT",  "RESET",  "SELECT", "SET",      "SHOW",
    "STOP JOB", "TRUNCATE", "USE",     "VALUES", "WITH"};
constexpr std::array<std::string_view, 3> sets_of_statements = {
    "BEGIN STATEMENT SET", "EXECUTE STATEMENT SET", "EXPLAIN STATEMENT SET"};

constexpr std::string_view blanks = " \t\r\n";

/// The first words in capitals with one blank between them, as far as `bytes_max`.
std::string beginning(std::string_view text, std::size_t bytes_max) {
  std::string out;
  for (auto at = text.find_first_not_of(blanks); at < text.size() && out.size() < bytes_max; ++at) {
    const char c = text[at];
    if (blanks.find(c) == std::string_view::npos)
      out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    else if (out.back() != ' ')
      out += ' ';
  }
  return out;
}

bool is_word_char(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

bool begins_with(std::string_view text, std::string_view words) {
  return text.starts_with(words) &&
         (text.size() == words.size() || !is_word_char(text[words.size()]));
}

/// Behind what is in quotes, a comment or `$$`, when that begins at `at`; else `at` itself. npos:
/// it is not closed.
std::size_t skip_quoted(std::string_view text, std::size_t at) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> quotes = {
      {{"'", "'"}, {"\"", "\""}, {"`", "`"}, {"--", "\n"}, {"/*", "*/"}, {"$$", "$$"}}};
  for (const auto& [open, close] : quotes) {
    if (!text.substr(at).starts_with(open))
      continue;
    const auto end = text.find(close, at + open.size());
    return end == std::string_view::npos ? end : end + close.size();
  }
  return at;
}

std::string time_text(std::int64_t wall_ms) {
  const auto seconds = static_cast<std::time_t>(wall_ms / 1000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 32> out{};
  const auto size = std::strftime(out.data(), out.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {out.data(), size};
}

std::string state_text(scheduler::job_state state) {
  return beginning(scheduler::name_of(state), 64);
}

sql::text_table table_of(const std::vector<scheduler::job_status>& jobs) {
  sql::text_table out{{"job id", "job name", "status", "start time"}, {}};
  for (const auto& job : jobs)
    out.rows.push_back(
        {to_string(job.id), job.name, state_text(job.state), time_text(job.started_ms)});
  return out;
}

error wrong(const std::vector<sql::diagnostic>& findings, std::string_view text) {
  return {errc::bad_usage, sql::to_string(findings, text)};
}

std::int32_t default_parallelism(const configuration& settings) {
  if (settings.is_set("parallelism.default"))
    return static_cast<std::int32_t>(settings.get_int("parallelism.default"));
  return static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()));
}

} // namespace

bool is_sql(std::string_view command) {
  const auto words = beginning(command, 64);
  return words.starts_with('(') ||
         std::any_of(first_words.begin(), first_words.end(),
                     [&](std::string_view each) { return begins_with(words, each); });
}

std::size_t end_of_sql(std::string_view text) {
  const auto words = beginning(text, 64);
  const bool is_set = std::any_of(sets_of_statements.begin(), sets_of_statements.end(),
                                  [&](std::string_view each) { return begins_with(words, each); });
  std::size_t part = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto behind = skip_quoted(text, at);
    if (behind == std::string_view::npos)
      return behind;
    if (behind > at) {
      at = behind;
      continue;
    }
    if (text[at] == ';') {
      if (!is_set || begins_with(beginning(text.substr(part, at - part), 64), "END"))
        return at;
      part = at + 1;
    }
    ++at;
  }
  return std::string_view::npos;
}

shell_sql::shell_sql(shell_session& session, configuration settings, sql_output to)
    : session_(session), sql_(std::move(settings), task::describe_connectors(), &session.files()),
      to_(std::move(to)) {
  cluster::register_all_connectors(connectors_, {});
}

result<std::optional<job_id>> shell_sql::run(std::string_view text) {
  const auto done = [](status how) -> result<std::optional<job_id>> {
    return how ? result<std::optional<job_id>>(std::nullopt) : std::move(how).error();
  };
  auto parsed = sql::parse_statement(text);
  if (!parsed.is_sound())
    return wrong(parsed.findings, text);
  if (!parsed.value)
    return std::optional<job_id>();
  const auto& node = parsed.value->node;
  if (const auto* shown = std::get_if<sql::show>(&node);
      shown != nullptr && shown->kind == sql::show_kind::jobs)
    return done(show_jobs(*shown));
  if (const auto* described = std::get_if<sql::describe>(&node);
      described != nullptr && described->kind == sql::describe_kind::job && described->id)
    return done(describe_job(described->id->text));
  if (const auto* stopped = std::get_if<sql::stop_job>(&node))
    return done(stop_job(*stopped));
  std::vector<sql::diagnostic> findings;
  const auto outcome = sql_.run(*parsed.value, findings);
  for (const auto& warning : sql_.take_warnings())
    HEADRACE_CHECK(to_.tell("warning: " + warning + '\n'));
  if (!outcome || !findings.empty())
    return wrong(findings, text);
  const auto* words = std::get_if<sql::text_table>(&*outcome);
  if (words != nullptr && words->of != nullptr &&
      !sql::translate(*words->of, connectors_, findings))
    return wrong(findings, text);
  if (words != nullptr)
    return done(client::print_words(*words, session_.files(), to_.format, to_.print));
  if (const auto* planned = std::get_if<sql::planned_job>(&*outcome))
    return run_job(*planned, text);
  return std::optional<job_id>();
}

result<std::optional<job_id>> shell_sql::run_job(const sql::planned_job& planned,
                                                 std::string_view text) {
  std::vector<sql::diagnostic> findings;
  auto made = sql::translate(planned, connectors_, findings);
  if (!made)
    return wrong(findings, text);
  for (const auto& warning : made->warnings)
    HEADRACE_CHECK(to_.tell("warning: " + warning + '\n'));
  HEADRACE_TRY(auto job,
               client::make_sql_job(
                   planned, std::move(*made),
                   client::sql_parallelism(planned.settings, default_parallelism(planned.settings)),
                   connectors_));
  HEADRACE_CHECK(cluster::apply_settings(planned.settings, job.shows_rows_at_once(), job.graph));
  if (job.shown) {
    if (!job.is_bounded && !to_.takes_endless)
      return error(errc::bad_usage, "query does not end, so that its rows would never be given: "
                                    "INSERT them INTO a table, or read tables that end");
    HEADRACE_CHECK(show_rows(job));
    return std::optional<job_id>();
  }
  HEADRACE_TRY(const auto id, session_.submit(job.graph, job.files, {}));
  HEADRACE_CHECK(to_.tell("submitted " + to_string(id) + '\n'));
  return std::optional(id);
}

status shell_sql::show_rows(client::sql_job& job) {
  const auto run = [&](client::collected_rows::taker take) -> result<bool> {
    HEADRACE_TRY(const auto id, session_.submit(job.graph, job.files, std::move(take)));
    const auto ended = session_.wait(id, std::chrono::milliseconds(0));
    if (!ended) {
      static_cast<void>(session_.cancel(id)); // nobody sees its rows any more
      return ended.error();
    }
    if (ended->state == scheduler::job_state::failed)
      return error(errc::job_failed, "job failed: " + to_string(id), ended->failure);
    return ended->state == scheduler::job_state::finished;
  };
  HEADRACE_CHECK(client::run_query(job, to_.format, to_.print, nullptr, run));
  return {};
}

status shell_sql::show_jobs(const sql::show& wanted) {
  HEADRACE_TRY(auto jobs, session_.list_jobs());
  std::erase_if(jobs, [&](const auto& job) { return !sql::is_wanted(wanted, job.name); });
  return client::print_words(table_of(jobs), session_.files(), to_.format, to_.print);
}

status shell_sql::describe_job(const std::string& job) {
  HEADRACE_TRY(const auto id, session_.find_job(job));
  HEADRACE_TRY(const auto found, session_.status_of(id));
  return client::print_words(table_of({found}), session_.files(), to_.format, to_.print);
}

status shell_sql::stop_job(const sql::stop_job& wanted) {
  HEADRACE_TRY(const auto id, session_.find_job(wanted.job.text));
  if (!wanted.with_savepoint) {
    HEADRACE_CHECK(session_.cancel(id));
    return to_.tell("canceled " + to_string(id) + '\n');
  }
  scheduler::savepoint_wish wish;
  wish.stop = wanted.with_drain ? graph::savepoint_stop::drain : graph::savepoint_stop::suspend;
  HEADRACE_TRY(auto path, session_.savepoint(id, wish));
  return client::print_words({{"savepoint path"}, {{std::move(path)}}}, session_.files(),
                             to_.format, to_.print);
}

} // namespace headrace::shell
