#include "libgraph/sql/parse/statement_parser.hpp"

namespace headrace::sql {
namespace {

bool has_tail(const query& of) {
  return !of.order_by.empty() || of.limit.has_value() || of.offset.has_value();
}

struct set_word {
  kw::word keyword;
  set_operator kind;
  int precedence;
};
constexpr set_word set_words[] = {
    {kw::union_, set_operator::union_, 1},
    {kw::except_, set_operator::except, 1},
    {kw::intersect_, set_operator::intersect, 2},
};

} // namespace

bool statement_parser::is_query_start(std::size_t ahead) const {
  return in_.looks_like(kw::select_, ahead) || in_.looks_like(kw::with_, ahead) ||
         in_.looks_like(kw::values_, ahead) || in_.looks_like(kw::table_, ahead);
}

query statement_parser::parse_query() {
  nesting_scope scope(*this);
  if (!scope.is_sound())
    return {};
  const auto first = in_.here();
  std::vector<common_table> with;
  bool is_recursive = false;
  if (in_.is(kw::with_))
    with = parse_with(is_recursive);
  auto out = parse_query_tail(parse_query_body(1));
  if (!with.empty()) {
    if (!out.with.empty()) {
      query outer;
      outer.body = box<query>(std::move(out));
      out = std::move(outer);
    }
    out.with = std::move(with);
    out.is_recursive = is_recursive;
  }
  out.at = in_.since(first);
  return out;
}

/// Goes on behind a query that turned out to be the left side of something larger.
query statement_parser::continue_query(query left) {
  return parse_query_tail(parse_set_operations(std::move(left), 1));
}

query statement_parser::parse_parenthesized_query() {
  in_.expect('(');
  auto out = parse_query();
  in_.expect(')');
  return out;
}

std::vector<common_table> statement_parser::parse_with(bool& is_recursive) {
  in_.expect(kw::with_);
  is_recursive = in_.accept(kw::recursive_);
  std::vector<common_table> out;
  parse_list([&] {
    common_table table;
    table.label = parse_name("a table's name");
    if (in_.is('('))
      table.columns = parse_name_list();
    in_.expect(kw::as_);
    table.rows = parse_parenthesized_query();
    out.push_back(std::move(table));
  });
  return out;
}

query statement_parser::parse_query_body(int least) {
  return parse_set_operations(parse_query_primary(), least);
}

query statement_parser::parse_set_operations(query left, int least) {
  while (!in_.has_failed()) {
    const set_word* found = nullptr;
    for (const auto& each : set_words)
      if (each.precedence >= least && in_.is(each.keyword))
        found = &each;
    if (found == nullptr)
      break;
    const auto first = left.at;
    in_.take();
    const bool is_all = in_.accept(kw::all_);
    if (!is_all)
      in_.accept(kw::distinct_);
    query right;
    {
      const nesting_scope scope(*this); // ends before the link, which counts for the chain
      if (!scope.is_sound())
        break;
      right = parse_query_body(found->precedence + 1);
    }
    auto* chain = std::get_if<set_operation>(&left.body);
    if (chain != nullptr && chain->kind == found->kind && chain->is_all == is_all &&
        !has_tail(left) && left.with.empty()) {
      chain->operands.push_back(std::move(right));
    } else {
      set_operation made;
      made.kind = found->kind;
      made.is_all = is_all;
      made.operands.push_back(std::move(left));
      made.operands.push_back(std::move(right));
      left = query();
      left.body = std::move(made);
      add_link();
    }
    left.at = in_.since(first);
  }
  return left;
}

query statement_parser::parse_query_primary() {
  const auto first = in_.here();
  query out;
  if (in_.is('(')) {
    out = parse_parenthesized_query();
  } else if (in_.is(kw::select_)) {
    out.body = parse_select();
  } else if (in_.is(kw::values_)) {
    out.body = parse_values();
  } else if (in_.accept(kw::table_)) {
    out.body = explicit_table{parse_qualified_name("a table")};
  } else {
    in_.fail_expected();
  }
  out.at = in_.since(first);
  return out;
}

/// ORDER BY, LIMIT, OFFSET, FETCH.
query statement_parser::parse_query_tail(query out) {
  query tail;
  if (in_.is(kw::order_))
    tail.order_by = parse_order_by();
  while (!in_.has_failed()) {
    if (!tail.limit && in_.accept(kw::limit_)) {
      if (in_.accept(kw::all_))
        continue;
      tail.limit = parse_expression();
    } else if (!tail.offset && in_.accept(kw::offset_)) {
      tail.offset = parse_expression();
      if (!in_.accept(kw::row_))
        in_.accept(kw::rows_);
    } else if (!tail.limit && in_.accept(kw::fetch_)) {
      if (!in_.accept(kw::first_))
        in_.expect(kw::next_);
      if (in_.is(kw::row_) || in_.is(kw::rows_)) {
        literal one;
        one.kind = literal_kind::integer;
        one.text = "1";
        tail.limit = expression{std::move(one), in_.here()};
      } else {
        tail.limit = parse_expression();
      }
      if (!in_.accept(kw::row_))
        in_.expect(kw::rows_);
      in_.expect(kw::only_);
    } else {
      break;
    }
  }
  if (!has_tail(tail))
    return out;
  if (has_tail(out) || !out.with.empty()) {
    tail.at = out.at;
    tail.body = box<query>(std::move(out));
    add_link();
    return tail;
  }
  out.order_by = std::move(tail.order_by);
  out.limit = std::move(tail.limit);
  out.offset = std::move(tail.offset);
  return out;
}

std::vector<order_item> statement_parser::parse_order_by() {
  in_.expect(kw::order_);
  in_.expect(kw::by_);
  std::vector<order_item> out;
  parse_list([&] { out.push_back(parse_order_item()); });
  return out;
}

order_item statement_parser::parse_order_item() {
  order_item out;
  out.value = parse_expression();
  if (in_.accept(kw::desc_))
    out.is_descending = true;
  else
    in_.accept(kw::asc_);
  if (in_.accept(kw::nulls_)) {
    out.nulls_first = in_.accept(kw::first_);
    if (!*out.nulls_first)
      in_.expect(kw::last_);
  }
  return out;
}

select statement_parser::parse_select() {
  select out;
  in_.expect(kw::select_);
  if (in_.looks_like(make_symbol('/', '*', '+')))
    out.hints = parse_hints();
  in_.accept(kw::stream_);
  out.is_distinct = in_.accept(kw::distinct_);
  if (!out.is_distinct)
    in_.accept(kw::all_);
  parse_list([&] { out.items.push_back(parse_select_item()); });
  if (in_.accept(kw::from_))
    out.from = parse_from();
  if (in_.accept(kw::where_))
    out.where = parse_expression();
  if (in_.accept(kw::group_)) {
    in_.expect(kw::by_);
    out.has_group_by = true;
    if (!in_.accept(kw::distinct_))
      in_.accept(kw::all_);
    parse_list([&] { out.group_by.push_back(parse_grouping()); });
  }
  if (in_.accept(kw::having_))
    out.having = parse_expression();
  if (in_.accept(kw::window_))
    parse_list([&] {
      named_window named;
      named.label = parse_name("a window's name");
      in_.expect(kw::as_);
      named.window = parse_window();
      out.windows.push_back(std::move(named));
    });
  if (in_.accept(kw::qualify_))
    out.qualify = parse_expression();
  return out;
}

select_item statement_parser::parse_select_item() {
  select_item out;
  if (in_.looks_like('*')) {
    const auto at = in_.take().at;
    out.value = {star{}, at};
    return out;
  }
  out.value = parse_expression();
  if (!std::holds_alternative<star>(out.value.node))
    out.alias = parse_alias();
  return out;
}

values statement_parser::parse_values() {
  values out;
  in_.expect(kw::values_);
  parse_list([&] {
    const bool is_in_parentheses = in_.looks_like('(');
    auto row = parse_expression();
    auto* items = std::get_if<row_constructor>(&row.node);
    // (ROW(1, 2)) is one column.
    if (items != nullptr && !(is_in_parentheses && items->is_explicit))
      out.rows.push_back(std::move(items->items));
    else {
      auto& one = out.rows.emplace_back();
      one.push_back(std::move(row));
    }
    if (out.rows.back().empty())
      in_.fail(diagnostic_kind::syntax, "a row of VALUES has no column", in_.last());
  });
  return out;
}

grouping statement_parser::parse_grouping() {
  nesting_scope scope(*this);
  grouping out;
  if (!scope.is_sound())
    return out;
  const auto first = in_.here();
  const auto parse_elements = [&](grouping::kind kind) {
    out.written = kind;
    in_.expect('(');
    parse_list([&] { out.elements.push_back(parse_grouping()); });
    in_.expect(')');
  };
  if (in_.looks_like(kw::grouping_) && in_.looks_like(kw::sets_, 1)) {
    in_.take();
    in_.take();
    parse_elements(grouping::kind::sets);
  } else if (in_.accept(kw::rollup_)) {
    parse_elements(grouping::kind::rollup);
  } else if (in_.accept(kw::cube_)) {
    parse_elements(grouping::kind::cube);
  } else if (in_.looks_like('(') && in_.looks_like(')', 1)) {
    in_.take();
    in_.take();
  } else {
    auto value = parse_expression();
    auto* row = std::get_if<row_constructor>(&value.node);
    if (row != nullptr && !row->is_explicit)
      out.expressions = std::move(row->items);
    else
      out.expressions.push_back(std::move(value));
  }
  out.at = in_.since(first);
  return out;
}

std::vector<hint> statement_parser::parse_hints() {
  in_.expect(make_symbol('/', '*', '+'));
  std::vector<hint> out;
  do {
    hint next;
    next.label = parse_name("a hint's name");
    if (in_.accept('(')) {
      if (!in_.is(')'))
        parse_list([&] {
          hint_argument given;
          given.value = parse_hint_word();
          if (in_.accept('=')) {
            given.key = std::move(given.value);
            given.value = parse_hint_word();
          }
          next.arguments.push_back(std::move(given));
        });
      in_.expect(')');
    }
    out.push_back(std::move(next));
    in_.accept(',');
  } while (is_name());
  in_.expect(make_symbol('*', '/'));
  return out;
}

hint_word statement_parser::parse_hint_word() {
  hint_word out;
  const auto& next = in_.peek();
  switch (next.kind) {
  case token_kind::string:
  case token_kind::unicode_string:
    out.written = hint_word::kind::string;
    out.text = parse_plain_string("a string");
    return out;
  case token_kind::integer:
  case token_kind::decimal: {
    out.written = hint_word::kind::number;
    const auto at = in_.take().at;
    out.text = std::string(text_.substr(at.begin, at.end - at.begin));
    return out;
  }
  default:
    break;
  }
  const auto path = parse_qualified_name("a name, a string or a number");
  for (const auto& part : path.parts)
    out.text += (out.text.empty() ? "" : ".") + part.text;
  return out;
}

} // namespace headrace::sql
