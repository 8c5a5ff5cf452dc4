@0xe0b1b0a4f6a3c9d7;
using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
using Error = import "error.capnp".Error;
$Cxx.namespace("headrace::schema");

# What two nodes say when a connection opens, and what stands before each message between them.
# docs/transport.md tells the order.

enum ConnectionClass {
  control @0; # messages between endpoints; one a pair of nodes
  data @1;    # frames that the data plane numbers itself; one a pair of nodes
}

# The first frame of either side.
struct Hello {
  protocolVersion @0 :UInt32;
  productVersion @1 :Text;
  clusterId @2 :Text;
  node @3 :Ids.Id128;       # the process instance
  connectionClass @4 :ConnectionClass;
  host @5 :Text;            # where it listens; empty: at the address that it is seen from
  port @6 :UInt16;          # 0: it does not listen
  nonce @7 :Data;           # 32 bytes, fresh for each connection
  hasSecret @8 :Bool;       # whether it will prove that it knows the shared secret
  # How far the conversation has come, if there was an earlier connection (the one who dials).
  session @9 :UInt64;
  peerSession @10 :UInt64;  # 0: none is known
  received @11 :UInt64;
}

# The one who dials -> the one who listens.
struct Proof {
  code @0 :Data;            # HMAC-SHA256 over both hellos; empty without a secret
}

# The one who listens -> the one who dials: messages may flow.
struct Welcome {
  code @0 :Data;            # HMAC-SHA256 over both hellos and the fields below
  session @1 :UInt64;
  received @2 :UInt64;
}

enum RefusalReason {
  malformed @0;
  version @1;
  cluster @2;
  secret @3;
  duplicate @4;    # another connection of the two nodes goes on
  staleSession @5; # the other side has been given up meanwhile
  self @6;         # a node has dialed itself
  overload @7;     # too many connections wait to be let in
  stopping @8;
}

struct Refusal {
  reason @0 :RefusalReason;
  words @1 :Text;
}

enum EnvelopeKind {
  tell @0;
  ask @1;
  reply @2;
  failure @3;
}

# The header of an envelope frame; the body holds the words of the payload, of a failure those of
# an Error.
struct EnvelopeHeader {
  kind @0 :EnvelopeKind;
  to @1 :Ids.Address;
  from @2 :Ids.Address;
  correlation @3 :UInt64;
  fence @4 :Ids.Id128;
  typeId @5 :UInt64;
}

# Asks to be told when an endpoint ends.
struct WatchEndpoint {
  endpoint @0 :Ids.Address; # as the watcher knows it
}

# Answers it, once.
struct EndpointEnded {
  endpoint @0 :Ids.Address; # as in WatchEndpoint
  cause @1 :Error;
}

# Leaves in order.
struct Goodbye {
  cause @0 :Text;
}
