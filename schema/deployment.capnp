@0xa244ab04ef7a34c7;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Ids = import "ids.capnp";

# A task executor that runs producers.
struct ProducerPlace {
  taskExecutor @0 :Ids.Id128;
  location @1 :Ids.Address;
  data @2 :Ids.HostPort;        # where its node takes data connections
}
# What differs among the channels of a gate; of a wide exchange a job has millions of them.
struct Channel {
  subtask @0 :Int32;            # of the producer, and its attempt
  attempt @1 :Int32;
  place @2 :UInt32;             # where it runs: index into the gate's places
}
# One input gate: consumes subpartition `subpartition` of each channel's partition.
struct InputGate {
  result @0 :Ids.Id128;
  producer @1 :Ids.Id128;       # the vertex that writes it
  generation @2 :Int32;         # of the producing attempts
  input @3 :Int32;
  subpartition @4 :Int32;
  places @5 :List(ProducerPlace);
  channels @6 :List(Channel);
  partitioner @7 :UInt8;        # how its producer deals out rows: a kind of Partitioner of graph.capnp
  keyColumns @8 :List(Int32);   # by which it does, when by key
}
struct ResultPartition {
  partition @0 :Ids.Partition;
  subpartitions @1 :Int32;      # one a consuming subtask
  consumerMaxParallelism @2 :Int32; # of the consuming vertex: key groups of a hash partitioner
}
struct ArtifactRef {
  name @0 :Text;
  digest @1 :Text;
  sizeBytes @2 :UInt64;
}
# What every task of a job needs.
struct JobInformation {
  job @0 :Ids.Id128;
  name @1 :Text;
  arguments @2 :List(Text);
  artifacts @3 :List(ArtifactRef); # the first is the job object
  graphHash @4 :Text;
  blobServer @5 :Ids.Address;
  stateBackend @6 :Text;
  checkpointDirectory @7 :Text; # of this job: below it one directory a checkpoint
  checkpointing @8 :Bool;       # also without an interval: the final one
  atLeastOnce @9 :Bool;
  bufferTimeoutMs @10 :Int64;
  periodicCheckpoints @11 :Bool;
  allowNonRestoredState @12 :Bool;
  committerRetries @13 :Int32 = 10;
}
# Job master -> task executor, inside SubmitTask.
struct TaskDeployment {
  jobInformation @0 :JobInformation;
  jobMaster @1 :Ids.Address;
  jobMasterToken @2 :Ids.Id128;
  attempt @3 :Ids.ExecutionAttempt;
  allocation @4 :Ids.Id128;
  vertex @5 :AnyPointer;        # JobVertex of graph.capnp
  gates @6 :List(InputGate);
  partitions @7 :List(ResultPartition); # in the order of the vertex's outputs
  restoredCheckpoint @8 :Int64; # 0: starts without state
  state @9 :AnyPointer;         # SubtaskState of state.capnp: what this subtask restores
}
