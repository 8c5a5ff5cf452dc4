#include "apps/client/gc_command.hpp"

#include "apps/client/job_commands.hpp"
#include "libstate/checkpoint/orphans.hpp"
#include "libactors/base/clock.hpp"

#include <cstdio>
#include <string_view>

namespace headrace::client {
namespace {

constexpr std::int64_t minute_ms = 60'000;

std::string_view name_of(state::orphan::kind what) {
  switch (what) {
  case state::orphan::kind::incomplete_checkpoint:
    return "incomplete checkpoint";
  case state::orphan::kind::incomplete_savepoint:
    return "incomplete savepoint";
  default:
    return "unused shared file";
  }
}

status collect(const gc_options& options) {
  const auto files = make_local_file_system();
  HEADRACE_TRY(const auto found,
               state::find_orphans(*files, options.directory,
                                   system_clock().wall_ms() - options.minutes_old * minute_ms));
  std::uint64_t bytes = 0;
  for (const auto& each : found) {
    if (!options.is_dry_run)
      HEADRACE_CHECK(state::remove_orphan(*files, each));
    bytes += each.size_bytes;
    std::printf("%s %s (%llu bytes)\n", std::string(name_of(each.what)).c_str(), each.path.c_str(),
                static_cast<unsigned long long>(each.size_bytes));
  }
  std::printf("%s: %zu, %llu bytes\n", options.is_dry_run ? "would be removed" : "removed",
              found.size(), static_cast<unsigned long long>(bytes));
  return {};
}

} // namespace

int run_gc(const gc_options& options) {
  const auto outcome = collect(options);
  if (outcome)
    return done;
  std::fprintf(stderr, "headrace: %s\n", to_string(outcome.error()).c_str());
  return outcome.error().code == errc::bad_usage ? bad_usage : failed;
}

} // namespace headrace::client
