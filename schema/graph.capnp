@0xb7d1b5f2a6c3e941;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Ids = import "ids.capnp";
using Expressions = import "expression.capnp";

# What a job is. Types are logical_type's own encoding; enumerations are numbers of libgraph.

struct OptionEntry {
  key @0 :Text;
  value @1 :Text;
}
struct Connector {
  name @0 :Text;
  options @1 :List(OptionEntry);
  provider @2 :Int32 = -1;      # index into the job's functions
}
struct Watermarks {
  kind @0 :UInt8;
  boundMs @1 :Int64;
  idleTimeoutMs @2 :Int64;
  onEvent @3 :Bool;
  assigner @4 :Int32 = -1;
  timeColumn @5 :Int32 = -1;
  generator @6 :Int32 = -1;
}
struct AggregateCall {
  kind @0 :UInt8;
  column @1 :Int32 = -1;
}
struct Aggregation {
  function @0 :Int32 = -1;
  calls @1 :List(AggregateCall);
  resultType @2 :Data;
}
struct Window {
  kind @0 :UInt8;
  sizeMs @1 :Int64;
  slideMs @2 :Int64;
  offsetMs @3 :Int64;
  allowedLatenessMs @4 :Int64;
  isProcessingTime @5 :Bool;
  timeZone @6 :Text;
}

struct SourceSpec {
  connector @0 :Connector;
  watermarks @1 :Watermarks;
}
struct FunctionSpec {
  function @0 :Int32 = -1;
}
struct ProjectSpec {
  columns @0 :List(Int32);
}
struct KeyedProcessSpec {
  function @0 :Int32 = -1;
  keyColumns @1 :List(Int32);
}
struct KeyedAggregateSpec {
  keyColumns @0 :List(Int32);
  aggregates @1 :Aggregation;
}
struct WindowAggregateSpec {
  keyColumns @0 :List(Int32);
  window @1 :Window;
  aggregates @2 :Aggregation;
  windowFunction @3 :Int32 = -1;
  lateSide @4 :Int32 = -1;
}
# The rows for which the condition is TRUE, each as the outputs of it.
struct CalcSpec {
  condition @0 :Expressions.Expression; # without nodes: every row
  outputs @1 :List(Expressions.Expression);
  timeZone @2 :Text;
}
struct GroupAggregateCall {
  function @0 :Text;
  arguments @1 :List(Int32);
  filter @2 :Int32 = -1;
  isDistinct @3 :Bool;
  definition @4 :Data;          # of a user's function
}
# Rows are worked on together.
struct MiniBatch {
  rowsMax @0 :Int64;
  latencyMs @1 :Int64;
}
# SQL's GROUP BY over a changelog.
struct GroupAggregateSpec {
  keyColumns @0 :List(Int32);
  calls @1 :List(GroupAggregateCall);
  inputRetracts @2 :Bool;
  emitsUpdateBefore @3 :Bool;
  stateTtlMs @4 :Int64;
  miniBatch @5 :MiniBatch;
  phase @6 :UInt8;
  otherEnd @7 :Data;                    # of phases that are not single
}
struct JoinSide {
  keyColumns @0 :List(Int32);
  retracts @1 :Bool;
  stateTtlMs @2 :Int64;
}
# Joins two changelogs.
struct JoinSpec {
  kind @0 :UInt8;
  left @1 :JoinSide;
  right @2 :JoinSide;
  nullSafe @3 :Data;                    # one byte a key
  condition @4 :Expressions.Expression; # without nodes: the keys are all
  timeZone @5 :Text;
  miniBatch @6 :MiniBatch;
}
# Joins rows whose times bound what they match.
struct TimedJoinSpec {
  join @0 :JoinSpec;
  isByWindow @1 :Bool;
  leftTime @2 :Int32;
  rightTime @3 :Int32;
  leastMs @4 :Int64;
  mostMs @5 :Int64;
  isByVersion @6 :Bool;
}
# Joins rows with those of a table.
struct LookupJoinSpec {
  kind @0 :UInt8;
  table @1 :Connector;
  tableType @2 :Data;
  fields @3 :List(Int32);
  keyColumns @4 :List(Int32);
  tableKeyColumns @5 :List(Int32);
  condition @6 :Expressions.Expression; # without nodes: the keys are all
  timeZone @7 :Text;
}
struct OrderColumn {
  column @0 :Int32;
  isDescending @1 :Bool;
  nullsFirst @2 :Bool;
}
# SQL's Top-N and deduplication.
struct RankSpec {
  keyColumns @0 :List(Int32);
  order @1 :List(OrderColumn);
  first @2 :Int64;
  last @3 :Int64;
  prefersLatest @4 :Bool;
  outputsRank @5 :Bool;
  inputRetracts @6 :Bool;
  emitsUpdateBefore @7 :Bool;
  stateTtlMs @8 :Int64;
  windowEndColumn @9 :Int32 = -1;
  timeZone @10 :Text;
  miniBatch @11 :MiniBatch;
}
# SQL's window functions over tables.
struct WindowTableSpec {
  window @0 :Window;
  timeColumn @1 :Int32 = -1;
  keyColumns @2 :List(Int32);
}
# SQL's GROUP BY over rows that carry their windows.
struct WindowGroupSpec {
  keyColumns @0 :List(Int32);
  calls @1 :List(GroupAggregateCall);
  startColumn @2 :Int32 = -1;
  endColumn @3 :Int32 = -1;
  isProcessingTime @4 :Bool;
  timeZone @5 :Text;
}
struct SessionGroupSpec {
  keyColumns @0 :List(Int32);
  calls @1 :List(GroupAggregateCall);
  window @2 :Window;
  timeColumn @3 :Int32 = -1;
}
# One end of a window of rows.
struct OverEdge {
  kind @0 :UInt8;
  rows @1 :Int64;
  column @2 :Int32 = -1;
}
# SQL's OVER.
struct OverSpec {
  keyColumns @0 :List(Int32);
  timeColumn @1 :Int32 = -1;
  isRows @2 :Bool;
  preceding @3 :Int64 = -1;
  calls @4 :List(GroupAggregateCall);
  stateTtlMs @5 :Int64;
  isWhole @6 :Bool; # the fields below are of whole partitions
  order @7 :List(OrderColumn);
  first @8 :OverEdge;
  last @9 :OverEdge;
}
# Spreads rows of one key over several.
struct SaltSpec {
  columns @0 :List(Int32);
  buckets @1 :Int32 = 1;
  isInEach @2 :Bool;
}
# SQL's UNNEST and LATERAL TABLE.
struct CorrelateSpec {
  kind @0 :UInt8;
  function @1 :Text;
  definition @2 :Data;
  arguments @3 :List(Expressions.Expression);
  hasOrdinality @4 :Bool;
  resultType @5 :Data;
  passed @6 :List(Int32);
  fields @7 :List(Int32);
  timeZone @8 :Text;
}
# A value of the rows of a match.
struct PatternValue {
  kind @0 :UInt8;
  variable @1 :Int32 = -1;
  offset @2 :Int32;
  column @3 :Int32 = -1;
  function @4 :Text;
  arguments @5 :List(Expressions.Expression);
  type @6 :Data;
}
struct PatternVariable {
  name @0 :Text;
  repeatMin @1 :Int32;
  repeatMax @2 :Int32;
  isGreedy @3 :Bool;
  condition @4 :Expressions.Expression; # without nodes: any row
}
# SQL's MATCH_RECOGNIZE.
struct MatchSpec {
  keyColumns @0 :List(Int32);
  timeColumn @1 :Int32 = -1;
  order @2 :List(OrderColumn);
  variables @3 :List(PatternVariable);
  values @4 :List(PatternValue);
  measures @5 :List(Expressions.Expression);
  withinMs @6 :Int64;
  skip @7 :UInt8;
  skipVariable @8 :Int32 = -1;
  timeZone @9 :Text;
}
# A function over two inputs.
struct CoProcessSpec {
  function @0 :Int32 = -1;
  keyColumns @1 :List(Int32);           # of the first input
  secondKeyColumns @2 :List(Int32);
  isBroadcast @3 :Bool;                 # the second input
}
struct AsyncRetrySpec {
  attemptsMax @0 :Int32;                # behind the first call
  delayMs @1 :Int64;
  delayMsMax @2 :Int64;
  multiplier @3 :Float64 = 1;
}
struct AsyncWaitSpec {
  function @0 :Int32 = -1;
  isOrdered @1 :Bool;
  timeoutMs @2 :Int64;                  # 0: none
  capacity @3 :Int64 = 100;
  retry @4 :AsyncRetrySpec;
}
struct SinkSpec {
  connector @0 :Connector;
}

struct OperatorNode {
  id @0 :Ids.Id128;
  uid @1 :Text;
  name @2 :Text;
  inputTypes @3 :List(Data);
  outputType @4 :Data;
  sideTypes @5 :List(Data);
  spec :union {
    source @6 :SourceSpec;
    rowFunction @7 :FunctionSpec;
    filter @8 :FunctionSpec;
    project @9 :ProjectSpec;
    watermarks @10 :Watermarks;
    keyedProcess @11 :KeyedProcessSpec;
    keyedAggregate @12 :KeyedAggregateSpec;
    windowAggregate @13 :WindowAggregateSpec;
    sink @14 :SinkSpec;
    calc @15 :CalcSpec;
    groupAggregate @16 :GroupAggregateSpec;
    join @17 :JoinSpec;
    timedJoin @18 :TimedJoinSpec;
    lookupJoin @19 :LookupJoinSpec;
    rank @20 :RankSpec;
    windowTable @21 :WindowTableSpec;
    windowGroup @22 :WindowGroupSpec;
    sessionGroup @23 :SessionGroupSpec;
    over @24 :OverSpec;
    correlate @25 :CorrelateSpec;
    match @26 :MatchSpec;
    salt @27 :SaltSpec;
    coProcess @28 :CoProcessSpec;
    asyncWait @29 :AsyncWaitSpec;
  }
}

struct ChainEdge {
  from @0 :Int32;
  side @1 :Int32 = -1;          # -1: main output
  to @2 :Int32;
  input @3 :Int32;
}
struct Partitioner {
  kind @0 :UInt8;
  keyColumns @1 :List(Int32);
  function @2 :Int32 = -1;
}
struct ResultOutput {
  id @0 :Ids.Id128;
  from @1 :Int32;
  side @2 :Int32 = -1;
  partitioner @3 :Partitioner;
  kind @4 :UInt8;
}
struct ResultInput {
  id @0 :Ids.Id128;
  input @1 :Int32;
}

# A chain of operators that runs as one subtask, `parallelism` times.
struct JobVertex {
  id @0 :Ids.Id128;
  name @1 :Text;
  parallelism @2 :Int32 = 1;
  maxParallelism @3 :Int32 = 128;
  slotSharingGroup @4 :Text;
  operators @5 :List(OperatorNode);
  chain @6 :List(ChainEdge);
  inputs @7 :List(ResultInput);
  outputs @8 :List(ResultOutput);
  maxParallelismIsFixed @9 :Bool; # by the user, not derived from the parallelism
}

struct Restart {
  kind @0 :UInt8;
  attempts @1 :Int32;
  delayMs @2 :Int64;
  failuresMax @3 :Int32;
  intervalMs @4 :Int64;
  initialBackoffMs @5 :Int64;
  maxBackoffMs @6 :Int64;
  multiplier @7 :Float64;
  jitter @8 :Float64;
  resetAfterMs @9 :Int64;
}
struct MasterHook {
  identifier @0 :Text;
  function @1 :Int32;           # of the job's code
}
struct Checkpoints {
  intervalMs @0 :Int64;         # 0: off
  timeoutMs @1 :Int64;
  minPauseMs @2 :Int64;
  tolerableFailures @3 :Int32;
  retained @4 :Int32;
  atLeastOnce @5 :Bool;
  keepOnCancel @6 :Bool;
  directory @7 :Text;
  restoreFrom @8 :Text;
  allowNonRestoredState @9 :Bool;
  savepointDirectory @10 :Text;
  keepOnFailure @11 :Bool = true;
  unaligned @12 :Bool;
  alignedTimeoutMs @13 :Int64;
  maxConcurrent @14 :Int32 = 1;
  masterHooks @15 :List(MasterHook);
}
struct Artifact {
  name @0 :Text;
  digest @1 :Text;              # SHA-256, 64 hex digits
  sizeBytes @2 :UInt64;
}

# Vertices in topological order.
struct JobGraph {
  id @0 :Ids.Id128;
  name @1 :Text;
  vertices @2 :List(JobVertex);
  arguments @3 :List(Text);
  artifacts @4 :List(Artifact);
  hash @5 :Text;
  restart @6 :Restart;
  checkpoints @7 :Checkpoints;
  bufferTimeoutMs @8 :Int64;
  slotTimeoutMs @9 :Int64;
  stateBackend @10 :Text;
  regionFailover @11 :Bool;
  committerRetries @12 :Int32 = 10;
}
