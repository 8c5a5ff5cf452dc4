#include "libgraph/sql/parse/statement_parser.hpp"

#include <utility>

namespace headrace::sql {

statement_parser::statement_parser(std::string_view text, std::uint32_t view)
    : text_(text), in_(text.size() <= limits::text_bytes_max ? text : std::string_view(), view) {}

bool statement_parser::check_size(std::vector<diagnostic>& findings) const {
  if (text_.size() <= limits::text_bytes_max)
    return true;
  findings.push_back({diagnostic_kind::too_large,
                      "script is too large: " + std::to_string(text_.size()) +
                          " bytes, the limit is " + std::to_string(limits::text_bytes_max),
                      {}});
  return false;
}

void statement_parser::expect_end() {
  if (!in_.is_at_end())
    in_.fail_expected("';'");
}

void statement_parser::note_failure() {
  if (in_.failure() && findings_.size() < limits::findings_max)
    findings_.push_back(*in_.failure());
}

parsed<script> statement_parser::run_script() {
  parsed<script> out;
  if (!check_size(out.findings))
    return out;
  while (findings_.size() < limits::findings_max) {
    while (in_.looks_like(';'))
      in_.take();
    if (in_.is_at_end())
      break;
    const auto findings_before = findings_.size();
    auto next = parse_statement();
    if (!in_.is_at_end())
      in_.expect(';');
    if (in_.has_failed()) {
      note_failure();
      in_.recover();
    } else if (findings_.size() == findings_before) {
      out.value.statements.push_back(std::move(next));
    }
    depth_ = 0;
    height_ = 0;
  }
  out.findings = std::move(findings_);
  return out;
}

statement_parser::nesting_scope::nesting_scope(statement_parser& parser)
    : parser_(parser), outer_height_(std::exchange(parser.height_, 0)),
      is_sound_(++parser.depth_ <= limits::nesting_max) {
  if (!is_sound_)
    parser_.in_.fail(diagnostic_kind::too_large,
                     "nested too deep: more than " + std::to_string(limits::nesting_max) +
                         " levels",
                     parser_.in_.here());
}

statement_parser::nesting_scope::~nesting_scope() {
  --parser_.depth_;
  parser_.height_ = std::max(outer_height_, parser_.height_ + 1);
}

void statement_parser::add_link() {
  if (++height_ > limits::tree_height_max)
    in_.fail(diagnostic_kind::too_large,
             "chain of operators, joins or brackets is too long: more than " +
                 std::to_string(limits::tree_height_max),
             in_.last());
}

bool statement_parser::is_name(std::size_t ahead) const {
  const auto& next = in_.peek(ahead);
  return next.kind == token_kind::quoted_name ||
         (next.kind == token_kind::name && !is_reserved(next.keyword));
}

name statement_parser::parse_name(std::string_view what) {
  if (!is_name()) {
    in_.fail_expected(what);
    return {};
  }
  const auto& taken = in_.take();
  return {name_value(text_, taken), taken.at};
}

qualified_name statement_parser::parse_qualified_name(std::string_view what) {
  qualified_name out;
  const auto first = in_.here();
  out.parts.push_back(parse_name(what));
  while (in_.looks_like('.')) {
    in_.take();
    out.parts.push_back(parse_name());
  }
  out.at = in_.since(first);
  return out;
}

std::vector<name> statement_parser::parse_name_list() {
  std::vector<name> out;
  in_.expect('(');
  parse_list([&] { out.push_back(parse_name()); });
  in_.expect(')');
  return out;
}

std::optional<name> statement_parser::parse_alias() {
  if (in_.accept(kw::as_))
    return parse_name();
  in_.suggest({kw::from_, kw::where_, kw::group_, kw::having_, kw::order_, kw::limit_, kw::union_,
               kw::join_, kw::left_, kw::right_, kw::inner_, kw::cross_, kw::window_});
  if (!is_name())
    return std::nullopt;
  auto out = parse_name();
  in_.mark_guess();
  return out;
}

std::optional<std::uint32_t> statement_parser::parse_count(std::string_view what) {
  if (in_.peek().kind != token_kind::integer) {
    in_.fail_expected(what);
    return std::nullopt;
  }
  const auto at = in_.take().at;
  std::uint64_t value = 0;
  for (auto i = at.begin; i < at.end && value <= 0xFFFFFFFFU; ++i)
    value = value * 10 + static_cast<std::uint64_t>(text_[i] - '0');
  constexpr std::uint64_t value_max = 0x7FFFFFFF;
  if (value > value_max) {
    in_.fail(diagnostic_kind::too_large,
             "number is too large: the limit is " + std::to_string(value_max), at);
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(value);
}

parsed<script> parse_script(std::string_view text) { return statement_parser(text).run_script(); }

parsed<std::optional<statement>> parse_statement(std::string_view text) {
  return statement_parser(text).run_alone<statement>(&statement_parser::parse_statement);
}
parsed<std::optional<query>> parse_query(std::string_view text, std::uint32_t view) {
  return statement_parser(text, view).run_alone<query>(&statement_parser::parse_query);
}
parsed<std::optional<expression>> parse_expression(std::string_view text) {
  return statement_parser(text).run_alone<expression>(&statement_parser::parse_expression);
}
parsed<std::optional<type_name>> parse_type(std::string_view text) {
  return statement_parser(text).run_alone<type_name>(&statement_parser::parse_type);
}

} // namespace headrace::sql
