#include "libgraph/sql/parse/statement_parser.hpp"

#include <utility>

namespace headrace::sql {

match_recognize statement_parser::parse_match_recognize(table_expression input) {
  match_recognize out;
  out.input = std::move(input);
  in_.expect(kw::match_recognize_);
  in_.expect('(');
  const bool was_in_match = std::exchange(is_in_match_, true);
  if (in_.accept(kw::partition_)) {
    in_.expect(kw::by_);
    out.partition_by = parse_expression_list();
  }
  if (in_.is(kw::order_))
    out.order_by = parse_order_by();
  if (in_.accept(kw::measures_))
    parse_list([&] {
      auto value = parse_expression();
      in_.expect(kw::as_);
      out.measures.push_back({parse_name(), std::move(value)});
    });
  parse_match_rows(out);
  if (in_.accept(kw::after_))
    parse_match_skip(out);
  in_.expect(kw::pattern_);
  in_.expect('(');
  out.is_anchored_at_start = in_.accept('^');
  out.pattern = parse_pattern();
  if (in_.peek().kind == token_kind::name && text_.substr(in_.here().begin, 1) == "$" &&
      in_.here().end == in_.here().begin + 1) {
    in_.take();
    out.is_anchored_at_end = true;
  }
  in_.expect(')');
  if (in_.accept(kw::within_))
    out.within = parse_expression();
  if (in_.accept(kw::subset_))
    parse_list([&] {
      pattern_subset subset;
      subset.label = parse_name();
      in_.expect('=');
      subset.variables = parse_name_list();
      out.subsets.push_back(std::move(subset));
    });
  in_.expect(kw::define_);
  parse_list([&] {
    auto label = parse_name("a pattern variable's name");
    in_.expect(kw::as_);
    out.defines.push_back({std::move(label), parse_expression()});
  });
  in_.expect(')');
  is_in_match_ = was_in_match;
  return out;
}

void statement_parser::parse_match_rows(match_recognize& out) {
  if (in_.accept(kw::one_)) {
    in_.expect_all({kw::row_, kw::per_, kw::match_});
    out.all_rows_per_match = false;
  } else if (in_.accept(kw::all_)) {
    in_.expect_all({kw::rows_, kw::per_, kw::match_});
    out.all_rows_per_match = true;
  }
}

/// AFTER MATCH SKIP {PAST LAST ROW | TO NEXT ROW | TO [FIRST | LAST] variable}
void statement_parser::parse_match_skip(match_recognize& out) {
  in_.expect_all({kw::match_, kw::skip_});
  if (in_.accept(kw::past_)) {
    in_.expect_all({kw::last_, kw::row_});
    out.skip = match_skip::past_last_row;
    return;
  }
  in_.expect(kw::to_);
  if (in_.accept(kw::next_)) {
    in_.expect(kw::row_);
    out.skip = match_skip::to_next_row;
    return;
  }
  out.skip = match_skip::to_last;
  if (is_name(1) && in_.looks_like(kw::first_)) {
    in_.take();
    out.skip = match_skip::to_first;
  } else if (is_name(1) && in_.looks_like(kw::last_)) {
    in_.take();
  }
  out.skip_variable = parse_name("a pattern variable's name");
}

row_pattern statement_parser::parse_pattern() {
  nesting_scope scope(*this);
  if (!scope.is_sound())
    return {};
  const auto first = in_.here();
  auto out = parse_pattern_sequence();
  if (!in_.is('|'))
    return out;
  row_pattern alternation;
  alternation.written = row_pattern::kind::alternation;
  alternation.parts.push_back(std::move(out));
  while (in_.accept('|'))
    alternation.parts.push_back(parse_pattern_sequence());
  alternation.at = in_.since(first);
  return alternation;
}

row_pattern statement_parser::parse_pattern_sequence() {
  const auto first = in_.here();
  const auto goes_on = [&] {
    const bool is_end_anchor =
        in_.peek().kind == token_kind::name &&
        text_.substr(in_.here().begin, in_.here().end - in_.here().begin) == "$";
    return (is_name() && !is_end_anchor) || in_.looks_like('(') || in_.looks_like('{') ||
           in_.looks_like(kw::permute_);
  };
  auto out = parse_pattern_factor();
  if (!goes_on())
    return out;
  row_pattern sequence;
  sequence.written = row_pattern::kind::sequence;
  sequence.parts.push_back(std::move(out));
  while (goes_on())
    sequence.parts.push_back(parse_pattern_factor());
  sequence.at = in_.since(first);
  return sequence;
}

row_pattern statement_parser::parse_pattern_factor() {
  const auto first = in_.here();
  row_pattern out;
  bool is_group = false;
  if (in_.accept('(')) {
    if (!in_.looks_like(')')) {
      out = parse_pattern();
      // A quantifier behind the parentheses is about the whole: ((A+)*).
      if (out.is_quantified) {
        row_pattern group;
        group.written = row_pattern::kind::sequence;
        group.parts.push_back(std::move(out));
        out = std::move(group);
        is_group = true;
        add_link();
      }
    }
    in_.expect(')');
  } else if (in_.accept('{')) {
    in_.expect('-');
    out.written = row_pattern::kind::exclusion;
    out.parts.push_back(parse_pattern());
    in_.expect('-');
    in_.expect('}');
  } else if (in_.accept(kw::permute_)) {
    out.written = row_pattern::kind::permutation;
    in_.expect('(');
    parse_list([&] { out.parts.push_back(parse_pattern()); });
    in_.expect(')');
  } else {
    out.written = row_pattern::kind::variable;
    out.variable = parse_name("a pattern variable").text;
  }
  parse_quantifier(out);
  if (is_group && !out.is_quantified) {
    auto inner = std::move(out.parts[0]);
    out = std::move(inner);
  }
  out.at = in_.since(first);
  return out;
}

/// *, +, ?, {n}, {n,}, {n,m}, {,m}; a '?' behind makes it reluctant.
void statement_parser::parse_quantifier(row_pattern& out) {
  if (in_.accept('*')) {
    out.repeat_min = 0;
    out.repeat_max = std::nullopt;
  } else if (in_.accept('+')) {
    out.repeat_max = std::nullopt;
  } else if (in_.accept('?')) {
    out.repeat_min = 0;
  } else if (in_.looks_like('{') && !in_.looks_like('-', 1)) {
    const auto at = in_.take().at;
    if (in_.is(','))
      out.repeat_min = 0;
    else
      out.repeat_min = parse_count("a number").value_or(0);
    out.repeat_max = out.repeat_min;
    if (in_.accept(',')) {
      out.repeat_max = std::nullopt;
      if (!in_.is('}'))
        out.repeat_max = parse_count("a number");
    }
    in_.expect('}');
    if (!in_.has_failed() && out.repeat_max &&
        (*out.repeat_max < out.repeat_min || *out.repeat_max == 0))
      in_.fail(diagnostic_kind::syntax, "pattern quantifier has no such range", in_.since(at));
  } else {
    return;
  }
  out.is_quantified = true;
  out.is_reluctant = in_.accept('?');
}

} // namespace headrace::sql
