#include "libgraph/sql/translate/job_translator.hpp"

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/batch_codec.hpp"
#include "libgraph/expression/program.hpp"
#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/translate/check_constants.hpp"
#include "libgraph/sql/translate/expression_translator.hpp"
#include "libgraph/types/value_text.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <numeric>

namespace headrace::sql {
namespace {

using graph::operator_call;
using graph::partitioner_kind;
using graph::partitioner_spec;

std::vector<std::int32_t> numbers(const std::vector<std::size_t>& from) {
  std::vector<std::int32_t> out;
  for (const auto each : from)
    out.push_back(static_cast<std::int32_t>(each));
  return out;
}

std::vector<std::size_t> first_numbers(std::size_t count) {
  std::vector<std::size_t> out(count);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

graph::connector_spec connector_of(const graph::object_options& options) {
  graph::connector_spec out;
  for (const auto& [key, value] : options) {
    if (key == "connector")
      out.name = value;
    else
      out.options.emplace(key, value);
  }
  return out;
}

graph::row_type_ptr shared(const logical_type& type) {
  return std::make_shared<const logical_type>(type);
}

class job_translator {
public:
  job_translator(const graph::connector_registry& connectors, const translation_settings& settings,
                 std::vector<diagnostic>& findings)
      : connectors_(connectors), settings_(settings), findings_(findings) {}

  std::optional<translated_job> translate(const std::vector<plan_node>& sinks) {
    bool is_sound = true;
    for (const auto& each : sinks)
      is_sound &= add_sink(each);
    return is_sound ? std::optional(std::move(out_)) : std::nullopt;
  }

private:
  using maybe = std::optional<std::int32_t>;

  std::nullopt_t fail(diagnostic_kind kind, std::string message, source_span at) {
    findings_.push_back({kind, std::move(message), at});
    return std::nullopt;
  }
  std::nullopt_t not_yet(const std::string& what, source_span at) {
    return fail(diagnostic_kind::unsupported, what + " cannot be run yet", at);
  }
  std::int32_t add(std::string name, graph::operator_spec spec, std::vector<std::int32_t> inputs,
                   logical_type type) {
    graph::transformation made;
    made.name = std::move(name);
    made.call = operator_call{std::move(spec), {}};
    made.inputs = std::move(inputs);
    made.output_type = std::move(type);
    for (const auto input : made.inputs)
      made.parallelism = std::max(made.parallelism, fixed_parallelism(input));
    return out_.program.add(std::move(made));
  }
  /// That of the operators whose rows come out of `index`; 0: the job's. Who reads them has the
  /// same, as rows that are dealt out to several may overtake those that they take back.
  std::int32_t fixed_parallelism(std::int32_t index) {
    const auto& node = out_.program.at(index);
    if (std::holds_alternative<graph::partition_call>(node.call))
      return 0;
    auto out = node.parallelism;
    if (std::holds_alternative<graph::union_call>(node.call))
      for (const auto input : node.inputs)
        out = std::max(out, fixed_parallelism(input));
    return out;
  }
  std::int32_t partition(std::int32_t input, const logical_type& type,
                         std::vector<std::int32_t> keys) {
    graph::transformation made;
    made.name = "partition";
    partitioner_spec how;
    how.kind = keys.empty() ? partitioner_kind::global : partitioner_kind::hash;
    how.key_columns = std::move(keys);
    made.call = graph::partition_call{std::move(how)};
    made.inputs = {input};
    made.output_type = type;
    return out_.program.add(std::move(made));
  }

  maybe visit(const plan_node& plan) {
    for (const auto& [known, index] : done_)
      if (*known == plan)
        return index;
    const auto index = std::visit([&](const auto& node) { return make(node, plan); }, plan.node);
    if (index)
      done_.emplace_back(&plan, *index);
    return index;
  }

  // --- sources
  maybe make(const scan_node& node, const plan_node& plan) { return add_source(node, plan, {}); }
  maybe add_source(const scan_node& node, const plan_node& plan,
                   const graph::watermark_spec& watermarks) {
    graph::source_spec spec;
    spec.connector = connector_of(node.options);
    spec.watermarks = watermarks;
    const auto type = node.record;
    const auto made =
        connectors_.create_source(spec.connector.name, spec.connector.options, shared(type));
    if (!made)
      return fail(diagnostic_kind::invalid,
                  "table " + node.table.object + ": " + made.error().message, plan.at);
    if (node.fields == first_numbers(type.child_count()))
      return add(node.table.object, std::move(spec), {}, type);
    const auto source = add(node.table.object, std::move(spec), {}, type);
    return add("project", graph::project_spec{numbers(node.fields)}, {source}, plan.row_type());
  }
  maybe make(const values_node& node, const plan_node& plan) {
    const auto type = plan.row_type();
    graph::batch_builder rows(shared(type));
    for (const auto& row : node.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        const auto value = value_of(row[i]);
        if (!value)
          return std::nullopt;
        rows.column(i).append_from(**value, 0);
      }
      rows.end_row();
    }
    graph::source_spec spec;
    spec.connector.name = "collection";
    auto& encoded = spec.connector.options["rows"];
    graph::append_base64(graph::encode_batch(rows.finish()), encoded);
    const auto index = add("values", std::move(spec), {}, type);
    out_.program.at(index).parallelism = 1;
    return index;
  }
  std::optional<graph::column_ptr> value_of(const bound_expression& from) {
    auto expression = expression_of(from);
    if (!expression)
      return std::nullopt;
    graph::program_settings how;
    how.time_zone = settings_.time_zone;
    auto value = graph::evaluate_constant(*expression, how);
    if (!value)
      return fail(diagnostic_kind::invalid, value.error().message, from.at);
    return std::move(*value);
  }
  std::optional<graph::expression> expression_of(const bound_expression& from) {
    auto at = from.at;
    auto made = translate_expression(from, settings_.time_zone, &at);
    if (!made)
      return fail(diagnostic_kind::invalid, made.error().message, at);
    if (const auto checked = check_constants(*made, settings_.time_zone); !checked)
      return fail(diagnostic_kind::invalid, checked.error().message, from.at);
    return std::move(*made);
  }

  maybe make(const watermark_node& node, const plan_node& plan) {
    graph::watermark_spec spec;
    spec.kind = graph::watermark_kind::bounded_out_of_orderness;
    spec.bound_ms = node.delay_ms;
    spec.idle_timeout_ms = settings_.idle_timeout_ms;
    spec.time_column = static_cast<std::int32_t>(node.column);
    const auto& input = plan.inputs[0];
    if (const auto* scan = std::get_if<scan_node>(&input.node)) {
      // The reader knows which of its splits are idle. It counts by the connector's columns.
      spec.time_column = static_cast<std::int32_t>(scan->fields[node.column]);
      return add_source(*scan, input, spec);
    }
    const auto below = visit(input);
    if (!below)
      return std::nullopt;
    return add("watermarks", graph::watermarks_spec{spec}, {*below}, plan.row_type());
  }

  // --- rows
  maybe make(const calc_node& node, const plan_node& plan) {
    const auto below = visit(plan.inputs[0]);
    graph::calc_spec spec;
    spec.time_zone = settings_.time_zone;
    bool is_sound = below.has_value();
    if (node.condition) {
      auto condition = expression_of(*node.condition);
      is_sound &= condition.has_value();
      if (condition)
        spec.condition = std::move(*condition);
    }
    for (const auto& each : node.items) {
      auto item = expression_of(each);
      is_sound &= item.has_value();
      if (item)
        spec.outputs.push_back(std::move(*item));
    }
    if (!is_sound)
      return std::nullopt;
    return add("calc", std::move(spec), {*below}, plan.row_type());
  }
  maybe make(const set_node& node, const plan_node& plan) {
    if (node.kind != set_operator::union_ || !node.is_all)
      return not_yet(node.kind == set_operator::union_      ? "UNION"
                     : node.kind == set_operator::intersect ? "INTERSECT"
                                                            : "EXCEPT",
                     plan.at);
    graph::transformation made;
    made.name = "union";
    made.call = graph::union_call{};
    made.output_type = plan.row_type();
    bool is_sound = true;
    for (const auto& each : plan.inputs) {
      const auto below = visit(each);
      is_sound &= below.has_value();
      if (below)
        made.inputs.push_back(fit(*below, each, made));
    }
    return is_sound ? maybe(out_.program.add(std::move(made))) : std::nullopt;
  }
  /// All inputs of a union are of its type, and none comes twice.
  std::int32_t fit(std::int32_t input, const plan_node& from, const graph::transformation& whole) {
    const auto is_known = std::find(whole.inputs.begin(), whole.inputs.end(), input);
    if (from.row_type() == whole.output_type && is_known == whole.inputs.end())
      return input;
    graph::calc_spec spec;
    for (std::size_t i = 0; i < from.columns.size(); ++i) {
      const auto& wanted = whole.output_type.child(i);
      auto value = graph::make_column(static_cast<std::uint32_t>(i), from.columns[i].type);
      if (!(from.columns[i].type == wanted))
        value = graph::make_call("CAST", wanted, {std::move(value)});
      spec.outputs.push_back(std::move(value));
    }
    return add("calc", std::move(spec), {input}, whole.output_type);
  }
  maybe make(const aggregate_node& node, const plan_node& plan) {
    const auto& input = plan.inputs[0];
    auto below = visit(input);
    if (!below)
      return std::nullopt;
    graph::group_aggregate_spec spec;
    for (const auto& each : node.items) {
      graph::group_aggregate_call call;
      call.function = each.function;
      call.arguments = numbers(each.arguments);
      call.filter = each.filter ? static_cast<std::int32_t>(*each.filter) : -1;
      call.is_distinct = each.is_distinct;
      spec.calls.push_back(std::move(call));
    }
    spec.input_retracts = find_updating(input) != nullptr;
    spec.state_ttl_ms = settings_.state_ttl_ms;
    auto keyed_type = input.row_type();
    const bool is_global = node.key_count == 0;
    if (is_global) {
      // One group has a constant for a key, behind what the aggregates are over.
      spec.key_columns = {static_cast<std::int32_t>(input.columns.size())};
      below = add_constant(*below, keyed_type);
    } else {
      spec.key_columns = numbers(first_numbers(node.key_count));
    }
    auto all = plan.row_type().fields();
    if (is_global)
      all.insert(all.begin(), keyed_type.fields().back());
    const auto keyed = partition(*below, keyed_type, spec.key_columns);
    const auto made = add("group aggregate", std::move(spec), {keyed},
                          logical_type::row(std::move(all)).not_null());
    if (!is_global)
      return made;
    out_.program.at(made).parallelism = 1;
    std::vector<std::size_t> behind = first_numbers(plan.columns.size());
    for (auto& each : behind)
      ++each;
    return add("project", graph::project_spec{numbers(behind)}, {made}, plan.row_type());
  }
  /// Adds a column that is the same in all rows.
  std::int32_t add_constant(std::int32_t input, logical_type& type) {
    const auto integer = logical_type::integer().not_null();
    graph::calc_spec spec;
    auto fields = type.fields();
    for (std::size_t i = 0; i < fields.size(); ++i)
      spec.outputs.push_back(graph::make_column(static_cast<std::uint32_t>(i), fields[i].type));
    spec.outputs.push_back(graph::make_constant(graph::fixed_value<std::int32_t>(integer, 0)));
    fields.push_back({"$all", integer, {}});
    type = logical_type::row(std::move(fields)).not_null();
    return add("calc", std::move(spec), {input}, type);
  }
  maybe make(const window_node& /*node*/, const plan_node& plan) {
    return not_yet("a window function without GROUP BY window_start, window_end", plan.at);
  }
  maybe make(const window_aggregate_node& node, const plan_node& plan) {
    const auto& input = plan.inputs[0];
    auto below = visit(input);
    const auto window = window_of(node.shape, input, plan.at);
    if (const auto* updating = find_updating(input))
      return not_yet("GROUP BY of windows over rows that are updated", updating->at);
    graph::window_aggregate_spec spec;
    spec.key_columns = numbers(node.keys);
    std::vector<logical_type::field> results;
    const auto take = [&](std::string name, logical_type type, graph::aggregate_call call) {
      results.push_back({std::move(name), std::move(type), {}});
      spec.aggregates.calls.push_back(call);
    };
    for (std::size_t i = 0; i < node.keys.size(); ++i)
      take(plan.columns[i].name, plan.columns[i].type,
           {graph::aggregate_kind::first, spec.key_columns[i]});
    const auto fixed = node.keys.size() + node.properties.size();
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const auto call = call_of(node.items[i], plan.at);
      if (!call)
        return std::nullopt;
      take(plan.columns[fixed + i].name, plan.columns[fixed + i].type, *call);
    }
    if (!below || !window)
      return std::nullopt;
    if (results.empty()) // of nothing but windows: those that have rows
      take("$rows", logical_type::bigint().not_null(), {graph::aggregate_kind::count, -1});
    spec.window = *window;
    const auto result_count = results.size();
    auto all = results;
    spec.aggregates.result_type = logical_type::row(std::move(results)).not_null();
    const auto bound = logical_type::timestamp(3).not_null();
    for (const auto* name : {"window_start", "window_end"})
      all.push_back({name, bound, {}});
    all.push_back({"window_time", time_type(input.columns[node.shape.time_column]), {}});
    const bool is_global = node.keys.empty();
    auto keyed_type = input.row_type();
    if (is_global) {
      spec.key_columns = {static_cast<std::int32_t>(input.columns.size())};
      below = add_constant(*below, keyed_type);
    }
    const auto keyed = partition(*below, keyed_type, spec.key_columns);
    const auto made = add("window aggregate", std::move(spec), {keyed},
                          logical_type::row(std::move(all)).not_null());
    if (is_global)
      out_.program.at(made).parallelism = 1;
    // The operator gives the keys, the results, and all three of the window; the plan has what is
    // wanted of these between the keys and the results.
    std::vector<std::size_t> back = first_numbers(node.keys.size());
    for (const auto each : node.properties)
      back.push_back(result_count + static_cast<std::size_t>(each));
    for (std::size_t i = 0; i < node.items.size(); ++i)
      back.push_back(node.keys.size() + i);
    return add("project", graph::project_spec{numbers(back)}, {made}, plan.row_type());
  }
  static logical_type time_type(const plan_column& time) {
    return (time.type.root() == type_root::timestamp_ltz ? logical_type::timestamp_ltz(3)
                                                         : logical_type::timestamp(3))
        .not_null();
  }
  std::optional<graph::window_spec> window_of(const window_shape& shape, const plan_node& input,
                                              source_span at) {
    const auto& time = input.columns[shape.time_column];
    if (time.time == time_kind::processing_time)
      return not_yet("a window over PROCTIME()", at);
    if (time.type.root() == type_root::timestamp_ltz && settings_.time_zone != "UTC")
      return not_yet("a window over TIMESTAMP_LTZ in a time zone other than UTC", at);
    graph::window_spec out;
    out.size_ms = shape.size_ms;
    out.offset_ms = shape.offset_ms;
    switch (shape.kind) {
    case window_function::tumble:
      return out;
    case window_function::hop:
      out.kind = graph::window_kind::sliding;
      out.slide_ms = shape.slide_ms;
      return out;
    case window_function::cumulate:
      return not_yet("CUMULATE", at);
    case window_function::session:
      break;
    }
    return not_yet("SESSION", at);
  }
  std::optional<graph::aggregate_call> call_of(const aggregate_item& item, source_span at) {
    if (item.is_distinct)
      return not_yet("DISTINCT in an aggregate of windows", at);
    HEADRACE_ASSERT(!item.filter, "filters of windows' aggregates are expanded");
    const auto column = item.arguments.empty() ? -1 : static_cast<std::int32_t>(item.arguments[0]);
    if (item.function == "COUNT" && item.arguments.size() <= 1)
      return graph::aggregate_call{graph::aggregate_kind::count, column};
    if (item.function == "SUM")
      return graph::aggregate_call{graph::aggregate_kind::sum, column};
    if (item.function == "MIN")
      return graph::aggregate_call{graph::aggregate_kind::min, column};
    if (item.function == "MAX")
      return graph::aggregate_call{graph::aggregate_kind::max, column};
    return not_yet(item.function + " of windows", at);
  }
  maybe make(const join_node& /*node*/, const plan_node& plan) {
    return not_yet("a join", plan.at);
  }
  maybe make(const sort_node& /*node*/, const plan_node& plan) {
    return not_yet("ORDER BY and LIMIT inside a job (they can, where rows are shown)", plan.at);
  }
  maybe make(const sink_node& /*node*/, const plan_node& plan) {
    return not_yet("a sink inside a query", plan.at);
  }

  // --- sinks
  bool add_sink(const plan_node& plan) {
    const auto& sink = std::get<sink_node>(plan.node);
    return sink.table ? add_table_sink(sink, plan) : add_shown(plan);
  }
  bool add_table_sink(const sink_node& sink, const plan_node& plan) {
    const auto below = visit(plan.inputs[0]);
    graph::sink_spec spec;
    spec.connector = connector_of(sink.options);
    const auto type = plan.row_type();
    const auto made =
        connectors_.create_sink(spec.connector.name, spec.connector.options, shared(type));
    if (!made)
      fail(diagnostic_kind::invalid, "table " + sink.table->object + ": " + made.error().message,
           plan.at);
    if (!made || !below)
      return false;
    add(sink.table->object, std::move(spec), {*below}, type);
    return true;
  }
  /// ORDER BY and LIMIT of the whole query are left to the one who shows the rows.
  bool add_shown(const plan_node& plan) {
    shown_rows shown;
    const auto* rows = &plan.inputs[0];
    shown.columns = first_numbers(rows->columns.size());
    for (const auto& each : plan.columns)
      shown.names.push_back(each.name);
    if (const auto* calc = std::get_if<calc_node>(&rows->node);
        calc != nullptr && !calc->condition &&
        std::holds_alternative<sort_node>(rows->inputs[0].node)) {
      const bool is_choice =
          std::all_of(calc->items.begin(), calc->items.end(), [](const bound_expression& each) {
            return std::holds_alternative<bound_column>(each.node);
          });
      if (is_choice) {
        shown.columns.clear();
        for (const auto& each : calc->items)
          shown.columns.push_back(std::get<bound_column>(each.node).index);
        rows = &rows->inputs[0];
      }
    }
    if (const auto* sort = std::get_if<sort_node>(&rows->node)) {
      shown.order = sort->keys;
      shown.limit = sort->limit;
      shown.offset = sort->offset;
      rows = &rows->inputs[0];
    }
    const auto below = visit(*rows);
    if (!below)
      return false;
    graph::sink_spec spec;
    spec.connector.name = "collect";
    add("select", std::move(spec), {*below}, rows->row_type());
    out_.shown = std::move(shown);
    return true;
  }

  const graph::connector_registry& connectors_;
  const translation_settings& settings_;
  std::vector<diagnostic>& findings_;
  translated_job out_;
  std::vector<std::pair<const plan_node*, std::int32_t>> done_;
};

} // namespace

std::optional<translated_job> translate(const std::vector<plan_node>& sinks,
                                        const graph::connector_registry& connectors,
                                        const translation_settings& settings,
                                        std::vector<diagnostic>& findings) {
  return job_translator(connectors, settings, findings).translate(sinks);
}

} // namespace headrace::sql
