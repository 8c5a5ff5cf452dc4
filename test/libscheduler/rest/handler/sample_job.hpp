#pragma once

#include "libgraph/function/user_metrics_codec.hpp"
#include "libactors/message/ids_codec.hpp"
#include "libactors/message/message.hpp"
#include "schema/job.capnp.h"

#include <cstdint>
#include <vector>

namespace headrace::scheduler {

inline constexpr vertex_id source_id{1, 1};
inline constexpr vertex_id sink_id{1, 2};

inline void fill_vertex(schema::VertexStatus::Builder out, const vertex_id& id, const char* name,
                        std::vector<std::uint32_t> by_state) {
  write(out.initId(), id);
  out.setName(name);
  out.setParallelism(2);
  auto states = out.initTasksByState(static_cast<unsigned>(by_state.size()));
  for (unsigned i = 0; i < states.size(); ++i)
    states.set(i, by_state[i]);
  out.setRecordsIn(10);
  out.setRecordsOut(20);
}

/// A job of two vertices: the source has finished, the sink runs under back pressure.
inline message<schema::JobDetails> sample() {
  message_builder<schema::JobDetails> job;
  auto status = job->initStatus();
  write(status.initJob(), job_id{7, 8});
  status.setName("caf\xc3\xa9 \xff");
  status.setState(schema::JobState::RUNNING);
  status.setStartedMs(1'000);
  status.setRestarts(3);
  auto vertices = status.initVertices(2);
  fill_vertex(vertices[0], source_id, "source", {0, 0, 0, 0, 0, 2, 0, 0, 0});
  fill_vertex(vertices[1], sink_id, "sink", {0, 0, 0, 0, 2, 0, 0, 0, 0});
  auto times = job->initStateTimesMs(10);
  times.set(0, 1'000);
  times.set(1, 1'200);
  auto details = job->initVertices(2);
  for (unsigned vertex = 0; vertex < 2; ++vertex) {
    details[vertex].setMaxParallelism(128);
    details[vertex].setSlotSharingGroup("default");
    auto subtasks = details[vertex].initSubtasks(2);
    for (unsigned i = 0; i < 2; ++i) {
      subtasks[i].setStartedMs(1'100 + i);
      subtasks[i].setEndedMs(vertex == 0 ? 1'500 + i : 0);
      auto metrics = subtasks[i].initMetrics();
      metrics.setBytesIn(100);
      metrics.setBusyUs(5'000);
      metrics.setIdleUs(7'000);
      auto state = metrics.initState(1);
      state[0].setName("rocksdb.block-cache-usage");
      state[0].setValue(100 * vertex + i);
      graph::write_user_figures(metrics,
                                {{graph::metric_kind::counter, "map", "parsed", 40 + i, 0, 40 + i},
                                 {graph::metric_kind::gauge, "map", "lag_p99", 0, 1.5, 3},
                                 {graph::metric_kind::long_sum, "map", "seen", 9, 0, 9}});
    }
  }
  auto input = details[1].initInputs(1)[0];
  write(input.initVertex(), source_id);
  input.setPartitioner("HASH");
  details[1].getSubtasks()[1].setBackPressuredShare(0.75F);
  details[1].getSubtasks()[1].setBusyShare(0.25F);
  details[1].getSubtasks()[0].setIdleShare(1.0F);
  details[1].getSubtasks()[1].setAttempt(3);
  details[1].getSubtasks()[0].setState(schema::TaskState::RUNNING);
  write(details[1].getSubtasks()[0].initTaskExecutor(), task_executor_id{9, 9});

  auto past = job->initExceptions(2);
  past[0].setTimestampMs(1'300);
  write(past[0].initFailure(), error(errc::user_function_failed, "boom"));
  past[0].setTask("sink (1/2)");
  write(past[0].initTaskExecutor(), task_executor_id{9, 9});
  past[1].setTimestampMs(1'200);
  write(past[1].initFailure(), error(errc::not_enough_slots, "no slots"));
  job->setExceptionsTruncated(true);
  return job.finish();
}

} // namespace headrace::scheduler
