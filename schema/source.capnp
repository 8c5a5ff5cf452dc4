@0xf9e78b49b77b007a;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

# What a source's reader (in a subtask) and its coordinator (at the job master) say to each other.
# Travels as the words of one message, in OperatorEvent.event of task.capnp; the reader is the
# event's attempt.
struct SourceEvent {
  union {
    register @0 :ReaderRegistration;
    requestSplit @1 :RequestSplit;
    addSplits @2 :AddSplits;
    noMoreSplits @3 :NoMoreSplits;
  }
}

# Reader -> coordinator: first, once an attempt, when its restored splits are in place.
struct ReaderRegistration {
  restoredSplits @0 :UInt32;    # splits that the reader had from its snapshot
}

# Reader -> coordinator: it has no split left to read; again after each that it finished. Not sent
# once noMoreSplits came.
struct RequestSplit {}

# Coordinator -> reader.
struct AddSplits {
  splits @0 :List(SourceSplit);
}
struct SourceSplit {
  id @0 :Text;
  state @1 :Data;               # encoded by the connector
}

# Coordinator -> reader: finish when those that you have are read.
struct NoMoreSplits {}
