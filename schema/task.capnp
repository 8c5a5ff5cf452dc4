@0xf4bac8431909c010;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Ids = import "ids.capnp";
using Error = import "error.capnp".Error;
using Deployment = import "deployment.capnp";

enum TaskState {
  created @0;
  scheduled @1;
  deploying @2;
  initializing @3;
  running @4;
  finished @5;
  canceling @6;
  canceled @7;
  failed @8;
}

# Job master -> task executor, answered by Acknowledge.
struct SubmitTask {
  deployment @0 :Deployment.TaskDeployment;
}
struct CancelTask {
  attempt @0 :Ids.ExecutionAttempt;
}

# Task executor -> job master.
struct TaskStateChanged {
  attempt @0 :Ids.ExecutionAttempt;
  state @1 :TaskState;
  failure @2 :Error;            # with state failed
  metrics @3 :TaskMetrics;
}
struct TaskMetrics {
  recordsIn @0 :UInt64;
  recordsOut @1 :UInt64;
  bytesIn @2 :UInt64;
  bytesOut @3 :UInt64;
  skippedRecords @4 :UInt64;
  lateRecords @5 :UInt64;
  watermarkMs @6 :Int64;
  busyUs @7 :UInt64;
  backPressuredUs @8 :UInt64;
  idleUs @9 :UInt64;
  restoredBytes @10 :UInt64;    # that were read to restore this attempt
  restoredLocalBytes @11 :UInt64; # of them, from copies on the task executor's machine
  state @12 :List(StateFigure);
  user @13 :List(UserFigure);
}
# What user code of an operator measures: see libgraph/function/user_metrics.hpp.
struct UserFigure {
  kind @0 :UInt8;               # metric_kind
  operatorName @1 :Text;
  name @2 :Text;
  integer @3 :Int64;
  real @4 :Float64;
  count @5 :UInt64;             # of values that were taken
}
# Of what keeps a task's state, summed over its operators; e.g. "rocksdb.block-cache-usage".
struct StateFigure {
  name @0 :Text;
  value @1 :UInt64;
}
# Task executor -> job master, every heartbeat.
struct TaskMetricsReport {
  tasks @0 :List(Entry);
  struct Entry {
    attempt @0 :Ids.ExecutionAttempt;
    metrics @1 :TaskMetrics;
  }
}

# Consumer's task executor -> producer's task executor, answered by Acknowledge, or by the error
# partition_not_found when the producer is not there (yet).
struct RequestPartition {
  partition @0 :Ids.Partition;
  subpartition @1 :Int32;
  consumer @2 :Ids.ExecutionAttempt;
  gate @3 :Int32;
  channel @4 :Int32;
  creditBytes @5 :UInt64;
}
# Task executor -> job master: a partition stays missing. Answered by PartitionState.
struct RequestPartitionState {
  partition @0 :Ids.Partition;
}
struct PartitionState {
  producerState @0 :TaskState;
}

# Operator <-> its coordinator, by way of task executor and job master. The event's form is the
# pair's own; both directions use the same struct.
struct OperatorEvent {
  attempt @0 :Ids.ExecutionAttempt;
  operator @1 :Ids.Id128;
  event @2 :Data;
}
