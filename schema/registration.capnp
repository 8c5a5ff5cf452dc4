@0xadfdaf95c152cf34;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Ids = import "ids.capnp";
using Slot = import "slot.capnp";

# Task executor -> resource manager.
struct RegisterTaskExecutor {
  id @0 :Ids.Id128;
  address @1 :Ids.Address;
  slots @2 :Slot.SlotReport;
  memoryBytes @3 :UInt64;
  data @4 :Ids.HostPort;    # where its node takes data connections
}

# Job master -> resource manager.
struct RegisterJobMaster {
  job @0 :Ids.Id128;
  address @1 :Ids.Address;
  token @2 :Ids.Id128;      # the job master's fencing token
}

# Task executor -> job master.
struct RegisterAtJobMaster {
  job @0 :Ids.Id128;
  id @1 :Ids.Id128;
  address @2 :Ids.Address;
  data @3 :Ids.HostPort;    # where its node takes data connections
}

struct RegistrationReply {
  union {
    accepted :group {
      token @0 :Ids.Id128;  # the fencing token to use with the one who accepted
      instance @1 :UInt64;
    }
    refused @2 :Text;       # final: why
  }
}

# Either side -> the other, one way, every heartbeat interval, and answered by one with
# isReply set.
struct Heartbeat {
  from @0 :Ids.Id128;       # task executor id or job id
  isReply @1 :Bool;
  slots @2 :Slot.SlotReport; # task executor -> resource manager only
  running @3 :List(Ids.ExecutionAttempt); # task executor -> job master only: what it runs
}

# One side of a registration leaves in order. Resource manager -> task executor, with the task
# executor's own id in from: another instance has registered under it, for good. That of a job
# master whose job is over goes on to all task executors.
struct Disconnect {
  from @0 :Ids.Id128;
  job @1 :Ids.Id128;
  cause @2 :Text;
  jobGoesOn @3 :Bool;       # of a job master: another one runs the job on
}

# The process -> its task executor: take leave of all peers, run nothing more. Answered by
# Acknowledge.
struct LeaveCluster {
  cause @0 :Text;
}

# REST endpoint, client -> resource manager. Answered by TaskExecutorList.
struct ListTaskExecutors {}
struct TaskExecutorStatus {
  id @0 :Ids.Id128;
  address @1 :Ids.Address;
  slots @2 :Slot.SlotReport;
  memoryBytes @3 :UInt64;
  heardMs @4 :Int64;          # time of day of its newest heartbeat
}
struct TaskExecutorList {
  executors @0 :List(TaskExecutorStatus);
}
