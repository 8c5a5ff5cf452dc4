#include "libgraph/api/broadcast_state.hpp"

#include "libgraph/function/failure.hpp"

#include <algorithm>

namespace headrace::api {

void broadcast_states::add(graph::state_descriptor descriptor, type_key type, maker make) {
  const bool is_known = std::any_of(entries_.begin(), entries_.end(), [&](const auto& each) {
    return each.descriptor.name == descriptor.name;
  });
  if (is_known)
    throw graph::failure(
        {errc::invalid_graph, "two broadcast states have one name: `" + descriptor.name + "`"});
  entries_.push_back({std::move(descriptor), type, make, nullptr});
}

void broadcast_states::open(graph::operator_state_provider& states) {
  for (auto& each : entries_)
    each.handle = each.make(states.broadcast_map(each.descriptor));
}

void* broadcast_states::find(const std::string& name, type_key type) const {
  for (const auto& each : entries_) {
    if (each.descriptor.name != name)
      continue;
    if (each.type != type)
      throw graph::failure({errc::type_mismatch, "broadcast state `" + name +
                                                     "` is used with other types than the "
                                                     "stream was broadcast with"});
    return each.handle.get();
  }
  throw graph::failure({errc::invalid_graph, "no such broadcast state: `" + name +
                                                 "`; name it where the stream is broadcast"});
}

} // namespace headrace::api
