#include "libtask/checkpoint/snapshot_writer.hpp"

#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libstate/handle/subtask_state_codec.hpp"
#include "libactors/message/ids_codec.hpp"

#include <utility>

namespace headrace::task {

result<state::task_state_snapshot> write_snapshot(chain_snapshot& content,
                                                  const snapshot_order& order, file_system& files,
                                                  state::local_copies* copies) {
  if (content.is_empty())
    return state::task_state_snapshot{};
  const auto storage = state::make_file_checkpoint_storage(files, {}, {}); // only to open a part
  const bool is_savepoint = !order.savepoint_directory.empty();
  const auto directory = is_savepoint ? order.savepoint_directory
                                      : order.job_checkpoint_directory + "/chk-" +
                                            std::to_string(content.checkpoint());
  HEADRACE_TRY(auto target, storage->open(directory,
                                          {order.attempt.vertex, order.attempt.subtask,
                                           order.attempt.attempt, order.attempt.generation},
                                          is_savepoint));
  if (copies != nullptr && !is_savepoint)
    target = copies->copy(std::move(target), content.checkpoint());
  HEADRACE_TRY(auto written, content.run(*target));
  HEADRACE_CHECK(target->finish());
  return written;
}

message<schema::AcknowledgeCheckpoint> acknowledge(const state::task_state_snapshot& written,
                                                   checkpoint_id checkpoint,
                                                   const snapshot_order& order) {
  message_builder<schema::AcknowledgeCheckpoint> out;
  write(out->initAttempt(), order.attempt);
  out->setCheckpoint(checkpoint);
  if (!written.operators.empty())
    headrace::state::write_subtask_state(out->initState(), written);
  auto metrics = out->initMetrics();
  metrics.setAlignmentUs(order.alignment_us);
  metrics.setSynchronousUs(order.synchronous_us);
  metrics.setAsynchronousUs(order.asynchronous_us);
  metrics.setBytes(written.size_bytes());
  metrics.setInFlightBytes(written.in_flight_bytes());
  metrics.setProcessedBytes(order.processed_bytes);
  metrics.setUnaligned(order.is_unaligned);
  return out.finish();
}

} // namespace headrace::task
