#include "libscheduler/execution_graph/job_mail.hpp"

#include <array>

namespace headrace::scheduler {

std::string_view name_of(job_mail_kind kind) {
  static constexpr std::array names = {
      std::string_view("resource_manager_changed"),
      std::string_view("executor_joined"),
      std::string_view("executor_left"),
      std::string_view("slots_wanted"),
      std::string_view("slots_released"),
      std::string_view("slots_ready"),
      std::string_view("slots_missing"),
      std::string_view("coordinators_known"),
      std::string_view("restore_requested"),
      std::string_view("plan_made"),
      std::string_view("task_ended"),
      std::string_view("checkpoint_acknowledged"),
      std::string_view("checkpoint_declined"),
      std::string_view("checkpoint_awaited"),
      std::string_view("checkpoint_requested"),
      std::string_view("savepoint_wanted"),
      std::string_view("statistics_wanted"),
      std::string_view("job_over"),
      std::string_view("checkpoints_released"),
      std::string_view("restore_done"),
      std::string_view("plan_wanted"),
      std::string_view("checkpoint_progress"),
      std::string_view("requested_checkpoint_ended"),
      std::string_view("savepoint_ended"),
      std::string_view("too_many_checkpoint_failures"),
      std::string_view("statistics_told"),
      std::string_view("checkpoints_stopped"),
      std::string_view("cleaned_up"),
      std::string_view("coordinator_snapshot_wanted"),
      std::string_view("coordinator_resumed"),
      std::string_view("coordinator_checkpoint_completed"),
      std::string_view("coordinator_snapshot_taken"),
      std::string_view("coordinator_reset"),
      std::string_view("readers_reset"),
      std::string_view("reader_said"),
      std::string_view("coordinator_failed"),
  };
  static_assert(names.size() == static_cast<std::size_t>(job_mail_kind::coordinator_failed));
  const auto number = static_cast<std::size_t>(kind);
  return number == 0 || number > names.size() ? std::string_view() : names[number - 1];
}

} // namespace headrace::scheduler
