@0xe2a6109d62d36add;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Ids = import "ids.capnp";
using Error = import "error.capnp".Error;

# Job master -> task executor: to sources, and to tasks all of whose producers have finished; others
# learn by barriers.
struct TriggerCheckpoint {
  attempt @0 :Ids.ExecutionAttempt;
  checkpoint @1 :Int64;
  timestampMs @2 :Int64;
  atLeastOnce @3 :Bool;
}

# Task executor -> job master.
struct AcknowledgeCheckpoint {
  attempt @0 :Ids.ExecutionAttempt;
  checkpoint @1 :Int64;
  state @2 :AnyPointer;         # SubtaskState of state.capnp
  metrics @3 :SnapshotMetrics;
}
struct SnapshotMetrics {
  alignmentUs @0 :Int64;
  synchronousUs @1 :Int64;
  asynchronousUs @2 :Int64;
  bytes @3 :UInt64;
}
struct DeclineCheckpoint {
  attempt @0 :Ids.ExecutionAttempt;
  checkpoint @1 :Int64;
  reason @2 :Error;
}

# Job master -> task executor, to every running task.
struct CheckpointCompleted {
  attempt @0 :Ids.ExecutionAttempt;
  checkpoint @1 :Int64;
}
struct CheckpointAborted {
  attempt @0 :Ids.ExecutionAttempt;
  checkpoint @1 :Int64;
}

# Task executor -> job master: the task has read all of its input and flushed, and finishes as soon
# as a checkpoint that it acknowledges after this is completed. The job master triggers one when the
# tasks that would be triggered all wait.
struct CheckpointAwaited {
  attempt @0 :Ids.ExecutionAttempt;
}
