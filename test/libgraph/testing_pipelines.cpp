#include "test/libgraph/testing_pipelines.hpp"

#include "libgraph/job_graph/correlate_check.hpp"

namespace headrace::testing {

using namespace graph;

logical_type testing_pipeline::type() {
  return logical_type::row({{"n", logical_type::bigint(), {}}}).not_null();
}

std::int32_t testing_pipeline::source(const std::string& name) {
  transformation node;
  node.name = name;
  node.output_type = type();
  node.call = operator_call{source_spec{{"file", {{"path", "in"}}, {}}, {}}, {}};
  return program.add(node);
}

std::int32_t testing_pipeline::map(std::int32_t input, const std::string& name) {
  transformation node;
  node.name = name;
  node.inputs = {input};
  node.output_type = type();
  node.call = operator_call{row_function_spec{program.add(function_factory())}, {type()}};
  return program.add(node);
}

std::int32_t testing_pipeline::sink(std::int32_t input, const std::string& name) {
  transformation node;
  node.name = name;
  node.inputs = {input};
  node.output_type = type();
  node.call = operator_call{sink_spec{{"print", {}, {}}}, {}};
  return program.add(node);
}

std::int32_t testing_pipeline::sum(std::int32_t input, const std::string& name) {
  transformation node;
  node.name = name;
  node.inputs = {partition(input, partitioner_kind::hash)};
  node.output_type = type();
  node.call = operator_call{keyed_aggregate_spec{{0}, {{}, {{aggregate_kind::sum, 0}}, {}}}, {}};
  return program.add(node);
}

std::int32_t testing_pipeline::partition(std::int32_t input, partitioner_kind kind) {
  transformation node;
  node.name = "partition";
  node.inputs = {input};
  node.output_type = type();
  partition_call call{{kind, {}, {}}};
  if (kind == partitioner_kind::hash)
    call.partitioner.key_columns = {0};
  if (kind == partitioner_kind::custom)
    call.partitioner.function = program.add(function_factory());
  node.call = call;
  return program.add(node);
}

std::int32_t testing_pipeline::merge(std::initializer_list<std::int32_t> inputs) {
  transformation node;
  node.name = "union";
  node.inputs = inputs;
  node.output_type = type();
  node.call = union_call{};
  return program.add(node);
}

std::int32_t testing_pipeline::anti_join(std::int32_t left, std::int32_t right,
                                         const std::string& name) {
  transformation node;
  node.name = name;
  node.inputs = {partition(left, partitioner_kind::hash), partition(right, partitioner_kind::hash)};
  node.output_type = type();
  const auto number = type().child(0);
  node.call =
      operator_call{join_spec{join_kind::anti,
                              {{0}, true, 5},
                              {{0}, false, 6},
                              {1},
                              make_call("IS DISTINCT FROM", logical_type::boolean().not_null(),
                                        {make_column(0, number), make_column(1, number)}),
                              "+02:00"},
                    {}};
  return program.add(node);
}

std::vector<std::string> testing_pipeline::vertex_names(std::int32_t parallelism) const {
  std::vector<std::string> names;
  const auto job = build_job_graph(program, parallelism);
  if (!job)
    return {to_string(job.error())};
  for (const auto& vertex : job->vertices)
    names.push_back(vertex.name);
  return names;
}

job_graph full_job() {
  testing_pipeline p;
  const auto type = testing_pipeline::type();
  const auto add = [&](const char* name, std::int32_t input, operator_spec spec,
                       std::vector<logical_type> sides = {}) {
    transformation node;
    node.name = name;
    node.inputs = {input};
    node.output_type = type;
    node.call = operator_call{std::move(spec), std::move(sides)};
    return p.program.add(node);
  };
  auto source = p.source();
  std::get<source_spec>(std::get<operator_call>(p.at(source).call).spec).watermarks = {
      watermark_kind::bounded_out_of_orderness, 5000, 1000, true,
      p.program.add(function_factory()),        -1,   {}};
  p.at(source).uid = "source-uid";
  const auto mapped = p.map(source);
  const auto filtered = add("filter", mapped, filter_spec{{0}});
  const auto projected = add("project", filtered, project_spec{{0}});
  const auto timed =
      add("timestamps", projected,
          watermarks_spec{
              {watermark_kind::generated, 0, 7, false, {}, 0, p.program.add(function_factory())}});
  const auto column = make_column(0, type.child(0));
  const auto calculated =
      add("calc", timed,
          calc_spec{make_call("IS NOT NULL", logical_type::boolean().not_null(), {column}),
                    {make_call("COALESCE", type.child(0), {column, column})},
                    "+02:00"});
  const auto keyed = p.partition(calculated, partitioner_kind::hash);
  const auto grouped =
      add("group", keyed, group_aggregate_spec{{0}, {}, true, false, 60'000, {100, 5000}});
  const auto ranked =
      add("rank", p.partition(grouped, partitioner_kind::hash),
          rank_spec{{0}, {{0, true, true}}, 2, 5, false, false, true, false, 70'000});
  const auto processed = add("process", p.partition(ranked, partitioner_kind::hash),
                             keyed_process_spec{{0}, {0}}, {type, type});
  const auto summed = p.sum(processed);
  const auto windowed =
      add("window", p.partition(p.anti_join(summed, grouped), partitioner_kind::hash),
          window_aggregate_spec{{0}, {window_kind::sliding, 10, 5, 1, 99}, {{3}, {}, type}, {4}, 0},
          {type});
  for (const auto kind :
       {partitioner_kind::rebalance, partitioner_kind::rescale, partitioner_kind::shuffle,
        partitioner_kind::broadcast, partitioner_kind::global, partitioner_kind::custom})
    p.sink(p.partition(windowed, kind), "sink " + std::to_string(static_cast<int>(kind)));
  p.at(windowed).slot_sharing_group = "windows";
  p.at(windowed).max_parallelism = 64;

  auto job = build_job_graph(p.program, 3).value();
  job.id = {1, 2};
  job.name = "full";
  job.arguments = {"--input", "a b", ""};
  job.artifacts = {{"job.so", std::string(64, 'a'), 12345}};
  job.restart = {restart_kind::failure_rate, 2, 3, 4, 5, 6, 7, 1.25, 0.5, 8};
  job.checkpoints = {1, 2,    3,     4,     5,      true, true,         7,
                     1, true, false, "dir", "from", true, "savepoints", {{"ledger", 1}}};
  job.buffer_timeout_ms = 11;
  job.slot_timeout_ms = 12;
  job.state_backend = "rocksdb";
  job.region_failover = false;
  job.committer_retries = 13;
  return job;
}

job_graph connected_job() {
  testing_pipeline p;
  const auto add = [&](const char* name, std::vector<std::int32_t> inputs, co_process_spec spec) {
    transformation node;
    node.name = name;
    node.inputs = std::move(inputs);
    node.output_type = testing_pipeline::type();
    node.call = operator_call{std::move(spec), {}};
    return p.program.add(std::move(node));
  };
  const auto keyed = [&](std::int32_t input) { return p.partition(input, partitioner_kind::hash); };
  const auto first = p.source("first");
  const auto second = p.source("second");
  const auto plain = add("plain", {first, second}, {{5}, {}});
  const auto by_key = add("by key", {keyed(plain), keyed(second)}, {{6}, {0}, {0}});
  const auto rules = p.partition(second, partitioner_kind::broadcast);
  const auto ruled = add("ruled", {by_key, rules}, {{7}, {}, {}, true});
  p.sink(add("ruled by key", {keyed(ruled), rules}, {{8}, {0}, {}, true}));
  auto job = build_job_graph(p.program, 2).value();
  job.id = {1, 2};
  return job;
}

job_graph async_job() {
  testing_pipeline p;
  transformation node;
  node.name = "asked";
  node.inputs = {p.source()};
  node.output_type = testing_pipeline::type();
  node.call = operator_call{async_wait_spec{{5}, true, 600, 70, {3, 10, 80, 1.5}}, {}};
  p.sink(p.program.add(std::move(node)));
  auto job = build_job_graph(p.program, 2).value();
  job.id = {1, 2};
  return job;
}

job_graph windowed_sql_job() {
  pipeline program;
  const auto time = logical_type::timestamp(3).not_null();
  const std::vector<logical_type::field> rows{{"k", logical_type::bigint(), {}},
                                              {"t", logical_type::timestamp(3), {}}};
  const auto with = [](std::vector<logical_type::field> fields,
                       const std::vector<logical_type::field>& more) {
    fields.insert(fields.end(), more.begin(), more.end());
    return logical_type::row(std::move(fields)).not_null();
  };
  const std::vector<logical_type::field> bounds{
      {"s", time, {}}, {"e", time, {}}, {"w", logical_type::timestamp_ltz(3).not_null(), {}}};
  const logical_type::field count{"c", logical_type::bigint().not_null(), {}};
  const auto add = [&](const char* name, std::vector<std::int32_t> inputs, operator_spec spec,
                       logical_type type) {
    transformation node;
    node.name = name;
    node.inputs = std::move(inputs);
    node.output_type = std::move(type);
    node.call = operator_call{std::move(spec), {}};
    return program.add(std::move(node));
  };
  const auto keyed = [&](std::int32_t input) {
    transformation node;
    node.name = "partition";
    node.inputs = {input};
    node.output_type = program.at(input).output_type;
    node.call = partition_call{{partitioner_kind::hash, {0}, {}}};
    return program.add(std::move(node));
  };
  const auto source = add("source", {}, source_spec{{"file", {}, {}}, {}}, with(rows, {}));
  window_spec window{window_kind::cumulating, 60, 20, 5, 0};
  window.time_zone = "Europe/Berlin";
  const auto table = add("table", {source}, window_table_spec{window, 1, {}}, with(rows, bounds));
  window_group_spec groups{{0}, {{"COUNT", {1}, -1, true}}, 2, 3, true, "Asia/Tokyo"};
  add("groups", {keyed(table)}, groups, with({rows[0], count}, bounds));
  rank_spec ranks;
  ranks.key_columns = {0, 3};
  ranks.order = {{1, true, true}};
  ranks.window_end_column = 3;
  ranks.time_zone = "Asia/Tokyo";
  add("ranks", {keyed(table)}, ranks, with(rows, bounds));
  window.kind = window_kind::session;
  window.is_processing_time = true;
  add("sessions", {keyed(source)}, session_group_spec{{0}, {{"COUNT", {}}}, window, -1},
      with({rows[0], count}, bounds));
  add("session rows", {keyed(source)}, window_table_spec{window, -1, {0}}, with(rows, bounds));
  add("over", {keyed(source)},
      over_spec{{0}, 1, true, 7, {{"ROW_NUMBER", {}}, {"SUM", {0}}, {"LAG", {1, 0}}}, 80'000},
      with(rows,
           {count, {"s", logical_type::bigint(), {}}, {"l", logical_type::timestamp(3), {}}}));
  correlate_spec unnested;
  unnested.kind = join_kind::left;
  unnested.arguments = {
      make_call("ARRAY", logical_type::array(rows[0].type), {make_column(0, rows[0].type)})};
  unnested.has_ordinality = true;
  unnested.result_type = *unnested_type(unnested.arguments[0].type(), true);
  unnested.passed = {1, 0};
  unnested.fields = {1};
  unnested.time_zone = "Asia/Tokyo";
  add("unnest", {source}, unnested, with({rows[1], rows[0]}, {{"n", logical_type::integer(), {}}}));
  match_spec matches;
  matches.key_columns = {0};
  matches.time_column = 1;
  matches.order = {{0, true, true}};
  matches.variables = {{"A", 2, -1, true, {}}, {"B", 1, 3, false, {}}};
  const auto bigint = logical_type::bigint();
  using kind = pattern_value::kind;
  matches.values = {{kind::last, 0, 1, 0, {}, {}, bigint},
                    {kind::aggregate, -1, 0, -1, "SUM", {make_column(0, bigint)}, bigint},
                    {kind::match_time, -1, 0, -1, {}, {}, time}};
  matches.variables[1].condition =
      make_call(">", logical_type::boolean(), {make_column(0, bigint), make_column(2, bigint)});
  matches.measures = {make_column(3, bigint), make_column(4, time)};
  matches.within_ms = 5000;
  matches.skip = match_skip::to_last;
  matches.skip_variable = 1;
  matches.time_zone = "Asia/Tokyo";
  add("matches", {keyed(source)}, matches, with({{"x", bigint, {}}, {"r", time, {}}}, {}));
  ranks.window_end_column = -1;
  ranks.key_columns = {0};
  ranks.mini_batch = {300, 40};
  add("first", {keyed(source)}, ranks, with(rows, {}));
  group_aggregate_spec sums{{0}, {{"COUNT", {}}}, true, true, 0, {100, 50}};
  sums.phase = aggregate_phase::local;
  sums.other_end = with({rows[0], count}, {});
  const auto local = add("local", {source}, sums,
                         with({rows[0], {"b", logical_type::bytes().not_null(), {}}}, {}));
  sums.phase = aggregate_phase::global;
  sums.other_end = with(rows, {});
  add("global", {keyed(local)}, sums, with({rows[0], count}, {}));
  const logical_type::field bucket{"bucket", logical_type::integer().not_null(), {}};
  add("spread", {source}, salt_spec{{1, 0}, 16, false}, with(rows, {bucket}));
  add("in each", {source}, salt_spec{{}, 8, true}, with(rows, {bucket}));
  join_spec join;
  join.left.key_columns = {0};
  join.right.key_columns = {0};
  join.null_safe = {0};
  join.mini_batch = {1000, 60};
  add("join", {keyed(source), keyed(source)}, join, with(rows, rows));
  auto job = build_job_graph(program, 2).value();
  job.id = {1, 2};
  job.name = "windows";
  return job;
}

} // namespace headrace::testing
