@0xac43c87d7660c01a;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

# An expected failure and what led to it, nearest cause first.
struct Error {
  code @0 :UInt16;
  message @1 :Text;
  causes @2 :List(Error);
}

# Success.
struct Acknowledge {}
