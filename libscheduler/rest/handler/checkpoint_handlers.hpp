#pragma once

#include "libactors/base/result.hpp"
#include "libactors/message/message.hpp"
#include "schema/job.capnp.h"

#include <cstdint>
#include <string>

namespace headrace::scheduler {

/// The answer of /jobs/:job/checkpoints, as JSON in the shape of Flink's REST interface. Summaries
/// are over the completed checkpoints of the history.
std::string describe_checkpoints(const message<schema::JobDetails>& job);
/// Of /jobs/:job/checkpoints/details/:checkpoint. @param wanted  above 0
/// @errors file_not_found  it is neither in the history nor a newest one
result<std::string> describe_checkpoint(const message<schema::JobDetails>& job,
                                        std::int64_t wanted);

} // namespace headrace::scheduler
