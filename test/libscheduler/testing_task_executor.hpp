#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/rpc/endpoint.hpp"
#include "schema/checkpoint.capnp.h"
#include "schema/registration.capnp.h"
#include "schema/slot.capnp.h"
#include "schema/source.capnp.h"
#include "schema/task.capnp.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headrace::testing {

class testing_task_executor;

/// What the task executors of a test share, and how their tasks behave. Outlives the node.
struct imagined_tasks {
  struct task {
    testing_task_executor* where = nullptr;
    actors::address master;
    fencing_token token;
    job_id job;
    std::vector<operator_id> operators;
    bool is_source = false;
    checkpoint_id restored = 0;
    std::set<std::string> splits; ///< that the reader holds, from its state and since
    bool has_all_splits = false;
    bool is_canceling = false;
    std::uint64_t taken_bytes = 0; ///< of a sink's rows, by the client
  };
  std::filesystem::path state_directory; ///< where the tasks' checkpoints have a file a split
  std::map<execution_attempt_id, task> running;
  std::vector<execution_attempt_id> submitted; ///< all there ever were
  std::set<checkpoint_id> completed;           ///< that were announced
  std::set<checkpoint_id> aborted;
  std::set<checkpoint_id> ending; ///< savepoints with which the tasks end
  bool ends_with_savepoints = true;
  bool starts = true;          ///< else tasks stay on their way
  bool acknowledges = true;    ///< checkpoints
  bool asks_for_splits = true; ///< without end; else only once
  bool finishes = false;       ///< sources when they have all splits, then everyone
  int refuses_submissions = 0; ///< the next so many
  int refused_offers = 0;      ///< of slots
};

/// Gives slots and pretends to run tasks: they are running at once; a triggered source makes every
/// task of its job acknowledge; readers ask for splits and keep them.
class testing_task_executor final : public actors::endpoint {
public:
  testing_task_executor(task_executor_id id, int slots, actors::address resource_manager,
                        imagined_tasks& tasks);
  ~testing_task_executor() override;

  const task_executor_id& id() const { return id_; }
  void report(const execution_attempt_id& attempt, schema::TaskState state,
              const error& failure = {});
  void acknowledge(const execution_attempt_id& attempt, checkpoint_id checkpoint);
  void say_collected(const execution_attempt_id& attempt, const operator_id& sink,
                     const std::string& batch, bool is_last);
  void end(const execution_attempt_id& attempt, schema::TaskState state, const error& failure = {});
  void tell_awaited(const actors::address& master, const message<schema::CheckpointAwaited>& news,
                    fencing_token token) {
    tell(master, news, token);
  }
  /// Gives up what it has of a job, as after the job master's silence; says so or not.
  void forget(const job_id& job, bool says_so);
  bool is_silent = false; ///< answers no heartbeat
  int disconnects = 0;    ///< that it heard

private:
  struct slot {
    allocation_id allocation;
    job_id job;
  };
  struct job_master_entry {
    actors::address where;
    fencing_token token;
    bool is_registered = false;
    std::vector<std::size_t> waiting; ///< slots to offer then
  };
  void on_start() override;
  void write_slots(schema::SlotReport::Builder out) const;
  void allocate(const message<schema::AllocateSlot>& order,
                actors::reply_to<schema::Acknowledge> back);
  void offer(std::size_t index, const job_master_entry& master);
  void free(const allocation_id& allocation);
  void submit(const message<schema::SubmitTask>& request,
              actors::reply_to<schema::Acknowledge> back);
  void say(const execution_attempt_id& attempt, const message<schema::SourceEvent>& event);
  void hear(const message<schema::OperatorEvent>& event);
  void trigger(const message<schema::TriggerCheckpoint>& order);

  task_executor_id id_;
  std::vector<slot> slots_;
  actors::address manager_;
  imagined_tasks& tasks_;
  std::map<job_id, job_master_entry> masters_;
};

} // namespace headrace::testing
