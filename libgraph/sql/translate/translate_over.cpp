#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/translate/translator.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace headrace::sql {
namespace {

/// What runs with OVER over a stream.
bool is_known(const aggregate_item& item) {
  static constexpr std::array names{std::string_view("AVG"),        std::string_view("COUNT"),
                                    std::string_view("DENSE_RANK"), std::string_view("FIRST_VALUE"),
                                    std::string_view("LAG"),        std::string_view("LAST_VALUE"),
                                    std::string_view("MAX"),        std::string_view("MIN"),
                                    std::string_view("RANK"),       std::string_view("ROW_NUMBER"),
                                    std::string_view("STDDEV_POP"), std::string_view("STDDEV_SAMP"),
                                    std::string_view("SUM"),        std::string_view("VAR_POP"),
                                    std::string_view("VAR_SAMP")};
  return !item.is_distinct && std::find(names.begin(), names.end(), item.function) != names.end();
}

/// All rows of each partition in an order, when the input has ended: in batch mode.
plan_node in_order(const over_node& node, const plan_node& input) {
  rank_node all;
  all.partition = node.partition;
  all.order = node.order;
  all.last = std::numeric_limits<std::int64_t>::max();
  plan_node out;
  out.at = input.at;
  out.node = std::move(all);
  out.columns = input.columns;
  out.inputs.push_back(input);
  out.traits.is_final = true;
  return out;
}

bool is_rank(const aggregate_item& item) {
  return item.function == "RANK" || item.function == "DENSE_RANK";
}

/// What is to know which rows are equal in the order; null: all run in any order, of rows that end.
/// Rows come in their order then: which of them are equal in it is not known any more.
const aggregate_item* find_of_equals(const over_node& node) {
  static constexpr std::array of_any{std::string_view("FIRST_VALUE"), std::string_view("LAG"),
                                     std::string_view("ROW_NUMBER")};
  const aggregate_item* out = nullptr;
  for (const auto& each : node.items) {
    const bool is_of_any = std::find(of_any.begin(), of_any.end(), each.function) != of_any.end();
    if (is_of_any || (node.is_rows && !is_rank(each)))
      continue;
    if (out == nullptr || is_rank(each)) // no frame helps a rank
      out = &each;
  }
  return out;
}

/// Why a window in another order than that of time does not run; empty: it does.
std::string refusal_of(const over_node& node, bool is_batch) {
  const auto* of_equals = find_of_equals(node);
  if (is_batch && of_equals == nullptr)
    return {};
  if (node.order.empty()) // those of ranks are not
    return "OVER takes ORDER BY of a time attribute, ascending; for one result of all rows of a "
           "partition join them with a sub-query that has GROUP BY in place of PARTITION BY";
  const std::string around = " with a condition such as n <= 10 around it";
  if (of_equals != nullptr && is_rank(*of_equals))
    return of_equals->function +
           " takes ORDER BY of a time attribute, ascending; ROW_NUMBER takes any order" +
           (is_batch ? std::string() : around);
  const std::string rows = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW";
  if (is_batch)
    return "RANGE takes ORDER BY of a time attribute, ascending; of other columns say " + rows;
  return "ORDER BY of OVER takes a time attribute, ascending, unless it ranks rows by ROW_NUMBER" +
         around + "; of tables that end SET 'execution.runtime-mode' = 'batch' takes any order" +
         (of_equals != nullptr ? " with " + rows : std::string());
}

} // namespace

/// Only what no Top-N was made of comes here.
maybe_index job_translator::make(const over_node& node, const plan_node& plan) {
  const auto& input = plan.inputs[0];
  if (const auto* updating = find_updating(input))
    return fail(diagnostic_kind::unsupported,
                "OVER does not take rows that are updated or taken back, as those of this are",
                updating->at);
  const bool is_over_time = node.order.size() == 1 && !node.order[0].is_descending &&
                            input.columns[node.order[0].column].time != time_kind::none;
  for (const auto& each : node.items)
    if (!is_known(each))
      return each.function == "LEAD"
                 ? fail(diagnostic_kind::unsupported,
                        "LEAD would wait for rows to come; take LAG of the later row", plan.at)
                 : not_yet(each.function + (each.is_distinct ? " with DISTINCT" : "") +
                               " with OVER",
                           plan.at);
  if (!is_over_time)
    if (auto refusal = refusal_of(node, settings_.is_batch); !refusal.empty())
      return fail(diagnostic_kind::unsupported, std::move(refusal), plan.at);
  auto below =
      is_over_time ? visit(input) : visit(made_of_final_.emplace_back(in_order(node, input)));
  if (!below)
    return std::nullopt;
  graph::over_spec spec;
  if (is_over_time && input.columns[node.order[0].column].time == time_kind::row_time)
    spec.time_column = static_cast<std::int32_t>(node.order[0].column);
  spec.is_rows = node.is_rows;
  spec.preceding = node.preceding.value_or(-1);
  spec.calls = calls_of(node.items);
  spec.state_ttl_ms = ttl_of(plan);
  spec.key_columns = numbers(node.partition);
  auto type = input.row_type();
  const auto keyed = add_keyed(*below, type, spec.key_columns);
  const auto width = input.columns.size();
  const bool is_global = node.partition.empty();
  auto fields = type.fields();
  for (auto i = width; i < plan.columns.size(); ++i)
    fields.push_back({plan.columns[i].name, plan.columns[i].type, {}});
  const auto made =
      add("over", std::move(spec), {keyed}, logical_type::row(std::move(fields)).not_null());
  if (!is_global)
    return made;
  out_.program.at(made).parallelism = 1;
  auto back = first_numbers(plan.columns.size());
  for (auto i = width; i < back.size(); ++i)
    ++back[i]; // behind the constant
  return add("project", graph::project_spec{numbers(back)}, {made}, plan.row_type());
}

} // namespace headrace::sql
