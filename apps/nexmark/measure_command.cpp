#include "apps/nexmark/measure_command.hpp"

#include "apps/run/job_runner.hpp"
#include "apps/run/run_sql.hpp"
#include "libtask/connector/nexmark/nexmark_settings.hpp"
#include "libactors/base/clock.hpp"

#include <algorithm>
#include <cstdio>
#include <sys/resource.h>
#include <vector>

namespace headrace::nexmark {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20U;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

struct usage {
  double core_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;
};
usage usage_now() {
  rusage found{};
  ::getrusage(RUSAGE_SELF, &found);
  return {seconds_of(found.ru_utime) + seconds_of(found.ru_stime),
          static_cast<std::uint64_t>(found.ru_maxrss) * 1024};
}

/// Of the file of events: one a line.
result<std::uint64_t> count_lines(const std::string& path, file_system& files) {
  HEADRACE_TRY(const auto file, files.open(path));
  std::vector<char> piece(piece_bytes);
  std::uint64_t lines = 0;
  for (std::uint64_t at = 0;;) {
    HEADRACE_TRY(const auto read, file->read_at(at, {piece.data(), piece.size()}));
    if (read == 0)
      return lines;
    lines += static_cast<std::uint64_t>(
        std::count(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(read), '\n'));
    at += read;
  }
}

std::string text_of(const char* format, double value) {
  std::array<char, 64> out{};
  const auto size = std::snprintf(out.data(), out.size(), format, value);
  return {out.data(), static_cast<std::size_t>(size)};
}

double per(std::uint64_t events, double seconds) {
  return seconds > 0 ? static_cast<double>(events) / seconds : 0;
}

} // namespace

std::string as_text(const figures& of) {
  return of.query + ": " + std::to_string(of.events) + " events in " +
         text_of("%.2f s", of.seconds) + ", " + text_of("%.0f", per(of.events, of.seconds)) +
         " events/s; " + text_of("%.2f", of.core_seconds) + " core-seconds, " +
         text_of("%.0f", per(of.events, of.core_seconds)) + " events/core-second; peak memory " +
         text_of("%.0f mb", static_cast<double>(of.peak_memory_bytes) / 1048576) + "\n";
}

std::string as_json(const figures& of) {
  return "{\"query\":\"" + of.query + "\",\"events\":" + std::to_string(of.events) +
         ",\"seconds\":" + text_of("%.3f", of.seconds) +
         ",\"events_per_second\":" + text_of("%.0f", per(of.events, of.seconds)) +
         ",\"core_seconds\":" + text_of("%.3f", of.core_seconds) +
         ",\"events_per_core_second\":" + text_of("%.0f", per(of.events, of.core_seconds)) +
         ",\"peak_memory_bytes\":" + std::to_string(of.peak_memory_bytes) + "}\n";
}

result<std::uint64_t> count_events(const script_options& options, file_system& files) {
  if (options.input.empty()) {
    HEADRACE_TRY(const auto settings, task::nexmark_settings::parse(options.settings));
    if (settings.events == 0)
      return error(errc::bad_usage, "a run that is measured has an end: say --events");
    return settings.events;
  }
  const auto json = options.input + "/" + std::string(file_names::json);
  return count_lines(files.stat(json) ? json : options.input + "/" + std::string(file_names::csv),
                     files);
}

int measure(const script_options& options, run::run_options how, bool is_json) {
  const auto files = make_local_file_system();
  const auto script = make_script(options, *files);
  if (!script)
    return run::complain(script.error());
  const auto events = count_events(options, *files);
  if (!events)
    return run::complain(events.error());
  how.job = options.query;
  const system_clock time;
  const auto before = usage_now();
  const auto begin_us = time.now_us();
  if (const int code = run::run_sql_text(*script, how); code != run::finished)
    return code;
  const auto after = usage_now();
  const figures made{options.query, *events, static_cast<double>(time.now_us() - begin_us) / 1e6,
                     after.core_seconds - before.core_seconds, after.peak_memory_bytes};
  std::fputs((is_json ? as_json(made) : as_text(made)).c_str(), stdout);
  return run::finished;
}

} // namespace headrace::nexmark
