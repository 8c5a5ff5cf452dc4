@0xe8a71f46352d25a4;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Ids = import "ids.capnp";
using Error = import "error.capnp".Error;
using Checkpoint = import "checkpoint.capnp";

# The header of every frame of a data connection. Its parts take effect in this order. The body holds
# the batches of all pieces one after the other, each beginning at a multiple of 64 bytes.
struct DataFrame {
  requests @0 :List(RouteRequest);
  refusals @1 :List(RouteRefusal);
  credits @2 :List(RouteCredit);
  abandoned @3 :List(UInt32);   # routes whose consumer has ended; what comes for them is dropped
  pieces @4 :List(RoutePiece);
  leaves @5 :Bool;              # the sender has no route and closes: ask again on another connection
}

# Consumer's node -> producer's node: wants one subpartition. `route` names the channel on this
# connection from now on; the consumer's node chooses it, each only once.
struct RouteRequest {
  route @0 :UInt32;
  partition @1 :Ids.Partition;
  subpartition @2 :UInt32;
  creditBytes @3 :UInt64;
}
# Producer's node -> consumer's node: the partition is not there (yet); the route is void.
struct RouteRefusal {
  route @0 :UInt32;
  reason @1 :Error;
}
# Consumer's node -> producer's node.
struct RouteCredit {
  route @0 :UInt32;
  bytes @1 :UInt64;
}

# Producer's node -> consumer's node: elements of one route, in order.
struct RoutePiece {
  route @0 :UInt32;
  elements @1 :List(StreamElement);
  closes @2 :Bool;              # the producer has finished: nothing follows
}
struct StreamElement {
  cost @0 :UInt64;              # credit that it took, and that its consumer gives back
  union {
    batch :group {
      sizeBytes @1 :UInt64;     # in the body, without what fills it up to 64
      rawBytes @2 :UInt64;      # 0: not compressed
    }
    watermarkMs @3 :Int64;
    isIdle @4 :Bool;
    barrier :group {
      checkpoint @5 :Int64;
      timestampMs @6 :Int64;
      atLeastOnce @7 :Bool;
      savepoint @11 :Checkpoint.SavepointOrder; # none: a plain checkpoint
      unaligned @12 :Bool;      # not together with atLeastOnce
      alignedTimeoutMs @13 :Int64 = -1;
    }
    endOfInput @8 :Void;
    latencyMarker :group {
      emittedUs @9 :Int64;
      sourceSubtask @10 :Int32;
    }
  }
}
