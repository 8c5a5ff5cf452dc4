#include "libgraph/sql/parse/statement_parser.hpp"
#include "libactors/base/text.hpp"

namespace headrace::sql {

bool statement_parser::accept_if_not_exists() {
  return in_.accept_all({kw::if_, kw::not_, kw::exists_});
}
bool statement_parser::accept_if_exists() { return in_.accept_all({kw::if_, kw::exists_}); }

statement statement_parser::parse_create() {
  in_.expect(kw::create_);
  statement out;
  const bool replaces = in_.accept(kw::or_);
  if (replaces)
    in_.expect(kw::replace_);
  const bool is_temporary = in_.accept(kw::temporary_);
  const bool is_system = is_temporary && in_.accept(kw::system_);
  if (is_system || (!replaces && in_.is(kw::function_)))
    out.node = parse_create_function(false, is_temporary, is_system);
  else if (in_.is(kw::table_))
    out.node = parse_create_table(is_temporary, replaces);
  else if (in_.is(kw::view_))
    out.node = parse_create_view(is_temporary, replaces);
  else if (!replaces && !is_temporary && in_.is(kw::catalog_))
    out.node = parse_create_catalog();
  else if (!replaces && !is_temporary && in_.is(kw::database_))
    out.node = parse_create_database();
  else if (in_.looks_like(kw::model_) || in_.looks_like(kw::connection_) ||
           in_.looks_like(kw::materialized_))
    in_.fail(diagnostic_kind::unsupported,
             "CREATE " + std::string(text_of(in_.peek().keyword)) + " is not supported",
             in_.here());
  else
    in_.fail_expected();
  return out;
}

create_table statement_parser::parse_create_table(bool is_temporary, bool replaces) {
  in_.expect(kw::table_);
  create_table out;
  out.is_temporary = is_temporary;
  out.replaces = replaces;
  out.if_not_exists = accept_if_not_exists();
  out.table = parse_qualified_name("a table's name");
  if (in_.accept('(') && !in_.accept(')')) {
    parse_list([&] { parse_table_element(out); });
    in_.expect(')');
  }
  out.comment = parse_comment();
  out.distributed_by = parse_distribution(kw::distributed_);
  if (in_.accept(kw::partitioned_)) {
    in_.expect(kw::by_);
    out.partitioned_by = parse_name_list();
  }
  if (in_.accept(kw::with_))
    out.options = parse_options();
  if (in_.is(kw::like_))
    out.like = parse_like();
  else if (in_.accept(kw::as_))
    out.as = parse_query();
  // Names alone stand for the columns of a query.
  if (!out.as && !in_.has_failed())
    for (const auto& column : out.columns)
      if (!column.type && !column.computed) {
        in_.fail(diagnostic_kind::syntax, "column has no type: " + column.label.text,
                 column.label.at);
        break;
      }
  return out;
}

void statement_parser::parse_table_element(create_table& out) {
  if (auto key = parse_key_constraint()) {
    out.keys.push_back(std::move(*key));
  } else if (in_.is(kw::watermark_)) {
    if (out.watermark)
      in_.fail(diagnostic_kind::invalid, "table has two watermarks", in_.here());
    out.watermark = parse_watermark();
  } else {
    out.columns.push_back(parse_column(true, false));
  }
}

column_definition statement_parser::parse_column(bool allows_bare, bool allows_position) {
  column_definition out;
  const auto first = in_.here();
  out.label = parse_name("a column's name");
  if (in_.accept(kw::as_)) {
    out.computed = parse_expression();
  } else if (!allows_bare || (!in_.looks_like(',') && !in_.looks_like(')'))) {
    out.type = parse_type();
    if (in_.accept(kw::metadata_)) {
      metadata_column metadata;
      if (in_.accept(kw::from_))
        metadata.key = parse_text("a metadata key in quotes");
      metadata.is_virtual = in_.accept(kw::virtual_);
      out.metadata = std::move(metadata);
    }
    parse_column_constraint(out);
  }
  out.comment = parse_comment();
  if (allows_position && in_.accept(kw::first_)) {
    out.position = column_position{};
  } else if (allows_position && in_.accept(kw::after_)) {
    out.position = column_position{parse_name("a column")};
  }
  out.at = in_.since(first);
  return out;
}

/// [CONSTRAINT n] PRIMARY KEY [NOT ENFORCED] at a column.
void statement_parser::parse_column_constraint(column_definition& out) {
  if (in_.accept(kw::constraint_)) {
    parse_name("a constraint's name");
    if (!in_.is(kw::primary_))
      in_.fail_expected();
  }
  if (!in_.accept(kw::primary_))
    return;
  in_.expect(kw::key_);
  out.is_primary_key = true;
  const auto at = in_.here();
  if (in_.accept(kw::not_)) {
    in_.expect(kw::enforced_);
    return;
  }
  in_.accept(kw::enforced_);
  in_.fail(diagnostic_kind::unsupported, "keys are not checked: write PRIMARY KEY … NOT ENFORCED",
           at);
}

watermark_definition statement_parser::parse_watermark() {
  watermark_definition out;
  const auto first = in_.here();
  in_.expect_all({kw::watermark_, kw::for_});
  out.column = parse_qualified_name("a column");
  in_.expect(kw::as_);
  out.value = parse_expression();
  out.at = in_.since(first);
  return out;
}

std::optional<key_constraint> statement_parser::parse_key_constraint() {
  const auto first = in_.here();
  key_constraint out;
  if (in_.accept(kw::constraint_)) {
    out.label = parse_name("a constraint's name");
    if (!in_.is(kw::primary_) && !in_.is(kw::unique_)) {
      in_.fail_expected();
      return out;
    }
  }
  if (in_.accept(kw::primary_)) {
    in_.expect(kw::key_);
  } else if (in_.looks_like(kw::unique_)) {
    in_.take();
    out.is_primary = false;
  } else {
    return std::nullopt;
  }
  out.columns = parse_name_list();
  const auto at = in_.here();
  if (in_.accept(kw::not_)) {
    in_.expect(kw::enforced_);
    out.is_not_enforced = true;
  } else if (in_.accept(kw::enforced_)) {
    in_.fail(diagnostic_kind::unsupported, "keys are not checked: write PRIMARY KEY … NOT ENFORCED",
             at);
  }
  out.at = in_.since(first);
  return out;
}

/// DISTRIBUTED BY [HASH | RANGE] (a, b) [INTO n BUCKETS], DISTRIBUTED INTO n BUCKETS
std::optional<distribution> statement_parser::parse_distribution(kw::word verb) {
  if (!in_.accept(verb))
    return std::nullopt;
  distribution out;
  if (in_.accept(kw::by_)) {
    if (in_.accept(kw::hash_))
      out.kind = distribution_kind::hash;
    else if (in_.accept(kw::range_))
      out.kind = distribution_kind::range;
    out.columns = parse_name_list();
  } else if (!in_.is(kw::into_)) {
    in_.fail_expected();
  }
  if (in_.accept(kw::into_)) {
    out.buckets = parse_count("the number of buckets");
    in_.expect(kw::buckets_);
  }
  return out;
}

like_clause statement_parser::parse_like() {
  in_.expect(kw::like_);
  like_clause out;
  out.table = parse_qualified_name("a table");
  if (!in_.accept('('))
    return out;
  while (!in_.is(')') && !in_.has_failed()) {
    like_option next;
    if (in_.accept(kw::including_))
      next.strategy = like_strategy::including;
    else if (in_.accept(kw::excluding_))
      next.strategy = like_strategy::excluding;
    else if (in_.expect(kw::overwriting_))
      next.strategy = like_strategy::overwriting;
    constexpr std::pair<kw::word, like_feature> features[] = {
        {kw::all_, like_feature::all},
        {kw::constraints_, like_feature::constraints},
        {kw::distribution_, like_feature::distribution},
        {kw::generated_, like_feature::generated},
        {kw::metadata_, like_feature::metadata},
        {kw::options_, like_feature::options},
        {kw::partitions_, like_feature::partitions},
        {kw::watermarks_, like_feature::watermarks}};
    bool is_known = false;
    for (const auto& [keyword, feature] : features)
      if (!is_known && in_.accept(keyword)) {
        next.feature = feature;
        is_known = true;
      }
    if (!is_known)
      in_.fail_expected();
    out.options.push_back(next);
  }
  in_.expect(')');
  return out;
}

create_view statement_parser::parse_create_view(bool is_temporary, bool replaces) {
  in_.expect(kw::view_);
  create_view out;
  out.is_temporary = is_temporary;
  out.replaces = replaces;
  out.if_not_exists = accept_if_not_exists();
  out.view = parse_qualified_name("a view's name");
  if (in_.accept('(')) {
    parse_list([&] {
      view_column column;
      column.label = parse_name("a column's name");
      column.comment = parse_comment();
      out.columns.push_back(std::move(column));
    });
    in_.expect(')');
  }
  out.comment = parse_comment();
  in_.expect(kw::as_);
  out.rows = parse_query();
  return out;
}

create_function statement_parser::parse_create_function(bool is_alter, bool is_temporary,
                                                        bool is_system) {
  in_.expect(kw::function_);
  create_function out;
  out.is_alter = is_alter;
  out.is_temporary = is_temporary;
  out.is_system = is_system;
  out.if_not_exists = is_alter ? accept_if_exists() : accept_if_not_exists();
  out.function = parse_qualified_name("a function's name");
  const auto parse_parameters = [&](std::string_view what) {
    std::vector<function_parameter> parameters;
    if (!in_.is(')'))
      parse_list([&] {
        auto label = parse_name(what);
        parameters.push_back({std::move(label), parse_type()});
      });
    in_.expect(')');
    return parameters;
  };
  if (in_.accept('('))
    out.parameters = parse_parameters("a parameter's name");
  if (in_.accept(kw::returns_)) {
    if (in_.accept(kw::table_)) {
      in_.expect('(');
      out.returned_columns = parse_parameters("a column's name");
    } else {
      out.is_aggregate = in_.accept(kw::aggregate_);
      out.returns = parse_type();
    }
  }
  if (in_.is(kw::not_) || in_.is(kw::deterministic_)) {
    out.is_deterministic = !in_.accept(kw::not_);
    in_.expect(kw::deterministic_);
  }
  const auto accept_language = [&] {
    if (out.language != function_language::unsaid || !in_.accept(kw::language_))
      return;
    if (in_.accept(kw::lua_))
      out.language = function_language::lua;
    else if (in_.accept(kw::java_))
      out.language = function_language::java;
    else if (in_.accept(kw::scala_))
      out.language = function_language::scala;
    else if (in_.accept(kw::python_))
      out.language = function_language::python;
    else if (in_.accept(kw::cpp_))
      out.language = function_language::cpp;
    else if (in_.accept(kw::sql_))
      out.language = function_language::sql;
    else
      in_.fail_expected();
  };
  accept_language();
  in_.expect(kw::as_);
  if (in_.peek().kind == token_kind::body) {
    const auto at = in_.take().at;
    out.body = {std::string(text_.substr(at.begin + 2, at.end - at.begin - 4)), at};
    out.is_text = true;
  } else {
    out.body = parse_text("a class in quotes or a body in $$ … $$");
  }
  accept_language();
  if (in_.accept(kw::using_))
    parse_list([&] {
      resource next;
      constexpr std::string_view kinds = "LIBRARY, JAR, FILE, ARCHIVE or ARTIFACT";
      in_.note_expected(kinds);
      const auto at = in_.here();
      const auto kind = parse_name(kinds).text;
      next.kind = in_capitals(kind);
      if (!in_.has_failed() && next.kind != "LIBRARY" && next.kind != "JAR" &&
          next.kind != "FILE" && next.kind != "ARCHIVE" && next.kind != "ARTIFACT")
        in_.fail(diagnostic_kind::syntax,
                 "expected " + std::string(kinds) + ", found '" + kind + "'", at);
      next.path = parse_text("a path in quotes");
      out.resources.push_back(std::move(next));
    });
  if (in_.accept(kw::with_))
    out.options = parse_options();
  return out;
}

create_catalog statement_parser::parse_create_catalog() {
  in_.expect(kw::catalog_);
  create_catalog out;
  out.if_not_exists = accept_if_not_exists();
  out.catalog = parse_name("a catalog's name");
  out.comment = parse_comment();
  if (in_.accept(kw::with_))
    out.options = parse_options();
  return out;
}

create_database statement_parser::parse_create_database() {
  in_.expect(kw::database_);
  create_database out;
  out.if_not_exists = accept_if_not_exists();
  out.database = parse_qualified_name("a database's name");
  out.comment = parse_comment();
  if (in_.accept(kw::with_))
    out.options = parse_options();
  return out;
}

drop statement_parser::parse_drop() {
  in_.expect(kw::drop_);
  drop out;
  out.is_temporary = in_.accept(kw::temporary_);
  out.is_system = out.is_temporary && in_.accept(kw::system_);
  if (out.is_system) {
    in_.expect(kw::function_);
    out.kind = object_kind::function;
  } else if (in_.accept(kw::table_)) {
    out.kind = object_kind::table;
  } else if (in_.accept(kw::view_)) {
    out.kind = object_kind::view;
  } else if (in_.accept(kw::function_)) {
    out.kind = object_kind::function;
  } else if (!out.is_temporary && in_.accept(kw::catalog_)) {
    out.kind = object_kind::catalog;
  } else if (!out.is_temporary && in_.accept(kw::database_)) {
    out.kind = object_kind::database;
  } else {
    in_.fail_expected();
  }
  out.if_exists = accept_if_exists();
  out.object = parse_qualified_name();
  if (out.kind == object_kind::database) {
    out.cascades = in_.accept(kw::cascade_);
    if (!out.cascades)
      in_.accept(kw::restrict_);
  }
  return out;
}

} // namespace headrace::sql
