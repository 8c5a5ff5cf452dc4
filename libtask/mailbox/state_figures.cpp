#include "libtask/mailbox/state_figures.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace headrace::task {

void state_figures::add(std::shared_ptr<const state::backend_figures> source) {
  const std::lock_guard lock(mutex_);
  if (source != nullptr)
    sources_.push_back(std::move(source));
}

bool state_figures::has_sources() const {
  const std::lock_guard lock(mutex_);
  return !sources_.empty();
}

void state_figures::sample() {
  std::vector<std::shared_ptr<const state::backend_figures>> sources;
  {
    const std::lock_guard lock(mutex_);
    sources = sources_;
  }
  std::map<std::string, std::uint64_t> sums;
  for (const auto& source : sources) {
    for (auto& one : source->read()) {
      const bool is_shared = one.name.find(".block-cache-") != std::string::npos;
      auto& sum = sums[std::move(one.name)];
      sum = is_shared ? std::max(sum, one.value) : sum + one.value;
    }
  }
  std::vector<state::backend_figure> sampled;
  for (const auto& [name, value] : sums)
    sampled.push_back({name, value});
  const std::lock_guard lock(mutex_);
  newest_ = std::move(sampled);
}

std::vector<state::backend_figure> state_figures::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

} // namespace headrace::task
