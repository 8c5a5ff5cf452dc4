#include "libscheduler/dispatcher/savepoint_operations.hpp"

#include "libactors/message/ids_codec.hpp"

namespace headrace::scheduler {

bool savepoint_operations::begin(const job_id& job, const savepoint_trigger_id& trigger) {
  return known_.try_emplace({job, trigger}, message_builder<schema::SavepointStatus>().finish())
      .second;
}

void savepoint_operations::end(const job_id& job, const savepoint_trigger_id& trigger,
                               result<message<schema::SavepointReply>> how) {
  const key which{job, trigger};
  message_builder<schema::SavepointStatus> status;
  status->setIsDone(true);
  if (how)
    status->setOutcome(*how->view());
  else
    write(status->initFailure(), how.error());
  known_[which] = status.finish();
  done_.push_back(which);
  if (done_.size() > done_max_) {
    known_.erase(done_.front());
    done_.pop_front();
  }
}

result<message<schema::SavepointStatus>>
savepoint_operations::status_of(const job_id& job, const savepoint_trigger_id& trigger) const {
  const auto found = known_.find({job, trigger});
  if (found == known_.end())
    return error(errc::state_not_found, "no such savepoint was triggered, or it was forgotten "
                                        "since: " +
                                            to_string(trigger) + " of job " + to_string(job));
  return found->second;
}

} // namespace headrace::scheduler
