#include "libgraph/expression/program.hpp"
#include "libgraph/sql/bind/expression_translator.hpp"
#include "libgraph/sql/optimize/unsteady.hpp"
#include "libgraph/sql/translate/check_constants.hpp"
#include "libgraph/sql/translate/translator.hpp"

namespace headrace::sql {
namespace {

bool can_compute(const bound_expression& from, const logical_type& rows, const std::string& zone) {
  auto made = translate_expression(from, zone, nullptr);
  if (!made)
    return false;
  graph::program_settings how;
  how.time_zone = zone;
  const graph::expression outputs[] = {std::move(*made)};
  return graph::expression_program::compile(rows, {}, outputs, how).has_value();
}

/// Where the smallest part of an expression stands that cannot be computed; nothing: all can be.
std::optional<source_span> find_refused(const bound_expression& in, const logical_type& rows,
                                        const std::string& zone) {
  if (can_compute(in, rows, zone))
    return std::nullopt;
  if (const auto* call = std::get_if<bound_call>(&in.node))
    for (const auto& each : call->arguments)
      if (const auto at = find_refused(each, rows, zone); at && at->is_known())
        return at;
  return in.at;
}

} // namespace

maybe_index job_translator::make(const calc_node& node, const plan_node& plan) {
  // A condition may be true of the new row of an update alone: then the old one is to be seen.
  const auto below = visit(plan.inputs[0], needs_before_ || node.condition.has_value());
  graph::calc_spec spec;
  spec.time_zone = settings_.time_zone;
  bool is_sound = tell_of_unsteady(node, plan) && below.has_value();
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
  const auto known = findings_.size();
  const auto made = add("calc", std::move(spec), {*below}, plan.row_type());
  if (findings_.size() == known)
    return made;
  const auto rows = plan.inputs[0].row_type();
  auto at =
      node.condition ? find_refused(*node.condition, rows, settings_.time_zone) : std::nullopt;
  for (const auto& each : node.items)
    at = at ? at : find_refused(each, rows, settings_.time_zone);
  if (at && at->is_known())
    findings_.back().at = *at;
  return std::nullopt;
}

bool job_translator::tell_of_unsteady(const calc_node& node, const plan_node& plan) {
  const auto columns = tell_unsteady(plan, node, needs_before_);
  if (columns.empty())
    return true;
  if (settings_.refuses_unsteady) {
    fail(diagnostic_kind::invalid,
         "The column(s): " + columns +
             " can not satisfy the determinism requirement for correctly processing update "
             "message('UB'/'UA'/'D' in changelogMode, not 'I' only): what is taken back would "
             "differ from what was given. Leave these columns out, or compute them before rows "
             "are updated",
         plan.at);
    return false;
  }
  warn("over rows that are updated, what is taken back may differ from what was given: " + columns);
  return true;
}

std::optional<graph::expression> job_translator::expression_of(const bound_expression& from) {
  auto at = from.at;
  auto made = translate_expression(from, settings_.time_zone, &at);
  if (!made)
    return fail(diagnostic_kind::invalid, made.error().message, at);
  if (const auto checked = check_constants(*made, settings_.time_zone); !checked)
    return fail(diagnostic_kind::invalid, checked.error().message, from.at);
  return std::move(*made);
}

std::int32_t job_translator::add_constant(std::int32_t input, logical_type& type) {
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

} // namespace headrace::sql
