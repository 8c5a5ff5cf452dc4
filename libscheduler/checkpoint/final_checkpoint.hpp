#pragma once

#include "libgraph/connector/registry.hpp"
#include "libgraph/job_graph/job_graph.hpp"

namespace headrace::scheduler {

/// Whether tasks that have read everything wait for a checkpoint that holds their end, and finish
/// with it.
///
/// It is what makes sinks commit, all together, and what master hooks hear of; and after a failure
/// a job that takes checkpoints goes on from the newest one, so that the end has to be in one.
/// Where there is none of these, nobody would read what it stores.
///
/// @param connectors  tells which sinks commit; null: all do, as those do that come with the job's
///                    code
bool takes_final_checkpoint(const graph::job_graph& job,
                            const graph::connector_registry* connectors);

} // namespace headrace::scheduler
