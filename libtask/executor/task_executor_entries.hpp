#pragma once

#include "libtask/executor/task_executor_endpoint.hpp"

namespace headrace::task {

/// A job that has slots or tasks here.
struct task_executor_endpoint::job_entry {
  job_id id;
  actors::address master;
  fencing_token token;
  bool is_registered = false;
  bool is_registering = false;
  bool is_offering = false;  ///< an offer of slots has no answer yet
  bool offers_again = false; ///< slots were allocated meanwhile
  bool is_over = false;      ///< its job master has said so: nothing of it is needed any more
  std::int64_t heard_us = 0;
  std::int64_t unregistered_since_us = 0;
  std::shared_ptr<const graph::job_code> code; ///< once loaded
  std::vector<code_taker> code_takers;         ///< while it loads
};

/// A task that was submitted and has not ended.
struct task_executor_endpoint::task_entry {
  task_description what;
  std::string name; ///< of the child; empty: not started yet
  actors::actor_ref ref;
  std::shared_ptr<task_metrics> metrics;
  task_state state = task_state::DEPLOYING;
  bool canceling = false;
};

} // namespace headrace::task
