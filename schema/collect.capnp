@0xd0e8f1b1a6c3f2a5;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

# Subtask of a collecting sink -> the job master, which keeps the rows for the client (FetchCollected
# of job.capnp). Travels as the words of one message in OperatorEvent.event of task.capnp.
struct CollectEvent {
  sequence @0 :Int64;           # rises by one an event of this subtask, across attempts; an event
                                # that came before (the same after a recovery) is dropped. 0: none,
                                # never dropped: the job takes no periodic checkpoints
  batches @1 :List(Data);       # batch_codec's form
  isLast @2 :Bool;              # this subtask sends no more
}

# Job master -> subtask, the same way: the client has taken so many bytes of batches.
struct CollectTaken {
  bytes @0 :UInt64;
}
