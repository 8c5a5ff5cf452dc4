#include "libgraph/job_graph/match_codec.hpp"

#include "libgraph/expression/expression_codec.hpp"
#include "libgraph/job_graph/codec_parts.hpp"
#include "libgraph/job_graph/job_graph_codec.hpp"

#include <utility>

namespace headrace::graph {
namespace {

void put(const pattern_value& value, schema::PatternValue::Builder out) {
  out.setKind(static_cast<std::uint8_t>(value.what));
  out.setVariable(value.variable);
  out.setOffset(value.offset);
  out.setColumn(value.column);
  out.setFunction(text(value.function));
  put(value.arguments, out.initArguments(count_of(value.arguments)));
  out.setType(data(encoded(value.type)));
}

void put(const pattern_variable& variable, schema::PatternVariable::Builder out) {
  out.setName(text(variable.name));
  out.setRepeatMin(variable.repeat_min);
  out.setRepeatMax(variable.repeat_max);
  out.setIsGreedy(variable.is_greedy);
  encode(variable.condition, out.initCondition());
}

result<pattern_value> value_of(schema::PatternValue::Reader in) {
  pattern_value out;
  HEADRACE_TRY(out.what,
               enum_of(in.getKind(), pattern_value::kind::match_time, "kind of pattern value"));
  out.variable = in.getVariable();
  out.offset = in.getOffset();
  out.column = in.getColumn();
  out.function = string_of(in.getFunction());
  HEADRACE_TRY(out.arguments, expressions_of(in.getArguments(), "arguments"));
  HEADRACE_TRY(out.type, type_of(in.getType()));
  return out;
}

result<pattern_variable> variable_of(schema::PatternVariable::Reader in) {
  pattern_variable out;
  out.name = string_of(in.getName());
  out.repeat_min = in.getRepeatMin();
  out.repeat_max = in.getRepeatMax();
  out.is_greedy = in.getIsGreedy();
  HEADRACE_TRY(out.condition, decode_expression(in.getCondition()));
  return out;
}

} // namespace

void put(const match_spec& spec, schema::MatchSpec::Builder out) {
  put_columns(spec.key_columns, out.initKeyColumns(count_of(spec.key_columns)));
  out.setTimeColumn(spec.time_column);
  put(spec.order, out.initOrder(count_of(spec.order)));
  auto variables = out.initVariables(count_of(spec.variables));
  for (unsigned i = 0; i < variables.size(); ++i)
    put(spec.variables[i], variables[i]);
  auto values = out.initValues(count_of(spec.values));
  for (unsigned i = 0; i < values.size(); ++i)
    put(spec.values[i], values[i]);
  put(spec.measures, out.initMeasures(count_of(spec.measures)));
  out.setWithinMs(spec.within_ms);
  out.setSkip(static_cast<std::uint8_t>(spec.skip));
  out.setSkipVariable(spec.skip_variable);
  out.setTimeZone(text(spec.time_zone));
}

result<match_spec> match_of(schema::MatchSpec::Reader in) {
  match_spec spec;
  HEADRACE_TRY(spec.key_columns, columns_of(in.getKeyColumns()));
  spec.time_column = in.getTimeColumn();
  HEADRACE_TRY(spec.order, order_of(in.getOrder()));
  HEADRACE_CHECK(check_count(in.getVariables().size(), job_graph_limits::columns, "variables"));
  for (const auto each : in.getVariables()) {
    HEADRACE_TRY(auto variable, variable_of(each));
    spec.variables.push_back(std::move(variable));
  }
  HEADRACE_CHECK(check_count(in.getValues().size(), job_graph_limits::columns, "values"));
  for (const auto each : in.getValues()) {
    HEADRACE_TRY(auto value, value_of(each));
    spec.values.push_back(std::move(value));
  }
  HEADRACE_TRY(spec.measures, expressions_of(in.getMeasures(), "measures"));
  spec.within_ms = in.getWithinMs();
  HEADRACE_TRY(spec.skip, enum_of(in.getSkip(), match_skip::to_last, "skip strategy"));
  spec.skip_variable = in.getSkipVariable();
  spec.time_zone = string_of(in.getTimeZone());
  return spec;
}

} // namespace headrace::graph
