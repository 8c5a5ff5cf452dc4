#include "libgraph/sql/plan/logical_plan.hpp"

#include "libactors/base/text.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace headrace::sql {
namespace {

using std::string_view;

class plan_writer {
public:
  void write(const plan_node& plan, std::size_t depth) {
    if (depth > 0)
      out_ += std::string((depth - 1) * 3, ' ') + "+- ";
    inputs_ = &plan.inputs;
    columns_ = &plan.columns;
    std::visit([this](const auto& node) { put(node); }, plan.node);
    put_traits(plan.traits);
    out_ += '\n';
    for (const auto& each : plan.inputs)
      write(each, depth + 1);
  }
  std::string take() { return std::move(out_); }

private:
  static std::vector<std::string> names_of(const std::vector<plan_column>& columns) {
    std::vector<std::string> out;
    for (const auto& each : columns)
      out.push_back(each.name);
    return out;
  }
  /// Of all inputs, one behind the other.
  std::vector<std::string> input_names() const {
    std::vector<std::string> out;
    for (const auto& input : *inputs_)
      for (const auto& each : input.columns)
        out.push_back(each.name);
    return out;
  }
  std::string fields() const { return join_text(names_of(*columns_), ", "); }
  /// "(x(i), y)", of a row that is read in part.
  static std::string field_names(const logical_type& type) {
    std::string out = "(";
    for (const auto& each : type.fields())
      out += (out.size() > 1 ? ", " : "") + each.name +
             (each.type.root() == type_root::row ? field_names(each.type) : std::string());
    return out + ")";
  }

  /// Inside the operator's last parenthesis.
  void put_traits(const execution_traits& traits) {
    std::vector<std::string> parts;
    if (traits.is_final)
      parts.emplace_back("emit=[end of input]");
    if (std::any_of(traits.ttl_ms.begin(), traits.ttl_ms.end(),
                    [](auto each) { return each > 0; })) {
      std::vector<std::string> each;
      for (const auto ttl_ms : traits.ttl_ms)
        each.push_back(ttl_ms > 0 ? std::to_string(ttl_ms) + " ms" : "never");
      parts.push_back("stateTtl=[" + join_text(each, ", ") + "]");
    }
    if (traits.mini_batch_rows > 0)
      parts.push_back("miniBatch=[" + std::to_string(traits.mini_batch_rows) + " rows, " +
                      std::to_string(traits.mini_batch_latency_ms) + " ms]");
    if (traits.is_two_phase)
      parts.emplace_back("aggPhase=[TWO_PHASE]");
    if (traits.split_column)
      parts.push_back("splitDistinct=[" + inputs_->front().columns[*traits.split_column].name +
                      ", " + std::to_string(traits.split_buckets) + " buckets]");
    if (!traits.one_phase_because.empty())
      parts.push_back("aggPhase=[ONE_PHASE: " + traits.one_phase_because + "]");
    if (parts.empty())
      return;
    out_.pop_back();
    out_ += ", " + join_text(parts, ", ") + ")";
  }

  void put(const scan_node& node) {
    out_ += "TableSourceScan(table=[" + node.table.to_sql() + "], fields=[";
    for (std::size_t i = 0; i < columns_->size(); ++i) {
      const auto& column = (*columns_)[i];
      out_ += (i > 0 ? ", " : "") + column.name;
      if (!(column.type == node.record.child(node.fields[i])))
        out_ += field_names(column.type);
    }
    out_ += "])";
  }
  void put(const values_node& node) {
    out_ += "Values(tuples=[";
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
      out_ += i > 0 ? ", (" : "(";
      for (std::size_t k = 0; k < node.rows[i].size(); ++k)
        out_ += (k > 0 ? ", " : "") + to_string(node.rows[i][k]);
      out_ += ")";
    }
    out_ += "], fields=[" + fields() + "])";
  }
  void put(const watermark_node& node) {
    out_ += "WatermarkAssigner(rowtime=[" + (*columns_)[node.column].name + "], delay=[" +
            std::to_string(node.delay_ms) + " ms]";
    if (node.on_event)
      out_ += ", emit=[on-event]";
    if (node.idle_timeout_ms)
      out_ += ", idleTimeout=[" + std::to_string(*node.idle_timeout_ms) + " ms]";
    out_ += ")";
  }
  void put(const calc_node& node) {
    const auto names = input_names();
    out_ += "Calc(select=[";
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const auto shown = to_string(node.items[i], names);
      out_ += (i > 0 ? ", " : "") + shown;
      if (shown != (*columns_)[i].name)
        out_ += " AS " + (*columns_)[i].name;
    }
    out_ += "]";
    if (node.condition)
      out_ += ", where=[" + to_string(*node.condition, names) + "]";
    out_ += ")";
  }
  void put_items(const std::vector<aggregate_item>& items, std::size_t first) {
    const auto names = input_names();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto& each = items[i];
      out_ += (first + i > 0 ? ", " : "") + each.function + (each.is_distinct ? "(DISTINCT " : "(");
      for (std::size_t k = 0; k < each.arguments.size(); ++k)
        out_ += (k > 0 ? ", " : "") + names[each.arguments[k]];
      out_ += each.arguments.empty() ? "*)" : ")";
      if (each.filter)
        out_ += " FILTER " + names[*each.filter];
      out_ += " AS " + (*columns_)[first + i].name;
    }
  }
  void put(const aggregate_node& node) {
    auto keys = names_of(*columns_);
    keys.resize(node.key_count);
    const auto shown = join_text(keys, ", ");
    out_ +=
        "GroupAggregate(" + (keys.empty() ? "" : "groupBy=[" + shown + "], ") + "select=[" + shown;
    put_items(node.items, node.key_count);
    out_ += "])";
  }
  void put_shape(const window_shape& shape, const carried_bounds* carried = nullptr) {
    static constexpr std::array words{string_view("TUMBLE"), string_view("HOP"),
                                      string_view("CUMULATE"), string_view("SESSION")};
    out_ += "window=[" + std::string(words[static_cast<std::size_t>(shape.kind)]);
    const auto& below = inputs_->front().columns;
    if (carried != nullptr)
      out_ += "(win_start=" + below[carried->start].name + ", win_end=" + below[carried->end].name;
    else
      out_ += "(time=" + below[shape.time_column].name;
    out_ += std::string(shape.kind == window_function::session ? ", gap=" : ", size=") +
            std::to_string(shape.size_ms) + " ms";
    if (shape.slide_ms != 0)
      out_ += (shape.kind == window_function::hop ? ", slide=" : ", step=") +
              std::to_string(shape.slide_ms) + " ms";
    if (shape.offset_ms != 0)
      out_ += ", offset=" + std::to_string(shape.offset_ms) + " ms";
    out_ += ")]";
  }
  void put(const window_node& node) {
    out_ += "WindowTableFunction(";
    put_shape(node.shape);
    if (!node.partition.empty()) {
      std::vector<std::string> names;
      for (const auto column : node.partition)
        names.push_back(inputs_->front().columns[column].name);
      out_ += ", partition=[" + join_text(names, ", ") + "]";
    }
    out_ += ")";
  }
  void put(const window_aggregate_node& node) {
    out_ += "WindowAggregate(";
    auto keys = names_of(*columns_);
    keys.resize(node.keys.size());
    if (!keys.empty())
      out_ += "groupBy=[" + join_text(keys, ", ") + "], ";
    put_shape(node.shape, node.carried ? &*node.carried : nullptr);
    auto kept = names_of(*columns_);
    const auto first = node.keys.size() + node.properties.size();
    kept.resize(first);
    out_ += ", select=[" + join_text(kept, ", ");
    put_items(node.items, first);
    out_ += "])";
  }
  void put(const join_node& node) {
    static constexpr std::array words{string_view("InnerJoin"),      string_view("LeftOuterJoin"),
                                      string_view("RightOuterJoin"), string_view("FullOuterJoin"),
                                      string_view("LeftSemiJoin"),   string_view("LeftAntiJoin")};
    if (node.time)
      out_ += node.time->is_by_window ? "Window" : "Interval";
    out_ += "Join(joinType=[" + std::string(words[static_cast<std::size_t>(node.kind)]) + "]";
    if (node.keys)
      put_keys(*node.keys);
    if (node.keys && node.keys->empty() && !node.spread)
      out_ += ", parallelism=[1]";
    if (node.time)
      put_time(*node.time);
    if (node.spread)
      out_ += std::string(node.spread->is_broadcast ? ", broadcast=[" : ", skewed=[") +
              ((node.spread->small_side == 0) == node.spread->is_broadcast ? "left" : "right") +
              "], buckets=[" + std::to_string(node.spread->buckets) + "]";
    if (node.condition)
      out_ += ", where=[" + to_string(*node.condition, input_names()) + "]";
    out_ += ", select=[" + fields() + "])";
  }
  /// Without keys all rows meet in one subtask.
  void put_keys(const std::vector<join_key>& keys) {
    std::vector<std::string> parts;
    for (const auto& each : keys)
      parts.push_back((*inputs_)[0].columns[each.left].name +
                      (each.is_null_safe ? " IS NOT DISTINCT FROM " : " = ") +
                      (*inputs_)[1].columns[each.right].name);
    out_ += ", keys=[" + join_text(parts, ", ") + "]";
  }
  void put_time(const join_time& time) {
    const auto& left = (*inputs_)[0].columns[time.left].name;
    const auto& right = (*inputs_)[1].columns[time.right].name;
    out_ += ", time=[" + left + ", " + right;
    if (!time.is_by_window)
      out_ +=
          ", from " + std::to_string(time.least_ms) + " to " + std::to_string(time.most_ms) + " ms";
    out_ += "]";
  }
  void put(const lookup_join_node& node) {
    std::vector<std::string> keys;
    const auto left = inputs_->front().columns.size();
    for (const auto& each : node.keys)
      keys.push_back(inputs_->front().columns[each.left].name + " = " +
                     (*columns_)[left + each.right].name);
    out_ += "LookupJoin(table=[" + node.table.table.to_sql() + "], joinType=[" +
            (node.kind == join_type::left ? "LeftOuterJoin" : "InnerJoin") + "], keys=[" +
            join_text(keys, ", ") + "]";
    if (node.condition)
      out_ += ", where=[" + to_string(*node.condition, names_of(*columns_)) + "]";
    out_ += ", select=[" + fields() + "])";
  }
  void put(const correlate_node& node) {
    const auto names = input_names();
    std::vector<std::string> arguments;
    for (const auto& each : node.arguments)
      arguments.push_back(to_string(each, names));
    out_ += "Correlate(invocation=[" + node.function + "(" + join_text(arguments, ", ") + ")" +
            (node.has_ordinality ? " WITH ORDINALITY" : "") + "], joinType=[" +
            (node.kind == join_type::left ? "LeftOuterJoin" : "InnerJoin") + "], select=[" +
            fields() + "])";
  }
  void put(const version_join_node& node) {
    out_ += std::string("TemporalJoin(joinType=[") +
            (node.kind == join_type::left ? "LeftOuterJoin" : "InnerJoin") + "]";
    put_keys(node.keys);
    out_ += ", time=[" + (*inputs_)[0].columns[node.left_time].name + ", " +
            (*inputs_)[1].columns[node.right_time].name + "]";
    if (node.condition)
      out_ += ", where=[" + to_string(*node.condition, names_of(*columns_)) + "]";
    out_ += ", select=[" + fields() + "])";
  }
  void put(const late_node& /*node*/) { out_ += "LateRows(select=[" + fields() + "])"; }
  void put(const dead_letter_node& /*node*/) { out_ += "DeadLetters(select=[" + fields() + "])"; }
  void put(const set_node& node) {
    static constexpr std::array words{string_view("Union"), string_view("Intersect"),
                                      string_view("Except")};
    out_ += std::string(words[static_cast<std::size_t>(node.kind)]) + "(all=[" +
            (node.is_all ? "true" : "false") + "], union=[" + fields() + "])";
  }
  std::string order_of(const std::vector<sort_key>& order) const {
    return order_of(order, *columns_);
  }
  static std::string order_of(const std::vector<sort_key>& order,
                              const std::vector<plan_column>& columns) {
    std::vector<std::string> keys;
    for (const auto& each : order)
      keys.push_back(
          columns[each.column].name + (each.is_descending ? " DESC" : " ASC") +
          (each.nulls_first == each.is_descending ? " NULLS" : "") +
          (each.nulls_first == each.is_descending ? (each.nulls_first ? " FIRST" : " LAST") : ""));
    return "orderBy=[" + join_text(keys, ", ") + "]";
  }
  std::string names_at(const std::vector<std::size_t>& columns) const {
    std::vector<std::string> out;
    for (const auto each : columns)
      out.push_back((*columns_)[each].name);
    return join_text(out, ", ");
  }
  /// @param side  where an end of the partition is
  std::string edge_of(const graph::over_edge& edge, const char* side) const {
    switch (edge.kind) {
    case graph::over_bound::unbounded:
      return std::string("UNBOUNDED ") + side;
    case graph::over_bound::value:
      return edge.column < 0 ? std::string("a value")
                             : inputs_->front().columns[static_cast<std::size_t>(edge.column)].name;
    case graph::over_bound::rows:
      if (edge.rows != 0)
        return std::to_string(std::abs(edge.rows)) + (edge.rows < 0 ? " PRECEDING" : " FOLLOWING");
      break;
    case graph::over_bound::peers:
      break;
    }
    return "CURRENT ROW";
  }
  void put(const over_node& node) {
    out_ += "OverAggregate(";
    if (!node.partition.empty())
      out_ += "partitionBy=[" + names_at(node.partition) + "], ";
    if (!node.order.empty())
      out_ += order_of(node.order) + ", ";
    const auto first = node.preceding ? std::to_string(*node.preceding) +
                                            (node.is_rows ? "" : " ms") + " PRECEDING"
                                      : edge_of(node.frame.first, "PRECEDING");
    out_ += std::string("window=[") + (node.is_rows ? "ROWS" : "RANGE") + " BETWEEN " + first +
            " AND " + edge_of(node.frame.last, "FOLLOWING") + "], select=[";
    auto passed = names_of(*columns_);
    passed.resize(inputs_->front().columns.size());
    out_ += join_text(passed, ", ");
    put_items(node.items, passed.size());
    out_ += "])";
  }
  void put(const rank_node& node) {
    const auto& below = inputs_->front().columns;
    const bool is_of_time =
        node.order.empty() ||
        (node.order.size() == 1 && below[node.order[0].column].time != time_kind::none);
    if (node.window_end)
      out_ += "Window";
    const bool is_deduplication = node.last == 1 && !node.outputs_rank && is_of_time &&
                                  (node.prefers_latest || !node.partition.empty());
    if (is_deduplication) {
      out_ += std::string("Deduplicate(keep=[") + (node.prefers_latest ? "LastRow" : "FirstRow") +
              "], key=[" + names_at(node.partition) + "], order=[" +
              (node.order.empty() ? "PROCTIME" : "ROWTIME") + "])";
      return;
    }
    out_ += "Rank(rankType=[ROW_NUMBER], rankRange=[rankStart=" + std::to_string(node.first) +
            ", rankEnd=" + std::to_string(node.last) + "], partitionBy=[" +
            names_at(node.partition) + "], " + order_of(node.order) + ", select=[" + fields() +
            "])";
  }
  static std::string quantifier_of(const pattern_variable& of) {
    const auto& most = of.repeat_max;
    const auto least = std::to_string(of.repeat_min);
    std::string out;
    if (!most)
      out = of.repeat_min == 0 ? "*" : of.repeat_min == 1 ? "+" : "{" + least + ",}";
    else if (*most == 1)
      out = of.repeat_min == 0 ? "?" : "";
    else
      out = *most == of.repeat_min ? "{" + least + "}"
                                   : "{" + least + "," + std::to_string(*most) + "}";
    return out + (of.is_reluctant ? "?" : "");
  }
  /// "LAST(A.price, 1)"; names without a variable are of any.
  static std::string text_of(const pattern_value& value, const match_node& node,
                             const std::vector<std::string>& names) {
    const auto prefix = value.variable ? node.variables[*value.variable].name + "." : std::string();
    if (value.what == pattern_value::kind::match_time)
      return "MATCH_ROWTIME()";
    if (value.what == pattern_value::kind::aggregate) {
      std::vector<std::string> named;
      for (const auto& each : names)
        named.push_back(prefix + each);
      std::vector<std::string> arguments;
      for (const auto& each : value.arguments)
        arguments.push_back(to_string(each, named));
      return value.function + "(" + (arguments.empty() ? "*" : join_text(arguments, ", ")) + ")";
    }
    return (value.what == pattern_value::kind::first ? "FIRST(" : "LAST(") + prefix +
           names[value.column] + ", " + std::to_string(value.offset) + ")";
  }
  static std::string skip_of(const match_node& node) {
    switch (node.skip) {
    case match_skip::past_last_row:
      return "PAST LAST ROW";
    case match_skip::to_first:
      return "TO FIRST " + node.variables[*node.skip_variable].name;
    case match_skip::to_last:
      return "TO LAST " + node.variables[*node.skip_variable].name;
    default:
      return "TO NEXT ROW";
    }
  }
  void put(const match_node& node) {
    const auto& below = inputs_->front().columns;
    auto names = names_of(below);
    const auto keys = node.partition.size();
    out_ += "Match(";
    if (keys > 0) {
      auto shown = names_of(*columns_);
      shown.resize(keys);
      out_ += "partitionBy=[" + join_text(shown, ", ") + "], ";
    }
    out_ += order_of(node.order, below) + ", ";
    const auto columns = names;
    for (const auto& each : node.values)
      names.push_back(text_of(each, node, columns));
    out_ += "measures=[";
    for (std::size_t i = 0; i < node.measures.size(); ++i)
      out_ += (i > 0 ? ", " : "") + to_string(node.measures[i], names) + " AS " +
              (*columns_)[keys + i].name;
    out_ += "], after=[SKIP " + skip_of(node) + "], pattern=[";
    std::string defines;
    for (std::size_t i = 0; i < node.variables.size(); ++i) {
      const auto& each = node.variables[i];
      out_ += (i > 0 ? " " : "") + each.name + quantifier_of(each);
      if (each.condition)
        defines +=
            (defines.empty() ? "" : ", ") + each.name + " AS " + to_string(*each.condition, names);
    }
    out_ += "]";
    if (node.within_ms > 0)
      out_ += ", within=[" + std::to_string(node.within_ms) + " ms]";
    out_ += ", define=[" + defines + "])";
  }
  void put(const sort_node& node) {
    out_ += node.keys.empty() ? "Limit(" : node.limit ? "SortLimit(" : "Sort(";
    std::vector<std::string> parts;
    if (!node.keys.empty())
      parts.push_back(order_of(node.keys));
    if (node.offset > 0)
      parts.push_back("offset=[" + std::to_string(node.offset) + "]");
    if (node.limit)
      parts.push_back("fetch=[" + std::to_string(*node.limit) + "]");
    out_ += join_text(parts, ", ") + ")";
  }
  void put(const sink_node& node) {
    out_ += "Sink(" + (node.table ? "table=[" + node.table->to_sql() + "], " : std::string()) +
            "fields=[" + fields() + "])";
  }

  std::string out_;
  const std::vector<plan_node>* inputs_ = nullptr;
  const std::vector<plan_column>* columns_ = nullptr;
};

} // namespace

logical_type plan_node::row_type() const {
  std::vector<logical_type::field> fields;
  for (const auto& each : columns)
    fields.push_back({each.name, each.type, {}});
  return logical_type::row(std::move(fields)).not_null();
}

std::string to_string(const plan_node& plan) {
  plan_writer writer;
  writer.write(plan, 0);
  return writer.take();
}

} // namespace headrace::sql
