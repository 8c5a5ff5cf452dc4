#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// Names each expected failure. Numbers are for ever; ranges say where the fault lies:
/// 1xxx configuration, 2xxx SQL and planning, 3xxx scheduling, 4xxx task, 5xxx connector and
/// format, 6xxx state and storage, 7xxx network and messages, 9xxx internal.
enum class errc : std::uint16_t {
  none = 0,

  unknown_option = 1001,
  bad_option_value = 1002,
  bad_configuration_file = 1003,
  bad_usage = 1004,

  invalid_graph = 2001,
  type_mismatch = 2002,
  duplicate_uid = 2003,

  job_not_found = 3001,
  duplicate_job = 3002,
  not_enough_slots = 3003,
  illegal_transition = 3004,
  restart_suppressed = 3005,
  job_canceled = 3006,
  checkpoint_declined = 3007,
  checkpoint_expired = 3008,
  checkpoint_subsumed = 3009,
  job_failed = 3010,
  task_executor_lost = 3011,

  user_function_failed = 4001,
  job_object_unloadable = 4002,
  job_object_incompatible = 4003,
  graph_mismatch = 4004,
  partition_not_found = 4005,
  memory_exceeded = 4006,
  task_canceled = 4007,
  task_stuck = 4008,
  unknown_operator = 4009,

  input_not_found = 5001,
  input_unreadable = 5002,
  malformed_record = 5003,
  output_failed = 5004,
  commit_failed = 5005,
  unknown_connector = 5006,
  output_unusable = 5007,

  storage_failed = 6001,
  storage_full = 6002,
  file_not_found = 6003,
  corrupt_snapshot = 6004,
  incompatible_state = 6005,
  state_not_found = 6006,
  unsupported_snapshot_version = 6007,

  malformed_message = 7001,
  message_too_large = 7002,
  timed_out = 7003,
  endpoint_not_found = 7004,
  fenced_off = 7005,
  registration_refused = 7006,
  peer_lost = 7007,
  shut_down = 7008,
  connection_failed = 7009,
  connection_refused = 7010,
  queue_full = 7011,

  internal = 9001,
  out_of_memory = 9002,
};

/// Returns the enumerator's name, e.g. "job_not_found"; "unknown" for a number without a name.
std::string_view name_of(errc code);

/// Carries an expected failure: what, in words (fixed words first, values last, no full stop), and
/// the failures that led to it, nearest first. A value.
struct error {
  errc code = errc::none;
  std::string message;
  std::vector<error> causes;

  error() = default;
  error(errc code_in, std::string message_in) : code(code_in), message(std::move(message_in)) {}
  error(errc code_in, std::string message_in, error cause)
      : code(code_in), message(std::move(message_in)) {
    causes.push_back(std::move(cause));
  }

  /// Returns whether this or any cause, at any depth, has the code.
  bool has(errc wanted) const;
  friend bool operator==(const error&, const error&) = default;
};

/// Returns "message [code_name 3001]" and one line "  caused by: …" a cause, indented by depth.
std::string to_string(const error& failure);

} // namespace headrace
