#include "libgraph/sql/parse/lexer.hpp"
#include "libgraph/sql/parse/printer.hpp"
#include "libgraph/sql/parse/sql_writer.hpp"

namespace headrace::sql {
namespace {

std::string_view text_of(object_kind kind) {
  constexpr std::string_view words[] = {"CATALOG", "DATABASE", "TABLE", "VIEW", "FUNCTION"};
  return words[static_cast<std::size_t>(kind)];
}

std::string_view text_of(function_language language) {
  constexpr std::string_view words[] = {"", "JAVA", "SCALA", "PYTHON", "SQL", "LUA", "CPP"};
  return words[static_cast<std::size_t>(language)];
}

} // namespace

std::string to_sql(const statement& from) {
  sql_writer out;
  out.write(from);
  return std::move(out).take();
}

void sql_writer::write(const statement& from) {
  std::visit([&](const auto& node) { write_node(node); }, from.node);
}

void sql_writer::write_node(const query_statement& from) { write(from.rows); }

void sql_writer::write_partition(const std::vector<partition_value>& partition) {
  put("PARTITION (");
  put_list(partition, [&](const partition_value& each) {
    put_name(each.column.text);
    if (each.value) {
      put(" = ");
      write(*each.value);
    }
  });
  put(")");
}

void sql_writer::write_node(const insert& from) {
  put(from.overwrites ? "INSERT OVERWRITE " : "INSERT INTO ");
  write(from.table);
  put(" ");
  if (!from.hints.empty()) {
    write_hints(from.hints);
    put(" ");
  }
  if (!from.partition.empty()) {
    write_partition(from.partition);
    put(" ");
  }
  if (!from.columns.empty()) {
    put("(");
    put_list(from.columns, [&](const qualified_name& each) { write(each); });
    put(") ");
  }
  write(from.rows);
  if (from.on_conflict) {
    constexpr std::string_view actions[] = {"NOTHING", "ERROR", "DEDUPLICATE"};
    put(" ON CONFLICT DO ");
    put(actions[static_cast<std::size_t>(*from.on_conflict)]);
  }
}

void sql_writer::write_node(const statement_set& from) {
  put("EXECUTE STATEMENT SET BEGIN ");
  for (const auto& each : from.inserts) {
    write_node(each);
    put("; ");
  }
  put("END");
}

void sql_writer::write_node(const explain& from) {
  constexpr std::string_view details[] = {"ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN",
                                          "PLAN_ADVICE"};
  put("EXPLAIN ");
  put_list(from.details,
           [&](explain_detail each) { put(details[static_cast<std::size_t>(each)]); });
  put(from.details.empty() ? "" : " ");
  write(*from.of);
}

void sql_writer::write_node(const plan_statement& from) {
  put(from.compiles && from.executes ? "COMPILE AND EXECUTE PLAN "
      : from.compiles                ? "COMPILE PLAN "
                                     : "EXECUTE PLAN ");
  put_string(from.file.text);
  if (from.if_not_exists)
    put(" IF NOT EXISTS");
  if (from.of) {
    put(" FOR ");
    write(**from.of);
  }
}

void sql_writer::write_options(const std::vector<option_setting>& options) {
  put("(");
  put_list(options, [&](const option_setting& each) {
    put_string(each.key.text);
    put(" = ");
    put_string(each.value.text);
  });
  put(")");
}

void sql_writer::write_comment(const std::optional<text_value>& comment) {
  if (!comment)
    return;
  put(" COMMENT ");
  put_string(comment->text);
}

void sql_writer::write_column(const column_definition& from) {
  put_name(from.label.text);
  if (from.computed) {
    put(" AS ");
    write(*from.computed);
  }
  if (from.type) {
    put(" ");
    write(*from.type);
  }
  if (from.metadata) {
    put(" METADATA");
    if (from.metadata->key) {
      put(" FROM ");
      put_string(from.metadata->key->text);
    }
    if (from.metadata->is_virtual)
      put(" VIRTUAL");
  }
  if (from.is_primary_key)
    put(" PRIMARY KEY NOT ENFORCED");
  write_comment(from.comment);
  if (!from.position)
    return;
  if (!from.position->after) {
    put(" FIRST");
    return;
  }
  put(" AFTER ");
  put_name(from.position->after->text);
}

void sql_writer::write_key(const key_constraint& from) {
  if (from.label) {
    put("CONSTRAINT ");
    put_name(from.label->text);
    put(" ");
  }
  put(from.is_primary ? "PRIMARY KEY " : "UNIQUE ");
  put_names(from.columns);
  if (from.is_not_enforced)
    put(" NOT ENFORCED");
}

void sql_writer::write_watermark(const watermark_definition& from) {
  put("WATERMARK FOR ");
  write(from.column);
  put(" AS ");
  write(from.value);
}

void sql_writer::write_distribution(const distribution& from) {
  if (!from.columns.empty()) {
    put(" BY ");
    put(from.kind == distribution_kind::hash    ? "HASH "
        : from.kind == distribution_kind::range ? "RANGE "
                                                : "");
    put_names(from.columns);
  }
  if (from.buckets)
    put(" INTO " + std::to_string(*from.buckets) + " BUCKETS");
}

void sql_writer::write_like(const like_clause& from) {
  constexpr std::string_view strategies[] = {"INCLUDING ", "EXCLUDING ", "OVERWRITING "};
  constexpr std::string_view features[] = {"ALL",      "CONSTRAINTS", "DISTRIBUTION", "GENERATED",
                                           "METADATA", "OPTIONS",     "PARTITIONS",   "WATERMARKS"};
  put(" LIKE ");
  write(from.table);
  if (from.options.empty())
    return;
  put(" (");
  for (std::size_t i = 0; i < from.options.size(); ++i) {
    put(i > 0 ? " " : "");
    put(strategies[static_cast<std::size_t>(from.options[i].strategy)]);
    put(features[static_cast<std::size_t>(from.options[i].feature)]);
  }
  put(")");
}

void sql_writer::write_elements(const std::vector<column_definition>& columns,
                                const std::optional<watermark_definition>& watermark,
                                const std::vector<key_constraint>& keys) {
  std::string_view gap;
  const auto next = [&] {
    put(gap);
    gap = ", ";
  };
  for (const auto& each : columns) {
    next();
    write_column(each);
  }
  if (watermark) {
    next();
    write_watermark(*watermark);
  }
  for (const auto& each : keys) {
    next();
    write_key(each);
  }
}

void sql_writer::write_node(const create_table& from) {
  put(from.replaces ? "CREATE OR REPLACE " : "CREATE ");
  put(from.is_temporary ? "TEMPORARY TABLE " : "TABLE ");
  put(from.if_not_exists ? "IF NOT EXISTS " : "");
  write(from.table);
  if (!from.columns.empty() || !from.keys.empty() || from.watermark) {
    put(" (");
    write_elements(from.columns, from.watermark, from.keys);
    put(")");
  }
  write_comment(from.comment);
  if (from.distributed_by) {
    put(" DISTRIBUTED");
    write_distribution(*from.distributed_by);
  }
  if (!from.partitioned_by.empty()) {
    put(" PARTITIONED BY ");
    put_names(from.partitioned_by);
  }
  if (!from.options.empty()) {
    put(" WITH ");
    write_options(from.options);
  }
  if (from.like)
    write_like(*from.like);
  if (from.as) {
    put(" AS ");
    write(*from.as);
  }
}

void sql_writer::write_node(const create_view& from) {
  put(from.replaces ? "CREATE OR REPLACE " : "CREATE ");
  put(from.is_temporary ? "TEMPORARY VIEW " : "VIEW ");
  put(from.if_not_exists ? "IF NOT EXISTS " : "");
  write(from.view);
  if (!from.columns.empty()) {
    put(" (");
    put_list(from.columns, [&](const view_column& each) {
      put_name(each.label.text);
      write_comment(each.comment);
    });
    put(")");
  }
  write_comment(from.comment);
  put(" AS ");
  write(from.rows);
}

void sql_writer::write_node(const create_function& from) {
  put(from.is_alter ? "ALTER " : "CREATE ");
  put(from.is_temporary ? "TEMPORARY " : "");
  put(from.is_system ? "SYSTEM FUNCTION " : "FUNCTION ");
  if (from.if_not_exists)
    put(from.is_alter ? "IF EXISTS " : "IF NOT EXISTS ");
  write(from.function);
  const auto put_parameters = [&](const std::vector<function_parameter>& parameters) {
    put("(");
    put_list(parameters, [&](const function_parameter& each) {
      put_name(each.label.text);
      put(" ");
      write(each.type);
    });
    put(")");
  };
  if (from.parameters)
    put_parameters(*from.parameters);
  if (from.returned_columns) {
    put(" RETURNS TABLE ");
    put_parameters(*from.returned_columns);
  } else if (from.returns) {
    put(from.is_aggregate ? " RETURNS AGGREGATE " : " RETURNS ");
    write(*from.returns);
  }
  if (from.is_deterministic)
    put(*from.is_deterministic ? " DETERMINISTIC" : " NOT DETERMINISTIC");
  if (from.language != function_language::unsaid) {
    put(" LANGUAGE ");
    put(text_of(from.language));
  }
  put(" AS ");
  if (from.is_text) {
    put("$$");
    put(from.body.text);
    put("$$");
  } else {
    put_string(from.body.text);
  }
  if (!from.resources.empty()) {
    put(" USING ");
    put_list(from.resources, [&](const resource& each) {
      put(each.kind);
      put(" ");
      put_string(each.path.text);
    });
  }
  if (!from.options.empty()) {
    put(" WITH ");
    write_options(from.options);
  }
}

void sql_writer::write_node(const create_catalog& from) {
  put(from.if_not_exists ? "CREATE CATALOG IF NOT EXISTS " : "CREATE CATALOG ");
  put_name(from.catalog.text);
  write_comment(from.comment);
  if (!from.options.empty()) {
    put(" WITH ");
    write_options(from.options);
  }
}

void sql_writer::write_node(const create_database& from) {
  put(from.if_not_exists ? "CREATE DATABASE IF NOT EXISTS " : "CREATE DATABASE ");
  write(from.database);
  write_comment(from.comment);
  if (!from.options.empty()) {
    put(" WITH ");
    write_options(from.options);
  }
}

void sql_writer::write_node(const drop& from) {
  put("DROP ");
  put(from.is_temporary ? "TEMPORARY " : "");
  put(from.is_system ? "SYSTEM " : "");
  put(text_of(from.kind));
  put(from.if_exists ? " IF EXISTS " : " ");
  write(from.object);
  put(from.cascades ? " CASCADE" : "");
}

void sql_writer::write_node(const alter& from) {
  put("ALTER ");
  put(text_of(from.kind));
  put(from.if_exists ? " IF EXISTS " : " ");
  write(from.object);
  put(" ");
  std::visit([&](const auto& action) { write_action(action); }, from.action);
}

void sql_writer::write_action(const change_columns& from) {
  put(from.is_modify ? "MODIFY " : "ADD ");
  if (from.distributed_by) {
    put("DISTRIBUTION");
    write_distribution(*from.distributed_by);
    return;
  }
  put(from.is_list ? "(" : "");
  write_elements(from.columns, from.watermark, from.keys);
  put(from.is_list ? ")" : "");
}

void sql_writer::write_action(const drop_columns& from) {
  put(from.is_list ? "DROP (" : "DROP ");
  put_list(from.columns, [&](const qualified_name& each) { write(each); });
  put(from.is_list ? ")" : "");
}

void sql_writer::write_action(const drop_definition& from) {
  constexpr std::string_view words[] = {"DROP PRIMARY KEY", "DROP CONSTRAINT ", "DROP WATERMARK",
                                        "DROP DISTRIBUTION"};
  put(words[static_cast<std::size_t>(from.what)]);
  if (from.constraint)
    put_name(from.constraint->text);
}

void sql_writer::write_action(const add_partitions& from) {
  put(from.if_not_exists ? "ADD IF NOT EXISTS" : "ADD");
  for (const auto& each : from.partitions) {
    put(" ");
    write_partition(each);
  }
}

void sql_writer::write_action(const drop_partitions& from) {
  put(from.if_exists ? "DROP IF EXISTS " : "DROP ");
  put_list(from.partitions,
           [&](const std::vector<partition_value>& each) { write_partition(each); });
}

void sql_writer::write_action(const rename_column& from) {
  put("RENAME ");
  write(from.from);
  put(" TO ");
  put_name(from.to.text);
}

void sql_writer::write_action(const rename_object& from) {
  put("RENAME TO ");
  write(from.to);
}

void sql_writer::write_action(const set_options& from) {
  put("SET ");
  write_options(from.options);
}

void sql_writer::write_action(const reset_options& from) {
  put("RESET (");
  put_list(from.keys, [&](const text_value& each) { put_string(each.text); });
  put(")");
}

void sql_writer::write_action(const set_comment& from) {
  put("COMMENT ");
  put_string(from.comment.text);
}

void sql_writer::write_action(const set_query& from) {
  put("AS ");
  write(from.rows);
}

void sql_writer::write_node(const set_statement& from) {
  put("SET");
  if (!from.setting)
    return;
  put(" ");
  put_string(from.setting->key.text);
  put(" = ");
  put_string(from.setting->value.text);
}

void sql_writer::write_node(const reset_statement& from) {
  put("RESET");
  if (!from.key)
    return;
  put(" ");
  put_string(from.key->text);
}

void sql_writer::write_node(const use& from) {
  put(from.kind == object_kind::catalog ? "USE CATALOG " : "USE ");
  write(from.object);
}

void sql_writer::write_node(const show& from) {
  constexpr std::string_view words[] = {
      "CATALOGS",       "DATABASES",   "TABLES",        "VIEWS",           "FUNCTIONS",
      "USER FUNCTIONS", "COLUMNS",     "PARTITIONS",    "MODULES",         "FULL MODULES",
      "JOBS",           "JARS",        "CONNECTORS",    "CURRENT CATALOG", "CURRENT DATABASE",
      "CREATE TABLE",   "CREATE VIEW", "CREATE CATALOG"};
  put("SHOW ");
  put(words[static_cast<std::size_t>(from.kind)]);
  const bool names_object =
      from.kind == show_kind::partitions || from.kind >= show_kind::create_table;
  if (from.in) {
    put(names_object ? " " : " FROM ");
    write(*from.in);
  }
  if (!from.partition.empty()) {
    put(" ");
    write_partition(from.partition);
  }
  if (from.filter == show_filter::none)
    return;
  put(from.is_filter_negated ? " NOT" : "");
  put(from.filter == show_filter::like ? " LIKE " : " ILIKE ");
  put_string(from.pattern.text);
}

void sql_writer::write_node(const describe& from) {
  constexpr std::string_view words[] = {"CATALOG ",  "DATABASE ", "TABLE ",
                                        "FUNCTION ", "JOB ",      "CONNECTOR "};
  put("DESCRIBE ");
  put(words[static_cast<std::size_t>(from.kind)]);
  put(from.is_extended ? "EXTENDED " : "");
  if (from.id)
    put_string(from.id->text);
  else
    write(from.object);
}

void sql_writer::write_node(const stop_job& from) {
  put("STOP JOB ");
  put_string(from.job.text);
  put(from.with_savepoint ? " WITH SAVEPOINT" : "");
  put(from.with_drain ? " WITH DRAIN" : "");
}

void sql_writer::write_node(const truncate_table& from) {
  put("TRUNCATE TABLE ");
  write(from.table);
}

void sql_writer::write_node(const quit_statement& /*nothing is in it*/) { put("QUIT"); }

} // namespace headrace::sql
