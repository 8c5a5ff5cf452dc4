#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::state {

/// What one figure of a backend is now.
struct backend_figure {
  std::string name; ///< Flink's, with the backend in front: "rocksdb.block-cache-usage"
  std::uint64_t value = 0;
  friend bool operator==(const backend_figure&, const backend_figure&) = default;
};

/// Figures of what keeps one operator's state. Any thread, but the subtask's own: reading may wait
/// for the backend's locks. May outlive the backend, and then has none.
class backend_figures {
public:
  virtual ~backend_figures() = default;
  virtual std::vector<backend_figure> read() const = 0;
};

} // namespace headrace::state
