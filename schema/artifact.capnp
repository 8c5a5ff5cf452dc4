@0xc8c1e8ccb387df34;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

# Client -> blob server, in parts of at most some MiB, in order. Answered by PutBlobReply.
struct PutBlob {
  digest @0 :Text;              # SHA-256 of the whole, 64 hex digits
  totalBytes @1 :UInt64;
  offset @2 :UInt64;
  part @3 :Data;
}
struct PutBlobReply {
  complete @0 :Bool;            # stored and its checksum verified (or it was there already)
}
# Task executor -> blob server. Answered by BlobPart.
struct GetBlob {
  digest @0 :Text;
  offset @1 :UInt64;
  bytesMax @2 :UInt64;
}
struct BlobPart {
  totalBytes @0 :UInt64;
  part @1 :Data;
}
