#pragma once

#include "libactors/base/ids.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace headrace::actors {

/// Where a node listens.
struct host_port {
  std::string host;
  std::uint16_t port = 0;

  bool is_none() const { return port == 0; }
  friend bool operator==(const host_port&, const host_port&) = default;
};
std::string to_string(const host_port& where);
/// A host as it stands in settings: an IPv6 address may be in brackets.
std::string without_brackets(std::string host);

/// Knows where nodes listen. Any thread.
class address_book {
public:
  /// Later words replace earlier ones. Dropped when the book is full.
  void learn(const node_id& node, host_port where);
  void forget(const node_id& node);
  std::optional<host_port> find(const node_id& node) const;

private:
  mutable std::mutex guard_;
  std::unordered_map<node_id, host_port> known_;
};

} // namespace headrace::actors
