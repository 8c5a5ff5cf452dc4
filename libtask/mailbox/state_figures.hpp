#pragma once

#include "libstate/backend/backend_figures.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace headrace::task {

/// Figures of the backends of one subtask. The subtask adds them as it opens; whoever reports takes
/// samples on an executor, and reads the newest one. Any thread.
class state_figures {
public:
  void add(std::shared_ptr<const state::backend_figures> source);
  bool has_sources() const;
  /// Reads all backends; sums figures of a name, but those of the block cache, which they share.
  /// May wait for the backends.
  void sample();
  std::vector<state::backend_figure> newest() const;

private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const state::backend_figures>> sources_;
  std::vector<state::backend_figure> newest_;
};

} // namespace headrace::task
