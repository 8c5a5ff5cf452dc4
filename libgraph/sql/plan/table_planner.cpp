#include "libgraph/sql/plan/table_planner.hpp"

#include "libgraph/sql/parse/parser.hpp"
#include "libgraph/sql/parse/printer.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

using graph::column_kind;

/// The columns that expressions of the table may name: all but computed ones.
column_scope scope_of(const graph::table_definition& table, bool with_computed) {
  column_scope out;
  for (const auto& each : table.columns)
    if (with_computed || each.kind != column_kind::computed)
      out.add({}, each.name, each.type);
  return out;
}

std::string_view text_of(const std::optional<text_value>& from) {
  return from ? std::string_view(from->text) : std::string_view();
}

/// What LIKE does with one part of the table. By default all is taken over, and options may be
/// given anew.
like_strategy strategy_of(const like_clause& from, like_feature feature) {
  const bool is_options = feature == like_feature::options;
  auto out = is_options ? like_strategy::overwriting : like_strategy::including;
  for (const auto& each : from.options)
    if (each.feature == like_feature::all)
      out = is_options && each.strategy == like_strategy::including ? like_strategy::overwriting
                                                                    : each.strategy;
  for (const auto& each : from.options)
    if (each.feature == feature)
      out = each.strategy;
  return out;
}

/// The computed column whose expression uses another one; null: none does.
const graph::table_column* user_of(const std::string& column,
                                   const graph::table_definition& table) {
  const auto scope = scope_of(table, false);
  for (const auto& each : table.columns) {
    if (each.kind != column_kind::computed)
      continue;
    std::vector<diagnostic> findings;
    const auto parsed = parse_expression(each.expression);
    auto bound =
        parsed.value ? expression_binder(scope, findings).bind(*parsed.value) : std::nullopt;
    bool is_used = false;
    if (bound)
      visit_columns(*bound, [&](const bound_column& used) {
        is_used |= scope.columns()[used.index].name == column;
      });
    if (is_used)
      return &each;
  }
  return nullptr;
}

bool may_be_watermarked(const logical_type& type) {
  constexpr int milliseconds = 3;
  return is_timestamp(type.root()) && type.precision() <= milliseconds;
}

} // namespace

bool table_planner::fail(diagnostic_kind kind, std::string message, source_span at) {
  findings_.push_back({kind, std::move(message), at});
  return false;
}

std::optional<graph::table_definition> table_planner::plan(const create_table& from) {
  at_ = from.table.at;
  graph::table_definition out;
  bool is_sound = true;
  bool options_are_ours = true;
  if (from.like) {
    is_sound = take_like(*from.like, out);
    options_are_ours = strategy_of(*from.like, like_feature::options) == like_strategy::including;
  }
  if (from.as)
    is_sound &= take_query(*from.as, out);
  if (from.distributed_by)
    is_sound = fail(diagnostic_kind::unsupported, "DISTRIBUTED BY is not supported yet", at_);
  // Computed columns see all others, also those behind them.
  for (const bool is_computed : {false, true})
    for (const auto& each : from.columns)
      if (each.computed.has_value() == is_computed)
        is_sound &= from.as && !each.computed && !each.metadata ? declare_column(each, out)
                                                                : add_column(each, out);
  if (is_sound) {
    // As they are written, in front of the others of a query.
    const auto known = from.as ? 0 : out.columns.size() - from.columns.size();
    const auto place = [&](const graph::table_column& column) {
      const auto found = std::find_if(
          from.columns.begin(), from.columns.end(),
          [&](const column_definition& each) { return each.label.text == column.name; });
      return found - from.columns.begin();
    };
    std::stable_sort(
        out.columns.begin() + static_cast<std::ptrdiff_t>(known), out.columns.end(),
        [&](const auto& left, const auto& right) { return place(left) < place(right); });
  }
  for (const auto& each : from.keys)
    is_sound &= set_key(each, out);
  if (from.watermark)
    is_sound &= set_watermark(*from.watermark, out);
  if (!from.partitioned_by.empty()) {
    out.partitioned_by.clear();
    for (const auto& each : from.partitioned_by) {
      is_sound &= need_column(each, out).has_value();
      out.partitioned_by.push_back(each.text);
    }
  }
  is_sound &= set_options(from.options, out, !options_are_ours);
  if (from.comment)
    out.comment = from.comment->text;
  if (!is_sound)
    return std::nullopt;
  if (const auto checked = graph::check_table(out); !checked) {
    fail(diagnostic_kind::invalid, checked.error().message, at_);
    return std::nullopt;
  }
  return out;
}

bool table_planner::take_like(const like_clause& from, graph::table_definition& into) {
  const auto found = query_planner(catalog_, findings_).find_relation(from.table);
  if (!found)
    return false;
  const auto* table = std::get_if<graph::table_definition>(&found->definition);
  if (table == nullptr)
    return fail(diagnostic_kind::invalid,
                "LIKE takes a table, and is a view: " + found->path.object, from.table.at);
  const auto takes = [&](like_feature feature) {
    return strategy_of(from, feature) != like_strategy::excluding;
  };
  for (const auto& each : table->columns)
    if (each.kind == column_kind::physical ||
        takes(each.kind == column_kind::computed ? like_feature::generated
                                                 : like_feature::metadata))
      into.columns.push_back(each);
  if (takes(like_feature::constraints))
    into.primary_key = table->primary_key;
  if (takes(like_feature::partitions))
    into.partitioned_by = table->partitioned_by;
  if (takes(like_feature::watermarks))
    into.watermark = table->watermark;
  if (takes(like_feature::options))
    into.options = table->options;
  into.comment = table->comment;
  return true;
}

bool table_planner::take_query(const query& from, graph::table_definition& into) {
  const auto rows = query_planner(catalog_, findings_).plan(from);
  if (!rows)
    return false;
  for (const auto& each : rows->columns)
    into.columns.push_back({each.name, each.type, column_kind::physical, {}, {}, false, {}});
  return true;
}

/// A column of CREATE TABLE AS: has the query's values where the query has one of its name.
bool table_planner::declare_column(const column_definition& from, graph::table_definition& into) {
  const auto given = into.find_column(from.label.text);
  if (!given && from.type)
    return add_column(from, into);
  if (!given)
    return need_column(from.label, into).has_value();
  auto& column = into.columns[*given];
  if (from.comment)
    column.comment = from.comment->text;
  if (from.type) {
    const auto declared = column_of(from, into);
    if (!declared)
      return false;
    if (!is_implicitly_castable(column.type, declared->type))
      return fail(diagnostic_kind::type_mismatch,
                  "column " + column.name + " is declared as " +
                      declared->type.nullable().to_sql() + ", the query gives " +
                      column.type.nullable().to_sql() + "; CAST it",
                  from.label.at);
    column.type = declared->type;
  }
  if (!from.is_primary_key)
    return true;
  if (!into.primary_key.empty())
    return fail(diagnostic_kind::duplicate_name, "table has two primary keys", from.at);
  column.type = column.type.not_null();
  into.primary_key.push_back(column.name);
  return true;
}

bool table_planner::add_column(const column_definition& from, graph::table_definition& into) {
  auto made = column_of(from, into);
  return made && put_column(std::move(*made), from, into);
}

std::optional<graph::table_column> table_planner::column_of(const column_definition& from,
                                                            const graph::table_definition& table) {
  graph::table_column out{from.label.text,
                          logical_type::null(),
                          column_kind::physical,
                          {},
                          {},
                          false,
                          std::string(text_of(from.comment))};
  if (from.computed) {
    const auto scope = scope_of(table, false);
    const auto bound = expression_binder(scope, findings_).bind(*from.computed);
    if (!bound)
      return std::nullopt;
    out.kind = column_kind::computed;
    out.type = bound->type;
    out.expression = to_sql(*from.computed);
    return out;
  }
  if (!from.type) {
    fail(diagnostic_kind::invalid, "column has no type: " + from.label.text, from.at);
    return std::nullopt;
  }
  auto type = resolve_type(*from.type, findings_);
  if (!type)
    return std::nullopt;
  out.type = from.is_primary_key ? type->not_null() : *type;
  if (from.metadata) {
    out.kind = column_kind::metadata;
    out.metadata_key = from.metadata->key ? from.metadata->key->text : from.label.text;
    out.is_virtual = from.metadata->is_virtual;
  }
  return out;
}

bool table_planner::put_column(graph::table_column column, const column_definition& from,
                               graph::table_definition& into) {
  if (into.find_column(column.name))
    return fail(diagnostic_kind::duplicate_name, "column is there twice: " + column.name,
                from.label.at);
  auto place = into.columns.end();
  if (from.position) {
    place = into.columns.begin();
    if (from.position->after) {
      const auto before = need_column(*from.position->after, into);
      if (!before)
        return false;
      place += static_cast<std::ptrdiff_t>(*before) + 1;
    }
  }
  const auto label = column.name;
  into.columns.insert(place, std::move(column));
  if (!from.is_primary_key)
    return true;
  if (!into.primary_key.empty())
    return fail(diagnostic_kind::duplicate_name, "table has two primary keys", from.at);
  into.primary_key.push_back(label);
  return true;
}

std::optional<std::size_t> table_planner::need_column(const name& wanted,
                                                      const graph::table_definition& in) {
  if (const auto found = in.find_column(wanted.text))
    return found;
  std::vector<std::string_view> names;
  for (const auto& each : in.columns)
    names.push_back(each.name);
  const auto nearest = nearest_name(wanted.text, names);
  fail(diagnostic_kind::unknown_name,
       "unknown column: " + wanted.text +
           (nearest.empty() ? "" : ", did you mean " + std::string(nearest)),
       wanted.at);
  return std::nullopt;
}

bool table_planner::set_key(const key_constraint& from, graph::table_definition& into) {
  if (!from.is_primary)
    return fail(diagnostic_kind::unsupported, "UNIQUE is not supported, PRIMARY KEY is", from.at);
  if (!from.is_not_enforced)
    return fail(diagnostic_kind::invalid,
                "keys are not checked: write PRIMARY KEY (…) NOT ENFORCED", from.at);
  if (!into.primary_key.empty())
    return fail(diagnostic_kind::duplicate_name, "table has two primary keys", from.at);
  bool is_sound = true;
  for (const auto& each : from.columns) {
    const auto place = need_column(each, into);
    is_sound &= place.has_value();
    if (!place)
      continue;
    auto& column = into.columns[*place];
    if (column.kind != column_kind::physical) {
      is_sound = fail(diagnostic_kind::invalid,
                      "primary key needs physical columns: " + column.name, each.at);
      continue;
    }
    column.type = column.type.not_null();
    into.primary_key.push_back(column.name);
  }
  return is_sound;
}

bool table_planner::set_watermark(const watermark_definition& from, graph::table_definition& into) {
  if (from.column.parts.size() != 1)
    return fail(diagnostic_kind::unsupported,
                "WATERMARK FOR a field is not supported: make it a computed column",
                from.column.at);
  const auto place = need_column(from.column.parts[0], into);
  if (!place)
    return false;
  const auto& column = into.columns[*place];
  if (!may_be_watermarked(column.type))
    return fail(diagnostic_kind::type_mismatch,
                "WATERMARK FOR needs a TIMESTAMP(3) or TIMESTAMP_LTZ(3), found " +
                    column.type.nullable().to_sql(),
                from.column.at);
  const auto scope = scope_of(into, true);
  const auto bound = expression_binder(scope, findings_).bind(from.value);
  if (!bound)
    return false;
  if (!watermark_of(*bound, *place))
    return fail(diagnostic_kind::unsupported,
                "watermarks follow their column, or lie an interval before it: " + column.name +
                    " - INTERVAL '5' SECOND",
                from.value.at);
  into.watermark = graph::table_watermark{column.name, to_sql(from.value)};
  return true;
}

bool table_planner::set_options(const std::vector<option_setting>& from,
                                graph::table_definition& into, bool may_overwrite) {
  bool is_sound = true;
  std::vector<std::string_view> seen;
  for (const auto& each : from) {
    const bool is_twice = std::find(seen.begin(), seen.end(), each.key.text) != seen.end() ||
                          (!may_overwrite && into.options.contains(each.key.text));
    if (is_twice) {
      is_sound = fail(diagnostic_kind::duplicate_name, "option is there twice: " + each.key.text,
                      each.key.at);
      continue;
    }
    seen.push_back(each.key.text);
    into.options.insert_or_assign(each.key.text, each.value.text);
  }
  return is_sound;
}

std::optional<graph::table_definition> table_planner::plan(const alter& from,
                                                           graph::table_definition table) {
  at_ = from.object.at;
  const bool is_sound =
      std::visit([&](const auto& action) { return change(action, table); }, from.action);
  if (!is_sound)
    return std::nullopt;
  if (const auto checked = graph::check_table(table); !checked) {
    fail(diagnostic_kind::invalid, checked.error().message, at_);
    return std::nullopt;
  }
  return table;
}

bool table_planner::change(const change_columns& from, graph::table_definition& table) {
  bool is_sound = true;
  if (from.distributed_by)
    is_sound = fail(diagnostic_kind::unsupported, "DISTRIBUTED BY is not supported yet", at_);
  for (const auto& each : from.columns) {
    if (!from.is_modify) {
      is_sound &= add_column(each, table);
      continue;
    }
    const auto place = need_column(each.label, table);
    if (!place) {
      is_sound = false;
      continue;
    }
    auto others = table;
    others.columns.erase(others.columns.begin() + static_cast<std::ptrdiff_t>(*place));
    auto made = column_of(each, others);
    is_sound &= made.has_value();
    if (!made)
      continue;
    const bool is_key = std::find(table.primary_key.begin(), table.primary_key.end(), made->name) !=
                        table.primary_key.end();
    if (is_key)
      made->type = made->type.not_null();
    if (each.position) {
      is_sound &= put_column(std::move(*made), each, others);
      table.columns = std::move(others.columns);
    } else {
      table.columns[*place] = std::move(*made);
    }
  }
  for (const auto& each : from.keys) {
    if (from.is_modify)
      table.primary_key.clear();
    is_sound &= set_key(each, table);
  }
  if (from.watermark) {
    if (table.watermark && !from.is_modify)
      is_sound = fail(diagnostic_kind::duplicate_name, "table has a watermark: MODIFY or DROP it",
                      from.watermark->at);
    else
      is_sound &= set_watermark(*from.watermark, table);
  }
  return is_sound;
}

/// Keys, the watermark, partitions and computed columns may need a column.
bool table_planner::check_unused(const name& column, const graph::table_definition& in) {
  const auto holds = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), column.text) != names.end();
  };
  const auto refuse = [&](const std::string& user) {
    return fail(diagnostic_kind::invalid, "column is needed by " + user + ": " + column.text,
                column.at);
  };
  if (holds(in.primary_key))
    return refuse("the primary key");
  if (holds(in.partitioned_by))
    return refuse("PARTITIONED BY");
  if (in.watermark && in.watermark->column == column.text)
    return refuse("the watermark");
  if (const auto* user = user_of(column.text, in))
    return refuse("the computed column " + user->name);
  return true;
}

bool table_planner::change(const drop_columns& from, graph::table_definition& table) {
  bool is_sound = true;
  for (const auto& each : from.columns) {
    const auto& label = each.parts.back();
    const auto place = need_column(label, table);
    if (!place || !check_unused(label, table)) {
      is_sound = false;
      continue;
    }
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(*place));
  }
  return is_sound;
}

bool table_planner::change(const drop_definition& from, graph::table_definition& table) {
  switch (from.what) {
  case droppable::primary_key:
  case droppable::constraint:
    if (table.primary_key.empty())
      return fail(diagnostic_kind::invalid, "table has no primary key", at_);
    table.primary_key.clear();
    return true;
  case droppable::watermark:
    if (!table.watermark)
      return fail(diagnostic_kind::invalid, "table has no watermark", at_);
    table.watermark.reset();
    return true;
  case droppable::distribution:
    break;
  }
  return fail(diagnostic_kind::invalid, "table has no distribution", at_);
}

bool table_planner::change(const rename_column& from, graph::table_definition& table) {
  const auto& label = from.from.parts.back();
  const auto place = need_column(label, table);
  if (!place)
    return false;
  if (table.find_column(from.to.text))
    return fail(diagnostic_kind::duplicate_name, "column is there already: " + from.to.text,
                from.to.at);
  if (const auto* user = user_of(label.text, table))
    return fail(diagnostic_kind::invalid,
                "column is needed by the computed column " + user->name + ": " + label.text,
                label.at);
  if (table.watermark && table.watermark->column == label.text)
    return fail(diagnostic_kind::invalid, "column is needed by the watermark: " + label.text,
                label.at);
  for (auto* names : {&table.primary_key, &table.partitioned_by})
    std::replace(names->begin(), names->end(), label.text, from.to.text);
  table.columns[*place].name = from.to.text;
  return true;
}

bool table_planner::change(const sql::set_options& from, graph::table_definition& table) {
  return set_options(from.options, table, true);
}

bool table_planner::change(const reset_options& from, graph::table_definition& table) {
  for (const auto& each : from.keys) {
    if (each.text == "connector")
      return fail(diagnostic_kind::invalid, "a table keeps its connector: SET another one",
                  each.at);
    table.options.erase(each.text);
  }
  return true;
}

bool table_planner::change(const set_comment& from, graph::table_definition& table) {
  table.comment = from.comment.text;
  return true;
}

} // namespace headrace::sql
