#include "libtask/operator/query_state.hpp"

#include <utility>

namespace headrace::task {

status declare_query(state::keyed_backend& backend, std::vector<graph::logical_type::field> parts) {
  if (parts.empty())
    return {};
  state::state_description wanted;
  wanted.name = "query";
  wanted.value_type = state::bytes_of(std::move(parts));
  wanted.layout = state::value_layout::variable();
  auto opened = backend.open_table(wanted);
  return opened ? status() : std::move(opened).error();
}

} // namespace headrace::task
