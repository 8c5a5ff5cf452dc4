@0xb1f6a3d07c5e9a21;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

struct Id128 {
  # An identifier of 128 random bits.
  high @0 :UInt64;
  low @1 :UInt64;
}
