#include "libgraph/sql/parse/printer.hpp"
#include "libgraph/sql/parse/sql_writer.hpp"

namespace headrace::sql {

std::string to_sql(const query& from) {
  sql_writer out;
  out.write(from);
  return std::move(out).take();
}

void sql_writer::write(const query& from) {
  if (!from.with.empty()) {
    put(from.is_recursive ? "WITH RECURSIVE " : "WITH ");
    put_list(from.with, [&](const common_table& each) {
      put_name(each.label.text);
      if (!each.columns.empty()) {
        put(" ");
        put_names(each.columns);
      }
      put(" AS ");
      write_rows(*each.rows);
    });
    put(" ");
  }
  std::visit([&](const auto& body) { write_body(body); }, from.body);
  if (!from.order_by.empty()) {
    put(" ");
    write_order(from.order_by);
  }
  if (from.limit) {
    put(" LIMIT ");
    write(*from.limit);
  }
  if (from.offset) {
    put(" OFFSET ");
    write(*from.offset);
  }
}

void sql_writer::write_body(const box<query>& from) { write_rows(*from); }

void sql_writer::write_body(const explicit_table& from) {
  put("TABLE ");
  write(from.table);
}

void sql_writer::write_body(const values& from) {
  put("VALUES ");
  put_list(from.rows, [&](const std::vector<expression>& row) {
    // A row of one row needs the word, to be told from the row alone.
    const bool is_nested = row.size() == 1 && std::holds_alternative<row_constructor>(row[0].node);
    put(is_nested ? "ROW(" : "(");
    put_items(row);
    put(")");
  });
}

void sql_writer::write_body(const set_operation& from) {
  for (std::size_t i = 0; i < from.operands.size(); ++i) {
    const auto& each = from.operands[i];
    if (i > 0) {
      put(from.kind == set_operator::union_   ? " UNION "
          : from.kind == set_operator::except ? " EXCEPT "
                                              : " INTERSECT ");
      if (from.is_all)
        put("ALL ");
    }
    const bool is_plain = each.with.empty() && each.order_by.empty() && !each.limit &&
                          !each.offset && !std::holds_alternative<set_operation>(each.body) &&
                          !std::holds_alternative<box<query>>(each.body);
    if (is_plain)
      write(each);
    else
      write_rows(each);
  }
}

void sql_writer::write_body(const select& from) {
  put("SELECT ");
  if (!from.hints.empty()) {
    write_hints(from.hints);
    put(" ");
  }
  if (from.is_distinct)
    put("DISTINCT ");
  put_list(from.items, [&](const select_item& each) {
    write(each.value);
    if (each.alias) {
      put(" AS ");
      put_name(each.alias->text);
    }
  });
  if (from.from) {
    put(" FROM ");
    write_table(**from.from);
  }
  if (from.where) {
    put(" WHERE ");
    write(*from.where);
  }
  if (from.has_group_by) {
    put(" GROUP BY ");
    put_list(from.group_by, [&](const grouping& each) { write_grouping(each); });
  }
  if (from.having) {
    put(" HAVING ");
    write(*from.having);
  }
  if (!from.windows.empty()) {
    put(" WINDOW ");
    put_list(from.windows, [&](const named_window& each) {
      put_name(each.label.text);
      put(" AS ");
      write_window(each.window);
    });
  }
  if (from.qualify) {
    put(" QUALIFY ");
    write(*from.qualify);
  }
}

void sql_writer::write_grouping(const grouping& from) {
  if (from.written == grouping::kind::expressions) {
    if (from.expressions.size() == 1) {
      write(from.expressions[0]);
      return;
    }
    put("(");
    put_items(from.expressions);
    put(")");
    return;
  }
  put(from.written == grouping::kind::sets     ? "GROUPING SETS ("
      : from.written == grouping::kind::rollup ? "ROLLUP ("
                                               : "CUBE (");
  put_list(from.elements, [&](const grouping& each) { write_grouping(each); });
  put(")");
}

void sql_writer::write_hint_word(const hint_word& from) {
  switch (from.written) {
  case hint_word::kind::string:
    put_string(from.text);
    return;
  case hint_word::kind::number:
    put(from.text);
    return;
  case hint_word::kind::name:
    put_name(from.text);
  }
}

void sql_writer::write_hints(const std::vector<hint>& hints) {
  put("/*+ ");
  put_list(hints, [&](const hint& each) {
    put_name(each.label.text);
    if (each.arguments.empty())
      return;
    put("(");
    put_list(each.arguments, [&](const hint_argument& given) {
      if (given.key) {
        write_hint_word(*given.key);
        put(" = ");
      }
      write_hint_word(given.value);
    });
    put(")");
  });
  put(" */");
}

void sql_writer::write_table(const table_expression& from) {
  std::visit([&](const auto& node) { write_table_node(node); }, from.node);
  if (from.system_time) {
    put(" FOR SYSTEM_TIME AS OF ");
    write(*from.system_time);
  }
  if (from.alias) {
    put(" AS ");
    put_name(from.alias->label.text);
    if (!from.alias->columns.empty()) {
      put(" ");
      put_names(from.alias->columns);
    }
  }
}

void sql_writer::write_table_node(const table_reference& from) {
  write(from.table);
  if (!from.hints.empty()) {
    put(" ");
    write_hints(from.hints);
  }
}

void sql_writer::write_table_node(const derived_table& from) {
  if (from.is_lateral)
    put("LATERAL ");
  write_rows(*from.rows);
}

void sql_writer::write_table_node(const function_table& from) {
  if (from.is_lateral)
    put("LATERAL ");
  put("TABLE(");
  write(from.call);
  put(")");
}

void sql_writer::write_table_node(const unnest& from) {
  put("UNNEST(");
  put_items(from.collections);
  put(")");
  if (from.has_ordinality)
    put(" WITH ORDINALITY");
}

void sql_writer::write_join_side(const table_expression& from, bool is_right) {
  const auto* join = std::get_if<join_table>(&from.node);
  const bool needs_parentheses = join != nullptr && is_right;
  if (needs_parentheses)
    put("(");
  write_table(from);
  if (needs_parentheses)
    put(")");
}

void sql_writer::write_table_node(const join_table& from) {
  write_join_side(*from.left, false);
  if (from.is_natural)
    put(" NATURAL");
  switch (from.kind) {
  case join_kind::inner:
    put(" JOIN ");
    break;
  case join_kind::left:
    put(" LEFT JOIN ");
    break;
  case join_kind::right:
    put(" RIGHT JOIN ");
    break;
  case join_kind::full:
    put(" FULL JOIN ");
    break;
  case join_kind::cross:
    put(" CROSS JOIN ");
    break;
  case join_kind::comma:
    put(", ");
    break;
  }
  // What a comma joins may be a join without parentheses.
  write_join_side(*from.right, from.kind != join_kind::comma);
  if (from.on) {
    put(" ON ");
    write(*from.on);
  }
  if (!from.common_columns.empty()) {
    put(" USING ");
    put_names(from.common_columns);
  }
}

void sql_writer::write_pattern(const row_pattern& from, bool is_part) {
  const bool is_group =
      from.written == row_pattern::kind::sequence || from.written == row_pattern::kind::alternation;
  const bool needs_parentheses = is_group && (is_part || from.is_quantified);
  if (needs_parentheses)
    put("(");
  switch (from.written) {
  case row_pattern::kind::variable:
    put_name(from.variable);
    break;
  case row_pattern::kind::sequence:
    for (std::size_t i = 0; i < from.parts.size(); ++i) {
      put(i > 0 ? " " : "");
      write_pattern(from.parts[i], true);
    }
    break;
  case row_pattern::kind::alternation:
    for (std::size_t i = 0; i < from.parts.size(); ++i) {
      put(i > 0 ? " | " : "");
      // A sequence binds more tightly than the bar, unless it is repeated.
      write_pattern(from.parts[i], from.parts[i].written == row_pattern::kind::alternation);
    }
    break;
  case row_pattern::kind::exclusion:
    put("{- ");
    write_pattern(from.parts[0], false);
    put(" -}");
    break;
  case row_pattern::kind::permutation:
    put("PERMUTE(");
    put_list(from.parts, [&](const row_pattern& each) { write_pattern(each, false); });
    put(")");
    break;
  case row_pattern::kind::empty:
    put("()");
    break;
  }
  if (needs_parentheses)
    put(")");
  if (!from.is_quantified)
    return;
  const auto least = std::to_string(from.repeat_min);
  if (from.repeat_max)
    put("{" + least + "," + std::to_string(*from.repeat_max) + "}");
  else
    put("{" + least + ",}");
  if (from.is_reluctant)
    put("?");
}

void sql_writer::write_table_node(const match_recognize& from) {
  const auto* join = std::get_if<join_table>(&from.input->node);
  put(join != nullptr ? "(" : "");
  write_table(*from.input);
  put(join != nullptr ? ")" : "");
  put(" MATCH_RECOGNIZE (");
  if (!from.partition_by.empty()) {
    put("PARTITION BY ");
    put_items(from.partition_by);
    put(" ");
  }
  if (!from.order_by.empty()) {
    write_order(from.order_by);
    put(" ");
  }
  if (!from.measures.empty()) {
    put("MEASURES ");
    put_list(from.measures, [&](const labeled_expression& each) {
      write(each.value);
      put(" AS ");
      put_name(each.label.text);
    });
    put(" ");
  }
  if (from.all_rows_per_match)
    put(*from.all_rows_per_match ? "ALL ROWS PER MATCH " : "ONE ROW PER MATCH ");
  switch (from.skip) {
  case match_skip::unsaid:
    break;
  case match_skip::past_last_row:
    put("AFTER MATCH SKIP PAST LAST ROW ");
    break;
  case match_skip::to_next_row:
    put("AFTER MATCH SKIP TO NEXT ROW ");
    break;
  case match_skip::to_first:
  case match_skip::to_last:
    put(from.skip == match_skip::to_first ? "AFTER MATCH SKIP TO FIRST "
                                          : "AFTER MATCH SKIP TO LAST ");
    put_name(from.skip_variable->text);
    put(" ");
    break;
  }
  put("PATTERN (");
  put(from.is_anchored_at_start ? "^ " : "");
  write_pattern(from.pattern, false);
  put(from.is_anchored_at_end ? " $" : "");
  put(")");
  if (from.within) {
    put(" WITHIN ");
    write(*from.within);
  }
  if (!from.subsets.empty()) {
    put(" SUBSET ");
    put_list(from.subsets, [&](const pattern_subset& each) {
      put_name(each.label.text);
      put(" = ");
      put_names(each.variables);
    });
  }
  put(" DEFINE ");
  put_list(from.defines, [&](const labeled_expression& each) {
    put_name(each.label.text);
    put(" AS ");
    write(each.value);
  });
  put(")");
}

} // namespace headrace::sql
