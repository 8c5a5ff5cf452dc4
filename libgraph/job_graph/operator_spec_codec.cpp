#include "libgraph/job_graph/operator_spec_codec.hpp"

#include "libgraph/expression/expression_codec.hpp"
#include "libgraph/job_graph/codec_parts.hpp"
#include "libgraph/job_graph/job_graph_codec.hpp"
#include "libgraph/job_graph/match_codec.hpp"

#include <utility>

namespace headrace::graph {
namespace {

// ---- writing --------------------------------------------------------------------------------

void put(const connector_spec& connector, schema::Connector::Builder out) {
  out.setName(text(connector.name));
  out.setProvider(connector.provider.index);
  auto options = out.initOptions(static_cast<unsigned>(connector.options.size()));
  unsigned i = 0;
  for (const auto& [key, value] : connector.options) {
    options[i].setKey(text(key));
    options[i].setValue(text(value));
    ++i;
  }
}

void put(const watermark_spec& watermarks, schema::Watermarks::Builder out) {
  out.setKind(static_cast<std::uint8_t>(watermarks.kind));
  out.setBoundMs(watermarks.bound_ms);
  out.setIdleTimeoutMs(watermarks.idle_timeout_ms);
  out.setOnEvent(watermarks.on_event);
  out.setAssigner(watermarks.assigner.index);
  out.setTimeColumn(watermarks.time_column);
  out.setGenerator(watermarks.generator.index);
}

void put(const aggregation& aggregates, schema::Aggregation::Builder out) {
  out.setFunction(aggregates.function.index);
  out.setResultType(data(encoded(aggregates.result_type)));
  auto calls = out.initCalls(count_of(aggregates.calls));
  for (unsigned i = 0; i < calls.size(); ++i) {
    calls[i].setKind(static_cast<std::uint8_t>(aggregates.calls[i].kind));
    calls[i].setColumn(aggregates.calls[i].column);
  }
}

void put(const window_spec& window, schema::Window::Builder out) {
  out.setKind(static_cast<std::uint8_t>(window.kind));
  out.setSizeMs(window.size_ms);
  out.setSlideMs(window.slide_ms);
  out.setOffsetMs(window.offset_ms);
  out.setAllowedLatenessMs(window.allowed_lateness_ms);
  out.setIsProcessingTime(window.is_processing_time);
  out.setTimeZone(text(window.time_zone));
}

void put(const std::vector<group_aggregate_call>& calls,
         capnp::List<schema::GroupAggregateCall>::Builder out) {
  for (unsigned i = 0; i < out.size(); ++i) {
    const auto& call = calls[i];
    out[i].setFunction(text(call.function));
    put_columns(call.arguments, out[i].initArguments(count_of(call.arguments)));
    out[i].setFilter(call.filter);
    out[i].setIsDistinct(call.is_distinct);
    out[i].setDefinition(data(call.definition));
  }
}

void put(const over_edge& from, schema::OverEdge::Builder out) {
  out.setKind(static_cast<std::uint8_t>(from.kind));
  out.setRows(from.rows);
  out.setColumn(from.column);
}

void put(const mini_batch_spec& from, schema::MiniBatch::Builder out) {
  out.setRowsMax(from.rows_max);
  out.setLatencyMs(from.latency_ms);
}

void put(const join_side& side, schema::JoinSide::Builder out) {
  put_columns(side.key_columns, out.initKeyColumns(count_of(side.key_columns)));
  out.setRetracts(side.retracts);
  out.setStateTtlMs(side.state_ttl_ms);
}

void put(const join_spec& spec, schema::JoinSpec::Builder out) {
  out.setKind(static_cast<std::uint8_t>(spec.kind));
  put(spec.left, out.initLeft());
  put(spec.right, out.initRight());
  out.setNullSafe({spec.null_safe.data(), spec.null_safe.size()});
  encode(spec.condition, out.initCondition());
  out.setTimeZone(text(spec.time_zone));
  put(spec.mini_batch, out.initMiniBatch());
}

struct spec_writer {
  schema::OperatorNode::Spec::Builder out;

  void operator()(const source_spec& spec) {
    auto to = out.initSource();
    put(spec.connector, to.initConnector());
    put(spec.watermarks, to.initWatermarks());
  }
  void operator()(const row_function_spec& spec) {
    out.initRowFunction().setFunction(spec.function.index);
  }
  void operator()(const filter_spec& spec) { out.initFilter().setFunction(spec.function.index); }
  void operator()(const project_spec& spec) {
    auto to = out.initProject();
    put_columns(spec.columns, to.initColumns(count_of(spec.columns)));
  }
  void operator()(const watermarks_spec& spec) { put(spec.watermarks, out.initWatermarks()); }
  void operator()(const keyed_process_spec& spec) {
    auto to = out.initKeyedProcess();
    to.setFunction(spec.function.index);
    put_columns(spec.key_columns, to.initKeyColumns(count_of(spec.key_columns)));
  }
  void operator()(const keyed_aggregate_spec& spec) {
    auto to = out.initKeyedAggregate();
    put_columns(spec.key_columns, to.initKeyColumns(count_of(spec.key_columns)));
    put(spec.aggregates, to.initAggregates());
  }
  void operator()(const window_aggregate_spec& spec) {
    auto to = out.initWindowAggregate();
    put_columns(spec.key_columns, to.initKeyColumns(count_of(spec.key_columns)));
    put(spec.window, to.initWindow());
    put(spec.aggregates, to.initAggregates());
    to.setWindowFunction(spec.window_function.index);
    to.setLateSide(spec.late_side);
  }
  void operator()(const sink_spec& spec) { put(spec.connector, out.initSink().initConnector()); }
  void operator()(const calc_spec& spec) {
    auto to = out.initCalc();
    encode(spec.condition, to.initCondition());
    put(spec.outputs, to.initOutputs(count_of(spec.outputs)));
    to.setTimeZone(text(spec.time_zone));
  }
  void operator()(const group_aggregate_spec& spec) {
    auto to = out.initGroupAggregate();
    put_columns(spec.key_columns, to.initKeyColumns(count_of(spec.key_columns)));
    put(spec.calls, to.initCalls(count_of(spec.calls)));
    to.setInputRetracts(spec.input_retracts);
    to.setEmitsUpdateBefore(spec.emits_update_before);
    to.setStateTtlMs(spec.state_ttl_ms);
    put(spec.mini_batch, to.initMiniBatch());
    to.setPhase(static_cast<std::uint8_t>(spec.phase));
    to.setOtherEnd(data(encoded(spec.other_end)));
  }
  void operator()(const join_spec& spec) { put(spec, out.initJoin()); }
  void operator()(const timed_join_spec& spec) {
    auto to = out.initTimedJoin();
    put(spec.join, to.initJoin());
    to.setIsByWindow(spec.is_by_window);
    to.setIsByVersion(spec.is_by_version);
    to.setLeftTime(spec.left_time);
    to.setRightTime(spec.right_time);
    to.setLeastMs(spec.least_ms);
    to.setMostMs(spec.most_ms);
  }
  void operator()(const lookup_join_spec& spec) {
    auto to = out.initLookupJoin();
    to.setKind(static_cast<std::uint8_t>(spec.kind));
    put(spec.table, to.initTable());
    to.setTableType(data(encoded(spec.table_type)));
    put_columns(spec.fields, to.initFields(count_of(spec.fields)));
    put_columns(spec.key_columns, to.initKeyColumns(count_of(spec.key_columns)));
    put_columns(spec.table_key_columns, to.initTableKeyColumns(count_of(spec.table_key_columns)));
    encode(spec.condition, to.initCondition());
    to.setTimeZone(text(spec.time_zone));
  }
  void operator()(const rank_spec& spec) {
    auto to = out.initRank();
    put_columns(spec.key_columns, to.initKeyColumns(count_of(spec.key_columns)));
    put(spec.order, to.initOrder(count_of(spec.order)));
    to.setFirst(spec.first);
    to.setLast(spec.last);
    to.setPrefersLatest(spec.prefers_latest);
    to.setOutputsRank(spec.outputs_rank);
    to.setInputRetracts(spec.input_retracts);
    to.setEmitsUpdateBefore(spec.emits_update_before);
    to.setStateTtlMs(spec.state_ttl_ms);
    to.setWindowEndColumn(spec.window_end_column);
    to.setTimeZone(text(spec.time_zone));
    put(spec.mini_batch, to.initMiniBatch());
  }
  void operator()(const window_table_spec& spec) {
    auto to = out.initWindowTable();
    put(spec.window, to.initWindow());
    to.setTimeColumn(spec.time_column);
    put_columns(spec.key_columns, to.initKeyColumns(count_of(spec.key_columns)));
  }
  void operator()(const window_group_spec& spec) {
    auto to = out.initWindowGroup();
    put_columns(spec.key_columns, to.initKeyColumns(count_of(spec.key_columns)));
    put(spec.calls, to.initCalls(count_of(spec.calls)));
    to.setStartColumn(spec.start_column);
    to.setEndColumn(spec.end_column);
    to.setIsProcessingTime(spec.is_processing_time);
    to.setTimeZone(text(spec.time_zone));
  }
  void operator()(const session_group_spec& spec) {
    auto to = out.initSessionGroup();
    put_columns(spec.key_columns, to.initKeyColumns(count_of(spec.key_columns)));
    put(spec.calls, to.initCalls(count_of(spec.calls)));
    put(spec.window, to.initWindow());
    to.setTimeColumn(spec.time_column);
  }
  void operator()(const over_spec& spec) {
    auto to = out.initOver();
    put_columns(spec.key_columns, to.initKeyColumns(count_of(spec.key_columns)));
    to.setTimeColumn(spec.time_column);
    to.setIsRows(spec.is_rows);
    to.setPreceding(spec.preceding);
    put(spec.calls, to.initCalls(count_of(spec.calls)));
    to.setStateTtlMs(spec.state_ttl_ms);
    if (!spec.frame)
      return;
    to.setIsWhole(true);
    put(spec.order, to.initOrder(count_of(spec.order)));
    put(spec.frame->first, to.initFirst());
    put(spec.frame->last, to.initLast());
  }
  void operator()(const salt_spec& spec) {
    auto to = out.initSalt();
    put_columns(spec.columns, to.initColumns(count_of(spec.columns)));
    to.setBuckets(spec.buckets);
    to.setIsInEach(spec.is_in_each);
  }
  void operator()(const co_process_spec& spec) {
    auto to = out.initCoProcess();
    to.setFunction(spec.function.index);
    put_columns(spec.key_columns, to.initKeyColumns(count_of(spec.key_columns)));
    put_columns(spec.second_key_columns,
                to.initSecondKeyColumns(count_of(spec.second_key_columns)));
    to.setIsBroadcast(spec.is_broadcast);
  }
  void operator()(const async_wait_spec& spec) {
    auto to = out.initAsyncWait();
    to.setFunction(spec.function.index);
    to.setIsOrdered(spec.is_ordered);
    to.setTimeoutMs(spec.timeout_ms);
    to.setCapacity(spec.capacity);
    auto retry = to.initRetry();
    retry.setAttemptsMax(spec.retry.attempts_max);
    retry.setDelayMs(spec.retry.delay_ms);
    retry.setDelayMsMax(spec.retry.delay_ms_max);
    retry.setMultiplier(spec.retry.multiplier);
  }
  void operator()(const match_spec& spec) { put(spec, out.initMatch()); }
  void operator()(const correlate_spec& spec) {
    auto to = out.initCorrelate();
    to.setKind(static_cast<std::uint8_t>(spec.kind));
    to.setFunction(text(spec.function));
    to.setDefinition(data(spec.definition));
    put(spec.arguments, to.initArguments(count_of(spec.arguments)));
    to.setHasOrdinality(spec.has_ordinality);
    to.setResultType(data(encoded(spec.result_type)));
    put_columns(spec.passed, to.initPassed(count_of(spec.passed)));
    put_columns(spec.fields, to.initFields(count_of(spec.fields)));
    to.setTimeZone(text(spec.time_zone));
  }
};

// ---- reading --------------------------------------------------------------------------------

result<connector_spec> connector_of(schema::Connector::Reader in) {
  connector_spec connector;
  connector.name = string_of(in.getName());
  connector.provider.index = in.getProvider();
  HEADRACE_CHECK(check_count(in.getOptions().size(), job_graph_limits::options, "options"));
  for (const auto option : in.getOptions())
    connector.options.insert_or_assign(string_of(option.getKey()), string_of(option.getValue()));
  return connector;
}

result<watermark_spec> watermarks_of(schema::Watermarks::Reader in) {
  watermark_spec watermarks;
  HEADRACE_TRY(watermarks.kind,
               enum_of(in.getKind(), watermark_kind::generated, "kind of watermarks"));
  watermarks.bound_ms = in.getBoundMs();
  watermarks.idle_timeout_ms = in.getIdleTimeoutMs();
  watermarks.on_event = in.getOnEvent();
  watermarks.assigner.index = in.getAssigner();
  watermarks.time_column = in.getTimeColumn();
  watermarks.generator.index = in.getGenerator();
  return watermarks;
}

result<aggregation> aggregation_of(schema::Aggregation::Reader in) {
  aggregation aggregates;
  aggregates.function.index = in.getFunction();
  HEADRACE_TRY(aggregates.result_type, type_of(in.getResultType()));
  HEADRACE_CHECK(check_count(in.getCalls().size(), job_graph_limits::columns, "aggregate calls"));
  for (const auto call : in.getCalls()) {
    HEADRACE_TRY(auto kind, enum_of(call.getKind(), aggregate_kind::last, "kind of aggregate"));
    aggregates.calls.push_back({kind, call.getColumn()});
  }
  return aggregates;
}

result<window_spec> window_of(schema::Window::Reader in) {
  window_spec window;
  HEADRACE_TRY(window.kind, enum_of(in.getKind(), window_kind::session, "kind of window"));
  window.size_ms = in.getSizeMs();
  window.slide_ms = in.getSlideMs();
  window.offset_ms = in.getOffsetMs();
  window.allowed_lateness_ms = in.getAllowedLatenessMs();
  window.is_processing_time = in.getIsProcessingTime();
  window.time_zone = string_of(in.getTimeZone());
  return window;
}

result<operator_spec> window_aggregate_of(schema::WindowAggregateSpec::Reader in) {
  window_aggregate_spec spec;
  HEADRACE_TRY(spec.key_columns, columns_of(in.getKeyColumns()));
  HEADRACE_TRY(spec.window, window_of(in.getWindow()));
  HEADRACE_TRY(spec.aggregates, aggregation_of(in.getAggregates()));
  spec.window_function.index = in.getWindowFunction();
  spec.late_side = in.getLateSide();
  return operator_spec(std::move(spec));
}

result<operator_spec> calc_of(schema::CalcSpec::Reader in) {
  calc_spec spec;
  HEADRACE_TRY(spec.condition, decode_expression(in.getCondition()));
  HEADRACE_TRY(spec.outputs, expressions_of(in.getOutputs(), "outputs"));
  spec.time_zone = string_of(in.getTimeZone());
  return operator_spec(std::move(spec));
}

result<std::vector<group_aggregate_call>>
calls_of(capnp::List<schema::GroupAggregateCall>::Reader in) {
  HEADRACE_CHECK(check_count(in.size(), job_graph_limits::columns, "aggregate calls"));
  std::vector<group_aggregate_call> out;
  for (const auto call : in) {
    group_aggregate_call read;
    read.function = string_of(call.getFunction());
    HEADRACE_TRY(read.arguments, columns_of(call.getArguments()));
    read.filter = call.getFilter();
    read.is_distinct = call.getIsDistinct();
    read.definition = std::string(bytes_of(call.getDefinition()));
    out.push_back(std::move(read));
  }
  return out;
}

mini_batch_spec mini_batch_of(schema::MiniBatch::Reader in) {
  return {in.getRowsMax(), in.getLatencyMs()};
}

result<operator_spec> group_aggregate_of(schema::GroupAggregateSpec::Reader in) {
  group_aggregate_spec spec;
  HEADRACE_TRY(spec.key_columns, columns_of(in.getKeyColumns()));
  HEADRACE_TRY(spec.calls, calls_of(in.getCalls()));
  spec.input_retracts = in.getInputRetracts();
  spec.emits_update_before = in.getEmitsUpdateBefore();
  spec.state_ttl_ms = in.getStateTtlMs();
  spec.mini_batch = mini_batch_of(in.getMiniBatch());
  HEADRACE_TRY(spec.phase,
               enum_of(in.getPhase(), aggregate_phase::global, "phase of an aggregate"));
  HEADRACE_TRY(spec.other_end, type_of(in.getOtherEnd()));
  return operator_spec(std::move(spec));
}

result<join_side> join_side_of(schema::JoinSide::Reader in) {
  join_side side;
  HEADRACE_TRY(side.key_columns, columns_of(in.getKeyColumns()));
  side.retracts = in.getRetracts();
  side.state_ttl_ms = in.getStateTtlMs();
  return side;
}

result<join_spec> join_of(schema::JoinSpec::Reader in) {
  join_spec spec;
  HEADRACE_TRY(spec.kind, enum_of(in.getKind(), join_kind::anti, "kind of join"));
  HEADRACE_TRY(spec.left, join_side_of(in.getLeft()));
  HEADRACE_TRY(spec.right, join_side_of(in.getRight()));
  const auto null_safe = in.getNullSafe();
  HEADRACE_CHECK(check_count(null_safe.size(), job_graph_limits::columns, "flags of keys"));
  spec.null_safe.assign(null_safe.begin(), null_safe.end());
  HEADRACE_TRY(spec.condition, decode_expression(in.getCondition()));
  spec.time_zone = string_of(in.getTimeZone());
  spec.mini_batch = mini_batch_of(in.getMiniBatch());
  return spec;
}

result<operator_spec> timed_join_of(schema::TimedJoinSpec::Reader in) {
  timed_join_spec spec;
  HEADRACE_TRY(spec.join, join_of(in.getJoin()));
  spec.is_by_window = in.getIsByWindow();
  spec.is_by_version = in.getIsByVersion();
  spec.left_time = in.getLeftTime();
  spec.right_time = in.getRightTime();
  spec.least_ms = in.getLeastMs();
  spec.most_ms = in.getMostMs();
  return operator_spec(std::move(spec));
}

result<operator_spec> lookup_join_of(schema::LookupJoinSpec::Reader in) {
  lookup_join_spec spec;
  HEADRACE_TRY(spec.kind, enum_of(in.getKind(), join_kind::anti, "kind of join"));
  HEADRACE_TRY(spec.table, connector_of(in.getTable()));
  HEADRACE_TRY(spec.table_type, type_of(in.getTableType()));
  HEADRACE_TRY(spec.fields, columns_of(in.getFields()));
  HEADRACE_TRY(spec.key_columns, columns_of(in.getKeyColumns()));
  HEADRACE_TRY(spec.table_key_columns, columns_of(in.getTableKeyColumns()));
  HEADRACE_TRY(spec.condition, decode_expression(in.getCondition()));
  spec.time_zone = string_of(in.getTimeZone());
  return operator_spec(std::move(spec));
}

result<operator_spec> rank_of(schema::RankSpec::Reader in) {
  rank_spec spec;
  HEADRACE_TRY(spec.key_columns, columns_of(in.getKeyColumns()));
  HEADRACE_TRY(spec.order, order_of(in.getOrder()));
  spec.first = in.getFirst();
  spec.last = in.getLast();
  spec.prefers_latest = in.getPrefersLatest();
  spec.outputs_rank = in.getOutputsRank();
  spec.input_retracts = in.getInputRetracts();
  spec.emits_update_before = in.getEmitsUpdateBefore();
  spec.state_ttl_ms = in.getStateTtlMs();
  spec.window_end_column = in.getWindowEndColumn();
  spec.time_zone = string_of(in.getTimeZone());
  spec.mini_batch = mini_batch_of(in.getMiniBatch());
  return operator_spec(std::move(spec));
}

result<operator_spec> window_table_of(schema::WindowTableSpec::Reader in) {
  window_table_spec spec;
  HEADRACE_TRY(spec.window, window_of(in.getWindow()));
  spec.time_column = in.getTimeColumn();
  HEADRACE_TRY(spec.key_columns, columns_of(in.getKeyColumns()));
  return operator_spec(std::move(spec));
}

result<operator_spec> window_group_of(schema::WindowGroupSpec::Reader in) {
  window_group_spec spec;
  HEADRACE_TRY(spec.key_columns, columns_of(in.getKeyColumns()));
  HEADRACE_TRY(spec.calls, calls_of(in.getCalls()));
  spec.start_column = in.getStartColumn();
  spec.end_column = in.getEndColumn();
  spec.is_processing_time = in.getIsProcessingTime();
  spec.time_zone = string_of(in.getTimeZone());
  return operator_spec(std::move(spec));
}

result<operator_spec> session_group_of(schema::SessionGroupSpec::Reader in) {
  session_group_spec spec;
  HEADRACE_TRY(spec.key_columns, columns_of(in.getKeyColumns()));
  HEADRACE_TRY(spec.calls, calls_of(in.getCalls()));
  HEADRACE_TRY(spec.window, window_of(in.getWindow()));
  spec.time_column = in.getTimeColumn();
  return operator_spec(std::move(spec));
}

result<over_edge> edge_of(schema::OverEdge::Reader in) {
  over_edge out;
  HEADRACE_TRY(out.kind, enum_of(in.getKind(), over_bound::value, "end of a window"));
  out.rows = in.getRows();
  out.column = in.getColumn();
  return out;
}

result<operator_spec> over_of(schema::OverSpec::Reader in) {
  over_spec spec;
  HEADRACE_TRY(spec.key_columns, columns_of(in.getKeyColumns()));
  spec.time_column = in.getTimeColumn();
  spec.is_rows = in.getIsRows();
  spec.preceding = in.getPreceding();
  HEADRACE_TRY(spec.calls, calls_of(in.getCalls()));
  spec.state_ttl_ms = in.getStateTtlMs();
  if (in.getIsWhole()) {
    HEADRACE_TRY(spec.order, order_of(in.getOrder()));
    over_frame frame;
    HEADRACE_TRY(frame.first, edge_of(in.getFirst()));
    HEADRACE_TRY(frame.last, edge_of(in.getLast()));
    spec.frame = frame;
  }
  return operator_spec(std::move(spec));
}

result<operator_spec> salt_of(schema::SaltSpec::Reader in) {
  salt_spec spec;
  HEADRACE_TRY(spec.columns, columns_of(in.getColumns()));
  spec.buckets = in.getBuckets();
  spec.is_in_each = in.getIsInEach();
  return operator_spec(std::move(spec));
}

result<operator_spec> co_process_of(schema::CoProcessSpec::Reader in) {
  co_process_spec spec;
  spec.function.index = in.getFunction();
  HEADRACE_TRY(spec.key_columns, columns_of(in.getKeyColumns()));
  HEADRACE_TRY(spec.second_key_columns, columns_of(in.getSecondKeyColumns()));
  spec.is_broadcast = in.getIsBroadcast();
  return operator_spec(std::move(spec));
}

operator_spec async_wait_of(schema::AsyncWaitSpec::Reader in) {
  const auto retry = in.getRetry();
  return async_wait_spec{
      {in.getFunction()},
      in.getIsOrdered(),
      in.getTimeoutMs(),
      in.getCapacity(),
      {retry.getAttemptsMax(), retry.getDelayMs(), retry.getDelayMsMax(), retry.getMultiplier()}};
}

result<operator_spec> correlate_of(schema::CorrelateSpec::Reader in) {
  correlate_spec spec;
  HEADRACE_TRY(spec.kind, enum_of(in.getKind(), join_kind::anti, "kind of join"));
  spec.function = string_of(in.getFunction());
  spec.definition = std::string(bytes_of(in.getDefinition()));
  HEADRACE_TRY(spec.arguments, expressions_of(in.getArguments(), "arguments"));
  spec.has_ordinality = in.getHasOrdinality();
  HEADRACE_TRY(spec.result_type, type_of(in.getResultType()));
  HEADRACE_TRY(spec.passed, columns_of(in.getPassed()));
  HEADRACE_TRY(spec.fields, columns_of(in.getFields()));
  spec.time_zone = string_of(in.getTimeZone());
  return operator_spec(std::move(spec));
}

} // namespace

void encode(const operator_spec& spec, schema::OperatorNode::Spec::Builder out) {
  std::visit(spec_writer{out}, spec);
}

result<operator_spec> decode_spec(schema::OperatorNode::Spec::Reader in) {
  using kinds = schema::OperatorNode::Spec;
  switch (in.which()) {
  case kinds::SOURCE: {
    source_spec spec;
    HEADRACE_TRY(spec.connector, connector_of(in.getSource().getConnector()));
    HEADRACE_TRY(spec.watermarks, watermarks_of(in.getSource().getWatermarks()));
    return operator_spec(std::move(spec));
  }
  case kinds::ROW_FUNCTION:
    return operator_spec(row_function_spec{{in.getRowFunction().getFunction()}});
  case kinds::FILTER:
    return operator_spec(filter_spec{{in.getFilter().getFunction()}});
  case kinds::PROJECT: {
    HEADRACE_TRY(auto columns, columns_of(in.getProject().getColumns()));
    return operator_spec(project_spec{std::move(columns)});
  }
  case kinds::WATERMARKS: {
    HEADRACE_TRY(auto watermarks, watermarks_of(in.getWatermarks()));
    return operator_spec(watermarks_spec{watermarks});
  }
  case kinds::KEYED_PROCESS: {
    HEADRACE_TRY(auto columns, columns_of(in.getKeyedProcess().getKeyColumns()));
    return operator_spec(
        keyed_process_spec{{in.getKeyedProcess().getFunction()}, std::move(columns)});
  }
  case kinds::KEYED_AGGREGATE: {
    keyed_aggregate_spec spec;
    HEADRACE_TRY(spec.key_columns, columns_of(in.getKeyedAggregate().getKeyColumns()));
    HEADRACE_TRY(spec.aggregates, aggregation_of(in.getKeyedAggregate().getAggregates()));
    return operator_spec(std::move(spec));
  }
  case kinds::WINDOW_AGGREGATE:
    return window_aggregate_of(in.getWindowAggregate());
  case kinds::SINK: {
    HEADRACE_TRY(auto connector, connector_of(in.getSink().getConnector()));
    return operator_spec(sink_spec{std::move(connector)});
  }
  case kinds::CALC:
    return calc_of(in.getCalc());
  case kinds::GROUP_AGGREGATE:
    return group_aggregate_of(in.getGroupAggregate());
  case kinds::JOIN: {
    HEADRACE_TRY(auto spec, join_of(in.getJoin()));
    return operator_spec(std::move(spec));
  }
  case kinds::TIMED_JOIN:
    return timed_join_of(in.getTimedJoin());
  case kinds::LOOKUP_JOIN:
    return lookup_join_of(in.getLookupJoin());
  case kinds::RANK:
    return rank_of(in.getRank());
  case kinds::WINDOW_TABLE:
    return window_table_of(in.getWindowTable());
  case kinds::WINDOW_GROUP:
    return window_group_of(in.getWindowGroup());
  case kinds::SESSION_GROUP:
    return session_group_of(in.getSessionGroup());
  case kinds::OVER:
    return over_of(in.getOver());
  case kinds::CORRELATE:
    return correlate_of(in.getCorrelate());
  case kinds::SALT:
    return salt_of(in.getSalt());
  case kinds::CO_PROCESS:
    return co_process_of(in.getCoProcess());
  case kinds::ASYNC_WAIT:
    return async_wait_of(in.getAsyncWait());
  case kinds::MATCH: {
    HEADRACE_TRY(auto spec, match_of(in.getMatch()));
    return operator_spec(std::move(spec));
  }
  }
  return error(errc::malformed_message,
               "unknown kind of operator: " + std::to_string(static_cast<unsigned>(in.which())));
}

} // namespace headrace::graph
