@0xd9680106d8ad32cb;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Ids = import "ids.capnp";
using Error = import "error.capnp".Error;
using Task = import "task.capnp";
using Checkpoint = import "checkpoint.capnp";

enum JobState {
  created @0;
  running @1;
  failing @2;
  failed @3;
  cancelling @4;
  canceled @5;
  finished @6;
  restarting @7;
  suspended @8;
  reconciling @9;
}

# Client -> dispatcher. The graph is a JobGraph of graph.capnp. Answered by SubmitJobReply.
struct SubmitJob {
  graph @0 :AnyPointer;
}
struct SubmitJobReply {
  job @0 :Ids.Id128;
}

# Client -> dispatcher -> job master. Answered by JobStatus.
struct RequestJobStatus {
  job @0 :Ids.Id128;
}
struct VertexStatus {
  id @0 :Ids.Id128;
  name @1 :Text;
  parallelism @2 :Int32;
  tasksByState @3 :List(UInt32); # index: TaskState of task.capnp
  recordsIn @4 :UInt64;
  recordsOut @5 :UInt64;
  skippedRecords @6 :UInt64;
  lateRecords @7 :UInt64;
  # Of the time between the two newest reports: of the subtask with the largest share each.
  busyShare @8 :Float32;
  backPressuredShare @9 :Float32;
  idleShare @10 :Float32;
  restoredBytes @11 :UInt64;      # by the running attempts
  restoredLocalBytes @12 :UInt64; # of them, from local copies
  isSource @13 :Bool;             # has no input: what it has read is its recordsIn
}
# What user code has gathered, over all subtasks; see libscheduler/job_master/accumulators.hpp.
struct Accumulator {
  name @0 :Text;
  type @1 :Text;                # e.g. LongCounter
  value @2 :Text;
}
struct JobStatus {
  job @0 :Ids.Id128;
  name @1 :Text;
  state @2 :JobState;
  startedMs @3 :Int64;
  endedMs @4 :Int64;            # 0: not yet
  restarts @5 :UInt32;
  completedCheckpoints @6 :UInt32;
  lastCheckpoint @7 :Int64;     # 0: none yet
  lastCheckpointPath @8 :Text;
  vertices @9 :List(VertexStatus);
  failure @10 :Error;           # the newest; code 0: none
  waitingFor @11 :Text;         # what the job waits for (e.g. "2 of 4 slots"); empty: nothing
  restoredCheckpoint @12 :Int64; # the one that the running attempt started from; 0: none
  accumulators @13 :List(Accumulator);
}

# Client -> dispatcher: answered by JobResult when the job has ended, however long that takes
# (the client asks again after its deadline).
struct RequestJobResult {
  job @0 :Ids.Id128;
}
struct JobResult {
  job @0 :Ids.Id128;
  state @1 :JobState;
  runtimeMs @2 :Int64;
  failure @3 :Error;
  restarts @4 :UInt32;
  completedCheckpoints @5 :UInt32;
}

# Client -> dispatcher -> job master. Answered by Acknowledge of error.capnp.
struct CancelJob {
  job @0 :Ids.Id128;
}

# Client -> dispatcher -> job master: all that is known of a job. Answered by JobDetails.
struct RequestJobDetails {
  job @0 :Ids.Id128;
}
struct SubtaskDetails {
  state @0 :Task.TaskState;
  attempt @1 :Int32;
  taskExecutor @2 :Ids.Id128;   # none: not placed
  metrics @3 :Task.TaskMetrics; # of the newest report
  busyShare @4 :Float32;
  backPressuredShare @5 :Float32;
  idleShare @6 :Float32;
  startedMs @7 :Int64;          # of this attempt; 0: not yet
  endedMs @8 :Int64;            # 0: not yet
}
struct VertexInput {
  vertex @0 :Ids.Id128;
  partitioner @1 :Text;         # e.g. HASH
}
struct VertexDetails {
  maxParallelism @0 :Int32;
  slotSharingGroup @1 :Text;
  inputs @2 :List(VertexInput);
  subtasks @3 :List(SubtaskDetails);
}
struct ExceptionEntry {
  timestampMs @0 :Int64;
  failure @1 :Error;
  task @2 :Text;                # e.g. "count (2/4)"; empty: the whole job
  taskExecutor @3 :Ids.Id128;   # none: the whole job
}
enum CheckpointOutcome {
  inProgress @0;
  completed @1;
  failed @2;
}
struct CheckpointEntry {
  id @0 :Int64;
  outcome @1 :CheckpointOutcome;
  triggeredMs @2 :Int64;
  newestAcknowledgementMs @3 :Int64; # 0: none yet
  endedMs @4 :Int64;            # 0: in progress
  bytes @5 :UInt64;
  subtasks @6 :Int32;
  acknowledged @7 :Int32;
  directory @8 :Text;           # of a completed one
  failure @9 :Error;
  isSavepoint @10 :Bool;
  isNative @11 :Bool;           # of savepoints
  stop @12 :Checkpoint.SavepointStop;
  inFlightBytes @13 :UInt64;    # of the bytes: what barriers have overtaken
  processedBytes @14 :UInt64;   # taken in by all tasks between their first barrier and their last
  alignmentUs @15 :Int64;       # the longest of a task
  isUnaligned @16 :Bool;        # of one task at least
  newBytes @17 :UInt64;         # of the bytes: those that the checkpoint before it does not have
}
struct CheckpointOverview {
  restored @0 :UInt32;
  completed @1 :UInt32;
  failed @2 :UInt32;
  newestRestored @3 :CheckpointEntry; # id 0: none; endedMs is the time of the restore
  newestCompleted @4 :CheckpointEntry;
  newestFailed @5 :CheckpointEntry;
  history @6 :List(CheckpointEntry);  # newest first; the last some
  newestSavepoint @7 :CheckpointEntry;
}
struct JobDetails {
  status @0 :JobStatus;
  stateTimesMs @1 :List(Int64); # index: JobState; when it was entered last, 0: never
  vertices @2 :List(VertexDetails); # as in the status
  exceptions @3 :List(ExceptionEntry); # newest first; the last some
  exceptionsTruncated @4 :Bool;
  checkpoints @5 :CheckpointOverview;
  restartStrategy @6 :Text;     # in words
}

# Client -> dispatcher -> job master: takes a savepoint. Answered by SavepointReply once it is lasting
# and, when it ends the job, the job has finished.
struct TakeSavepoint {
  job @0 :Ids.Id128;
  targetDirectory @1 :Text;     # the savepoint is a directory in it; empty: as the job is configured
  native @2 :Bool;              # in the form of the state backend, else canonical
  stop @3 :Checkpoint.SavepointStop;
}
struct SavepointReply {
  checkpoint @0 :Int64;
  path @1 :Text;
}

# Client -> dispatcher: the same, but answered by Acknowledge at once. How it goes is asked for by the
# trigger's id, which the client chooses; one that came before changes nothing.
struct TriggerSavepoint {
  trigger @0 :Ids.Id128;
  order @1 :TakeSavepoint;
}
# Answered by SavepointStatus.
struct RequestSavepointStatus {
  job @0 :Ids.Id128;
  trigger @1 :Ids.Id128;
}
struct SavepointStatus {
  isDone @0 :Bool;
  outcome @1 :SavepointReply;   # when done, and nothing failed
  failure @2 :Error;
}

# The process -> dispatcher -> each job master: take a last checkpoint, then stop to run, so that the
# next dispatcher runs the jobs on. Answered by Acknowledge when all are suspended.
struct SuspendJobs {
  timeoutMs @0 :Int64;          # for the checkpoint; then without one
}

struct ListJobs {}
struct JobList {
  jobs @0 :List(JobStatus);
}

# Job master -> dispatcher: the job is in a terminal state. Answered by Acknowledge once that is
# lasting, so that no later dispatcher runs the job again: only then may its checkpoints go.
struct JobEnded {
  result @0 :JobResult;
  status @1 :JobStatus;
  details @2 :JobDetails;
}

# Job master -> dispatcher: nothing is left to be done for the ended job; clients may know its end.
struct JobCleanedUp {
  job @0 :Ids.Id128;
}

# Client -> dispatcher -> job master: rows that a collecting sink made visible since `offset`
# (an index into all rows' batches of that sink). Answered by CollectedRows.
struct FetchCollected {
  job @0 :Ids.Id128;
  operator @1 :Ids.Id128;
  offset @2 :UInt64;
}
struct CollectedRows {
  nextOffset @0 :UInt64;
  batches @1 :List(Data);       # batch_codec's form
  isLast @2 :Bool;
}
