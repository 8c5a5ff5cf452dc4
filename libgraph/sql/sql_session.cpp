#include "libgraph/sql/sql_session.hpp"

#include "libgraph/sql/flink_settings.hpp"
#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/optimize/optimizer.hpp"
#include "libgraph/sql/parse/printer.hpp"
#include "libgraph/sql/plan/query_planner.hpp"
#include "libactors/base/old_option_key.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <set>

// Queries, INSERT, EXPLAIN and the session's own state. The others stand in session_tables.cpp and
// session_show.cpp.
namespace headrace::sql {
namespace {

std::vector<std::string> texts_of(const qualified_name& from) {
  std::vector<std::string> out;
  for (const auto& each : from.parts)
    out.push_back(each.text);
  return out;
}

const std::optional<graph::object_path>& table_of(const plan_node& sink) {
  return std::get<sink_node>(sink.node).table;
}

/// Of two INSERTs into one table that run together.
bool remove_rows_of_each_other(const insert& one, const insert& other) {
  const bool are_apart =
      !one.partition.empty() && !other.partition.empty() && !(one.partition == other.partition);
  return (one.overwrites || other.overwrites) && !are_apart;
}

std::string unknown_setting(std::string_view key) {
  const auto nearest = nearest_setting(key);
  return "unknown option: " + std::string(key) +
         (nearest.empty() ? "" : ", did you mean " + std::string(nearest));
}

translation_settings translation_of(const configuration& settings) {
  translation_settings out;
  out.is_batch = is_batch_mode(settings);
  out.time_zone = settings.get_text("table.local-time-zone");
  out.idle_timeout_ms = settings.get_duration("table.exec.source.idle-timeout").count();
  out.drops_null = settings.get_text("table.exec.sink.not-null-enforcer") == "DROP";
  const auto lengths = settings.get_text("table.exec.sink.type-length-enforcer");
  out.lengths = lengths == "ERROR"      ? length_enforcer::error
                : lengths == "TRIM_PAD" ? length_enforcer::trim_pad
                                        : length_enforcer::ignore;
  out.refuses_unsteady =
      settings.get_text("table.optimizer.non-deterministic-update.strategy") == "TRY_RESOLVE";
  return out;
}

/// The plans of one job.
std::vector<plan_node> optimize_all(std::vector<plan_node> plans, const execution_settings& how,
                                    std::vector<diagnostic>& findings) {
  for (auto& each : plans)
    each = optimize(std::move(each), how.is_batch);
  plans = share_scans(std::move(plans));
  for (auto& each : plans)
    each = set_execution(std::move(each), how, findings);
  return plans;
}

/// Rows that are shown.
plan_node shown(plan_node rows) {
  plan_node out;
  out.columns = rows.columns;
  out.at = rows.at;
  out.node = sink_node{};
  out.inputs.push_back(std::move(rows));
  return out;
}

/// A job, and one that is explained, know where the options of tables stand.
void set_places(statement_outcome& of, const std::shared_ptr<const option_places>& places) {
  if (auto* job = std::get_if<planned_job>(&of))
    job->places = places;
  auto* words = std::get_if<text_table>(&of);
  if (words == nullptr || words->of == nullptr)
    return;
  auto job = *words->of;
  job.places = places;
  words->of = std::make_shared<const planned_job>(std::move(job));
}

} // namespace

std::nullopt_t sql_session::fail(diagnostic_kind kind, std::string message, source_span at) {
  findings_->push_back({kind, std::move(message), at});
  return std::nullopt;
}

sql_session::maybe sql_session::settle(const status& outcome, source_span at) {
  if (!outcome)
    return fail(diagnostic_kind::invalid, outcome.error().message, at);
  return statement_outcome();
}

std::optional<graph::object_path> sql_session::complete(const qualified_name& name) {
  auto path = catalog_.complete(texts_of(name));
  if (!path)
    return fail(diagnostic_kind::unknown_name, path.error().message, name.at);
  return std::move(*path);
}

std::optional<statement_outcome> sql_session::run(const statement& from,
                                                  std::vector<diagnostic>& findings) {
  findings_ = &findings;
  at_ = from.at;
  views_.clear();
  auto out = std::visit([this](const auto& node) { return run_node(node); }, from.node);
  name_views(findings, views_);
  findings_ = nullptr;
  return out;
}

std::optional<execution_settings> sql_session::execution_of_settings() {
  auto out = execution_settings::of(settings_);
  if (!out)
    return fail(diagnostic_kind::invalid, out.error().message, at_);
  return *out;
}

sql_session::maybe sql_session::job_of(std::vector<plan_node> sinks, std::string name) {
  const auto execution = execution_of_settings();
  if (!execution)
    return std::nullopt;
  const auto known = findings_->size();
  planned_job out;
  out.name =
      settings_.is_set("pipeline.name") ? settings_.get_text("pipeline.name") : std::move(name);
  out.sinks = optimize_all(std::move(sinks), *execution, *findings_);
  if (findings_->size() > known)
    return std::nullopt;
  out.settings = settings_;
  out.libraries = libraries_;
  out.views = views_;
  return out;
}

sql_session::maybe sql_session::run_node(const query_statement& from) {
  query_planner planner(catalog_, *findings_);
  planner.keep_texts(views_);
  planner.set_batch(is_batch_mode(settings_));
  auto plan = planner.plan_collected(from.rows);
  if (!plan)
    return std::nullopt;
  std::vector<plan_node> sinks;
  sinks.push_back(std::move(*plan));
  return job_of(std::move(sinks), "select");
}

sql_session::maybe sql_session::run_node(const insert& from) {
  query_planner planner(catalog_, *findings_);
  planner.keep_texts(views_);
  planner.set_batch(is_batch_mode(settings_));
  auto plan = planner.plan(from);
  if (!plan)
    return std::nullopt;
  std::vector<plan_node> sinks;
  sinks.push_back(std::move(*plan));
  return job_of(std::move(sinks), "insert into " + to_sql(from.table));
}

std::vector<plan_node> sql_session::plan_together(const std::vector<insert>& inserts) {
  const auto plan_all = [&](std::set<graph::object_path>& late, std::vector<diagnostic>& findings) {
    std::vector<plan_node> out;
    for (const auto& each : inserts) {
      query_planner planner(catalog_, findings);
      planner.keep_texts(views_);
      planner.keep_late(late);
      planner.set_batch(is_batch_mode(settings_));
      if (auto plan = planner.plan(each))
        out.push_back(std::move(*plan));
      late.insert(planner.late_views().begin(), planner.late_views().end());
    }
    return out;
  };
  std::set<graph::object_path> late;
  std::vector<diagnostic> told;
  auto out = plan_all(late, told);
  if (!late.empty() && told.empty()) // once more: windows whose late rows one reads give them
    out = plan_all(late, told);
  findings_->insert(findings_->end(), told.begin(), told.end());
  return out;
}

sql_session::maybe sql_session::run_node(const statement_set& from) {
  auto sinks = plan_together(from.inserts);
  if (sinks.size() != from.inserts.size())
    return std::nullopt;
  if (sinks.empty())
    return fail(diagnostic_kind::invalid, "statement set is empty", at_);
  for (std::size_t i = 0; i < sinks.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (table_of(sinks[i]) == table_of(sinks[k]) &&
          remove_rows_of_each_other(from.inserts[i], from.inserts[k]))
        return fail(diagnostic_kind::invalid,
                    "an INSERT OVERWRITE removes what the other INSERT of the set writes into the "
                    "table: make them one, by UNION ALL",
                    from.inserts[i].table.at);
  return job_of(std::move(sinks), "statement set");
}

sql_session::maybe sql_session::run_node(const explain& from) {
  for (const auto detail : from.details)
    if (detail == explain_detail::json_execution_plan)
      return fail(diagnostic_kind::unsupported, "EXPLAIN JSON_EXECUTION_PLAN is not supported yet",
                  at_);
  std::vector<plan_node> plans;
  const auto add = [&](std::optional<plan_node> plan) {
    if (plan)
      plans.push_back(std::move(*plan));
    return plan.has_value();
  };
  query_planner planner(catalog_, *findings_);
  planner.keep_texts(views_);
  planner.set_batch(is_batch_mode(settings_));
  bool is_sound = true;
  const auto& of = from.of->node;
  if (const auto* shown = std::get_if<query_statement>(&of)) {
    is_sound = add(planner.plan(shown->rows));
  } else if (const auto* into = std::get_if<insert>(&of)) {
    is_sound = add(planner.plan(*into));
  } else if (const auto* set = std::get_if<statement_set>(&of)) {
    plans = plan_together(set->inserts);
    is_sound = plans.size() == set->inserts.size();
  } else {
    return fail(diagnostic_kind::unsupported, "EXPLAIN takes a query, INSERT or a statement set",
                from.of->at);
  }
  const auto execution = execution_of_settings();
  if (!is_sound || !execution)
    return std::nullopt;
  const auto known = findings_->size();
  std::string text = "== Logical plan ==\n";
  for (const auto& each : plans)
    text += to_string(each);
  text += "\n== Optimized plan ==\n";
  const bool with_changes = std::find(from.details.begin(), from.details.end(),
                                      explain_detail::changelog_mode) != from.details.end();
  const bool is_shown = std::holds_alternative<query_statement>(of);
  planned_job planned;
  planned.sinks = optimize_all(std::move(plans), *execution, *findings_);
  for (const auto& each : planned.sinks)
    text += with_changes ? to_string_with_changes(each) : to_string(each);
  if (findings_->size() > known)
    return std::nullopt;
  while (text.ends_with('\n'))
    text.pop_back();
  text_table out;
  out.columns = {"result"};
  out.rows.push_back({std::move(text)});
  for (auto& each : planned.sinks)
    if (is_shown)
      each = shown(std::move(each));
  planned.settings = settings_;
  planned.views = views_;
  out.of = std::make_shared<const planned_job>(std::move(planned));
  return out;
}

sql_session::maybe sql_session::run_node(const set_statement& from) {
  if (!from.setting) {
    text_table out;
    out.columns = {"key", "value"};
    for (const auto& [key, value] : settings_.values())
      out.rows.push_back({key, value});
    return out;
  }
  const auto& [key, value] = *from.setting;
  const auto named = current_option_key(key.text);
  auto passed_over = pass_over_setting(named, value.text);
  if (!passed_over)
    return fail(diagnostic_kind::invalid, passed_over.error().message, value.at);
  if (*passed_over) {
    warnings_.push_back(std::move(**passed_over));
    return statement_outcome();
  }
  if (auto done = settings_.set(named, value.text); !done)
    return done.error().code == errc::unknown_option
               ? fail(diagnostic_kind::invalid, unknown_setting(key.text), key.at)
               : fail(diagnostic_kind::invalid, done.error().message, value.at);
  return statement_outcome();
}

sql_session::maybe sql_session::run_node(const reset_statement& from) {
  if (!from.key) {
    settings_ = settings_at_start_;
    return statement_outcome();
  }
  const auto named = current_option_key(from.key->text);
  if (configuration probe; !settings_.is_set(named)) {
    const auto known = probe.set(named, "");
    if (!known && known.error().code == errc::unknown_option && !is_flink_setting(named))
      return fail(diagnostic_kind::invalid, unknown_setting(from.key->text), from.key->at);
  }
  configuration kept;
  for (const auto& [key, value] : settings_.values())
    if (key != named)
      static_cast<void>(kept.set(key, value)); // was taken before
  const auto& at_start = settings_at_start_.values();
  if (const auto found = at_start.find(named); found != at_start.end())
    static_cast<void>(kept.set(found->first, found->second));
  settings_ = std::move(kept);
  return statement_outcome();
}

sql_session::maybe sql_session::run_node(const use& from) {
  const auto path = texts_of(from.object);
  if (from.kind == object_kind::catalog)
    return settle(catalog_.use_catalog(path[0]), from.object.at);
  return settle(catalog_.use_database(path), from.object.at);
}

planned_script plan_script(std::string_view text, sql_session& session) {
  planned_script out;
  const auto places = std::make_shared<option_places>();
  auto parsed = parse_script(text);
  out.findings = std::move(parsed.findings);
  for (const auto& each : parsed.value.statements) {
    if (std::holds_alternative<quit_statement>(each.node))
      break;
    if (auto step = session.run(each, out.findings)) {
      if (const auto* made = std::get_if<create_table>(&each.node))
        if (const auto path = session.catalog().complete(texts_of(made->table)))
          places->note(*path, made->options);
      set_places(*step, places);
      out.steps.push_back(std::move(*step));
    }
  }
  out.warnings = session.take_warnings();
  // What follows from an error before, as from a table that was not made, is told behind it.
  std::stable_sort(out.findings.begin(), out.findings.end(),
                   [](const diagnostic& left, const diagnostic& right) {
                     if (left.view.empty() != right.view.empty()) // places in views are others
                       return left.view.empty();
                     return left.view.empty() && left.at.begin < right.at.begin;
                   });
  if (out.findings.size() > limits::findings_max)
    out.findings.resize(limits::findings_max);
  return out;
}

bool translate_into(graph::pipeline& program, const planned_job& job, stream_tables& streams,
                    const graph::connector_registry& connectors,
                    std::vector<diagnostic>& findings) {
  auto how = translation_of(job.settings);
  how.streams = &streams;
  const bool is_sound = translate_into(program, job.sinks, connectors, how, findings);
  name_views(findings, job.views);
  return is_sound;
}

std::optional<translated_job> translate(const planned_job& job,
                                        const graph::connector_registry& connectors,
                                        std::vector<diagnostic>& findings) {
  auto how = translation_of(job.settings);
  how.places = job.places.get();
  auto out = translate(job.sinks, connectors, how, findings);
  name_views(findings, job.views);
  if (out)
    out->program.settings.name = job.name;
  return out;
}

} // namespace headrace::sql
