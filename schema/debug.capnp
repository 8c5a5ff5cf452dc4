@0xd1c1a0c85d2c7f43;
using Cxx = import "/capnp/c++.capnp";
using Error = import "error.capnp".Error;
$Cxx.namespace("headrace::schema");

# How many messages of one type an actor has taken.
struct MessageCount {
  typeId @0 :UInt64; # Cap'n Proto's id; for mail its kind
  isMail @1 :Bool;
  count @2 :UInt64;
}

enum ActorState {
  starting @0;
  running @1;
  stopping @2;
  ended @3;
}

# What is known of one actor at one moment.
struct ActorSnapshot {
  id @0 :UInt64; # unique on its node
  name @1 :Text; # full; a parent's name is in `parent`
  kind @2 :Text;
  parent @3 :Text; # empty: the root
  node @4 :Text;
  instance @5 :UInt64;
  state @6 :ActorState;
  isDetached @7 :Bool;
  enqueued @8 :UInt64;
  taken @9 :UInt64;
  queueDepth @10 :UInt64;
  busyUs @11 :Int64;
  inTurnUs @12 :Int64; # for how long the present turn has run; 0: idle
  refused @13 :UInt64;
  messages @14 :List(MessageCount);
  lastError @15 :Error; # code 0: none
}

# Asks a node for its actors.
struct ListActors {
  withFailed @0 :Bool; # also the last that ended by an error
}
struct ActorList {
  actors @0 :List(ActorSnapshot);
  failed @1 :List(ActorSnapshot);
}
