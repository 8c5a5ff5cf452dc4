#include "libgraph/sql/parse/statement_parser.hpp"

namespace headrace::sql {

/// What follows FROM: joins, and commas, which bind less tightly.
table_expression statement_parser::parse_from() {
  auto left = parse_joins();
  while (in_.is(',')) {
    const auto first = left.at;
    join_table out;
    out.kind = join_kind::comma;
    out.sign = in_.take().at;
    out.right = parse_joins();
    out.left = std::move(left);
    left = {};
    left.node = std::move(out);
    left.at = in_.since(first);
    add_link();
  }
  return left;
}

std::optional<join_kind> statement_parser::accept_join(bool& is_natural) {
  is_natural = in_.looks_like(kw::natural_);
  const std::size_t ahead = is_natural ? 1 : 0;
  const auto take = [&](std::size_t count) {
    for (count += ahead; count > 0; --count)
      in_.take();
  };
  const auto outer = [&](join_kind kind) -> std::optional<join_kind> {
    take(1);
    in_.accept(kw::outer_);
    in_.expect(kw::join_);
    return kind;
  };
  if (in_.looks_like(kw::join_, ahead)) {
    take(1);
    return join_kind::inner;
  }
  if (in_.looks_like(kw::inner_, ahead)) {
    take(1);
    in_.expect(kw::join_);
    return join_kind::inner;
  }
  if (in_.looks_like(kw::left_, ahead))
    return outer(join_kind::left);
  if (in_.looks_like(kw::right_, ahead))
    return outer(join_kind::right);
  if (in_.looks_like(kw::full_, ahead))
    return outer(join_kind::full);
  if (!is_natural && in_.looks_like(kw::cross_)) {
    take(1);
    in_.expect(kw::join_);
    return join_kind::cross;
  }
  if (is_natural) {
    in_.take();
    in_.fail_expected("JOIN");
  }
  in_.suggest({kw::join_, kw::left_, kw::right_, kw::inner_, kw::cross_, kw::full_});
  return std::nullopt;
}

table_expression statement_parser::parse_joins() {
  nesting_scope scope(*this);
  if (!scope.is_sound())
    return {};
  auto left = parse_table_primary();
  while (!in_.has_failed()) {
    const auto first = left.at;
    join_table out;
    const auto sign = in_.here();
    const auto kind = accept_join(out.is_natural);
    if (!kind)
      break;
    out.kind = *kind;
    out.sign = in_.since(sign);
    out.right = parse_table_primary();
    if (!out.is_natural && out.kind != join_kind::cross) {
      if (in_.accept(kw::on_))
        out.on = parse_expression();
      else if (in_.accept(kw::using_))
        out.common_columns = parse_name_list();
      else
        in_.fail_expected();
    }
    out.left = std::move(left);
    left = {};
    left.node = std::move(out);
    left.at = in_.since(first);
    add_link();
  }
  return left;
}

table_expression statement_parser::parse_table_primary() {
  const auto first = in_.here();
  auto out = parse_table_source();
  parse_table_suffix(out);
  if (in_.is(kw::match_recognize_)) {
    add_link();
    table_expression matched;
    auto node = parse_match_recognize(std::move(out));
    matched.node = std::move(node);
    out = std::move(matched);
    parse_table_suffix(out);
  }
  out.at = in_.since(first);
  return out;
}

/// FOR SYSTEM_TIME AS OF, and the alias.
void statement_parser::parse_table_suffix(table_expression& out) {
  if (!out.system_time && in_.accept(kw::for_)) {
    in_.expect_all({kw::system_time_, kw::as_, kw::of_});
    out.system_time = parse_expression();
  }
  if (in_.looks_like(kw::tablesample_))
    in_.fail(diagnostic_kind::unsupported, "TABLESAMPLE is not supported", in_.here());
  auto label = parse_alias();
  if (!label)
    return;
  if (out.alias || std::holds_alternative<join_table>(out.node)) {
    in_.fail(diagnostic_kind::syntax, out.alias ? "table has two aliases" : "a join takes no alias",
             label->at);
    return;
  }
  out.alias = table_alias{std::move(*label), {}};
  if (in_.is('('))
    out.alias->columns = parse_name_list();
}

table_expression statement_parser::parse_table_source() {
  const auto first = in_.here();
  table_expression out;
  const bool is_lateral = in_.accept(kw::lateral_);
  if (in_.is(kw::unnest_)) {
    in_.take();
    unnest node;
    in_.expect('(');
    node.collections = parse_expression_list();
    in_.expect(')');
    if (in_.accept(kw::with_)) {
      in_.expect(kw::ordinality_);
      node.has_ordinality = true;
    }
    out.node = std::move(node);
  } else if (in_.is(kw::table_)) {
    in_.take();
    in_.expect('(');
    function_table node;
    node.is_lateral = is_lateral;
    const auto at = in_.here();
    node.call = parse_expression();
    if (!in_.has_failed() && !std::holds_alternative<function_call>(node.call.node))
      in_.fail(diagnostic_kind::syntax, "expected a call of a table function", at);
    in_.expect(')');
    out.node = std::move(node);
  } else if (in_.looks_like('(')) {
    if (is_lateral || is_query_in_parentheses()) {
      derived_table node;
      node.is_lateral = is_lateral;
      node.rows = parse_parenthesized_query();
      out.node = std::move(node);
    } else {
      out = parse_table_in_parentheses();
    }
  } else {
    in_.note_expected("a table");
    if (!is_name()) {
      in_.fail_expected();
      return out;
    }
    auto path = parse_qualified_name("a table");
    if (in_.looks_like('(')) {
      function_table node;
      node.is_lateral = is_lateral;
      node.call = parse_call_of(std::move(path));
      out.node = std::move(node);
    } else {
      table_reference node;
      node.table = std::move(path);
      if (in_.looks_like(make_symbol('/', '*', '+')))
        node.hints = parse_hints();
      out.node = std::move(node);
      if (is_lateral)
        in_.fail(diagnostic_kind::syntax, "LATERAL is followed by a query or a function",
                 in_.since(first));
    }
  }
  out.at = in_.since(first);
  return out;
}

/// Whether the '(' here begins a query and not a join. `((SELECT 1) UNION …` is a query,
/// `((SELECT 1) AS t JOIN …` is not.
bool statement_parser::is_query_in_parentheses() const {
  std::size_t open = 0;
  while (in_.looks_like('(', open))
    ++open;
  if (!is_query_start(open))
    return false;
  if (in_.looks_like(kw::table_, open) && in_.looks_like('(', open + 1))
    return false;
  for (; open > 1; --open) {
    const auto after = in_.closing(open - 1) + 1;
    const auto keyword = in_.peek(after).keyword;
    const bool goes_on = keyword == kw::union_ || keyword == kw::intersect_ ||
                         keyword == kw::except_ || keyword == kw::order_ || keyword == kw::limit_ ||
                         keyword == kw::offset_ || keyword == kw::fetch_;
    if (!goes_on && !in_.looks_like(')', after))
      return false;
  }
  return true;
}

table_expression statement_parser::parse_table_in_parentheses() {
  in_.expect('(');
  auto out = parse_joins();
  in_.expect(')');
  return out;
}

} // namespace headrace::sql
