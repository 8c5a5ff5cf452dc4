@0x9f31db93ab0fd724;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Ids = import "ids.capnp";

struct SlotStatus {
  index @0 :Int32;
  allocation @1 :Ids.Id128;  # none: free
  job @2 :Ids.Id128;
}
struct SlotReport {
  slots @0 :List(SlotStatus);
}

# Job master -> resource manager: how many slots the job needs in all. Declarative: the newest
# declaration counts.
struct DeclareResources {
  job @0 :Ids.Id128;
  jobMaster @1 :Ids.Address;
  slots @2 :Int32;
}

# Resource manager -> job master: cannot be met with what is registered now.
struct NotEnoughSlots {
  job @0 :Ids.Id128;
  required @1 :Int32;
  available @2 :Int32;       # registered slots that the job has or could get
}

# Resource manager -> task executor: give this slot to that job. Answered by Acknowledge.
struct AllocateSlot {
  index @0 :Int32;
  allocation @1 :Ids.Id128;
  job @2 :Ids.Id128;
  jobMaster @3 :Ids.Address;
  jobMasterToken @4 :Ids.Id128;
}

# Task executor -> job master: slots allocated for it.
struct OfferSlots {
  taskExecutor @0 :Ids.Id128;
  slots @1 :List(SlotStatus);
}
struct OfferSlotsReply {
  accepted @0 :List(Ids.Id128); # allocation ids; the others are to be freed
}

# Job master -> task executor: the slot is not needed any more; tasks in it are failed.
# Answered by Acknowledge.
struct FreeSlot {
  allocation @0 :Ids.Id128;
  cause @1 :Text;
}

# Task executor -> resource manager: a slot became free.
struct SlotAvailable {
  taskExecutor @0 :Ids.Id128;
  slot @1 :SlotStatus;
}
