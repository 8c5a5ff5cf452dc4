#include "libgraph/sql/parse/statement_parser.hpp"

namespace headrace::sql {

statement statement_parser::parse_statement() {
  nesting_scope scope(*this);
  statement out;
  if (!scope.is_sound())
    return out;
  const auto first = in_.here();
  switch (in_.peek().keyword) {
  case kw::insert_:
    out.node = parse_insert();
    break;
  case kw::execute_:
    out = parse_execute();
    break;
  case kw::begin_:
    out = parse_begin();
    break;
  case kw::explain_:
    out = parse_explain();
    break;
  case kw::compile_:
    out.node = parse_compile_plan();
    break;
  case kw::create_:
    out = parse_create();
    break;
  case kw::drop_:
    out.node = parse_drop();
    break;
  case kw::alter_:
    out = parse_alter();
    break;
  case kw::set_:
    out = parse_set();
    break;
  case kw::reset_:
    out = parse_reset();
    break;
  case kw::use_:
    out.node = parse_use();
    break;
  case kw::show_:
    out.node = parse_show();
    break;
  case kw::describe_:
  case kw::desc_:
    out.node = parse_describe();
    break;
  case kw::stop_:
    out.node = parse_stop_job();
    break;
  case kw::truncate_:
    in_.take();
    in_.expect(kw::table_);
    out.node = truncate_table{parse_qualified_name("a table")};
    break;
  case kw::exit_:
  case kw::quit_:
    in_.take();
    out.node = quit_statement{};
    break;
  case kw::update_:
  case kw::delete_:
  case kw::merge_:
  case kw::call_:
  case kw::analyze_:
  case kw::load_:
  case kw::unload_:
  case kw::add_:
  case kw::remove_:
    in_.fail(diagnostic_kind::unsupported,
             std::string(text_of(in_.peek().keyword)) + " is not supported", in_.here());
    break;
  default:
    if (is_query_start() || in_.looks_like('(')) {
      out.node = query_statement{parse_query()};
      break;
    }
    in_.suggest({kw::select_, kw::insert_, kw::create_, kw::drop_, kw::alter_, kw::with_,
                 kw::values_, kw::explain_, kw::execute_, kw::set_, kw::reset_, kw::use_, kw::show_,
                 kw::describe_, kw::begin_, kw::compile_, kw::stop_, kw::truncate_});
    in_.fail_expected("a statement");
  }
  out.at = in_.since(first);
  return out;
}

/// EXECUTE STATEMENT SET BEGIN … END, EXECUTE PLAN 'file', EXECUTE query-or-insert.
statement statement_parser::parse_execute() {
  in_.expect(kw::execute_);
  statement out;
  if (in_.accept(kw::statement_)) {
    in_.expect_all({kw::set_, kw::begin_});
    out.node = parse_statement_set_body();
  } else if (in_.accept(kw::plan_)) {
    plan_statement plan;
    plan.executes = true;
    plan.file = parse_text("a file in quotes");
    out.node = std::move(plan);
  } else if (in_.is(kw::insert_)) {
    out.node = parse_insert();
  } else if (is_query_start()) {
    out.node = query_statement{parse_query()};
  } else {
    in_.suggest({kw::select_});
    in_.fail_expected();
  }
  return out;
}

/// BEGIN STATEMENT SET; … END
statement statement_parser::parse_begin() {
  in_.expect_all({kw::begin_, kw::statement_, kw::set_});
  in_.expect(';');
  statement out;
  out.node = parse_statement_set_body();
  return out;
}

/// Each INSERT has its ';'. An error in one leaves the others to be looked at.
statement_set statement_parser::parse_statement_set_body() {
  statement_set out;
  while (true) {
    while (in_.looks_like(';'))
      in_.take();
    if (in_.is_at_end() || in_.is(kw::end_))
      break;
    if (in_.is(kw::insert_)) {
      out.inserts.push_back(parse_insert());
      if (!in_.has_failed())
        in_.expect(';');
    } else {
      in_.fail_expected();
    }
    if (in_.has_failed()) {
      if (findings_.size() + 1 >= limits::findings_max)
        return out;
      note_failure();
      in_.recover();
    }
  }
  if (in_.expect(kw::end_) && out.inserts.empty() && findings_.empty())
    in_.fail(diagnostic_kind::syntax, "statement set is empty: expected INSERT", in_.last());
  return out;
}

statement statement_parser::parse_explain() {
  in_.expect(kw::explain_);
  explain out;
  if (in_.accept(kw::plan_)) {
    in_.expect(kw::for_);
  } else {
    const auto accept_detail = [&] {
      constexpr std::pair<kw::word, explain_detail> details[] = {
          {kw::estimated_cost_, explain_detail::estimated_cost},
          {kw::changelog_mode_, explain_detail::changelog_mode},
          {kw::json_execution_plan_, explain_detail::json_execution_plan},
          {kw::plan_advice_, explain_detail::plan_advice}};
      for (const auto& [keyword, detail] : details)
        if (in_.accept(keyword)) {
          out.details.push_back(detail);
          return true;
        }
      return false;
    };
    if (accept_detail())
      while (in_.accept(','))
        if (!accept_detail())
          in_.fail_expected();
  }
  const auto first = in_.here();
  statement of;
  if (in_.accept(kw::statement_)) {
    in_.expect_all({kw::set_, kw::begin_});
    of.node = parse_statement_set_body();
    of.at = in_.since(first);
  } else {
    of = parse_statement();
  }
  const auto* created = std::get_if<create_table>(&of.node);
  const bool has_plan =
      std::holds_alternative<query_statement>(of.node) || std::holds_alternative<insert>(of.node) ||
      std::holds_alternative<statement_set>(of.node) || (created != nullptr && created->as);
  if (!in_.has_failed() && !has_plan)
    in_.fail(diagnostic_kind::syntax,
             "only queries, INSERT, statement sets and CREATE TABLE … AS can be explained", first);
  out.of = std::move(of);
  statement made;
  made.node = std::move(out);
  return made;
}

plan_statement statement_parser::parse_compile_plan() {
  in_.expect(kw::compile_);
  plan_statement out;
  out.compiles = true;
  if (in_.accept(kw::and_)) {
    in_.expect(kw::execute_);
    out.executes = true;
  }
  in_.expect(kw::plan_);
  out.file = parse_text("a file in quotes");
  out.if_not_exists = accept_if_not_exists();
  in_.expect(kw::for_);
  if (!in_.is(kw::insert_) && !in_.is(kw::statement_) && !in_.is(kw::execute_) &&
      !in_.is(kw::begin_)) {
    in_.fail_expected();
    return out;
  }
  if (in_.accept(kw::statement_)) {
    in_.expect_all({kw::set_, kw::begin_});
    statement of;
    of.node = parse_statement_set_body();
    out.of = std::move(of);
  } else {
    out.of = parse_statement();
  }
  return out;
}

insert statement_parser::parse_insert() {
  insert out;
  const auto first = in_.here();
  in_.expect(kw::insert_);
  out.overwrites = in_.accept(kw::overwrite_);
  if (!out.overwrites)
    in_.expect(kw::into_);
  out.table = parse_qualified_name("a table");
  if (in_.looks_like(make_symbol('/', '*', '+')))
    out.hints = parse_hints();
  if (in_.is(kw::partition_))
    out.partition = parse_partition();
  if (in_.looks_like('(') && !is_query_in_parentheses()) {
    in_.take();
    parse_list([&] { out.columns.push_back(parse_qualified_name("a column")); });
    in_.expect(')');
  }
  out.rows = parse_query();
  if (in_.accept(kw::on_)) {
    in_.expect_all({kw::conflict_, kw::do_});
    if (in_.accept(kw::nothing_))
      out.on_conflict = conflict_action::nothing;
    else if (in_.accept(kw::error_))
      out.on_conflict = conflict_action::error;
    else if (in_.expect(kw::deduplicate_))
      out.on_conflict = conflict_action::deduplicate;
  }
  out.at = in_.since(first);
  return out;
}

/// PARTITION (a = 1, b)
std::vector<partition_value> statement_parser::parse_partition() {
  std::vector<partition_value> out;
  in_.expect(kw::partition_);
  in_.expect('(');
  parse_list([&] {
    partition_value next;
    next.column = parse_name("a column");
    if (in_.accept('=')) {
      const auto first = in_.here();
      next.value = parse_expression(precedence::sign);
      const auto* negated = std::get_if<operation>(&next.value->node);
      const bool is_literal =
          std::holds_alternative<literal>(next.value->node) ||
          (negated != nullptr && std::holds_alternative<literal>(negated->operands[0].node));
      if (!in_.has_failed() && !is_literal)
        in_.fail(diagnostic_kind::syntax, "expected a literal as a partition's value",
                 in_.since(first));
    }
    out.push_back(std::move(next));
  });
  in_.expect(')');
  return out;
}

text_value statement_parser::parse_text(std::string_view what) {
  text_value out;
  const auto first = in_.here();
  out.text = parse_plain_string(what);
  out.at = in_.since(first);
  return out;
}

std::optional<text_value> statement_parser::parse_comment() {
  if (!in_.accept(kw::comment_))
    return std::nullopt;
  return parse_text("a comment in quotes");
}

std::vector<option_setting> statement_parser::parse_options() {
  std::vector<option_setting> out;
  in_.expect('(');
  if (in_.accept(')'))
    return out;
  parse_list([&] {
    option_setting next;
    next.key = parse_text("an option's key in quotes");
    in_.expect('=');
    next.value = parse_text("a value in quotes");
    out.push_back(std::move(next));
  });
  in_.expect(')');
  return out;
}

/// SET 'k' = 'v', or SET k = v as a line: dots and dashes in the key, anything in the value.
/// Whether a key or value that is written without quotes could stand in quotes.
bool statement_parser::is_plain(std::string_view raw) {
  for (std::size_t at = 0; at < raw.size();) {
    const auto size = code_point_bytes(raw, at);
    if (size == 0 || static_cast<unsigned char>(raw[at]) < 0x20U)
      return false;
    at += size;
  }
  return true;
}

statement statement_parser::parse_set() {
  in_.expect(kw::set_);
  set_statement out;
  if (is_string()) {
    option_setting setting;
    setting.key = parse_text();
    in_.expect('=');
    setting.value = parse_text("a value in quotes");
    out.setting = std::move(setting);
  } else if (!in_.is_at_end() && !in_.looks_like(';')) {
    const auto raw = in_.take_raw();
    const auto line = text_.substr(raw.begin, raw.end - raw.begin);
    const auto equals = line.find('=');
    const auto trimmed = [](std::string_view part) {
      constexpr std::string_view blanks = " \t\r\n\f\v";
      const auto begin = part.find_first_not_of(blanks);
      return begin == part.npos ? std::string_view()
                                : part.substr(begin, part.find_last_not_of(blanks) - begin + 1);
    };
    option_setting setting;
    setting.key = {std::string(trimmed(line.substr(0, equals))), raw};
    if (equals == line.npos || setting.key.text.empty()) {
      in_.fail(diagnostic_kind::syntax, "expected SET 'key' = 'value' or SET key = value", raw);
    } else if (!is_plain(line)) {
      in_.fail(diagnostic_kind::syntax,
               "a key or value has a control character or is not valid UTF-8", raw);
    } else {
      auto value = trimmed(line.substr(equals + 1));
      const bool is_quoted = value.size() >= 2 && value.front() == '\'' && value.back() == '\'';
      setting.value = {is_quoted ? quoted_text(value, '\'') : std::string(value), raw};
    }
    out.setting = std::move(setting);
  }
  statement made;
  made.node = std::move(out);
  return made;
}

statement statement_parser::parse_reset() {
  in_.expect(kw::reset_);
  reset_statement out;
  if (is_string()) {
    out.key = parse_text();
  } else if (!in_.is_at_end() && !in_.looks_like(';')) {
    const auto raw = in_.take_raw();
    out.key = text_value{std::string(text_.substr(raw.begin, raw.end - raw.begin)), raw};
    if (!is_plain(out.key->text))
      in_.fail(diagnostic_kind::syntax, "the key has a control character or is not valid UTF-8",
               raw);
  }
  statement made;
  made.node = std::move(out);
  return made;
}

use statement_parser::parse_use() {
  in_.expect(kw::use_);
  use out;
  if (in_.looks_like(kw::modules_)) {
    in_.fail(diagnostic_kind::unsupported, "USE MODULES is not supported", in_.here());
    return out;
  }
  if (in_.looks_like(kw::catalog_) && is_name(1)) {
    in_.take();
    out.kind = object_kind::catalog;
    const auto catalog = parse_name("a catalog");
    out.object = {{catalog}, catalog.at};
  } else {
    in_.suggest({kw::catalog_});
    out.object = parse_qualified_name("a database");
  }
  return out;
}

show statement_parser::parse_show() {
  in_.expect(kw::show_);
  show out;
  struct plain_show {
    kw::word keyword;
    show_kind kind;
    bool has_scope; ///< FROM or IN may follow
  };
  constexpr plain_show plains[] = {{kw::catalogs_, show_kind::catalogs, false},
                                   {kw::databases_, show_kind::databases, true},
                                   {kw::tables_, show_kind::tables, true},
                                   {kw::views_, show_kind::views, true},
                                   {kw::functions_, show_kind::functions, true},
                                   {kw::modules_, show_kind::modules, false},
                                   {kw::jobs_, show_kind::jobs, false},
                                   {kw::jars_, show_kind::jars, false},
                                   {kw::connectors_, show_kind::connectors, false}};
  for (const auto& each : plains)
    if (in_.accept(each.keyword)) {
      out.kind = each.kind;
      if (each.has_scope && (in_.accept(kw::from_) || in_.accept(kw::in_)))
        out.in = parse_qualified_name("a catalog or database");
      parse_show_filter(out);
      return out;
    }
  if (in_.accept(kw::current_)) {
    out.kind = show_kind::current_catalog;
    if (!in_.accept(kw::catalog_)) {
      in_.expect(kw::database_);
      out.kind = show_kind::current_database;
    }
  } else if (in_.accept(kw::user_)) {
    in_.expect(kw::functions_);
    out.kind = show_kind::user_functions;
    if (in_.accept(kw::from_) || in_.accept(kw::in_))
      out.in = parse_qualified_name("a database");
    parse_show_filter(out);
  } else if (in_.accept(kw::full_)) {
    in_.expect(kw::modules_);
    out.kind = show_kind::full_modules;
  } else if (in_.accept(kw::columns_)) {
    out.kind = show_kind::columns;
    if (!in_.accept(kw::from_))
      in_.expect(kw::in_);
    out.in = parse_qualified_name("a table");
    parse_show_filter(out);
  } else if (in_.accept(kw::partitions_)) {
    out.kind = show_kind::partitions;
    out.in = parse_qualified_name("a table");
    if (in_.is(kw::partition_))
      out.partition = parse_partition();
  } else if (in_.accept(kw::create_)) {
    if (in_.accept(kw::view_))
      out.kind = show_kind::create_view;
    else if (in_.accept(kw::catalog_))
      out.kind = show_kind::create_catalog;
    else if (in_.expect(kw::table_))
      out.kind = show_kind::create_table;
    out.in = parse_qualified_name();
  } else {
    in_.fail_expected();
  }
  return out;
}

void statement_parser::parse_show_filter(show& out) {
  out.is_filter_negated = in_.accept(kw::not_);
  if (in_.accept(kw::like_))
    out.filter = show_filter::like;
  else if (in_.accept(kw::ilike_))
    out.filter = show_filter::ilike;
  else if (out.is_filter_negated)
    in_.fail_expected();
  if (out.filter != show_filter::none)
    out.pattern = parse_text("a pattern in quotes");
}

describe statement_parser::parse_describe() {
  in_.take();
  describe out;
  const auto accept_extended = [&] { out.is_extended = in_.accept(kw::extended_); };
  if (in_.looks_like(kw::job_) && in_.peek(1).kind == token_kind::string) {
    in_.take();
    out.kind = describe_kind::job;
    out.id = parse_text("a job's id in quotes");
    return out;
  }
  if (in_.looks_like(kw::connector_) &&
      (in_.peek(1).kind == token_kind::string || is_name(1) || is_reserved(in_.peek(1).keyword))) {
    in_.take();
    out.kind = describe_kind::connector;
    if (is_string()) {
      out.id = parse_text();
    } else {
      const auto named = parse_name("a connector");
      out.id = text_value{named.text, named.at};
    }
    return out;
  }
  const auto is_kind = [&](kw::word keyword) {
    return in_.looks_like(keyword) && (is_name(1) || in_.looks_like(kw::extended_, 1));
  };
  if (is_kind(kw::catalog_)) {
    in_.take();
    out.kind = describe_kind::catalog;
  } else if (is_kind(kw::database_)) {
    in_.take();
    out.kind = describe_kind::database;
  } else if (in_.accept(kw::function_)) {
    out.kind = describe_kind::function;
  } else {
    in_.accept(kw::table_);
  }
  accept_extended();
  out.object = parse_qualified_name("a table");
  return out;
}

stop_job statement_parser::parse_stop_job() {
  in_.expect_all({kw::stop_, kw::job_});
  stop_job out;
  out.job = parse_text("a job's id in quotes");
  while (in_.accept(kw::with_)) {
    if (in_.accept(kw::savepoint_))
      out.with_savepoint = true;
    else if (in_.expect(kw::drain_))
      out.with_drain = true;
  }
  return out;
}

} // namespace headrace::sql
