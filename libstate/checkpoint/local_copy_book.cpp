#include "libstate/checkpoint/local_copy_book.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace headrace::state {

bool local_copy_book::keeps_shared(const std::string& name) const {
  return std::any_of(copies_.begin(), copies_.end(),
                     [&](const auto& one) { return one.second.contains(name); });
}

void local_copy_book::drop(copies::iterator first, copies::iterator end, removal& out) {
  std::set<std::string> named;
  for (auto at = first; at != end; ++at) {
    out.checkpoints.push_back(at->first);
    named.merge(at->second);
  }
  copies_.erase(first, end);
  for (const auto& name : named) {
    if (!keeps_shared(name))
      out.shared.push_back(name);
  }
}

local_copy_book::removal local_copy_book::begin(checkpoint_id id) {
  removal out;
  copies_[id];
  const auto pending = copies_.upper_bound(completed_);
  if (static_cast<std::size_t>(std::distance(pending, copies_.end())) > pending_max)
    drop(pending, std::next(pending), out);
  return out;
}

void local_copy_book::use(checkpoint_id id, const std::string& shared) {
  if (const auto found = copies_.find(id); found != copies_.end())
    found->second.insert(shared);
}

local_copy_book::removal local_copy_book::complete(checkpoint_id id) {
  removal out;
  completed_ = std::max(completed_, id);
  drop(copies_.begin(), copies_.lower_bound(completed_), out);
  return out;
}

local_copy_book::removal local_copy_book::abort(checkpoint_id id) {
  removal out;
  if (const auto found = copies_.find(id); found != copies_.end())
    drop(found, std::next(found), out);
  return out;
}

void local_copy_book::restore(checkpoint_id id, std::set<std::string> shared) {
  copies_.clear();
  completed_ = id;
  if (id != 0)
    copies_[id] = std::move(shared);
}

} // namespace headrace::state
