#include "libgraph/sql/optimize/set_execution.hpp"

#include "libgraph/sql/optimize/changelog.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

namespace headrace::sql {
namespace {

constexpr std::array merged{"AVG",         "COUNT",   "SUM",     "STDDEV_POP",
                            "STDDEV_SAMP", "VAR_POP", "VAR_SAMP"};
/// Of rows that only come, and of values of fixed widths.
constexpr std::array merged_of_inserts{"FIRST_VALUE", "LAST_VALUE", "MAX", "MIN"};

template <class Names>
bool is_one_of(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Why sums of parts of the rows cannot be merged; empty: they can.
std::string cannot_merge(const aggregate_item& item, const plan_node& input, bool is_updated) {
  if (item.is_distinct && !item.arguments.empty())
    return item.function + "(DISTINCT …) knows each value";
  if (is_one_of(merged, item.function))
    return {};
  if (!is_one_of(merged_of_inserts, item.function))
    return item.function + " cannot be merged";
  if (is_updated)
    return item.function + " of rows that are updated knows each value";
  const auto& type = input.columns[item.arguments[0]].type;
  const bool is_fixed = type.physical() != graph::physical_type::string && type.width_bytes() > 0;
  return is_fixed ? std::string()
                  : item.function + " of " + type.nullable().to_sql() + " cannot be merged";
}

constexpr std::array split{"COUNT", "MAX", "MIN", "SUM"};

/// The column whose DISTINCT values can be spread over groups of their own: the only one of all
/// calls that have it, beside others whose results can be summed up.
std::optional<std::size_t> find_split_column(const aggregate_node& node) {
  std::optional<std::size_t> out;
  for (const auto& each : node.items) {
    if (!is_one_of(split, each.function))
      return std::nullopt;
    // One of a part of the values that is NULL beyond 38 digits would be passed over.
    if (each.function == "SUM" && each.type.root() == graph::type_root::decimal)
      return std::nullopt;
    if (!each.is_distinct || each.arguments.empty())
      continue;
    if (out && *out != each.arguments[0])
      return std::nullopt;
    out = each.arguments[0];
  }
  return out;
}

class execution_setter {
public:
  execution_setter(const execution_settings& settings, std::vector<diagnostic>& findings)
      : settings_(settings), findings_(findings) {}

  void visit(plan_node& plan) const {
    for (auto& each : plan.inputs)
      visit(each);
    if (plan.traits.is_final)
      return; // all state is of the window
    std::visit([&](const auto& node) { set(node, plan); }, plan.node);
  }

private:
  void set(const aggregate_node& node, plan_node& plan) const {
    set_ttl(plan);
    if (node.ttl_ms)
      plan.traits.ttl_ms = {*node.ttl_ms};
    set_mini_batch(plan);
    if (settings_.split_buckets > 0)
      plan.traits.split_column = find_split_column(node);
    if (plan.traits.split_column) {
      plan.traits.split_buckets = settings_.split_buckets;
      return;
    }
    const bool is_asked = settings_.phases == phase_strategy::two_phase || node.is_skewed;
    if (!is_asked && (settings_.phases == phase_strategy::one_phase || !has_mini_batch()))
      return;
    const auto& input = plan.inputs[0];
    const bool is_updated = find_updating(input) != nullptr;
    for (const auto& each : node.items)
      if (plan.traits.one_phase_because.empty())
        plan.traits.one_phase_because = cannot_merge(each, input, is_updated);
    plan.traits.is_two_phase = plan.traits.one_phase_because.empty();
    if (node.is_skewed && !plan.traits.is_two_phase)
      findings_.push_back({diagnostic_kind::unsupported,
                           "hint SKEW does not fit this GROUP BY, whose rows cannot be summed up "
                           "before the exchange: " +
                               plan.traits.one_phase_because,
                           plan.at});
  }
  void set(const join_node& node, plan_node& plan) const {
    if (node.time)
      return; // time bounds what is kept
    set_ttl(plan);
    for (std::size_t i = 0; i < node.ttl_ms.size(); ++i)
      plan.traits.ttl_ms[i] = node.ttl_ms[i].value_or(plan.traits.ttl_ms[i]);
    set_mini_batch(plan);
  }
  void set(const rank_node& node, plan_node& plan) const {
    if (node.window_end)
      return;
    set_ttl(plan);
    // In an order each version of a key is told, as Flink does.
    if (node.last == 1 && node.order.empty() && find_updating(plan.inputs[0]) == nullptr)
      set_mini_batch(plan);
  }
  void set(const over_node& node, plan_node& plan) const {
    const bool is_bounded_by_time = !node.is_rows && node.preceding.has_value();
    if (!is_bounded_by_time)
      set_ttl(plan);
  }
  void set(const sort_node& node, plan_node& plan) const {
    if (node.limit)
      set_ttl(plan);
  }
  template <class Other>
  void set(const Other& /*keeps nothing, or not for long*/, plan_node& /*plan*/) const {}

  bool has_mini_batch() const { return settings_.mini_batch_rows > 0; }
  void set_ttl(plan_node& plan) const {
    plan.traits.ttl_ms.assign(plan.inputs.size(), settings_.state_ttl_ms);
  }
  void set_mini_batch(plan_node& plan) const {
    plan.traits.mini_batch_rows = settings_.mini_batch_rows;
    plan.traits.mini_batch_latency_ms = settings_.mini_batch_latency_ms;
  }

  const execution_settings& settings_;
  std::vector<diagnostic>& findings_;
};

/// What an operator keeps of its input, with the operator's name and its key.
struct state_teller {
  const plan_node& plan;

  std::string operator()(const aggregate_node& node) const {
    if (node.key_count == 0)
      return {}; // one group
    std::vector<std::size_t> keys(node.key_count);
    std::iota(keys.begin(), keys.end(), std::size_t{0});
    const auto names = names_of(plan, keys);
    return "GroupAggregate(groupBy=[" + names + "]) keeps a group for each value of " + names;
  }
  std::string operator()(const join_node& node) const {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < 2; ++i)
      if (plan.traits.ttl_ms[i] == 0)
        kept.emplace_back(i == 0 ? "left" : "right");
    std::vector<std::string> keys;
    for (const auto& each : node.keys.value_or(std::vector<join_key>()))
      keys.push_back(plan.inputs[0].columns[each.left].name + " = " +
                     plan.inputs[1].columns[each.right].name);
    return "Join(keys=[" + join_text(keys, ", ") + "]) keeps all rows of its " +
           join_text(kept, " and its ") + " side";
  }
  std::string operator()(const rank_node& node) const { return of_ranks(node.partition); }
  std::string operator()(const sort_node& /*node*/) const { return of_ranks({}); }
  std::string operator()(const over_node& node) const {
    if (node.partition.empty())
      return {};
    const auto names = names_of(plan.inputs[0], node.partition);
    return "OverAggregate(partitionBy=[" + names + "]) keeps a row for each value of " + names;
  }
  template <class Other>
  std::string operator()(const Other& /*node*/) const {
    return {};
  }

private:
  /// Of rows that only come those without a rank are dropped.
  std::string of_ranks(const std::vector<std::size_t>& partition) const {
    const auto names = names_of(plan.inputs[0], partition);
    const auto label = "Rank(partitionBy=[" + names + "])";
    if (find_updating(plan.inputs[0]) != nullptr)
      return label + " keeps all rows, as they are updated";
    return partition.empty() ? std::string() : label + " keeps rows for each value of " + names;
  }
  static std::string names_of(const plan_node& rows, const std::vector<std::size_t>& columns) {
    std::vector<std::string> out;
    for (const auto each : columns)
      out.push_back(rows.columns[each].name);
    return join_text(out, ", ");
  }
};

void tell_lasting_state(const plan_node& plan, std::vector<std::string>& out) {
  for (const auto& each : plan.inputs)
    tell_lasting_state(each, out);
  const auto& ttl_ms = plan.traits.ttl_ms;
  if (std::find(ttl_ms.begin(), ttl_ms.end(), 0) == ttl_ms.end())
    return;
  auto told = std::visit(state_teller{plan}, plan.node);
  if (told.empty())
    return;
  told += " for ever; bound it by table.exec.state.ttl";
  if (std::holds_alternative<aggregate_node>(plan.node) ||
      std::holds_alternative<join_node>(plan.node))
    told += ", or the hint STATE_TTL";
  if (std::find(out.begin(), out.end(), told) == out.end())
    out.push_back(std::move(told));
}

} // namespace

result<execution_settings> execution_settings::of(const configuration& settings) {
  execution_settings out;
  out.is_batch = is_batch_mode(settings);
  if (out.is_batch)
    return out;
  out.state_ttl_ms = settings.get_duration("table.exec.state.ttl").count();
  const auto strategy = settings.get_text("table.optimizer.agg-phase-strategy");
  out.phases = strategy == "ONE_PHASE"   ? phase_strategy::one_phase
               : strategy == "TWO_PHASE" ? phase_strategy::two_phase
                                         : phase_strategy::automatic;
  if (settings.get_bool("table.optimizer.distinct-agg.split.enabled"))
    out.split_buckets = settings.get_int("table.optimizer.distinct-agg.split.bucket-num");
  if (!settings.get_bool("table.exec.mini-batch.enabled"))
    return out;
  out.mini_batch_rows = settings.get_int("table.exec.mini-batch.size");
  out.mini_batch_latency_ms = settings.get_duration("table.exec.mini-batch.allow-latency").count();
  const auto missing = [](const char* key, const std::string& found) {
    return error(errc::bad_option_value, std::string("table.exec.mini-batch.enabled wants ") + key +
                                             " to be more than 0, found " + found);
  };
  if (out.mini_batch_latency_ms <= 0)
    return missing("table.exec.mini-batch.allow-latency",
                   std::to_string(out.mini_batch_latency_ms) + " ms");
  if (out.mini_batch_rows <= 0)
    return missing("table.exec.mini-batch.size", std::to_string(out.mini_batch_rows));
  return out;
}

bool is_batch_mode(const configuration& settings) {
  return in_capitals(settings.get_text("execution.runtime-mode")) == "BATCH";
}

plan_node set_execution(plan_node plan, const execution_settings& settings,
                        std::vector<diagnostic>& findings) {
  execution_setter(settings, findings).visit(plan);
  return plan;
}

std::vector<std::string> find_lasting_state(const plan_node& plan) {
  std::vector<std::string> out;
  tell_lasting_state(plan, out);
  return out;
}

} // namespace headrace::sql
