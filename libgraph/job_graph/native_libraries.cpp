#include "libgraph/job_graph/native_libraries.hpp"

#include "libgraph/user_function/user_function.hpp"

#include <variant>
#include <vector>

namespace headrace::graph {
namespace {

/// Looks for definitions of functions wherever an operator may have them.
class library_finder {
public:
  explicit library_finder(std::set<std::string>& found) : found_(found) {}

  void operator()(const calc_spec& spec) {
    look(spec.condition);
    look(spec.outputs);
  }
  void operator()(const join_spec& spec) { look(spec.condition); }
  void operator()(const timed_join_spec& spec) { look(spec.join.condition); }
  void operator()(const lookup_join_spec& spec) { look(spec.condition); }
  void operator()(const correlate_spec& spec) {
    look(spec.arguments);
    look_into(spec.definition);
  }
  void operator()(const match_spec& spec) {
    for (const auto& each : spec.variables)
      look(each.condition);
    for (const auto& each : spec.values)
      look(each.arguments);
    look(spec.measures);
  }
  void operator()(const group_aggregate_spec& spec) { look(spec.calls); }
  void operator()(const window_group_spec& spec) { look(spec.calls); }
  void operator()(const session_group_spec& spec) { look(spec.calls); }
  void operator()(const over_spec& spec) { look(spec.calls); }
  template <class Other>
  void operator()(const Other& /*computes nothing*/) {}

private:
  void look(const expression& in) {
    for (const auto& node : in.nodes) {
      const auto* call = std::get_if<function_call>(&node.form);
      if (call == nullptr || (call->function != "USER" && call->function != "VOLATILE USER") ||
          call->arguments.empty() || call->arguments[0] >= in.nodes.size())
        continue;
      const auto* constant = std::get_if<constant_value>(&in.nodes[call->arguments[0]].form);
      if (constant != nullptr && constant->value != nullptr && constant->value->size() == 1 &&
          constant->value->type().physical() == physical_type::string)
        look_into(constant->value->string_at(0));
    }
  }
  void look(const std::vector<expression>& in) {
    for (const auto& each : in)
      look(each);
  }
  void look(const std::vector<group_aggregate_call>& in) {
    for (const auto& each : in)
      look_into(each.definition);
  }
  void look_into(std::string_view definition) {
    if (definition.empty())
      return;
    // What is malformed is refused by those who check the operator.
    if (auto function = decode_user_function(definition);
        function && function->language == user_language::cpp)
      found_.insert(std::move(function->source));
  }

  std::set<std::string>& found_;
};

} // namespace

std::set<std::string> native_libraries(const job_vertex& vertex) {
  std::set<std::string> out;
  library_finder finder(out);
  for (const auto& each : vertex.operators)
    std::visit(finder, each.spec);
  return out;
}

std::set<std::string> native_libraries(const job_graph& job) {
  std::set<std::string> out;
  for (const auto& each : job.vertices)
    out.merge(native_libraries(each));
  return out;
}

} // namespace headrace::graph
