#include "libactors/base/error.hpp"

#include "libactors/base/data_errc.hpp"
#include "libactors/base/file_failure.hpp"

#include <algorithm>

namespace headrace {

namespace {

/// Of codes beside those that `errc` lists.
std::string_view name_of_other(errc code) {
#define HEADRACE_CODE(name)                                                                        \
  if (code == data_errc::name)                                                                     \
    return #name;
  HEADRACE_CODE(division_by_zero)
  HEADRACE_CODE(cast_failed)
  HEADRACE_CODE(value_refused)
  HEADRACE_CODE(constraint_violated)
  HEADRACE_CODE(row_time_missing)
  HEADRACE_CODE(match_stuck)
  HEADRACE_CODE(user_code_failed)
#undef HEADRACE_CODE
  return code == file_unusable ? "file_unusable" : "unknown";
}

} // namespace

std::string_view name_of(errc code) {
  switch (code) {
#define HEADRACE_CODE(name)                                                                        \
  case errc::name:                                                                                 \
    return #name;
    HEADRACE_CODE(none)
    HEADRACE_CODE(unknown_option)
    HEADRACE_CODE(bad_option_value)
    HEADRACE_CODE(bad_configuration_file)
    HEADRACE_CODE(bad_usage)
    HEADRACE_CODE(invalid_graph)
    HEADRACE_CODE(type_mismatch)
    HEADRACE_CODE(duplicate_uid)
    HEADRACE_CODE(job_not_found)
    HEADRACE_CODE(duplicate_job)
    HEADRACE_CODE(not_enough_slots)
    HEADRACE_CODE(illegal_transition)
    HEADRACE_CODE(restart_suppressed)
    HEADRACE_CODE(job_canceled)
    HEADRACE_CODE(checkpoint_declined)
    HEADRACE_CODE(checkpoint_expired)
    HEADRACE_CODE(checkpoint_subsumed)
    HEADRACE_CODE(job_failed)
    HEADRACE_CODE(task_executor_lost)
    HEADRACE_CODE(user_function_failed)
    HEADRACE_CODE(job_object_unloadable)
    HEADRACE_CODE(job_object_incompatible)
    HEADRACE_CODE(graph_mismatch)
    HEADRACE_CODE(partition_not_found)
    HEADRACE_CODE(memory_exceeded)
    HEADRACE_CODE(task_canceled)
    HEADRACE_CODE(task_stuck)
    HEADRACE_CODE(unknown_operator)
    HEADRACE_CODE(input_not_found)
    HEADRACE_CODE(input_unreadable)
    HEADRACE_CODE(malformed_record)
    HEADRACE_CODE(output_failed)
    HEADRACE_CODE(commit_failed)
    HEADRACE_CODE(unknown_connector)
    HEADRACE_CODE(output_unusable)
    HEADRACE_CODE(storage_failed)
    HEADRACE_CODE(storage_full)
    HEADRACE_CODE(file_not_found)
    HEADRACE_CODE(corrupt_snapshot)
    HEADRACE_CODE(incompatible_state)
    HEADRACE_CODE(state_not_found)
    HEADRACE_CODE(unsupported_snapshot_version)
    HEADRACE_CODE(malformed_message)
    HEADRACE_CODE(message_too_large)
    HEADRACE_CODE(timed_out)
    HEADRACE_CODE(endpoint_not_found)
    HEADRACE_CODE(fenced_off)
    HEADRACE_CODE(registration_refused)
    HEADRACE_CODE(peer_lost)
    HEADRACE_CODE(shut_down)
    HEADRACE_CODE(connection_failed)
    HEADRACE_CODE(connection_refused)
    HEADRACE_CODE(queue_full)
    HEADRACE_CODE(internal)
    HEADRACE_CODE(out_of_memory)
#undef HEADRACE_CODE
  }
  return name_of_other(code);
}

bool error::has(errc wanted) const {
  return code == wanted ||
         std::any_of(causes.begin(), causes.end(), [&](const auto& c) { return c.has(wanted); });
}

namespace {

void write(const error& failure, std::size_t depth, std::string& out) {
  out += failure.message;
  out += " [";
  out += name_of(failure.code);
  out += ' ';
  out += std::to_string(static_cast<unsigned>(failure.code));
  out += ']';
  for (const auto& cause : failure.causes) {
    if (cause.code == errc::none)
      continue; // an orderly end is no cause
    out += '\n';
    out.append(2 * (depth + 1), ' ');
    out += "caused by: ";
    write(cause, depth + 1, out);
  }
}

} // namespace

std::string to_string(const error& failure) {
  if (failure.code == errc::none)
    return failure.message.empty() ? "it ended in order" : failure.message;
  std::string out;
  write(failure, 0, out);
  return out;
}

} // namespace headrace
