#include "libgraph/api/process_function.hpp"

namespace headrace::api {

graph::state_provider& open_context::states() const {
  if (inner_->keyed_state == nullptr)
    throw graph::failure(
        {errc::invalid_graph, "keyed state asked for in a function on a stream without key"});
  return *inner_->keyed_state;
}

graph::user_metric& open_context::metric(graph::metric_kind kind, const std::string& name) const {
  if (inner_->metrics == nullptr)
    throw graph::failure({errc::invalid_graph, "a function without metrics asks for one: " + name});
  return inner_->metrics->get(kind, inner_->operator_name, name);
}

graph::operator_state_provider& open_context::operator_states() const {
  if (inner_->operator_state == nullptr)
    throw graph::failure({errc::invalid_graph,
                          "operator state asked for in a function of another kind: process "
                          "functions have it"});
  return *inner_->operator_state;
}

graph::blocking_steps& open_context::blocking() const {
  if (inner_->blocking == nullptr)
    throw graph::failure(
        {errc::invalid_graph, "blocking calls are for async functions: this one is none"});
  return *inner_->blocking;
}

const graph::restored_raw_state& open_context::raw_state() const {
  static const graph::restored_raw_state nothing;
  return inner_->raw_state == nullptr ? nothing : *inner_->raw_state;
}

} // namespace headrace::api
