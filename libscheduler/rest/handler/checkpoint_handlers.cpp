#include "libscheduler/rest/handler/checkpoint_handlers.hpp"

#include "libscheduler/rest/handler/json_text.hpp"
#include "libactors/message/ids_codec.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace headrace::scheduler {
namespace {

using json = nlohmann::ordered_json;

json checkpoint_entry(schema::CheckpointEntry::Reader entry) {
  static constexpr std::array<const char*, 3> outcomes = {"in_progress", "completed", "failed"};
  const auto outcome = std::min<std::size_t>(static_cast<std::size_t>(entry.getOutcome()), 2);
  json out;
  out["className"] = outcomes.at(outcome);
  out["id"] = entry.getId();
  out["status"] = upper_case_of(outcomes.at(outcome));
  out["is_savepoint"] = entry.getIsSavepoint();
  if (entry.getIsSavepoint())
    out["savepointFormat"] = entry.getIsNative() ? "NATIVE" : "CANONICAL";
  out["trigger_timestamp"] = entry.getTriggeredMs();
  out["latest_ack_timestamp"] = end_time(entry.getNewestAcknowledgementMs());
  out["checkpointed_size"] = entry.getNewBytes();
  out["state_size"] = entry.getBytes();
  out["end_to_end_duration"] =
      duration_ms(entry.getTriggeredMs(), entry.getEndedMs(), entry.getTriggeredMs());
  out["alignment_buffered"] = 0; // what is behind a barrier stays on its channel
  out["processed_data"] = entry.getProcessedBytes();
  out["persisted_data"] = entry.getInFlightBytes();
  out["alignment_duration"] = entry.getAlignmentUs() / 1000;
  out["unaligned_checkpoint"] = entry.getIsUnaligned();
  out["num_subtasks"] = entry.getSubtasks();
  out["num_acknowledged_subtasks"] = entry.getAcknowledged();
  out["checkpoint_type"] = entry.getIsUnaligned()                           ? "UNALIGNED_CHECKPOINT"
                           : !entry.getIsSavepoint()                        ? "CHECKPOINT"
                           : entry.getStop() == schema::SavepointStop::NONE ? "SAVEPOINT"
                                                                            : "SYNC_SAVEPOINT";
  out["tasks"] = json::object();
  if (entry.getOutcome() == schema::CheckpointOutcome::COMPLETED) {
    out["external_path"] = entry.getDirectory().cStr();
    out["discarded"] = false;
  }
  if (entry.getOutcome() == schema::CheckpointOutcome::FAILED) {
    out["failure_timestamp"] = entry.getEndedMs();
    out["failure_message"] = to_string(read_error(entry.getFailure()));
  }
  return out;
}

/// Minimum, maximum, average and quantiles (of the nearest rank); zeros of nothing.
json summary_of(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const auto value : values)
    sum += static_cast<double>(value);
  const auto quantile = [&](double part) {
    if (values.empty())
      return std::int64_t{0};
    const auto rank = std::ceil(part * static_cast<double>(values.size()));
    return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
  };
  json out;
  out["min"] = values.empty() ? 0 : values.front();
  out["max"] = values.empty() ? 0 : values.back();
  out["avg"] =
      values.empty() ? 0 : static_cast<std::int64_t>(sum / static_cast<double>(values.size()));
  out["p50"] = quantile(0.5);
  out["p90"] = quantile(0.9);
  out["p95"] = quantile(0.95);
  out["p99"] = quantile(0.99);
  out["p999"] = quantile(0.999);
  return out;
}

json newest_entry(schema::CheckpointEntry::Reader entry) {
  return entry.getId() == 0 ? json(nullptr) : checkpoint_entry(entry);
}

} // namespace

std::string describe_checkpoints(const message<schema::JobDetails>& job) {
  const auto view = job.view();
  const auto overview = view->getCheckpoints();
  std::int64_t in_progress = 0;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> new_sizes;
  std::vector<std::int64_t> durations;
  json history = json::array();
  for (const auto entry : overview.getHistory()) {
    if (entry.getOutcome() == schema::CheckpointOutcome::IN_PROGRESS)
      ++in_progress;
    if (entry.getOutcome() == schema::CheckpointOutcome::COMPLETED) {
      sizes.push_back(static_cast<std::int64_t>(entry.getBytes()));
      new_sizes.push_back(static_cast<std::int64_t>(entry.getNewBytes()));
      durations.push_back(entry.getEndedMs() - entry.getTriggeredMs());
    }
    history.push_back(checkpoint_entry(entry));
  }
  json restored = nullptr;
  if (const auto entry = overview.getNewestRestored(); entry.getId() != 0)
    restored = {{"id", entry.getId()},
                {"restore_timestamp", entry.getEndedMs()},
                {"is_savepoint", entry.getIsSavepoint()},
                {"external_path", entry.getDirectory().cStr()}};
  json out;
  out["counts"] = {{"restored", overview.getRestored()},
                   {"total", overview.getCompleted() + overview.getFailed() + in_progress},
                   {"in_progress", in_progress},
                   {"completed", overview.getCompleted()},
                   {"failed", overview.getFailed()}};
  out["summary"] = {{"checkpointed_size", summary_of(new_sizes)},
                    {"state_size", summary_of(sizes)},
                    {"end_to_end_duration", summary_of(durations)}};
  out["latest"] = {{"completed", newest_entry(overview.getNewestCompleted())},
                   {"savepoint", newest_entry(overview.getNewestSavepoint())},
                   {"failed", newest_entry(overview.getNewestFailed())},
                   {"restored", std::move(restored)}};
  out["history"] = std::move(history);
  return to_text(out);
}

result<std::string> describe_checkpoint(const message<schema::JobDetails>& job,
                                        std::int64_t wanted) {
  const auto view = job.view();
  const auto overview = view->getCheckpoints();
  for (const auto entry : overview.getHistory())
    if (entry.getId() == wanted)
      return to_text(checkpoint_entry(entry));
  for (const auto entry :
       {overview.getNewestCompleted(), overview.getNewestSavepoint(), overview.getNewestFailed()})
    if (entry.getId() == wanted)
      return to_text(checkpoint_entry(entry));
  return error(errc::file_not_found,
               "no such checkpoint among the last 10 of the job: " + std::to_string(wanted));
}

} // namespace headrace::scheduler
