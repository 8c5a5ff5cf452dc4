#include "libgraph/sql/parse/statement_parser.hpp"
#include "libactors/base/text.hpp"

namespace headrace::sql {
namespace {

struct type_spelling {
  kw::word keyword;
  type_word word;
  int numbers; ///< how many may stand in parentheses
};
constexpr type_spelling spellings[] = {
    {kw::boolean_, type_word::boolean, 0},
    {kw::tinyint_, type_word::tinyint, 0},
    {kw::smallint_, type_word::smallint, 0},
    {kw::int_, type_word::integer, 0},
    {kw::integer_, type_word::integer, 0},
    {kw::bigint_, type_word::bigint, 0},
    {kw::float_, type_word::float_, 0},
    {kw::real_, type_word::float_, 0},
    {kw::double_, type_word::double_, 0},
    {kw::decimal_, type_word::decimal, 2},
    {kw::dec_, type_word::decimal, 2},
    {kw::numeric_, type_word::decimal, 2},
    {kw::char_, type_word::character, 1},
    {kw::character_, type_word::character, 1},
    {kw::varchar_, type_word::varchar, 1},
    {kw::string_, type_word::string, 0},
    {kw::binary_, type_word::binary, 1},
    {kw::varbinary_, type_word::varbinary, 1},
    {kw::bytes_, type_word::bytes, 0},
    {kw::date_, type_word::date, 0},
    {kw::time_, type_word::time, 1},
    {kw::timestamp_, type_word::timestamp, 1},
    {kw::timestamp_ltz_, type_word::timestamp_ltz, 1},
    {kw::interval_, type_word::interval, 0},
    {kw::array_, type_word::array, 0},
    {kw::map_, type_word::map, 0},
    {kw::multiset_, type_word::multiset, 0},
    {kw::row_, type_word::row, 0},
    {kw::null_, type_word::null, 0},
    {kw::raw_, type_word::raw, 0},
    {kw::structured_, type_word::structured, 0},
    {kw::variant_, type_word::variant, 0},
    {kw::bitmap_, type_word::bitmap, 0},
    {kw::descriptor_, type_word::descriptor, 0},
};

} // namespace

bool statement_parser::parse_null_suffix(type_name& out) {
  if (in_.looks_like(kw::not_) && in_.looks_like(kw::null_, 1)) {
    in_.take();
    in_.take();
    out.is_not_null = true;
    return true;
  }
  if (in_.looks_like(kw::null_)) {
    in_.take();
    return true;
  }
  return false;
}

type_name statement_parser::parse_type() {
  nesting_scope scope(*this);
  if (!scope.is_sound())
    return {};
  const auto first = in_.here();
  auto out = parse_base_type();
  in_.suggest({kw::not_, kw::array_, kw::multiset_, kw::comment_, kw::metadata_});
  parse_null_suffix(out);
  // INT ARRAY, ROW<a INT> NOT NULL MULTISET ARRAY
  while (in_.looks_like(kw::array_) || in_.looks_like(kw::multiset_)) {
    type_name outer;
    outer.word = in_.take().keyword == kw::array_ ? type_word::array : type_word::multiset;
    out.at = in_.since(first);
    outer.children.push_back({std::nullopt, std::move(out), std::nullopt});
    out = std::move(outer);
    parse_null_suffix(out);
    add_link();
  }
  out.at = in_.since(first);
  return out;
}

type_name statement_parser::parse_base_type() {
  type_name out;
  const auto keyword = in_.peek().keyword;
  for (const auto& each : spellings) {
    if (keyword != each.keyword || keyword == kw::none)
      continue;
    in_.take();
    out.word = each.word;
    if (each.word == type_word::double_)
      in_.accept(kw::precision_);
    if (keyword == kw::char_ || keyword == kw::character_ || keyword == kw::binary_) {
      if (in_.accept(kw::varying_))
        out.word = keyword == kw::binary_ ? type_word::varbinary : type_word::varchar;
    }
    if (each.numbers > 0 && in_.accept('(')) {
      out.precision = parse_count(each.numbers == 2 ? "the precision" : "a number");
      if (each.numbers == 2 && in_.accept(','))
        out.scale = parse_count("the scale");
      in_.expect(')');
    }
    if (out.word == type_word::time || out.word == type_word::timestamp)
      parse_time_zone(out);
    else if (out.word == type_word::interval)
      out.interval = parse_interval_qualifier();
    else
      parse_type_arguments(out, text_of(keyword));
    return out;
  }
  for (const auto& each : spellings)
    in_.suggest({each.keyword});
  in_.note_expected("a type");
  if (!is_name()) {
    in_.fail_expected();
    return out;
  }
  const auto at = in_.here();
  out.word = type_word::named;
  out.named = parse_qualified_name("a type");
  if (out.named->parts.size() == 1) {
    const auto& written = out.named->parts[0].text;
    std::vector<std::string_view> words;
    for (const auto& each : spellings)
      words.push_back(text_of(each.keyword));
    const auto nearest = nearest_name(in_capitals(written), words);
    in_.fail(diagnostic_kind::unknown_name,
             "unknown type: " + written +
                 (nearest.empty() ? "" : ", did you mean " + std::string(nearest)),
             at);
  }
  return out;
}

void statement_parser::parse_time_zone(type_name& out) {
  if (in_.looks_like(kw::without_) && in_.looks_like(kw::time_, 1)) {
    in_.take();
    in_.expect_all({kw::time_, kw::zone_});
  } else if (out.word == type_word::timestamp && in_.looks_like(kw::with_) &&
             (in_.looks_like(kw::time_, 1) || in_.looks_like(kw::local_, 1))) {
    in_.take();
    out.word = in_.accept(kw::local_) ? type_word::timestamp_ltz : type_word::timestamp_tz;
    in_.expect_all({kw::time_, kw::zone_});
  }
}

void statement_parser::parse_type_arguments(type_name& out, std::string_view what) {
  const auto parse_child = [&] { out.children.push_back({std::nullopt, parse_type(), {}}); };
  switch (out.word) {
  case type_word::array:
  case type_word::multiset:
    in_.expect('<');
    parse_child();
    in_.expect('>');
    break;
  case type_word::map:
    in_.expect('<');
    parse_child();
    in_.expect(',');
    parse_child();
    in_.expect('>');
    break;
  case type_word::row:
    parse_row_fields(out);
    break;
  case type_word::raw:
    in_.expect('(');
    out.texts.push_back(parse_plain_string("a class in quotes"));
    in_.expect(',');
    out.texts.push_back(parse_plain_string("a serializer in quotes"));
    in_.expect(')');
    break;
  case type_word::structured:
    in_.expect('<');
    out.texts.push_back(parse_plain_string("a class in quotes"));
    while (in_.accept(','))
      parse_field(out);
    in_.expect('>');
    break;
  default:
    if (in_.looks_like('('))
      in_.fail(diagnostic_kind::syntax, std::string(what) + " takes no number", in_.here());
    break;
  }
}

void statement_parser::parse_field(type_name& out) {
  auto label = parse_name("a field's name");
  auto type = parse_type();
  auto& field = out.children.emplace_back();
  field.label = std::move(label);
  field.type = std::move(type);
  if (is_string())
    field.comment = parse_plain_string("a comment");
}

void statement_parser::parse_row_fields(type_name& out) {
  const bool has_angles = in_.is('<') || in_.looks_like(make_symbol('<', '>'));
  if (in_.looks_like(make_symbol('<', '>'))) {
    in_.take();
    return;
  }
  in_.expect(has_angles ? '<' : '(');
  const char closing = has_angles ? '>' : ')';
  if (in_.accept(closing))
    return;
  parse_list([&] { parse_field(out); });
  in_.expect(closing);
}

} // namespace headrace::sql
