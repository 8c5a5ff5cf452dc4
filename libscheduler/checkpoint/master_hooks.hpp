#pragma once

#include "libgraph/function/function.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::scheduler {

/// What the master hooks of a job have stored with a checkpoint, by identifier.
using master_hook_states = std::map<std::string, byte_string>;

/// The form in which a checkpoint's manifest has them; none is empty.
byte_string encode_hook_states(const master_hook_states& states);
/// @errors malformed_message
result<master_hook_states> decode_hook_states(byte_view stored);
/// @errors incompatible_state  there is state of a hook that the job has not, and the job does not
///         allow that
status check_hook_states(const master_hook_states& states, const graph::checkpoint_spec& job);

/// The master hooks of one job, and the code that makes them. One thread at a time; calls run user
/// code and may block: on an executor.
class master_hooks {
public:
  /// Makes the hooks when they are first called. `code` lives longer and may be null.
  master_hooks(std::shared_ptr<const graph::job_graph> job, graph::job_code_loader* code,
               std::string artifact_directory);

  /// All of them, as the job names them. @returns what is to be stored
  /// @errors user_function_failed, and what fails when the code is loaded
  result<master_hook_states> trigger(checkpoint_id checkpoint, std::int64_t timestamp_ms);
  /// Resets all, and restores those that have state. @errors the same
  status restore(checkpoint_id checkpoint, const master_hook_states& states);
  void close();

private:
  struct hook {
    std::string identifier;
    std::unique_ptr<graph::master_hook> made;
  };
  status load();

  std::shared_ptr<const graph::job_graph> job_;
  graph::job_code_loader* code_;
  std::string artifact_directory_;
  std::shared_ptr<const graph::job_code> loaded_; ///< longer than the hooks
  std::vector<hook> hooks_;
};

} // namespace headrace::scheduler
