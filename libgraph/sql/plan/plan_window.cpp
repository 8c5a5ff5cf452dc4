#include "libgraph/sql/bind/interval_value.hpp"
#include "libgraph/sql/plan/query_planner.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>

// Window functions over tables: TUMBLE, HOP, CUMULATE, SESSION.
namespace headrace::sql {
namespace {

using std::string_view;

constexpr std::int64_t window_days_max = 365'000; ///< of sizes, gaps and offsets
constexpr std::int64_t window_ms_max = window_days_max * 24 * 60 * 60 * 1000;
constexpr std::int64_t windows_a_row_max = 100'000; ///< of HOP and CUMULATE

struct window_signature {
  string_view name;
  window_function kind;
  std::vector<string_view> parameters; ///< a '?' begins those that may be left out
};

const std::vector<window_signature>& signatures() {
  static const std::vector<window_signature> all = {
      {"TUMBLE", window_function::tumble, {"DATA", "TIMECOL", "SIZE", "?OFFSET"}},
      {"HOP", window_function::hop, {"DATA", "TIMECOL", "SLIDE", "SIZE", "?OFFSET"}},
      {"CUMULATE", window_function::cumulate, {"DATA", "TIMECOL", "STEP", "SIZE", "?OFFSET"}},
      {"SESSION", window_function::session, {"DATA", "TIMECOL", "GAP"}},
  };
  return all;
}

/// The arguments in the order of the parameters; null where one was left out.
std::optional<std::vector<const expression*>> arrange(const window_signature& signature,
                                                      const function_call& from, source_span at,
                                                      std::vector<diagnostic>& findings) {
  std::vector<const expression*> out(signature.parameters.size(), nullptr);
  const auto refuse = [&](std::string message, source_span where) {
    findings.push_back({diagnostic_kind::invalid, std::move(message), where});
    return std::nullopt;
  };
  std::size_t next = 0;
  for (const auto& each : from.arguments) {
    auto place = next++;
    if (each.label) {
      const auto wanted = in_capitals(each.label->text);
      const auto found = std::find_if(
          signature.parameters.begin(), signature.parameters.end(),
          [&](string_view name) { return (name[0] == '?' ? name.substr(1) : name) == wanted; });
      place = static_cast<std::size_t>(found - signature.parameters.begin());
      if (found == signature.parameters.end())
        return refuse(std::string(signature.name) + " has no argument " + each.label->text,
                      each.label->at);
    }
    if (place >= out.size() || out[place] != nullptr)
      return refuse(std::string(signature.name) + " takes at most " + std::to_string(out.size()) +
                        " arguments, each once",
                    each.value.at);
    out[place] = &each.value;
  }
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i] == nullptr && signature.parameters[i][0] != '?')
      return refuse(std::string(signature.name) + " needs argument " +
                        std::string(signature.parameters[i]),
                    at);
  return out;
}

std::optional<std::int64_t> milliseconds_of(const expression& from, string_view parameter,
                                            bool may_be_negative,
                                            std::vector<diagnostic>& findings) {
  const auto* given = std::get_if<literal>(&from.node);
  if (given != nullptr && given->interval && given->interval->from > interval_unit::month) {
    const auto value =
        interval_value((given->is_negative ? "-" : "") + given->text, *given->interval);
    const bool has_sense = value && (may_be_negative || *value > 0);
    if (has_sense && *value >= -window_ms_max && *value <= window_ms_max)
      return value;
    if (has_sense) {
      findings.push_back({diagnostic_kind::too_large,
                          std::string(parameter) + " of a window is at most " +
                              std::to_string(window_days_max) + " days",
                          from.at});
      return std::nullopt;
    }
  }
  findings.push_back({diagnostic_kind::invalid,
                      std::string(parameter) + " of a window is " +
                          (may_be_negative ? "an interval" : "a positive interval") +
                          " such as INTERVAL '10' MINUTES",
                      from.at});
  return std::nullopt;
}

/// Whether windows with a slide or a step are as many as a row may be in.
bool check_count(const window_shape& shape, const std::string& label, source_span at,
                 std::vector<diagnostic>& findings) {
  if (shape.slide_ms == 0 || shape.size_ms / shape.slide_ms <= windows_a_row_max)
    return true;
  findings.push_back({diagnostic_kind::too_large,
                      "each row would be in " + std::to_string(shape.size_ms / shape.slide_ms) +
                          " windows of " + label + ", at most " +
                          std::to_string(windows_a_row_max) +
                          " are allowed: make them shorter or further apart",
                      at});
  return false;
}

} // namespace

std::optional<query_planner::relation> query_planner::plan_window(const function_call& from,
                                                                  source_span at) {
  const auto label = in_capitals(from.function.parts.back().text);
  const auto signature = std::find_if(signatures().begin(), signatures().end(),
                                      [&](const auto& each) { return each.name == label; });
  if (signature == signatures().end() || from.function.parts.size() != 1) {
    std::vector<string_view> names;
    for (const auto& each : signatures())
      names.push_back(each.name);
    const auto nearest = nearest_name(label, names);
    return fail(diagnostic_kind::unknown_name,
                "unknown table function: " + label +
                    (nearest.empty() ? "" : ", did you mean " + std::string(nearest)),
                from.function.at);
  }
  const auto arguments = arrange(*signature, from, at, findings_);
  if (!arguments)
    return std::nullopt;
  const auto* rows = std::get_if<table_argument>(&(*arguments)[0]->node);
  const auto* column = std::get_if<descriptor>(&(*arguments)[1]->node);
  if (rows == nullptr)
    return fail(diagnostic_kind::invalid, label + " takes rows as TABLE t or TABLE (SELECT …)",
                (*arguments)[0]->at);
  if (column == nullptr || column->columns.size() != 1)
    return fail(diagnostic_kind::invalid, label + " takes its time column as DESCRIPTOR(column)",
                (*arguments)[1]->at);
  std::optional<relation> input;
  if (rows->table) {
    table_reference reference;
    reference.table = *rows->table;
    input = plan_named(reference, rows->table->at);
  } else if (auto made = plan_query(**rows->rows)) {
    auto scope = scope_of(made->columns, {});
    input = relation{std::move(*made), std::move(scope)};
  }
  if (!input)
    return std::nullopt;

  window_node made;
  made.shape.kind = signature->kind;
  bool is_sound = true;
  const auto take = [&](std::size_t place, std::int64_t& into, bool may_be_negative = false) {
    if (place >= arguments->size() || (*arguments)[place] == nullptr)
      return;
    auto name = signature->parameters[place];
    if (name[0] == '?')
      name.remove_prefix(1);
    const auto value = milliseconds_of(*(*arguments)[place], name, may_be_negative, findings_);
    is_sound &= value.has_value();
    into = value.value_or(0);
  };
  const bool has_step =
      signature->kind == window_function::hop || signature->kind == window_function::cumulate;
  if (has_step)
    take(2, made.shape.slide_ms);
  take(has_step ? 3 : 2, made.shape.size_ms);
  take(has_step ? 4 : 3, made.shape.offset_ms, true);
  if (is_sound && has_step && made.shape.size_ms % made.shape.slide_ms != 0) {
    is_sound = false;
    fail(diagnostic_kind::invalid,
         "size of " + label + " is a multiple of its " +
             (signature->kind == window_function::hop ? "slide" : "step") + ", found " +
             std::to_string(made.shape.size_ms) + " ms and " + std::to_string(made.shape.slide_ms) +
             " ms",
         at);
  }
  is_sound = is_sound && check_count(made.shape, label, at, findings_);
  expression_binder binder(input->scope, findings_, &functions_);
  const auto time = binder.bind(
      {column_reference{{{column->columns[0]}, column->columns[0].at}}, column->columns[0].at});
  if (!time)
    return std::nullopt;
  for (const auto& each : rows->partition_by) {
    const auto bound = binder.bind(each);
    const auto* key = bound ? std::get_if<bound_column>(&bound->node) : nullptr;
    if (bound && key == nullptr)
      is_sound = refuse("PARTITION BY of a window takes columns", each.at);
    is_sound &= bound.has_value();
    if (key != nullptr)
      made.partition.push_back(key->index);
  }
  if (const auto* place = std::get_if<bound_column>(&time->node))
    made.shape.time_column = place->index;
  make_time(input->plan, made.shape.time_column);
  auto& columns = input->plan.columns;
  if (columns[made.shape.time_column].time == time_kind::none) {
    is_sound = false;
    fail(diagnostic_kind::invalid,
         label + " needs a column with a WATERMARK, or of PROCTIME(), and " +
             column->columns[0].text + " is none",
         column->columns[0].at);
  }
  if (!is_sound)
    return std::nullopt;

  auto out = windowed(std::move(input->plan), std::move(made), at);
  auto scope = scope_of(out.columns, {});
  return relation{std::move(out), std::move(scope)};
}

void query_planner::make_time(plan_node& rows, std::size_t column) const {
  const auto& type = rows.columns[column].type;
  const bool is_time =
      type.root() == type_root::timestamp || type.root() == type_root::timestamp_ltz;
  if (!views_->is_batch || rows.columns[column].time != time_kind::none || !is_time ||
      type.precision() > 3)
    return;
  plan_node timed;
  timed.at = rows.at;
  timed.columns = rows.columns;
  timed.columns[column].time = time_kind::row_time;
  timed.node = watermark_node{column};
  timed.inputs.push_back(std::move(rows));
  rows = std::move(timed);
}

plan_node windowed(plan_node input, window_node made, source_span at) {
  plan_node out;
  out.at = at;
  out.columns = input.columns;
  const auto attribute = input.columns[made.shape.time_column];
  made.shape.is_processing_time = attribute.time == time_kind::processing_time;
  made.shape.is_zoned = attribute.type.root() == type_root::timestamp_ltz;
  const auto bound_type = logical_type::timestamp(3).not_null();
  out.columns.push_back({"window_start", bound_type, time_kind::none, window_property::start});
  out.columns.push_back({"window_end", bound_type, time_kind::none, window_property::end});
  out.columns.push_back(
      {"window_time",
       (attribute.type.root() == type_root::timestamp_ltz ? logical_type::timestamp_ltz(3)
                                                          : logical_type::timestamp(3))
           .not_null(),
       attribute.time, window_property::time});
  out.columns[made.shape.time_column].time = time_kind::none;
  out.node = std::move(made);
  out.inputs.push_back(std::move(input));
  return out;
}

/// The window of GROUP BY TUMBLE(ts, INTERVAL …) and its kin: its columns come behind the input's,
/// and the binder finds them by the call and by TUMBLE_START and so on of the same arguments.
std::optional<query_planner::relation>
query_planner::plan_group_window(relation input, const select& from, group_window& found) {
  const function_call* call = nullptr;
  source_span at;
  for (const auto& each : from.group_by)
    for (const auto& key : each.expressions) {
      const auto* candidate = std::get_if<function_call>(&key.node);
      if (candidate == nullptr || !group_window::kind_of(*candidate))
        continue;
      if (call != nullptr)
        return unsupported("GROUP BY takes one window", key.at);
      call = candidate;
      at = key.at;
    }
  if (call == nullptr)
    return input;
  const auto kind = *group_window::kind_of(*call);
  const auto label = in_capitals(call->function.parts[0].text);
  const std::size_t count = kind == window_function::hop ? 3 : 2;
  if (call->arguments.size() != count)
    return fail(diagnostic_kind::invalid,
                label + (count == 3 ? " in GROUP BY takes a time, a slide and a size"
                                    : " in GROUP BY takes a time and an interval"),
                at);
  window_node made;
  made.shape.kind = kind;
  bool is_sound = true;
  const auto interval_at = [&](std::size_t place, string_view name) {
    const auto value = milliseconds_of(call->arguments[place].value, name, false, findings_);
    is_sound &= value.has_value();
    return value.value_or(0);
  };
  if (count == 3)
    made.shape.slide_ms = interval_at(1, "SLIDE");
  made.shape.size_ms = interval_at(count - 1, kind == window_function::session ? "GAP" : "SIZE");
  is_sound = is_sound && check_count(made.shape, label, at, findings_);
  expression_binder binder(input.scope, findings_, &functions_);
  const auto time = binder.bind(call->arguments[0].value);
  if (!time || !is_sound)
    return std::nullopt;
  auto items = identity_items(input.plan.columns);
  std::vector<std::string> names;
  for (const auto& each : input.plan.columns)
    names.push_back(each.name);
  const auto place_of = [&](const bound_expression& value) {
    const auto same = std::find(items.begin(), items.end(), value);
    const auto out = static_cast<std::size_t>(same - items.begin());
    if (same == items.end()) {
      names.push_back("$g" + std::to_string(out));
      items.push_back(value);
    }
    return out;
  };
  made.shape.time_column = place_of(*time);
  if (kind == window_function::session)
    for (const auto& each : from.group_by)
      for (const auto& key : each.expressions) {
        const auto* other = std::get_if<function_call>(&key.node);
        if (other != nullptr && group_window::kind_of(*other))
          continue;
        const auto bound = binder.bind(key);
        if (!bound)
          return std::nullopt;
        made.partition.push_back(place_of(*bound));
      }
  if (items.size() > input.plan.columns.size())
    input.plan = projected(std::move(input.plan), std::move(items), std::move(names));
  make_time(input.plan, made.shape.time_column);
  if (input.plan.columns[made.shape.time_column].time == time_kind::none)
    return fail(diagnostic_kind::invalid,
                label + " in GROUP BY needs a column with a WATERMARK, or of PROCTIME()",
                call->arguments[0].value.at);
  const auto known = input.scope.columns().size();
  input.plan = windowed(std::move(input.plan), std::move(made), at);
  const auto& columns = input.plan.columns;
  for (auto i = known; i < columns.size(); ++i)
    input.scope.add("$window", columns[i].name, columns[i].type, true);
  found.call = call;
  found.first_column = columns.size() - 3;
  return input;
}

} // namespace headrace::sql
