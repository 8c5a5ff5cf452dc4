#include "libgraph/sql/parse/statement_parser.hpp"
#include "libactors/base/text.hpp"

namespace headrace::sql {
namespace {

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

} // namespace

bool statement_parser::is_string() const {
  const auto kind = in_.peek().kind;
  return kind == token_kind::string || kind == token_kind::unicode_string ||
         kind == token_kind::binary_string;
}

/// Adjacent strings are one: 'a' 'b' is 'ab'.
expression statement_parser::parse_string_literal() {
  const auto first = in_.peek();
  literal out;
  out.kind = literal_kind::string;
  if (first.kind == token_kind::binary_string) {
    out.kind = literal_kind::binary;
    while (in_.peek().kind == token_kind::binary_string ||
           (in_.peek().kind == token_kind::string && text_[in_.here().begin] == '\''))
      out.text += string_value(text_, in_.take());
    if (!in_.has_failed() && (!is_hexadecimal(out.text) || out.text.size() % 2 != 0))
      in_.fail(diagnostic_kind::syntax,
               "binary string needs pairs of hexadecimal digits, such as X'0AFF'",
               in_.since(first.at));
    out.text = in_capitals(out.text);
    return make(std::move(out), first.at);
  }
  const auto shown = text_.substr(first.at.begin, first.at.end - first.at.begin);
  if (const auto charset = shown.substr(0, shown.find('\'')); charset.starts_with('_') &&
                                                              in_capitals(charset) != "_UTF8" &&
                                                              in_capitals(charset) != "_UTF16")
    in_.fail(diagnostic_kind::unsupported,
             "unknown character set: " + std::string(charset.substr(1)) + ", known is UTF8",
             first.at);
  if (first.kind == token_kind::unicode_string) {
    auto raw = string_value(text_, in_.take());
    char escape = '\\';
    if (in_.accept(kw::uescape_)) {
      const auto at = in_.here();
      const auto letter = parse_plain_string("a character in quotes");
      if (letter.size() != 1 || is_hexadecimal(letter) || letter == "+" || letter == " ")
        in_.fail(diagnostic_kind::syntax,
                 "UESCAPE needs one character that is no hexadecimal digit, '+' or blank", at);
      else
        escape = letter[0];
    }
    auto value = unescape_unicode(raw, escape);
    if (!value)
      in_.fail(diagnostic_kind::syntax,
               std::string("malformed Unicode escape: expected '") + escape +
                   "' and four hexadecimal digits, or '" + escape + "+' and six",
               first.at);
    out.text = value.value_or(std::string());
    return make(std::move(out), first.at);
  }
  while (in_.peek().kind == token_kind::string)
    out.text += string_value(text_, in_.take());
  return make(std::move(out), first.at);
}

/// A string that is no expression: in options, patterns, comments.
std::string statement_parser::parse_plain_string(std::string_view what) {
  if (in_.peek().kind != token_kind::string && in_.peek().kind != token_kind::unicode_string) {
    in_.fail_expected(what);
    return {};
  }
  auto read = parse_string_literal();
  return std::get<literal>(read.node).text;
}

/// DATE '…', TIME '…', TIMESTAMP '…', TIMESTAMP WITH LOCAL TIME ZONE '…', INTERVAL '…'.
std::optional<expression> statement_parser::parse_typed_literal() {
  const auto first = in_.here();
  const auto is_string_at = [&](std::size_t ahead) {
    return in_.peek(ahead).kind == token_kind::string;
  };
  literal out;
  std::size_t words = 1;
  if (in_.looks_like(kw::interval_))
    return parse_interval();
  if (in_.looks_like(kw::date_)) {
    out.kind = literal_kind::date;
  } else if (in_.looks_like(kw::time_)) {
    out.kind = literal_kind::time;
  } else if (in_.looks_like(kw::timestamp_) && in_.looks_like(kw::with_, 1) &&
             in_.looks_like(kw::local_, 2) && in_.looks_like(kw::time_, 3) &&
             in_.looks_like(kw::zone_, 4)) {
    out.kind = literal_kind::timestamp_ltz;
    words = 5;
  } else if (in_.looks_like(kw::timestamp_)) {
    out.kind = literal_kind::timestamp;
  } else {
    return std::nullopt;
  }
  if (!is_string_at(words))
    return std::nullopt;
  for (; words > 0; --words)
    in_.take();
  out.text = parse_plain_string("a string");
  return make(std::move(out), first);
}

expression statement_parser::parse_interval() {
  const auto first = in_.here();
  in_.expect(kw::interval_);
  literal out;
  out.kind = literal_kind::interval;
  if (in_.looks_like('-') || in_.looks_like('+'))
    out.is_negative = in_.take().sign == make_symbol('-');
  out.text = parse_plain_string("a number in quotes");
  out.interval = parse_interval_qualifier();
  return make(std::move(out), first);
}

std::optional<interval_unit> statement_parser::accept_interval_unit() {
  struct unit_word {
    kw::word singular;
    kw::word plural;
    interval_unit unit;
  };
  constexpr unit_word words[] = {
      {kw::year_, kw::years_, interval_unit::year},
      {kw::quarter_, kw::quarters_, interval_unit::quarter},
      {kw::month_, kw::months_, interval_unit::month},
      {kw::week_, kw::weeks_, interval_unit::week},
      {kw::day_, kw::days_, interval_unit::day},
      {kw::hour_, kw::hours_, interval_unit::hour},
      {kw::minute_, kw::minutes_, interval_unit::minute},
      {kw::second_, kw::seconds_, interval_unit::second},
  };
  for (const auto& each : words) {
    in_.suggest({each.plural});
    if (in_.looks_like(each.plural) || in_.is(each.singular)) {
      in_.take();
      return each.unit;
    }
  }
  return std::nullopt;
}

interval_qualifier statement_parser::parse_interval_qualifier() {
  interval_qualifier out;
  const auto first = in_.here();
  const auto from = accept_interval_unit();
  if (!from) {
    in_.fail_expected();
    return out;
  }
  out.from = *from;
  const auto is_second = [](interval_unit unit) { return unit == interval_unit::second; };
  if (in_.accept('(')) {
    out.precision = parse_count("the number of digits");
    if (is_second(out.from) && in_.accept(','))
      out.fraction = parse_count("the number of digits");
    in_.expect(')');
  }
  // `TO` of an interval is followed by a unit; that of CEIL(x TO DAY) is not ours.
  const auto to_at = in_.here();
  if (in_.accept(kw::to_)) {
    out.to = accept_interval_unit();
    if (!out.to) {
      in_.fail_expected();
    } else {
      const bool is_year_month = out.from == interval_unit::year && *out.to == interval_unit::month;
      const bool is_day_time = out.from >= interval_unit::day && *out.to > out.from;
      if (!is_year_month && !is_day_time)
        in_.fail(
            diagnostic_kind::syntax,
            "interval has no such range of units: expected YEAR TO MONTH, or two of DAY, HOUR, "
            "MINUTE and SECOND from large to small",
            in_.since(to_at));
      if (is_second(*out.to) && in_.accept('(')) {
        out.fraction = parse_count("the number of digits");
        in_.expect(')');
      }
    }
  }
  out.at = in_.since(first);
  return out;
}

} // namespace headrace::sql
