#include "libgraph/sql/parse/statement_parser.hpp"

namespace headrace::sql {

int precedence_of(operator_kind kind) {
  switch (kind) {
  case operator_kind::or_:
    return precedence::or_;
  case operator_kind::and_:
    return precedence::and_;
  case operator_kind::not_:
    return precedence::not_;
  case operator_kind::equal:
  case operator_kind::not_equal:
  case operator_kind::less:
  case operator_kind::less_or_equal:
  case operator_kind::greater:
  case operator_kind::greater_or_equal:
    return precedence::comparison;
  case operator_kind::overlaps:
    return precedence::membership;
  case operator_kind::plus:
  case operator_kind::minus:
    return precedence::additive;
  case operator_kind::times:
  case operator_kind::divide:
  case operator_kind::modulo:
  case operator_kind::concat:
    return precedence::multiplicative;
  case operator_kind::negate:
  case operator_kind::positive:
    return precedence::sign;
  default:
    return precedence::is;
  }
}

namespace {

std::optional<operator_kind> binary_operator(const token& next) {
  switch (next.keyword) {
  case kw::or_:
    return operator_kind::or_;
  case kw::and_:
    return operator_kind::and_;
  case kw::overlaps_:
    return operator_kind::overlaps;
  default:
    break;
  }
  switch (next.sign) {
  case make_symbol('='):
    return operator_kind::equal;
  case make_symbol('<', '>'):
  case make_symbol('!', '='):
    return operator_kind::not_equal;
  case make_symbol('<'):
    return operator_kind::less;
  case make_symbol('<', '='):
    return operator_kind::less_or_equal;
  case make_symbol('>'):
    return operator_kind::greater;
  case make_symbol('>', '='):
    return operator_kind::greater_or_equal;
  case make_symbol('+'):
    return operator_kind::plus;
  case make_symbol('-'):
    return operator_kind::minus;
  case make_symbol('*'):
    return operator_kind::times;
  case make_symbol('/'):
    return operator_kind::divide;
  case make_symbol('%'):
    return operator_kind::modulo;
  case make_symbol('|', '|'):
    return operator_kind::concat;
  default:
    return std::nullopt;
  }
}

/// Chains of these are one node, however long.
bool is_flat(operator_kind kind) {
  return kind == operator_kind::and_ || kind == operator_kind::or_ || kind == operator_kind::concat;
}

bool is_comparison(operator_kind kind) { return precedence_of(kind) == precedence::comparison; }

} // namespace

expression statement_parser::parse_expression(int least) {
  nesting_scope scope(*this);
  if (!scope.is_sound())
    return {};
  auto left = parse_prefix(least);
  while (!in_.has_failed() && parse_infix(left, least)) {
  }
  in_.suggest({kw::and_, kw::or_, kw::between_, kw::like_, kw::is_, kw::not_, kw::similar_});
  return left;
}

expression statement_parser::parse_prefix(int least) {
  const auto sign = in_.here();
  const auto make_prefix = [&](operator_kind kind, int binds) {
    // Printed in parentheses, which are a level: the text is too deep when that one is.
    std::optional<nesting_scope> parentheses;
    if (binds < least && !parentheses.emplace(*this).is_sound())
      return expression();
    in_.take();
    operation out;
    out.kind = kind;
    out.sign = sign;
    out.operands.push_back(parse_expression(binds));
    return make(std::move(out), sign);
  };
  if (in_.looks_like(kw::not_))
    return make_prefix(operator_kind::not_, precedence::not_);
  if (in_.looks_like('-'))
    return make_prefix(operator_kind::negate, precedence::sign);
  if (in_.looks_like('+'))
    return make_prefix(operator_kind::positive, precedence::sign);
  return parse_postfix(parse_primary());
}

expression statement_parser::parse_postfix(expression value) {
  while (!in_.has_failed()) {
    const auto first = value.at;
    if (in_.looks_like('[')) {
      in_.take();
      auto index = parse_expression();
      in_.expect(']');
      value = make(item_access{std::move(value), std::move(index)}, first);
    } else if (in_.looks_like('.') && !std::holds_alternative<literal>(value.node)) {
      in_.take();
      auto field = parse_name("a field's name");
      value = make(field_access{std::move(value), std::move(field)}, first);
    } else {
      break;
    }
    add_link();
  }
  return value;
}

/// Takes one operator with its right side, when it binds at least as tightly as asked.
bool statement_parser::parse_infix(expression& left, int least) {
  if (in_.looks_like(kw::is_))
    return precedence::is >= least && parse_is(left);
  const auto ahead = in_.looks_like(kw::not_) ? 1U : 0U;
  if (in_.looks_like(kw::between_, ahead) || in_.looks_like(kw::in_, ahead) ||
      in_.looks_like(kw::like_, ahead) || in_.looks_like(kw::similar_, ahead))
    return precedence::membership >= least && parse_membership(left);
  if (ahead > 0)
    return false;
  const auto kind = binary_operator(in_.peek());
  if (!kind || precedence_of(*kind) < least)
    return false;
  left = parse_binary(std::move(left), *kind);
  return true;
}

expression statement_parser::parse_binary(expression left, operator_kind kind) {
  const auto first = left.at;
  const auto sign = in_.take().at;
  if (is_comparison(kind) &&
      (in_.looks_like(kw::any_) || in_.looks_like(kw::some_) || in_.looks_like(kw::all_)) &&
      in_.looks_like('(', 1)) {
    quantified_comparison out;
    out.kind = kind;
    out.is_all = in_.take().keyword == kw::all_;
    in_.take();
    if (is_query_start())
      out.rows = parse_query();
    else
      out.items = parse_expression_list();
    in_.expect(')');
    out.value = std::move(left);
    add_link();
    return make(std::move(out), first);
  }
  auto right = parse_expression(precedence_of(kind) + 1);
  if (auto* chain = std::get_if<operation>(&left.node);
      chain != nullptr && chain->kind == kind && is_flat(kind)) {
    chain->operands.push_back(std::move(right));
    left.at = in_.since(first);
    return left;
  }
  operation out;
  out.kind = kind;
  out.sign = sign;
  out.operands.push_back(std::move(left));
  out.operands.push_back(std::move(right));
  add_link();
  return make(std::move(out), first);
}

bool statement_parser::parse_is(expression& left) {
  const auto first = left.at;
  operation out;
  out.sign = in_.take().at;
  const bool is_negated = in_.accept(kw::not_);
  const auto pick = [&](operator_kind plain, operator_kind negated) {
    out.kind = is_negated ? negated : plain;
  };
  if (in_.accept(kw::null_)) {
    pick(operator_kind::is_null, operator_kind::is_not_null);
  } else if (in_.accept(kw::true_)) {
    pick(operator_kind::is_true, operator_kind::is_not_true);
  } else if (in_.accept(kw::false_)) {
    pick(operator_kind::is_false, operator_kind::is_not_false);
  } else if (in_.accept(kw::unknown_)) {
    pick(operator_kind::is_unknown, operator_kind::is_not_unknown);
  } else if (in_.accept(kw::json_)) {
    if (in_.accept(kw::object_))
      pick(operator_kind::is_json_object, operator_kind::is_not_json_object);
    else if (in_.accept(kw::array_))
      pick(operator_kind::is_json_array, operator_kind::is_not_json_array);
    else if (in_.accept(kw::scalar_))
      pick(operator_kind::is_json_scalar, operator_kind::is_not_json_scalar);
    else {
      in_.accept(kw::value_);
      pick(operator_kind::is_json, operator_kind::is_not_json);
    }
  } else if (in_.is(kw::distinct_)) {
    in_.take();
    in_.expect(kw::from_);
    pick(operator_kind::is_distinct_from, operator_kind::is_not_distinct_from);
    auto right = parse_expression(precedence::is + 1);
    out.operands.push_back(std::move(left));
    out.operands.push_back(std::move(right));
    add_link();
    left = make(std::move(out), first);
    return true;
  } else {
    in_.fail_expected();
    return false;
  }
  out.operands.push_back(std::move(left));
  add_link();
  left = make(std::move(out), first);
  return true;
}

/// [NOT] BETWEEN, IN, LIKE, SIMILAR TO.
bool statement_parser::parse_membership(expression& left) {
  const auto first = left.at;
  const bool is_negated = in_.accept(kw::not_);
  constexpr int side = precedence::membership + 1;
  add_link();
  if (in_.accept(kw::between_)) {
    between out;
    out.is_negated = is_negated;
    out.is_symmetric = in_.accept(kw::symmetric_);
    if (!out.is_symmetric)
      in_.accept(kw::asymmetric_);
    out.low = parse_expression(side);
    in_.expect(kw::and_);
    out.high = parse_expression(side);
    out.value = std::move(left);
    left = make(std::move(out), first);
    return true;
  }
  if (in_.accept(kw::in_)) {
    parse_in(left, is_negated);
    return true;
  }
  like out;
  out.is_negated = is_negated;
  if (in_.accept(kw::similar_)) {
    in_.expect(kw::to_);
    out.kind = like_kind::similar;
  } else {
    in_.expect(kw::like_);
  }
  out.pattern = parse_expression(side);
  if (in_.accept(kw::escape_))
    out.escape = parse_expression(side);
  out.value = std::move(left);
  left = make(std::move(out), first);
  return true;
}

void statement_parser::parse_in(expression& left, bool is_negated) {
  const auto first = left.at;
  in_.expect('(');
  std::optional<query> rows;
  std::vector<expression> items;
  if (is_query_start()) {
    rows = parse_query();
  } else {
    items = parse_expression_list();
    // ((SELECT …) UNION (SELECT …)) shows its nature behind the first parenthesis.
    if (items.size() == 1 && std::holds_alternative<subquery>(items[0].node) &&
        !in_.looks_like(')'))
      rows = continue_query(std::move(*std::get<subquery>(items[0].node).rows));
  }
  in_.expect(')');
  if (rows)
    left = make(in_query{is_negated, std::move(left), std::move(*rows)}, first);
  else
    left = make(in_list{is_negated, std::move(left), std::move(items)}, first);
}

std::vector<expression> statement_parser::parse_expression_list() {
  std::vector<expression> out;
  parse_list([&] { out.push_back(parse_expression()); });
  return out;
}

/// A query, a row, or an expression in parentheses.
expression statement_parser::parse_parenthesized() {
  const auto first = in_.here();
  in_.expect('(');
  if (is_query_start()) {
    auto rows = parse_query();
    in_.expect(')');
    return make(subquery{std::move(rows)}, first);
  }
  auto items = parse_expression_list();
  if (items.size() == 1) {
    if (auto* inner = std::get_if<subquery>(&items[0].node);
        inner != nullptr && !in_.looks_like(')')) {
      auto rows = continue_query(std::move(*inner->rows));
      in_.expect(')');
      return make(subquery{std::move(rows)}, first);
    }
    in_.expect(')');
    auto out = std::move(items[0]);
    out.at = in_.since(first);
    return out;
  }
  in_.expect(')');
  return make(row_constructor{std::move(items), false}, first);
}

expression statement_parser::parse_primary() {
  const auto first = in_.here();
  const auto& next = in_.peek();
  switch (next.kind) {
  case token_kind::integer:
  case token_kind::decimal:
  case token_kind::approximate: {
    literal out;
    out.kind = next.kind == token_kind::integer   ? literal_kind::integer
               : next.kind == token_kind::decimal ? literal_kind::decimal
                                                  : literal_kind::approximate;
    in_.take();
    out.text = std::string(text_.substr(first.begin, first.end - first.begin));
    return make(std::move(out), first);
  }
  case token_kind::string:
  case token_kind::unicode_string:
  case token_kind::binary_string:
    return parse_string_literal();
  case token_kind::quoted_name:
    return parse_path();
  case token_kind::symbol:
    if (next.sign == make_symbol('('))
      return parse_parenthesized();
    break;
  case token_kind::name:
    if (next.keyword == kw::none)
      return parse_path();
    return parse_reserved_primary();
  default:
    break;
  }
  in_.fail_expected("an expression");
  return {};
}

/// What begins with a word that means something.
expression statement_parser::parse_reserved_primary() {
  const auto first = in_.here();
  const auto keyword = in_.peek().keyword;
  const auto make_constant = [&](literal_kind kind, std::string text) {
    in_.take();
    literal out;
    out.kind = kind;
    out.text = std::move(text);
    return make(std::move(out), first);
  };
  switch (keyword) {
  case kw::null_:
  case kw::unknown_:
    return make_constant(literal_kind::null, {});
  case kw::true_:
    return make_constant(literal_kind::boolean, "TRUE");
  case kw::false_:
    return make_constant(literal_kind::boolean, "FALSE");
  case kw::case_:
    return parse_case();
  case kw::exists_: {
    in_.take();
    return make(exists{parse_parenthesized_query()}, first);
  }
  case kw::array_:
    if (in_.looks_like('[', 1) || in_.looks_like('(', 1))
      return parse_collection(collection_kind::array);
    break;
  case kw::map_:
    if (in_.looks_like('[', 1) || in_.looks_like('(', 1))
      return parse_collection(collection_kind::map);
    break;
  case kw::multiset_:
    if (in_.looks_like('[', 1) || in_.looks_like('(', 1))
      return parse_collection(collection_kind::multiset);
    break;
  case kw::row_: {
    in_.take();
    in_.expect('(');
    row_constructor out;
    out.is_explicit = true;
    if (!in_.looks_like(')'))
      out.items = parse_expression_list();
    in_.expect(')');
    return make(std::move(out), first);
  }
  case kw::running_:
  case kw::final_: {
    if (!is_in_match_ || in_.looks_like('.', 1))
      break;
    in_.take();
    return make(match_semantics{keyword == kw::final_, parse_postfix(parse_primary())}, first);
  }
  default:
    break;
  }
  if (auto typed = parse_typed_literal())
    return std::move(*typed);
  return parse_special_call();
}

/// A column, a star, or a call.
expression statement_parser::parse_path() {
  const auto first = in_.here();
  qualified_name path;
  path.parts.push_back(parse_name("an expression"));
  while (in_.looks_like('.') && !in_.has_failed()) {
    in_.take();
    if (in_.looks_like('*')) {
      in_.take();
      path.at = in_.since(first);
      return make(star{std::move(path)}, first);
    }
    path.parts.push_back(parse_name("a name or '*'"));
  }
  path.at = in_.since(first);
  if (in_.looks_like('('))
    return parse_call_of(std::move(path));
  return make(column_reference{std::move(path)}, first);
}

expression statement_parser::parse_case() {
  const auto first = in_.here();
  in_.expect(kw::case_);
  case_expression out;
  if (!in_.is(kw::when_))
    out.operand = parse_expression();
  while (in_.accept(kw::when_)) {
    when_branch branch;
    branch.conditions.push_back(parse_expression());
    while (out.operand && in_.accept(','))
      branch.conditions.push_back(parse_expression());
    in_.expect(kw::then_);
    branch.value = parse_expression();
    out.branches.push_back(std::move(branch));
  }
  if (out.branches.empty())
    in_.fail_expected();
  if (in_.accept(kw::else_))
    out.otherwise = parse_expression();
  in_.expect(kw::end_);
  return make(std::move(out), first);
}

expression statement_parser::parse_cast() {
  const auto first = in_.here();
  cast out;
  out.is_try = in_.take().keyword == kw::try_cast_;
  in_.expect('(');
  out.value = parse_expression();
  in_.expect(kw::as_);
  out.type = parse_type();
  in_.expect(')');
  return make(std::move(out), first);
}

expression statement_parser::parse_collection(collection_kind kind) {
  const auto first = in_.here();
  in_.take();
  collection_constructor out;
  out.kind = kind;
  if (in_.accept('(')) {
    if (!is_query_start())
      in_.fail_expected("a query, or items in square brackets");
    out.rows = parse_query();
    in_.expect(')');
    return make(std::move(out), first);
  }
  in_.expect('[');
  if (!in_.is(']'))
    out.items = parse_expression_list();
  in_.expect(']');
  if (kind == collection_kind::map && out.items.size() % 2 != 0)
    in_.fail(diagnostic_kind::syntax, "MAP needs a value for each key", in_.since(first));
  return make(std::move(out), first);
}

} // namespace headrace::sql
