#include "libscheduler/checkpoint/checkpoint_statistics.hpp"

#include "libactors/message/ids_codec.hpp"

#include <algorithm>
#include <utility>

namespace headrace::scheduler {
namespace {

void write_record(schema::CheckpointEntry::Builder out, const checkpoint_record& record,
                  std::int64_t to_wall_ms) {
  const auto wall = [&](const std::optional<std::int64_t>& time_ms) {
    return time_ms ? *time_ms + to_wall_ms : 0;
  };
  out.setId(record.id);
  out.setOutcome(static_cast<schema::CheckpointOutcome>(record.outcome));
  out.setTriggeredMs(record.triggered_ms + to_wall_ms);
  out.setNewestAcknowledgementMs(wall(record.newest_acknowledgement_ms));
  out.setEndedMs(wall(record.ended_ms));
  out.setBytes(record.size_bytes);
  out.setNewBytes(record.new_bytes);
  out.setSubtasks(record.subtasks);
  out.setAcknowledged(record.acknowledged);
  out.setDirectory(record.directory);
  out.setIsSavepoint(record.is_savepoint);
  out.setIsNative(record.is_native);
  out.setStop(static_cast<schema::SavepointStop>(record.stop));
  out.setInFlightBytes(record.figures.in_flight_bytes);
  out.setProcessedBytes(record.figures.processed_bytes);
  out.setAlignmentUs(record.figures.alignment_us);
  out.setIsUnaligned(record.figures.is_unaligned);
  write(out.initFailure(), record.failure);
}

} // namespace

checkpoint_record* checkpoint_statistics::find_running(checkpoint_id id) {
  const auto found = std::find_if(history_.begin(), history_.end(), [&](const auto& record) {
    return record.id == id && record.outcome == checkpoint_outcome::in_progress;
  });
  return found == history_.end() ? nullptr : &*found;
}

void checkpoint_statistics::begun(checkpoint_id id, const graph::savepoint_order* savepoint,
                                  std::int32_t subtasks, std::int64_t now_ms) {
  checkpoint_record record;
  record.id = id;
  if (savepoint != nullptr) {
    record.is_savepoint = true;
    record.is_native = savepoint->is_native;
    record.stop = savepoint->stop;
  }
  record.triggered_ms = now_ms;
  record.subtasks = subtasks;
  history_.push_front(std::move(record));
  if (history_.size() > history_max)
    history_.pop_back();
}

void checkpoint_statistics::acknowledged(checkpoint_id id, const snapshot_figures& figures,
                                         std::int64_t now_ms) {
  auto* record = find_running(id);
  if (record == nullptr)
    return;
  ++record->acknowledged;
  record->newest_acknowledgement_ms = now_ms;
  auto& all = record->figures;
  all.alignment_us = std::max(all.alignment_us, figures.alignment_us);
  all.in_flight_bytes += figures.in_flight_bytes;
  all.processed_bytes += figures.processed_bytes;
  all.is_unaligned = all.is_unaligned || figures.is_unaligned;
}

void checkpoint_statistics::completed(checkpoint_id id, const completed_size& size,
                                      std::string directory, std::int64_t now_ms) {
  auto* record = find_running(id);
  if (record == nullptr)
    return;
  ++completed_count_;
  record->outcome = checkpoint_outcome::completed;
  record->size_bytes = size.bytes;
  record->new_bytes = size.new_bytes;
  record->directory = std::move(directory);
  record->ended_ms = now_ms;
  (record->is_savepoint ? newest_savepoint_ : newest_completed_) = *record;
}

void checkpoint_statistics::failed(checkpoint_id id, error why, std::int64_t now_ms) {
  auto* record = find_running(id);
  if (record == nullptr)
    return;
  ++failed_count_;
  record->outcome = checkpoint_outcome::failed;
  record->failure = std::move(why);
  record->ended_ms = now_ms;
  newest_failed_ = *record;
}

void checkpoint_statistics::restored(checkpoint_id id, bool is_savepoint, std::string directory,
                                     std::int64_t now_ms) {
  ++restored_count_;
  checkpoint_record record;
  record.id = id;
  record.is_savepoint = is_savepoint;
  record.outcome = checkpoint_outcome::completed;
  record.triggered_ms = now_ms;
  record.ended_ms = now_ms;
  record.directory = std::move(directory);
  newest_restored_ = std::move(record);
}

message<schema::CheckpointOverview> describe(const checkpoint_statistics& statistics,
                                             std::int64_t to_wall_ms) {
  message_builder<schema::CheckpointOverview> out;
  out->setRestored(statistics.restored_count());
  out->setCompleted(statistics.completed_count());
  out->setFailed(statistics.failed_count());
  if (const auto& newest = statistics.newest_restored())
    write_record(out->initNewestRestored(), *newest, to_wall_ms);
  if (const auto& newest = statistics.newest_completed())
    write_record(out->initNewestCompleted(), *newest, to_wall_ms);
  if (const auto& newest = statistics.newest_savepoint())
    write_record(out->initNewestSavepoint(), *newest, to_wall_ms);
  if (const auto& newest = statistics.newest_failed())
    write_record(out->initNewestFailed(), *newest, to_wall_ms);
  auto history = out->initHistory(static_cast<unsigned>(statistics.history().size()));
  for (unsigned i = 0; i < history.size(); ++i)
    write_record(history[i], statistics.history()[i], to_wall_ms);
  return out.finish();
}

} // namespace headrace::scheduler
