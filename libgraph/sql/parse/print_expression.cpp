#include "libgraph/sql/parse/lexer.hpp"
#include "libgraph/sql/parse/printer.hpp"
#include "libgraph/sql/parse/sql_writer.hpp"
#include "libgraph/sql/parse/statement_parser.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

struct spelling {
  std::string_view text;
  bool is_postfix = false;
};

spelling spelling_of(operator_kind kind) {
  switch (kind) {
  case operator_kind::or_:
    return {" OR "};
  case operator_kind::and_:
    return {" AND "};
  case operator_kind::not_:
    return {"NOT "};
  case operator_kind::is_null:
    return {" IS NULL", true};
  case operator_kind::is_not_null:
    return {" IS NOT NULL", true};
  case operator_kind::is_true:
    return {" IS TRUE", true};
  case operator_kind::is_not_true:
    return {" IS NOT TRUE", true};
  case operator_kind::is_false:
    return {" IS FALSE", true};
  case operator_kind::is_not_false:
    return {" IS NOT FALSE", true};
  case operator_kind::is_unknown:
    return {" IS UNKNOWN", true};
  case operator_kind::is_not_unknown:
    return {" IS NOT UNKNOWN", true};
  case operator_kind::is_json:
    return {" IS JSON VALUE", true};
  case operator_kind::is_not_json:
    return {" IS NOT JSON VALUE", true};
  case operator_kind::is_json_object:
    return {" IS JSON OBJECT", true};
  case operator_kind::is_not_json_object:
    return {" IS NOT JSON OBJECT", true};
  case operator_kind::is_json_array:
    return {" IS JSON ARRAY", true};
  case operator_kind::is_not_json_array:
    return {" IS NOT JSON ARRAY", true};
  case operator_kind::is_json_scalar:
    return {" IS JSON SCALAR", true};
  case operator_kind::is_not_json_scalar:
    return {" IS NOT JSON SCALAR", true};
  case operator_kind::equal:
    return {" = "};
  case operator_kind::not_equal:
    return {" <> "};
  case operator_kind::less:
    return {" < "};
  case operator_kind::less_or_equal:
    return {" <= "};
  case operator_kind::greater:
    return {" > "};
  case operator_kind::greater_or_equal:
    return {" >= "};
  case operator_kind::is_distinct_from:
    return {" IS DISTINCT FROM "};
  case operator_kind::is_not_distinct_from:
    return {" IS NOT DISTINCT FROM "};
  case operator_kind::overlaps:
    return {" OVERLAPS "};
  case operator_kind::plus:
    return {" + "};
  case operator_kind::minus:
    return {" - "};
  case operator_kind::times:
    return {" * "};
  case operator_kind::divide:
    return {" / "};
  case operator_kind::modulo:
    return {" % "};
  case operator_kind::concat:
    return {" || "};
  case operator_kind::negate:
    return {"-"};
  case operator_kind::positive:
    return {"+"};
  }
  return {};
}

/// How tightly the outermost operator of an expression binds.
int precedence_of(const expression& from) {
  if (const auto* operated = std::get_if<operation>(&from.node))
    return precedence_of(operated->kind);
  if (std::holds_alternative<between>(from.node) || std::holds_alternative<like>(from.node) ||
      std::holds_alternative<in_list>(from.node) || std::holds_alternative<in_query>(from.node))
    return precedence::membership;
  if (std::holds_alternative<quantified_comparison>(from.node))
    return precedence::comparison;
  if (std::holds_alternative<match_semantics>(from.node))
    return precedence::sign;
  return precedence::access;
}

/// A call with nothing but values in its parentheses, and nothing behind them.
bool is_plain_call(const function_call& from) {
  const auto is_value = [](const argument& each) {
    return !each.label && !std::holds_alternative<star>(each.value.node) &&
           !std::holds_alternative<table_argument>(each.value.node);
  };
  return from.function.parts.size() == 1 && !from.arguments.empty() && !from.is_distinct &&
         from.within_group.empty() && !from.filter && !from.over &&
         from.nulls == null_treatment::unsaid &&
         std::all_of(from.arguments.begin(), from.arguments.end(), is_value);
}

/// Whether a function that is a word of the grammar is read as the same call without backticks.
bool is_function_word_clear(const function_call& from) {
  if (from.function.parts.size() != 1)
    return false;
  const auto& text = from.function.parts[0].text;
  const auto keyword = find_keyword(text);
  const auto is_symbol = [&](std::size_t i) {
    return std::holds_alternative<symbol_argument>(from.arguments[i].value.node);
  };
  switch (keyword) {
  case kw::none:
  case kw::cast_:
  case kw::try_cast_:
  case kw::extract_:
  case kw::position_:
  case kw::trim_:
  case kw::ceiling_:
  case kw::json_value_:
  case kw::json_query_:
  case kw::json_exists_:
  case kw::json_object_:
  case kw::json_array_:
  case kw::json_objectagg_:
  case kw::json_arrayagg_:
  case kw::descriptor_:
  case kw::map_:
  case kw::final_:
    return false;
  case kw::substring_:
  case kw::overlay_:
    return is_plain_call(from) && text == text_of(keyword) && !is_symbol(0);
  case kw::ceil_:
  case kw::floor_:
    return is_plain_call(from) && text == text_of(keyword) && from.arguments.size() == 1 &&
           !is_symbol(0);
  case kw::timestampadd_:
  case kw::timestampdiff_:
    return is_plain_call(from) && text == text_of(keyword) && is_symbol(0);
  default:
    return !is_reserved(keyword) || (may_name_function(keyword) && text == text_of(keyword));
  }
}

std::string_view unit_text(interval_unit unit) {
  constexpr std::string_view texts[] = {"YEAR", "QUARTER", "MONTH",  "WEEK",
                                        "DAY",  "HOUR",    "MINUTE", "SECOND"};
  return texts[static_cast<std::size_t>(unit)];
}

} // namespace

std::string to_sql(const expression& from) {
  sql_writer out;
  out.write(from);
  return std::move(out).take();
}
std::string to_sql(const type_name& from) {
  sql_writer out;
  out.write(from);
  return std::move(out).take();
}
std::string to_sql(const qualified_name& from) {
  sql_writer out;
  out.write(from);
  return std::move(out).take();
}

void sql_writer::put_name(std::string_view text) { put(quote_name(text)); }
void sql_writer::put_string(std::string_view text) { put(quote(text, '\'')); }

void sql_writer::put_names(const std::vector<name>& names) {
  put("(");
  put_list(names, [&](const name& each) { put_name(each.text); });
  put(")");
}

void sql_writer::put_items(const std::vector<expression>& items) {
  put_list(items, [&](const expression& each) { write(each); });
}

void sql_writer::write(const qualified_name& from) {
  for (std::size_t i = 0; i < from.parts.size(); ++i) {
    if (i > 0)
      put(".");
    put_name(from.parts[i].text);
  }
}

void sql_writer::write(const expression& from, int least) {
  const bool needs_parentheses = precedence_of(from) < least;
  if (needs_parentheses)
    put("(");
  std::visit([&](const auto& node) { write_node(node); }, from.node);
  if (needs_parentheses)
    put(")");
}

void sql_writer::write_node(const literal& from) {
  switch (from.kind) {
  case literal_kind::null:
    put("NULL");
    return;
  case literal_kind::string:
    put_string(from.text);
    return;
  case literal_kind::binary:
    put("X");
    put_string(from.text);
    return;
  case literal_kind::date:
    put("DATE ");
    put_string(from.text);
    return;
  case literal_kind::time:
    put("TIME ");
    put_string(from.text);
    return;
  case literal_kind::timestamp:
    put("TIMESTAMP ");
    put_string(from.text);
    return;
  case literal_kind::timestamp_ltz:
    put("TIMESTAMP WITH LOCAL TIME ZONE ");
    put_string(from.text);
    return;
  case literal_kind::interval:
    put(from.is_negative ? "INTERVAL -" : "INTERVAL ");
    put_string(from.text);
    put(" ");
    if (from.interval)
      write_interval(*from.interval);
    return;
  default:
    put(from.text);
  }
}

void sql_writer::write_interval(const interval_qualifier& from) {
  put(unit_text(from.from));
  const bool is_second = from.from == interval_unit::second;
  if (from.precision) {
    put("(" + std::to_string(*from.precision));
    if (is_second && from.fraction)
      put(", " + std::to_string(*from.fraction));
    put(")");
  }
  if (!from.to)
    return;
  put(" TO ");
  put(unit_text(*from.to));
  if (from.fraction)
    put("(" + std::to_string(*from.fraction) + ")");
}

void sql_writer::write_node(const column_reference& from) { write(from.path); }

void sql_writer::write_node(const star& from) {
  if (from.of) {
    write(*from.of);
    put(".");
  }
  put("*");
}

void sql_writer::write_node(const operation& from) {
  const auto least = precedence_of(from.kind);
  const auto spelled = spelling_of(from.kind);
  if (from.operands.size() == 1) {
    if (spelled.is_postfix) {
      write(from.operands[0], least);
      put(spelled.text);
      return;
    }
    put(spelled.text);
    // Two minus signs would begin a comment.
    const auto* inner = std::get_if<operation>(&from.operands[0].node);
    const bool is_sign =
        inner != nullptr && from.kind != operator_kind::not_ &&
        (inner->kind == operator_kind::negate || inner->kind == operator_kind::positive);
    if (is_sign)
      put(" ");
    write(from.operands[0], least);
    return;
  }
  for (std::size_t i = 0; i < from.operands.size(); ++i) {
    if (i > 0)
      put(spelled.text);
    write(from.operands[i], i > 0 ? least + 1 : least);
  }
}

void sql_writer::write_node(const between& from) {
  constexpr int side = precedence::membership + 1;
  write(*from.value, precedence::membership);
  put(from.is_negated ? " NOT BETWEEN " : " BETWEEN ");
  if (from.is_symmetric)
    put("SYMMETRIC ");
  write(*from.low, side);
  put(" AND ");
  write(*from.high, side);
}

void sql_writer::write_node(const like& from) {
  constexpr int side = precedence::membership + 1;
  write(*from.value, precedence::membership);
  put(from.is_negated ? " NOT" : "");
  put(from.kind == like_kind::similar ? " SIMILAR TO " : " LIKE ");
  write(*from.pattern, side);
  if (from.escape) {
    put(" ESCAPE ");
    write(**from.escape, side);
  }
}

void sql_writer::write_node(const in_list& from) {
  write(*from.value, precedence::membership);
  put(from.is_negated ? " NOT IN (" : " IN (");
  put_items(from.items);
  put(")");
}

void sql_writer::write_rows(const query& rows) {
  put("(");
  write(rows);
  put(")");
}

void sql_writer::write_node(const in_query& from) {
  write(*from.value, precedence::membership);
  put(from.is_negated ? " NOT IN " : " IN ");
  write_rows(*from.items);
}

void sql_writer::write_node(const exists& from) {
  put("EXISTS ");
  write_rows(*from.rows);
}

void sql_writer::write_node(const subquery& from) { write_rows(*from.rows); }

void sql_writer::write_node(const quantified_comparison& from) {
  write(*from.value, precedence::comparison);
  put(spelling_of(from.kind).text);
  put(from.is_all ? "ALL " : "ANY ");
  if (from.rows) {
    write_rows(**from.rows);
    return;
  }
  put("(");
  put_items(from.items);
  put(")");
}

void sql_writer::write_node(const case_expression& from) {
  put("CASE");
  if (from.operand) {
    put(" ");
    write(**from.operand);
  }
  for (const auto& branch : from.branches) {
    put(" WHEN ");
    put_items(branch.conditions);
    put(" THEN ");
    write(branch.value);
  }
  if (from.otherwise) {
    put(" ELSE ");
    write(**from.otherwise);
  }
  put(" END");
}

void sql_writer::write_node(const cast& from) {
  put(from.is_try ? "TRY_CAST(" : "CAST(");
  write(*from.value);
  put(" AS ");
  write(from.type);
  put(")");
}

void sql_writer::write_node(const symbol_argument& from) { put(from.text); }

void sql_writer::write_node(const table_argument& from) {
  put("TABLE ");
  if (from.table)
    write(*from.table);
  else if (from.rows)
    write_rows(**from.rows);
  if (!from.partition_by.empty()) {
    put(" PARTITION BY (");
    put_items(from.partition_by);
    put(")");
  }
  if (!from.order_by.empty()) {
    put(" ORDER BY (");
    put_list(from.order_by, [&](const order_item& each) { write_order_item(each); });
    put(")");
  }
}

void sql_writer::write_node(const descriptor& from) {
  put("DESCRIPTOR");
  put_names(from.columns);
}

/// Calls that have words between their arguments.
bool sql_writer::write_special_call(const function_call& from) {
  const auto& arguments = from.arguments;
  if (!is_plain_call(from))
    return false;
  const auto& function = from.function.parts[0].text;
  const auto is_symbol = [&](std::size_t i) {
    return i < arguments.size() && std::holds_alternative<symbol_argument>(arguments[i].value.node);
  };
  const auto join = [&](std::initializer_list<std::string_view> words, int first_least = 0) {
    std::size_t i = 0;
    for (const auto word : words) {
      if (i < arguments.size())
        put(word);
      if (i < arguments.size())
        write(arguments[i].value, i == 0 ? first_least : 0);
      ++i;
    }
    put(")");
    return true;
  };
  if (function == "EXTRACT" && is_symbol(0))
    return join({"EXTRACT(", " FROM "});
  if (function == "POSITION" && (arguments.size() == 2 || arguments.size() == 3))
    return join({"POSITION(", " IN ", " FROM "}, precedence::membership + 1);
  if (function == "TRIM" && is_symbol(0)) {
    if (arguments.size() == 2)
      return join({"TRIM(", " FROM "});
    return join({"TRIM(", " ", " FROM "});
  }
  if ((function == "CEIL" || function == "FLOOR") && is_symbol(1))
    return join({function == "CEIL" ? "CEIL(" : "FLOOR(", " TO "});
  return false;
}

void sql_writer::write_node(const function_call& from) {
  if (!write_special_call(from)) {
    if (is_function_word_clear(from))
      put(from.function.parts[0].text);
    else
      write(from.function);
    if (from.is_bare)
      return;
    put("(");
    if (from.is_distinct)
      put("DISTINCT ");
    put_list(from.arguments, [&](const argument& each) {
      if (each.label) {
        put_name(each.label->text);
        put(" => ");
      }
      write(each.value);
    });
    put(")");
  }
  if (!from.within_group.empty()) {
    put(" WITHIN GROUP (");
    write_order(from.within_group);
    put(")");
  }
  if (from.filter) {
    put(" FILTER (WHERE ");
    write(**from.filter);
    put(")");
  }
  if (from.nulls != null_treatment::unsaid)
    put(from.nulls == null_treatment::ignore ? " IGNORE NULLS" : " RESPECT NULLS");
  if (from.over) {
    put(" OVER ");
    if ((*from.over)->is_reference)
      put_name((*from.over)->base->text);
    else
      write_window(**from.over);
  }
}

void sql_writer::write_json_default(const json_default& from, std::string_view on) {
  constexpr std::string_view words[] = {"NULL",    "ERROR", "EMPTY ARRAY", "EMPTY OBJECT",
                                        "DEFAULT", "TRUE",  "FALSE",       "UNKNOWN"};
  put(" ");
  put(words[static_cast<std::size_t>(from.behavior)]);
  if (from.value) {
    put(" ");
    write(**from.value);
  }
  put(on);
}

void sql_writer::write_node(const json_call& from) {
  put(from.function);
  put("(");
  put_items(from.arguments);
  put_list(from.pairs, [&](const json_pair& each) {
    put("KEY ");
    // KEY before a parenthesis would be a function.
    const auto before = out_.size();
    write(each.key);
    const bool is_unclear = out_[before] == '(' || out_[before] == '-' || out_[before] == '+';
    if (is_unclear)
      out_.erase(before - 4, 4);
    put(" VALUE ");
    write(each.value);
  });
  if (from.nulls != json_nulls::unsaid)
    put(from.nulls == json_nulls::null ? " NULL ON NULL" : " ABSENT ON NULL");
  if (from.returning) {
    put(" RETURNING ");
    write(*from.returning);
  }
  switch (from.wrapper) {
  case json_wrapper::unsaid:
    break;
  case json_wrapper::without:
    put(" WITHOUT ARRAY WRAPPER");
    break;
  case json_wrapper::conditional:
    put(" WITH CONDITIONAL ARRAY WRAPPER");
    break;
  case json_wrapper::unconditional:
    put(" WITH UNCONDITIONAL ARRAY WRAPPER");
    break;
  }
  if (from.on_empty)
    write_json_default(*from.on_empty, " ON EMPTY");
  if (from.on_error)
    write_json_default(*from.on_error, " ON ERROR");
  put(")");
  if (from.filter) {
    put(" FILTER (WHERE ");
    write(**from.filter);
    put(")");
  }
}

void sql_writer::write_node(const row_constructor& from) {
  put(from.is_explicit ? "ROW(" : "(");
  put_items(from.items);
  put(")");
}

void sql_writer::write_node(const collection_constructor& from) {
  put(from.kind == collection_kind::array ? "ARRAY"
      : from.kind == collection_kind::map ? "MAP"
                                          : "MULTISET");
  if (from.rows) {
    write_rows(**from.rows);
    return;
  }
  put("[");
  put_items(from.items);
  put("]");
}

void sql_writer::write_node(const item_access& from) {
  write(*from.value, precedence::access);
  put("[");
  write(*from.index);
  put("]");
}

void sql_writer::write_node(const field_access& from) {
  // A column alone would take the field for a part of its path.
  const bool is_column = std::holds_alternative<column_reference>(from.value->node);
  if (is_column)
    put("(");
  write(*from.value, precedence::access);
  if (is_column)
    put(")");
  put(".");
  put_name(from.field.text);
}

void sql_writer::write_node(const match_semantics& from) {
  put(from.is_final ? "FINAL " : "RUNNING ");
  write(*from.value, precedence::access);
}

void sql_writer::write_order(const std::vector<order_item>& items) {
  put("ORDER BY ");
  put_list(items, [&](const order_item& each) { write_order_item(each); });
}

void sql_writer::write_order_item(const order_item& from) {
  write(from.value);
  if (from.is_descending)
    put(" DESC");
  if (from.nulls_first)
    put(*from.nulls_first ? " NULLS FIRST" : " NULLS LAST");
}

void sql_writer::write_window(const window_specification& from) {
  put("(");
  std::string_view gap;
  if (from.base) {
    put_name(from.base->text);
    gap = " ";
  }
  if (!from.partition_by.empty()) {
    put(gap);
    put("PARTITION BY ");
    put_items(from.partition_by);
    gap = " ";
  }
  if (!from.order_by.empty()) {
    put(gap);
    write_order(from.order_by);
    gap = " ";
  }
  if (from.frame) {
    put(gap);
    put(from.frame->is_rows ? "ROWS " : "RANGE ");
    if (from.frame->end)
      put("BETWEEN ");
    write_bound(from.frame->start);
    if (from.frame->end) {
      put(" AND ");
      write_bound(*from.frame->end);
    }
  }
  put(")");
}

void sql_writer::write_bound(const frame_bound& from) {
  switch (from.kind) {
  case frame_bound_kind::unbounded_preceding:
    put("UNBOUNDED PRECEDING");
    return;
  case frame_bound_kind::unbounded_following:
    put("UNBOUNDED FOLLOWING");
    return;
  case frame_bound_kind::current_row:
    put("CURRENT ROW");
    return;
  default:
    if (from.offset)
      write(*from.offset, precedence::and_ + 1);
    put(from.kind == frame_bound_kind::preceding ? " PRECEDING" : " FOLLOWING");
  }
}

void sql_writer::write(const type_name& from) {
  constexpr std::string_view words[] = {
      "BOOLEAN", "TINYINT",    "SMALLINT",  "INT",           "BIGINT",    "FLOAT",      "DOUBLE",
      "DECIMAL", "CHAR",       "VARCHAR",   "STRING",        "BINARY",    "VARBINARY",  "BYTES",
      "DATE",    "TIME",       "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP", "INTERVAL",   "ARRAY",
      "MAP",     "MULTISET",   "ROW",       "NULL",          "RAW",       "STRUCTURED", "VARIANT",
      "BITMAP",  "DESCRIPTOR", ""};
  put(words[static_cast<std::size_t>(from.word)]);
  if (from.named)
    write(*from.named);
  if (from.precision) {
    put("(" + std::to_string(*from.precision));
    if (from.scale)
      put(", " + std::to_string(*from.scale));
    put(")");
  }
  if (from.word == type_word::timestamp_tz)
    put(" WITH TIME ZONE");
  if (from.interval) {
    put(" ");
    write_interval(*from.interval);
  }
  const auto write_field = [&](const type_field& field) {
    if (field.label) {
      put_name(field.label->text);
      put(" ");
    }
    write(field.type);
    if (field.comment) {
      put(" ");
      put_string(*field.comment);
    }
  };
  switch (from.word) {
  case type_word::array:
  case type_word::map:
  case type_word::multiset:
  case type_word::row:
    put("<");
    put_list(from.children, write_field);
    put(">");
    break;
  case type_word::raw:
    put("(");
    put_list(from.texts, [&](const std::string& each) { put_string(each); });
    put(")");
    break;
  case type_word::structured:
    put("<");
    put_list(from.texts, [&](const std::string& each) { put_string(each); });
    for (const auto& field : from.children) {
      put(", ");
      write_field(field);
    }
    put(">");
    break;
  default:
    break;
  }
  if (from.is_not_null)
    put(" NOT NULL");
}

} // namespace headrace::sql
