#include "libgraph/sql/plan/hints.hpp"

#include "libgraph/types/value_text.hpp"
#include "libactors/base/option.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace headrace::sql {
namespace {

constexpr std::int64_t buckets_max = 1024;
/// How batch jobs and lookups go about it.
constexpr std::array ignored{"SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP", "LOOKUP"};

const char* name_of_join(join_type kind) {
  constexpr std::array names{"inner", "left outer", "right outer", "full outer", "semi", "anti"};
  return names[static_cast<std::size_t>(kind)];
}

} // namespace

select_hints::select_hints(const std::vector<hint>& given, std::vector<diagnostic>& findings)
    : findings_(findings) {
  for (const auto& each : given)
    take(each);
}

void select_hints::refuse(std::string message, source_span at) {
  is_sound_ = false;
  findings_.push_back({diagnostic_kind::invalid, std::move(message), at});
}

void select_hints::take(const hint& from) {
  const auto label = in_capitals(from.label.text);
  if (label == "STATE_TTL")
    return take_ttl(from);
  if (label == "SKEW")
    return take_skew(from);
  if (label == "BROADCAST") {
    for (const auto& each : from.arguments) {
      if (each.key)
        return refuse("hint BROADCAST names tables: BROADCAST(t)", from.label.at);
      wishes_.push_back(
          {kind::broadcast, each.value.text, {}, broadcast_buckets, from.label.at, false});
    }
    if (from.arguments.empty())
      refuse("hint BROADCAST names a table: BROADCAST(t)", from.label.at);
    return;
  }
  if (std::find(ignored.begin(), ignored.end(), label) != ignored.end())
    return;
  refuse("unknown hint: " + from.label.text +
             "; known are STATE_TTL, BROADCAST and SKEW behind SELECT, OPTIONS behind a table",
         from.label.at);
}

void select_hints::take_ttl(const hint& from) {
  for (const auto& each : from.arguments) {
    configuration probe;
    if (!each.key || !probe.set("table.exec.state.ttl", each.value.text))
      return refuse("hint STATE_TTL gives tables a duration: STATE_TTL('t' = '1 d')",
                    from.label.at);
    wishes_.push_back({kind::ttl,
                       each.key->text,
                       {},
                       probe.get_duration("table.exec.state.ttl").count(),
                       from.label.at,
                       false});
  }
}

void select_hints::take_skew(const hint& from) {
  wish made{kind::skew, {}, {}, skew_buckets, from.label.at, false};
  bool is_sound = true;
  for (const auto& each : from.arguments) {
    const auto key = each.key ? each.key->text : std::string();
    if (key == "table") {
      made.table = each.value.text;
    } else if (key == "column") {
      made.column = each.value.text;
    } else if (key == "buckets") {
      made.number = graph::parse_integer<std::int64_t>(each.value.text).value_or(0);
    } else {
      is_sound = false;
    }
  }
  if (!is_sound || made.table.empty() || made.column.empty() || made.number < 2 ||
      made.number > buckets_max)
    return refuse("hint SKEW is SKEW('table' = 't', 'column' = 'c'), perhaps with 'buckets' = 2 "
                  "to 1024",
                  from.label.at);
  wishes_.push_back(std::move(made));
}

select_hints::wish* select_hints::find(kind what, std::string_view table) {
  for (auto& each : wishes_)
    if (each.what == what && each.table == table && !table.empty()) {
      each.is_used = true;
      return &each;
    }
  return nullptr;
}

bool select_hints::apply(join_node& join, std::string_view left, std::string_view right,
                         const std::vector<plan_column>& columns, std::size_t left_count,
                         source_span at) {
  const std::string_view tables[] = {left, right};
  for (std::size_t side = 0; side < 2; ++side) {
    if (const auto* ttl = find(kind::ttl, tables[side]))
      join.ttl_ms[side] = ttl->number;
    if (const auto* small = find(kind::broadcast, tables[side]);
        small != nullptr && !spread(join, *small, side, at))
      return false;
    const auto* skewed = find(kind::skew, tables[side]);
    if (skewed == nullptr)
      continue;
    const auto begin = columns.begin() + static_cast<std::ptrdiff_t>(side == 0 ? 0 : left_count);
    const auto end =
        side == 0 ? columns.begin() + static_cast<std::ptrdiff_t>(left_count) : columns.end();
    if (std::none_of(begin, end,
                     [&](const plan_column& each) { return each.name == skewed->column; })) {
      refuse("hint SKEW names a column that the table has not: " + skewed->column, skewed->at);
      return false;
    }
    if (!spread(join, *skewed, 1 - side, at))
      return false;
  }
  return true;
}

/// Rows without a match are told where all that may match are: the small side is never kept whole.
bool select_hints::spread(join_node& join, const wish& by, std::size_t small_side, source_span at) {
  const auto* name = by.what == kind::broadcast ? "BROADCAST" : "SKEW";
  const bool is_left_alone = join.kind == join_type::semi || join.kind == join_type::anti;
  const bool is_sound = join.kind == join_type::inner ||
                        (small_side == 1 ? join.kind == join_type::left || is_left_alone
                                         : join.kind == join_type::right);
  if (!is_sound) {
    refuse(std::string("hint ") + name + "(" + by.table + ") does not fit a " +
               name_of_join(join.kind) +
               " join: rows of the table that is in each bucket would be told as unmatched in each",
           at);
    return false;
  }
  if (join.spread) {
    refuse("hints say twice how a join's rows are spread: " + by.table, by.at);
    return false;
  }
  join.spread = join_spread{by.what == kind::broadcast, small_side, by.number};
  return true;
}

void select_hints::apply(aggregate_node& groups, std::string_view table) {
  if (const auto* ttl = find(kind::ttl, table))
    groups.ttl_ms = ttl->number;
  if (find(kind::skew, table) != nullptr)
    groups.is_skewed = true;
}

bool select_hints::check_used() {
  static constexpr std::array names{"STATE_TTL", "BROADCAST", "SKEW"};
  for (const auto& each : wishes_)
    if (!each.is_used)
      refuse(std::string("hint ") + names[static_cast<std::size_t>(each.what)] +
                 " names no table of a join or GROUP BY here: " + each.table +
                 "; tables are named by their alias",
             each.at);
  return is_sound_;
}

bool check_table_hints(const std::vector<hint>& given, std::vector<diagnostic>& findings) {
  for (const auto& each : given)
    if (in_capitals(each.label.text) != "OPTIONS") {
      findings.push_back(
          {diagnostic_kind::invalid,
           "unknown hint of a table: " + each.label.text + "; known is OPTIONS('key' = 'value')",
           each.label.at});
      return false;
    }
  return true;
}

} // namespace headrace::sql
