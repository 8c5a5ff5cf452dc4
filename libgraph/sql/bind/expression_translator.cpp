#include "libgraph/sql/bind/expression_translator.hpp"

#include "libgraph/sql/bind/constant_value.hpp"

namespace headrace::sql {
namespace {

class translator {
public:
  translator(std::string_view zone, source_span* at) : zone_(zone), at_(at) {}

  /// @returns the place of the node
  result<std::uint32_t> add(const bound_expression& from) {
    if (const auto* column = std::get_if<bound_column>(&from.node))
      return put(graph::input_column{static_cast<std::uint32_t>(column->index)}, from.type);
    if (const auto* constant = std::get_if<bound_constant>(&from.node)) {
      auto value = constant_value(*constant, from.type, zone_);
      if (!value)
        return failed(std::move(value).error(), from);
      const auto type = (*value)->type();
      return put(graph::constant_value{std::move(*value)}, type);
    }
    graph::function_call call;
    if (const auto* field = std::get_if<bound_field>(&from.node)) {
      HEADRACE_TRY(const auto row, add(*field->row));
      const auto type = logical_type::integer().not_null();
      const auto index = put(
          graph::constant_value{graph::fixed_value(type, static_cast<std::int32_t>(field->index))},
          type);
      call = {"FIELD", {row, index}};
      return put(std::move(call), from.type);
    }
    const auto& bound = std::get<bound_call>(from.node);
    if (bound.is_aggregate)
      return failed({errc::invalid_graph, "an aggregate is no expression: " + bound.function},
                    from);
    call.function = bound.function;
    if (bound.user != nullptr) {
      // The definition comes first.
      call.function = bound.user->is_deterministic ? "USER" : "VOLATILE USER";
      const auto type = logical_type::bytes().not_null();
      call.arguments.push_back(
          put(graph::constant_value{graph::text_value(type, graph::encode(*bound.user))}, type));
    }
    for (const auto& each : bound.arguments) {
      HEADRACE_TRY(const auto argument, add(each));
      call.arguments.push_back(argument);
    }
    return put(std::move(call), from.type);
  }

  graph::expression take() { return std::move(out_); }

private:
  template <class Form>
  std::uint32_t put(Form form, const logical_type& type) {
    out_.nodes.push_back({std::move(form), type});
    return static_cast<std::uint32_t>(out_.nodes.size() - 1);
  }
  error failed(error cause, const bound_expression& from) {
    if (at_ != nullptr)
      *at_ = from.at;
    return cause;
  }

  std::string_view zone_;
  source_span* at_;
  graph::expression out_;
};

} // namespace

result<graph::expression> translate_expression(const bound_expression& from, std::string_view zone,
                                               source_span* at) {
  translator made(zone, at);
  HEADRACE_CHECK(made.add(from));
  return made.take();
}

} // namespace headrace::sql
