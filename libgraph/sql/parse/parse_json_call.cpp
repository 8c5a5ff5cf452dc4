#include "libgraph/sql/parse/statement_parser.hpp"

namespace headrace::sql {

expression statement_parser::parse_json_call() {
  const auto taken = in_.take();
  json_call out;
  out.function = std::string(text_of(taken.keyword));
  in_.expect('(');
  const auto is_on_null = [&] {
    return (in_.looks_like(kw::null_) || in_.looks_like(kw::absent_)) &&
           in_.looks_like(kw::on_, 1) && in_.looks_like(kw::null_, 2);
  };
  switch (taken.keyword) {
  case kw::json_object_:
  case kw::json_objectagg_:
    if (!in_.looks_like(')') && !is_on_null())
      parse_json_pairs(out);
    break;
  case kw::json_array_:
    if (!in_.looks_like(')') && !is_on_null())
      out.arguments = parse_expression_list();
    break;
  default:
    out.arguments = parse_expression_list();
    break;
  }
  if (is_on_null()) {
    out.nulls = in_.take().keyword == kw::null_ ? json_nulls::null : json_nulls::absent;
    in_.take();
    in_.expect(kw::null_);
  }
  if (taken.keyword == kw::json_value_ || taken.keyword == kw::json_query_ ||
      taken.keyword == kw::json_exists_)
    parse_json_clauses(out);
  in_.expect(')');
  if (in_.looks_like(kw::filter_) && in_.looks_like('(', 1)) {
    in_.take();
    in_.take();
    in_.expect(kw::where_);
    out.filter = parse_expression();
    in_.expect(')');
  }
  return make(std::move(out), taken.at);
}

/// [KEY] k VALUE v, or k : v.
void statement_parser::parse_json_pairs(json_call& out) {
  parse_list([&] {
    // KEY is a column's name, too.
    const auto& after = in_.peek(1);
    if (in_.looks_like(kw::key_) && after.kind != token_kind::symbol && after.keyword != kw::value_)
      in_.take();
    auto key = parse_expression();
    if (!in_.accept(kw::value_))
      in_.expect(':');
    auto value = parse_expression();
    out.pairs.push_back({std::move(key), std::move(value)});
  });
}

void statement_parser::parse_json_clauses(json_call& out) {
  const bool is_query = out.function == "JSON_QUERY";
  const bool is_exists = out.function == "JSON_EXISTS";
  if (!is_exists && in_.accept(kw::returning_))
    out.returning = parse_type();
  if (is_query && in_.accept(kw::without_)) {
    in_.accept(kw::array_);
    in_.expect(kw::wrapper_);
    out.wrapper = json_wrapper::without;
  } else if (is_query && in_.accept(kw::with_)) {
    out.wrapper =
        in_.accept(kw::conditional_) ? json_wrapper::conditional : json_wrapper::unconditional;
    if (out.wrapper == json_wrapper::unconditional)
      in_.accept(kw::unconditional_);
    in_.accept(kw::array_);
    in_.expect(kw::wrapper_);
  }
  while (!in_.is(')') && !in_.has_failed()) {
    auto behavior = parse_json_default();
    in_.expect(kw::on_);
    if (!is_exists && !out.on_empty && !out.on_error && in_.accept(kw::empty_))
      out.on_empty = std::move(behavior);
    else if (!out.on_error && in_.accept(kw::error_))
      out.on_error = std::move(behavior);
    else
      in_.fail_expected();
  }
}

json_default statement_parser::parse_json_default() {
  json_default out;
  if (in_.accept(kw::null_)) {
    out.behavior = json_behavior::null;
  } else if (in_.accept(kw::error_)) {
    out.behavior = json_behavior::error;
  } else if (in_.accept(kw::true_)) {
    out.behavior = json_behavior::true_;
  } else if (in_.accept(kw::false_)) {
    out.behavior = json_behavior::false_;
  } else if (in_.accept(kw::unknown_)) {
    out.behavior = json_behavior::unknown;
  } else if (in_.accept(kw::empty_)) {
    if (in_.accept(kw::object_)) {
      out.behavior = json_behavior::empty_object;
    } else {
      in_.expect(kw::array_);
      out.behavior = json_behavior::empty_array;
    }
  } else if (in_.accept(kw::default_)) {
    out.behavior = json_behavior::default_;
    out.value = parse_expression();
  } else {
    in_.fail_expected();
  }
  return out;
}

} // namespace headrace::sql
