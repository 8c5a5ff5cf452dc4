#pragma once

#include "libscheduler/job_master/job_history.hpp"
#include "libscheduler/job_master/job_report.hpp"
#include "libactors/message/message.hpp"
#include "schema/job.capnp.h"

namespace headrace::scheduler {

/// Writes all that is known of a job. `checkpoints` may be empty: unknown.
void write_details(schema::JobDetails::Builder out, const execution_graph& graph,
                   const job_facts& facts, const job_history& history,
                   const message<schema::CheckpointOverview>& checkpoints);

} // namespace headrace::scheduler
