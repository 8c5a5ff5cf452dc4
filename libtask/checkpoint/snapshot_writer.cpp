#include "libtask/checkpoint/snapshot_writer.hpp"

#include "libstate/handle/subtask_state_codec.hpp"
#include "libactors/message/ids_codec.hpp"

#include <utility>

namespace headrace::task {

result<written_snapshot> write_snapshot(chain_snapshot& content, const snapshot_order& order,
                                        state::snapshot_segments& segments,
                                        state::local_copies* copies) {
  written_snapshot out;
  if (!content.has_state()) {
    out.state = content.watermarks();
    return out;
  }
  const bool is_savepoint = !order.savepoint_directory.empty();
  const auto directory = is_savepoint ? order.savepoint_directory
                                      : order.job_checkpoint_directory + "/chk-" +
                                            std::to_string(content.checkpoint());
  out.part = segments.open(directory,
                           {order.attempt.vertex, order.attempt.subtask, order.attempt.attempt,
                            order.attempt.generation},
                           is_savepoint);
  if (copies != nullptr && !is_savepoint)
    out.part = copies->copy(std::move(out.part), content.checkpoint());
  HEADRACE_TRY(out.state, content.run(*out.part));
  HEADRACE_CHECK(out.part->finish());
  if (const auto lies = out.part->place())
    state::move_segments(out.state, lies->written_as, lies->path, lies->offset);
  return out;
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
