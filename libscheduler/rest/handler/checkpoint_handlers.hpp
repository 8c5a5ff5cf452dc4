#pragma once

#include "libactors/message/message.hpp"
#include "schema/job.capnp.h"

#include <string>

namespace headrace::scheduler {

/// The answer of /jobs/:job/checkpoints, as JSON in the shape of Flink's REST interface. Summaries
/// are over the completed checkpoints of the history.
std::string describe_checkpoints(const message<schema::JobDetails>& job);

} // namespace headrace::scheduler
