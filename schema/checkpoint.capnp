@0xe2a6109d62d36add;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Ids = import "ids.capnp";
using Error = import "error.capnp".Error;

# What makes a savepoint of a checkpoint. The numbers of `stop` are libgraph's.
enum SavepointStop {
  none @0;                      # the job goes on
  suspend @1;                   # nothing is emitted behind it, and the tasks finish
  drain @2;                     # the same, after all windows and timers of event time have fired
}
struct SavepointOrder {
  directory @0 :Text;           # where each task writes its part
  native @1 :Bool;              # in the form of the state backend, else canonical
  stop @2 :SavepointStop;
}

# Job master -> task executor: to sources, and to tasks all of whose producers have finished; others
# learn by barriers.
struct TriggerCheckpoint {
  attempt @0 :Ids.ExecutionAttempt;
  checkpoint @1 :Int64;
  timestampMs @2 :Int64;
  atLeastOnce @3 :Bool;
  savepoint @4 :SavepointOrder; # none: a plain checkpoint
  unaligned @5 :Bool;           # barriers overtake what is in flight; not together with atLeastOnce
  alignedTimeoutMs @6 :Int64 = -1; # after which they do; -1: never
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
  inFlightBytes @4 :UInt64;     # of them
  processedBytes @5 :UInt64;    # taken in between the first barrier and the last
  unaligned @6 :Bool;
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
