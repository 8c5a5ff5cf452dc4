#include "apps/run/progress.hpp"

#include "libactors/base/clock.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <cstdio>

namespace headrace::run {
namespace {

constexpr std::int64_t same_cause_pause_ms = 10'000;

void append_codes(const error& cause, std::vector<errc>& into) {
  into.push_back(cause.code);
  for (const auto& deeper : cause.causes)
    append_codes(deeper, into);
}

std::string seconds_of(std::int64_t ms) {
  char text[32];
  std::snprintf(&text[0], sizeof(text), "%.1f s", static_cast<double>(ms) / 1000.0);
  return &text[0];
}

void append_count(std::string& out, std::uint64_t count, const char* one, const char* many) {
  if (count > 0)
    out += ", " + std::to_string(count) + ' ' + (count == 1 ? one : many);
}

} // namespace

std::string describe_progress(const scheduler::job_status& job, std::int64_t now_ms) {
  std::string out = in_lower_case(scheduler::name_of(job.state));
  const auto until = job.ended_ms != 0 ? job.ended_ms : now_ms;
  if (job.started_ms != 0)
    out += (scheduler::is_terminal(job.state) ? " after " : " ") +
           seconds_of(std::max<std::int64_t>(0, until - job.started_ms));
  std::uint64_t skipped = 0;
  std::uint64_t late = 0;
  for (const auto& vertex : job.vertices) {
    skipped += vertex.skipped_records;
    late += vertex.late_records;
  }
  append_count(out, scheduler::records_read(job), "record read", "records read");
  append_count(out, skipped, "malformed record skipped", "malformed records skipped");
  append_count(out, late, "late record dropped", "late records dropped");
  append_count(out, job.completed_checkpoints, "checkpoint", "checkpoints");
  append_count(out, job.restarts, "restart", "restarts");
  if (!job.waiting_for.empty() && !scheduler::is_terminal(job.state))
    out += ", waiting for " + job.waiting_for;
  return out;
}

std::string describe_way_on(const scheduler::job_status& ended, const std::string& restored_from) {
  if (!ended.last_checkpoint_path.empty() && ended.failure.has(errc::corrupt_snapshot))
    return ended.name + ": its last checkpoint is corrupt, " + ended.last_checkpoint_path +
           "; goes on from an older one, where some are retained beside it, or from a savepoint "
           "with --from-savepoint";
  if (!restored_from.empty() && ended.completed_checkpoints == 0 &&
      ended.failure.has(errc::corrupt_snapshot))
    return ended.name + ": could not start from " + restored_from +
           ", which is not whole; begins from another checkpoint or savepoint with "
           "--from-savepoint";
  if (!ended.last_checkpoint_path.empty())
    return ended.name + ": goes on from its last checkpoint with --from-savepoint " +
           ended.last_checkpoint_path;
  if (ended.completed_checkpoints > 0)
    return ended.name +
           ": its checkpoints were not kept, as execution.checkpointing.dir would; it begins " +
           (restored_from.empty() ? "anew" : "again with --from-savepoint " + restored_from);
  if (!restored_from.empty() && ended.restored_checkpoint == 0)
    return ended.name + ": could not start from " + restored_from;
  if (!restored_from.empty())
    return ended.name + ": no checkpoint was complete; it begins again with --from-savepoint " +
           restored_from;
  return ended.name + ": no checkpoint was complete, so that it can only begin anew";
}

std::optional<std::string> restart_news::next(const scheduler::job_status& job,
                                              std::int64_t now_ms) {
  if (job.restarts <= told_ || job.failure.code == errc::none)
    return std::nullopt;
  std::vector<errc> codes;
  append_codes(job.failure, codes);
  if (codes == told_codes_ && now_ms - told_ms_ < same_cause_pause_ms)
    return std::nullopt;
  told_ = job.restarts;
  told_ms_ = now_ms;
  told_codes_ = std::move(codes);
  return "restart " + std::to_string(job.restarts) + ", because " + to_string(job.failure);
}

void progress::clear_line() const {
  if (style_ == style::live)
    std::fprintf(stderr, "\r\033[K");
}

void progress::show(const scheduler::job_status& job) {
  if (style_ == style::none)
    return;
  if (const auto news = news_.next(job, system_clock().wall_ms())) {
    clear_line();
    std::fprintf(stderr, "%s: %s\n", job.name.c_str(), news->c_str());
    shown_.clear();
    is_told_ = true;
  }
  const bool live = style_ == style::live;
  auto text = live ? describe_progress(job, system_clock().wall_ms())
                   : in_lower_case(scheduler::name_of(job.state)) +
                         (job.waiting_for.empty() ? "" : ", waiting for " + job.waiting_for);
  if (text == shown_)
    return;
  // Its restarts are told above, not all of them; of those that are, also that it runs again.
  const bool runs_again = job.state == scheduler::job_state::running && is_told_;
  if (!live && job.restarts > 0 && job.waiting_for.empty() && !runs_again)
    return;
  is_told_ = is_told_ && !runs_again;
  clear_line();
  if (live)
    std::fprintf(stderr, "%s: %s", job.name.c_str(), text.c_str());
  else
    std::fprintf(stderr, "%s: %s\n", job.name.c_str(), text.c_str());
  shown_ = std::move(text);
}

void progress::end(const scheduler::job_status& job) {
  if (style_ == style::none)
    return;
  clear_line();
  std::fprintf(stderr, "%s: %s\n", job.name.c_str(),
               describe_progress(job, system_clock().wall_ms()).c_str());
  for (const auto& each : job.accumulators)
    std::fprintf(stderr, "  %s: %s\n", each.name.c_str(), each.value.c_str());
}

} // namespace headrace::run
