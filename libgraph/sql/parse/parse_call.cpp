#include "libgraph/sql/parse/statement_parser.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <array>

namespace headrace::sql {
namespace {

argument plain(expression value) { return {std::nullopt, std::move(value)}; }

expression symbol_of(std::string text, source_span at) {
  return {symbol_argument{std::move(text)}, at};
}

/// Values that are called without parentheses.
bool is_bare_function(kw::word keyword) {
  switch (keyword) {
  case kw::current_catalog_:
  case kw::current_date_:
  case kw::current_time_:
  case kw::current_timestamp_:
  case kw::current_user_:
  case kw::localtime_:
  case kw::localtimestamp_:
  case kw::session_user_:
  case kw::system_user_:
    return true;
  default:
    return false;
  }
}

constexpr std::array<std::string_view, 20> unit_words = {
    "MILLENNIUM", "CENTURY", "DECADE",      "YEAR",        "QUARTER",    "MONTH",      "WEEK",
    "DAY",        "DOW",     "DOY",         "ISODOW",      "ISOYEAR",    "EPOCH",      "HOUR",
    "MINUTE",     "SECOND",  "MILLISECOND", "MICROSECOND", "NANOSECOND", "FRAC_SECOND"};

function_call call_of(std::string function, source_span at) {
  function_call out;
  out.function.parts.push_back({std::move(function), at});
  out.function.at = at;
  return out;
}

} // namespace

/// A word that the grammar knows, as a function or as a name.
expression statement_parser::parse_special_call() {
  const auto keyword = in_.peek().keyword;
  const bool is_call = in_.looks_like('(', 1);
  if (is_call) {
    switch (keyword) {
    case kw::cast_:
    case kw::try_cast_:
      return parse_cast();
    case kw::extract_:
      return parse_extract();
    case kw::position_:
      return parse_position();
    case kw::substring_:
      return parse_substring();
    case kw::trim_:
      return parse_trim();
    case kw::overlay_:
      return parse_overlay();
    case kw::ceil_:
    case kw::ceiling_:
    case kw::floor_:
      return parse_round_to_unit();
    case kw::timestampadd_:
    case kw::timestampdiff_:
      return parse_timestamp_arithmetic();
    case kw::json_value_:
    case kw::json_query_:
    case kw::json_exists_:
    case kw::json_object_:
    case kw::json_array_:
    case kw::json_objectagg_:
    case kw::json_arrayagg_:
      return parse_json_call();
    case kw::descriptor_:
      return parse_descriptor();
    default:
      break;
    }
  }
  if (is_bare_function(keyword) && !is_call) {
    const auto first = in_.take().at;
    auto out = call_of(std::string(text_of(keyword)), first);
    out.is_bare = true;
    return make(std::move(out), first);
  }
  if (is_call && may_name_function(keyword)) {
    const auto first = in_.take().at;
    qualified_name function;
    function.parts.push_back({std::string(text_of(keyword)), first});
    function.at = first;
    return parse_call_of(std::move(function));
  }
  if (is_name())
    return parse_path();
  in_.note_expected("an expression");
  const auto shown = text_.substr(in_.here().begin, in_.here().end - in_.here().begin);
  if (is_reserved(keyword))
    in_.fail(diagnostic_kind::syntax,
             "expected an expression, found the reserved word " + in_capitals(shown) +
                 "; as a name it stands in backticks: `" + std::string(shown) + "`",
             in_.here());
  else
    in_.fail_expected();
  return {};
}

expression statement_parser::parse_call_of(qualified_name function) {
  const auto first = function.at;
  function_call out;
  out.function = std::move(function);
  in_.expect('(');
  if (in_.accept(kw::distinct_))
    out.is_distinct = true;
  else
    in_.accept(kw::all_);
  if (in_.looks_like('*')) {
    const auto at = in_.take().at;
    out.arguments.push_back(plain({star{}, at}));
  } else if (out.is_distinct || !in_.is(')')) {
    parse_list([&] { out.arguments.push_back(parse_argument()); });
    if (in_.is(kw::order_))
      out.within_group = parse_order_by();
  }
  in_.expect(')');
  parse_call_suffix(out);
  return make(std::move(out), first);
}

argument statement_parser::parse_argument() {
  argument out;
  if (is_name() && in_.looks_like(make_symbol('=', '>'), 1)) {
    out.label = parse_name();
    in_.take();
  }
  if (in_.looks_like(kw::table_))
    out.value = parse_table_argument();
  else if (in_.looks_like(kw::default_)) {
    const auto at = in_.take().at;
    out.value = symbol_of("DEFAULT", at);
  } else
    out.value = parse_expression();
  return out;
}

void statement_parser::parse_call_suffix(function_call& out) {
  while (!in_.has_failed()) {
    if (in_.looks_like(kw::within_) && in_.looks_like(kw::group_, 1)) {
      in_.take();
      in_.take();
      in_.expect('(');
      out.within_group = parse_order_by();
      in_.expect(')');
    } else if (in_.looks_like(kw::filter_) && in_.looks_like('(', 1)) {
      in_.take();
      in_.take();
      in_.expect(kw::where_);
      out.filter = parse_expression();
      in_.expect(')');
    } else if ((in_.looks_like(kw::ignore_) || in_.looks_like(kw::respect_)) &&
               in_.looks_like(kw::nulls_, 1)) {
      out.nulls =
          in_.take().keyword == kw::ignore_ ? null_treatment::ignore : null_treatment::respect;
      in_.take();
    } else if (in_.looks_like(kw::over_)) {
      in_.take();
      out.over = parse_over();
      break;
    } else {
      break;
    }
  }
}

/// TABLE t or TABLE (query), partitioned and ordered; several columns stand in parentheses, as a
/// comma begins the next argument.
expression statement_parser::parse_table_argument() {
  const auto first = in_.here();
  in_.expect(kw::table_);
  table_argument out;
  if (in_.looks_like('('))
    out.rows = parse_parenthesized_query();
  else
    out.table = parse_qualified_name("a table or a query in parentheses");
  if (in_.accept(kw::partition_)) {
    in_.expect(kw::by_);
    if (in_.accept('(')) {
      out.partition_by = parse_expression_list();
      in_.expect(')');
    } else {
      out.partition_by.push_back(parse_expression());
    }
  }
  if (in_.accept(kw::order_)) {
    in_.expect(kw::by_);
    if (in_.accept('(')) {
      parse_list([&] { out.order_by.push_back(parse_order_item()); });
      in_.expect(')');
    } else {
      out.order_by.push_back(parse_order_item());
    }
  }
  return make(std::move(out), first);
}

expression statement_parser::parse_descriptor() {
  const auto first = in_.take().at;
  return make(descriptor{parse_name_list()}, first);
}

/// A unit of time as an argument; plurals and SQL_TSI_… mean the same.
expression statement_parser::parse_symbol_unit() {
  const auto at = in_.here();
  in_.note_expected("a unit of time");
  if (in_.peek().kind != token_kind::name) {
    in_.fail_expected();
    return {};
  }
  auto written = in_capitals(text_.substr(at.begin, at.end - at.begin));
  if (written.starts_with("SQL_TSI_"))
    written = written.substr(8);
  const auto is_unit = [](std::string_view word) {
    return std::find(unit_words.begin(), unit_words.end(), word) != unit_words.end();
  };
  if (!is_unit(written) && written.ends_with('S') && is_unit(written.substr(0, written.size() - 1)))
    written.pop_back();
  if (!is_unit(written)) {
    const auto nearest = nearest_name(written, unit_words);
    in_.fail(diagnostic_kind::syntax,
             "expected a unit of time, found '" + written + "'" +
                 (nearest.empty() ? "" : ", did you mean " + std::string(nearest)),
             at);
    return {};
  }
  in_.take();
  return symbol_of(std::move(written), at);
}

expression statement_parser::parse_extract() {
  const auto first = in_.take().at;
  auto out = call_of("EXTRACT", first);
  in_.expect('(');
  out.arguments.push_back(plain(parse_symbol_unit()));
  in_.expect(kw::from_);
  out.arguments.push_back(plain(parse_expression()));
  in_.expect(')');
  return make(std::move(out), first);
}

expression statement_parser::parse_position() {
  const auto first = in_.take().at;
  auto out = call_of("POSITION", first);
  in_.expect('(');
  out.arguments.push_back(plain(parse_expression(precedence::membership + 1)));
  in_.expect(kw::in_);
  out.arguments.push_back(plain(parse_expression()));
  if (in_.accept(kw::from_))
    out.arguments.push_back(plain(parse_expression()));
  in_.expect(')');
  return make(std::move(out), first);
}

void statement_parser::parse_more_arguments(function_call& out) {
  while (in_.accept(','))
    out.arguments.push_back(plain(parse_expression()));
}

void statement_parser::parse_part(function_call& out) {
  in_.expect(kw::from_);
  out.arguments.push_back(plain(parse_expression()));
  if (in_.accept(kw::for_))
    out.arguments.push_back(plain(parse_expression()));
}

expression statement_parser::parse_substring() {
  const auto first = in_.take().at;
  auto out = call_of("SUBSTRING", first);
  in_.expect('(');
  out.arguments.push_back(plain(parse_expression()));
  if (in_.is(kw::from_)) {
    parse_part(out);
  } else {
    parse_more_arguments(out);
  }
  in_.expect(')');
  return make(std::move(out), first);
}

expression statement_parser::parse_trim() {
  const auto first = in_.take().at;
  auto out = call_of("TRIM", first);
  in_.expect('(');
  const auto side_at = in_.here();
  std::string side = "BOTH";
  bool has_side = true;
  if (in_.accept(kw::leading_))
    side = "LEADING";
  else if (in_.accept(kw::trailing_))
    side = "TRAILING";
  else
    has_side = in_.accept(kw::both_);
  out.arguments.push_back(plain(symbol_of(std::move(side), side_at)));
  if (has_side && in_.accept(kw::from_)) {
    out.arguments.push_back(plain(parse_expression()));
  } else {
    out.arguments.push_back(plain(parse_expression()));
    if (in_.accept(kw::from_))
      out.arguments.push_back(plain(parse_expression()));
    else if (has_side)
      in_.fail_expected();
  }
  in_.expect(')');
  return make(std::move(out), first);
}

expression statement_parser::parse_overlay() {
  const auto first = in_.take().at;
  auto out = call_of("OVERLAY", first);
  in_.expect('(');
  out.arguments.push_back(plain(parse_expression()));
  if (in_.accept(kw::placing_)) {
    out.arguments.push_back(plain(parse_expression()));
    parse_part(out);
  } else {
    parse_more_arguments(out);
  }
  in_.expect(')');
  return make(std::move(out), first);
}

/// CEIL(x), CEIL(x TO unit), and FLOOR.
expression statement_parser::parse_round_to_unit() {
  const auto taken = in_.take();
  auto out = call_of(taken.keyword == kw::floor_ ? "FLOOR" : "CEIL", taken.at);
  in_.expect('(');
  out.arguments.push_back(plain(parse_expression()));
  if (in_.accept(kw::to_))
    out.arguments.push_back(plain(parse_symbol_unit()));
  in_.expect(')');
  return make(std::move(out), taken.at);
}

expression statement_parser::parse_timestamp_arithmetic() {
  const auto taken = in_.take();
  auto out = call_of(std::string(text_of(taken.keyword)), taken.at);
  in_.expect('(');
  out.arguments.push_back(plain(parse_symbol_unit()));
  while (in_.accept(','))
    out.arguments.push_back(plain(parse_expression()));
  in_.expect(')');
  return make(std::move(out), taken.at);
}

window_specification statement_parser::parse_over() {
  if (is_name()) {
    window_specification out;
    out.at = in_.here();
    out.base = parse_name();
    out.is_reference = true;
    return out;
  }
  in_.note_expected("a window's name");
  return parse_window();
}

window_specification statement_parser::parse_window() {
  window_specification out;
  const auto first = in_.here();
  in_.expect('(');
  if (is_name())
    out.base = parse_name();
  if (in_.accept(kw::partition_)) {
    in_.expect(kw::by_);
    out.partition_by = parse_expression_list();
  }
  if (in_.is(kw::order_))
    out.order_by = parse_order_by();
  if (in_.is(kw::rows_) || in_.is(kw::range_))
    out.frame = parse_frame();
  in_.expect(')');
  out.at = in_.since(first);
  return out;
}

window_frame statement_parser::parse_frame() {
  window_frame out;
  out.is_rows = in_.take().keyword == kw::rows_;
  if (in_.accept(kw::between_)) {
    out.start = parse_frame_bound();
    in_.expect(kw::and_);
    out.end = parse_frame_bound();
  } else {
    out.start = parse_frame_bound();
  }
  return out;
}

frame_bound statement_parser::parse_frame_bound() {
  frame_bound out;
  if (in_.accept(kw::current_)) {
    in_.expect(kw::row_);
    return out;
  }
  const bool is_unbounded = in_.accept(kw::unbounded_);
  if (!is_unbounded)
    out.offset = parse_expression(precedence::and_ + 1);
  if (in_.accept(kw::preceding_))
    out.kind = is_unbounded ? frame_bound_kind::unbounded_preceding : frame_bound_kind::preceding;
  else if (in_.accept(kw::following_))
    out.kind = is_unbounded ? frame_bound_kind::unbounded_following : frame_bound_kind::following;
  else
    in_.fail_expected();
  return out;
}

} // namespace headrace::sql
