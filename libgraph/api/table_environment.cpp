#include "libgraph/api/table_environment.hpp"

#include "libgraph/function/failure.hpp"
#include "libgraph/sql/sql_session.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <variant>

namespace headrace::api {
namespace {

constexpr const char* own_place = "`default_catalog`.`default_database`.";

[[noreturn]] void refuse(std::string message) {
  throw graph::failure({errc::bad_usage, std::move(message)});
}
[[noreturn]] void refuse(const std::vector<sql::diagnostic>& findings, std::string_view text) {
  refuse(sql::to_string(findings, text));
}

std::string text_literal(std::string_view text) {
  std::string out = "'";
  for (const char each : text)
    out += each == '\'' ? std::string("''") : std::string(1, each);
  return out + "'";
}

bool is_query(const sql::planned_job& job) {
  return std::any_of(job.sinks.begin(), job.sinks.end(), [](const sql::plan_node& each) {
    return !std::get<sql::sink_node>(each.node).table;
  });
}

/// That of the operators whose rows come out of a transformation; 0: the job's. Behind it rows of a
/// key stay in order.
std::int32_t parallelism_of(graph::pipeline& program, std::int32_t index) {
  const auto& node = program.at(index);
  if (std::holds_alternative<graph::partition_call>(node.call))
    return 0;
  auto out = node.parallelism;
  if (!std::holds_alternative<graph::operator_call>(node.call))
    for (const auto input : node.inputs)
      out = std::max(out, parallelism_of(program, input));
  return out;
}

std::int32_t add_operator(graph::pipeline& program, std::int32_t input, std::string name,
                          graph::logical_type type, graph::function_factory make) {
  graph::transformation added;
  added.name = std::move(name);
  added.inputs = {input};
  added.output_type = std::move(type);
  added.parallelism = parallelism_of(program, input);
  added.call = graph::operator_call{graph::row_function_spec{program.add(std::move(make))}, {}};
  return program.add(std::move(added));
}

/// Without connectors a job has the tables of its streams alone.
const graph::connector_registry& connectors_of(const environment& env) {
  static const graph::connector_registry none;
  return env.around().connectors == nullptr ? none : *env.around().connectors;
}

} // namespace

struct table_environment::parts {
  explicit parts(environment& around) : env(around) {}

  environment& env;
  sql::sql_session session{configuration()};
  sql::stream_tables streams;
  std::int32_t names = 0; ///< that were given

  /// Runs one statement after the other; what they come to goes to `take`.
  template <class Take>
  void run(std::string_view text, Take take) {
    auto parsed = sql::parse_script(text);
    auto& findings = parsed.findings;
    if (!findings.empty())
      refuse(findings, text);
    for (const auto& each : parsed.value.statements) {
      const auto outcome = session.run(each, findings);
      if (!outcome || !findings.empty())
        refuse(findings, text);
      take(*outcome);
    }
  }
  void run(std::string_view text) {
    run(text, [&](const sql::statement_outcome& outcome) {
      if (std::holds_alternative<sql::text_table>(outcome))
        refuse("SHOW, DESCRIBE and EXPLAIN have nobody to tell here: explain_sql gives a plan");
      if (const auto* job = std::get_if<sql::planned_job>(&outcome))
        add(*job, text);
    });
  }
  void add(const sql::planned_job& job, std::string_view text) {
    if (is_query(job))
      refuse("a query gives its rows to nobody here: sql_query makes a table of it");
    std::vector<sql::diagnostic> findings;
    if (!sql::translate_into(env.program(), job, streams, connectors_of(env), findings))
      refuse(findings, text);
  }
};

table_environment::table_environment(environment& env)
    : env_(&env), parts_(std::make_unique<parts>(env)) {
  parts_->session.set_own_library(env.around().object_digest);
}
table_environment::~table_environment() = default;

std::string table_environment::quoted(const std::string& name) {
  std::string out = "`";
  for (const char each : name)
    out += each == '`' ? std::string("``") : std::string(1, each);
  return out + "`";
}

std::string table_environment::next_name(const char* kind) {
  return own_place + quoted("$" + std::string(kind) + "_" + std::to_string(++parts_->names));
}

std::int32_t table_environment::add_function(const stream_base& rows, const char* name,
                                             graph::logical_type type, function_maker make) {
  return add_operator(env_->program(), rows.index(), name, std::move(type),
                      [make] { return graph::any_function(make()); });
}

void table_environment::execute_sql(std::string_view statements) { parts_->run(statements); }

table table_environment::from(const std::string& name) {
  graph::logical_type type = graph::logical_type::null();
  parts_->run("SELECT * FROM " + name, [&](const sql::statement_outcome& outcome) {
    type = std::get<sql::planned_job>(outcome).sinks[0].inputs[0].row_type();
  });
  return {name, std::move(type)};
}

table table_environment::sql_query(std::string_view query) {
  const auto name = next_name("query");
  while (!query.empty() && (query.back() == ';' || query.back() == ' ' || query.back() == '\n'))
    query.remove_suffix(1);
  parts_->run("CREATE TEMPORARY VIEW " + name + " AS\n" + std::string(query));
  return from(name);
}

std::string table_environment::explain_sql(std::string_view statement) {
  std::string out;
  parts_->run("EXPLAIN " + std::string(statement), [&](const sql::statement_outcome& outcome) {
    if (const auto* told = std::get_if<sql::text_table>(&outcome))
      for (const auto& row : told->rows)
        out += row[0] + "\n";
  });
  return out;
}

void table_environment::create_temporary_view(const std::string& name, const table& rows) {
  parts_->run("CREATE TEMPORARY VIEW " + quoted(name) + " AS SELECT * FROM " + rows.name());
}

void table_environment::insert_into(const std::string& name, const table& rows) {
  parts_->run("INSERT INTO " + name + " SELECT * FROM " + rows.name());
}

void table_environment::add_stream_table(const std::string& name, const stream_base& rows,
                                         const graph::logical_type& type, bool has_changes,
                                         const stream_schema& schema) {
  auto index = rows.index();
  auto fields = type.fields();
  if (!schema.row_time_.empty()) {
    fields.push_back({schema.row_time_, graph::logical_type::timestamp(3).not_null(), {}});
    index = add_operator(env_->program(), index, "event time",
                         graph::logical_type::row(fields).not_null(),
                         [] { return graph::any_function(make_event_time_column()); });
  }
  const auto label = std::to_string(++parts_->names);
  std::vector<std::string> columns;
  for (const auto& each : fields)
    columns.push_back(quoted(each.name) + " " + each.type.to_sql());
  for (const auto& [column, expression] : schema.computed_)
    columns.push_back(quoted(column) + " AS " + expression);
  std::string options = "'connector' = '" + std::string(sql::stream_tables::connector) +
                        "', 'stream' = '" + label + "'";
  if (has_changes)
    options += ", 'format' = " + text_literal(sql::stream_tables::changes_format);
  if (!schema.row_time_.empty()) {
    columns.push_back("WATERMARK FOR " + quoted(schema.row_time_) + " AS " +
                      quoted(schema.row_time_));
    options += ", 'watermarks' = " + text_literal(sql::stream_tables::given);
  }
  if (!schema.watermark_.empty())
    columns.push_back("WATERMARK FOR " + quoted(schema.watermark_) + " AS " +
                      quoted(schema.watermark_) + " - INTERVAL '" +
                      std::to_string(schema.delay_.count() / 1000) + "." +
                      std::to_string(1000 + schema.delay_.count() % 1000).substr(1) + "' SECOND");
  if (!schema.primary_key_.empty()) {
    std::vector<std::string> key;
    for (const auto& each : schema.primary_key_)
      key.push_back(quoted(each));
    columns.push_back("PRIMARY KEY (" + join_text(key, ", ") + ") NOT ENFORCED");
  }
  parts_->streams.sources.emplace(label, index);
  parts_->run("CREATE TEMPORARY TABLE " + name + " (" + join_text(columns, ", ") + ") WITH (" +
              options + ")");
}

std::int32_t table_environment::add_result(const table& from, const graph::logical_type& type,
                                           bool by_name, bool takes_changes) {
  const auto label = std::to_string(++parts_->names);
  const auto name = next_name("result");
  std::vector<std::string> columns;
  std::vector<std::string> names;
  std::vector<std::string> labels;
  std::vector<std::uint8_t> are_required;
  for (const auto& each : type.fields()) {
    columns.push_back(quoted(each.name) + " " + each.type.nullable().to_sql());
    names.push_back(each.name);
    labels.push_back(quoted(each.name));
    are_required.push_back(each.type.is_nullable() ? 0 : 1);
  }
  parts_->streams.sinks.emplace(label, takes_changes);
  parts_->run("CREATE TEMPORARY TABLE " + name + " (" + join_text(columns, ", ") +
              ") WITH ('connector' = '" + sql::stream_tables::connector + "', 'stream' = '" +
              label + "')");
  const auto list = join_text(labels, ", ");
  parts_->run("INSERT INTO " + name +
              (by_name ? " (" + list + ") SELECT " + list : std::string(" SELECT *")) + " FROM " +
              from.name());
  const auto index = parts_->streams.results.at(label);
  if (env_->program().at(index).output_type == type)
    return index;
  return add_operator(env_->program(), index, "rows", type, [names, are_required] {
    return graph::any_function(make_null_check(names, are_required));
  });
}

} // namespace headrace::api
