@0xbf1686926f9849c8;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

# 128 bits that name one thing; all zero: none.
struct Id128 {
  high @0 :UInt64;
  low @1 :UInt64;
}

# One attempt to run one subtask.
struct ExecutionAttempt {
  vertex @0 :Id128;
  subtask @1 :Int32;
  attempt @2 :Int32;
  generation @3 :Int32; # of the job: rises by one each time that it is recovered
}

# What one attempt of a producer writes for one intermediate result.
struct Partition {
  result @0 :Id128;
  producer @1 :ExecutionAttempt;
}

# Where an endpoint is; instance 0: whichever is there now.
struct Address {
  node @0 :Id128;
  endpoint @1 :Text;
  instance @2 :UInt64;
}

# Where a node takes connections; port 0: nowhere.
struct HostPort {
  host @0 :Text;
  port @1 :UInt16;
}
