#pragma once

#include "libgraph/data/savepoint_order.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"
#include "libactors/message/message.hpp"
#include "schema/job.capnp.h"

#include <string>
#include <string_view>

namespace headrace::scheduler {

// Bodies and answers about savepoints, as JSON in the shapes of Flink's REST interface.

/// What a client posts to have a savepoint taken.
struct savepoint_body {
  std::string target_directory; ///< empty: as the job is configured
  bool is_native = false;
  graph::savepoint_stop stop = graph::savepoint_stop::none;
  savepoint_trigger_id trigger; ///< of the client's choice; none: any
};
/// Of POST /jobs/:job/savepoints; an empty body is one without fields.
/// @errors bad_usage  no JSON, an unknown field or value; or cancel-job, for which there is /stop
result<savepoint_body> read_savepoint_body(std::string_view text);
/// Of POST /jobs/:job/stop. @errors bad_usage
result<savepoint_body> read_stop_body(std::string_view text);

message<schema::TriggerSavepoint> describe_trigger(const job_id& job, const savepoint_body& wanted);
/// The answer to both.
std::string describe_triggered(const savepoint_trigger_id& trigger);
/// The answer of GET /jobs/:job/savepoints/:trigger.
std::string describe_savepoint(const message<schema::SavepointStatus>& status);
/// The answer of PATCH /jobs/:job?mode=stop.
std::string describe_stopped(const message<schema::SavepointReply>& stopped);

} // namespace headrace::scheduler
