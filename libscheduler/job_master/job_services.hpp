#pragma once

#include "libscheduler/checkpoint/checkpoint_record.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libgraph/connector/registry.hpp"
#include "libgraph/function/function.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/heartbeat/heartbeat_monitor.hpp"
#include "libactors/rpc/address.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace headrace::scheduler {

/// What the job masters of a process share. Pointers live longer than all of them.
struct job_services {
  const graph::connector_registry* connectors = nullptr;
  graph::job_code_loader* code = nullptr; ///< null: jobs bring no code
  headrace::file_system* files = nullptr;
  /// Where the blob server keeps artifacts, by digest.
  std::string artifact_directory;
  /// Where checkpoints of jobs go that name no directory of their own.
  std::string checkpoint_directory;
  /// Beside the stored jobs; null: these do not outlive the process.
  std::shared_ptr<const checkpoint_records> recorded_checkpoints;
  /// Makes a job's checkpoint storage below a root; empty: over `files`.
  std::function<std::shared_ptr<state::checkpoint_storage>(const std::string& root, job_id job)>
      make_storage;

  actors::address resource_manager;
  actors::address blob_server;
  actors::heartbeat_options heartbeat;
  std::chrono::milliseconds ask_timeout{10'000};
  /// A job master that is not registered at a resource manager for so long ends the process.
  std::chrono::milliseconds registration_timeout{300'000};
  std::chrono::milliseconds registration_retry{200};
  std::chrono::milliseconds cancel_retry{5'000};
  /// How often, and after which pauses, a job that starts asks for the state that it goes on from
  /// where storage fails, before it is refused.
  int recoveries_max = 30;
  std::chrono::milliseconds recovery_retry{1'000};
  std::chrono::milliseconds slot_idle_timeout{10'000};
  /// How long rows of an ended job wait to be fetched.
  std::chrono::milliseconds collect_linger{300'000};
  std::uint64_t collected_bytes_max = std::uint64_t{256} << 20U;
};

} // namespace headrace::scheduler
