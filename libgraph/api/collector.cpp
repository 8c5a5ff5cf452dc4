#include "libgraph/api/collector.hpp"

#include "libgraph/function/failure.hpp"

namespace headrace::api {

std::size_t side_outputs::add(const std::string& name, type_key type) {
  if (const int found = find(name, type); found >= 0)
    return static_cast<std::size_t>(found);
  entries_.push_back({name, type});
  return entries_.size() - 1;
}

int side_outputs::find(const std::string& name, type_key type) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].name != name)
      continue;
    if (entries_[i].type != type)
      throw graph::failure(
          {errc::type_mismatch, "side output \"" + name + "\" is used with two types"});
    return static_cast<int>(i);
  }
  return -1;
}

} // namespace headrace::api
