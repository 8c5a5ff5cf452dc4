#include "libactors/transport/address_book.hpp"

#include "libactors/base/limits.hpp"

#include <utility>

namespace headrace::actors {

std::string to_string(const host_port& where) {
  const bool is_ipv6 = where.host.find(':') != std::string::npos;
  return (is_ipv6 ? '[' + where.host + ']' : where.host) + ':' + std::to_string(where.port);
}

std::string without_brackets(std::string host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return host.substr(1, host.size() - 2);
  }
  return host;
}

void address_book::learn(const node_id& node, host_port where) {
  if (where.is_none() || where.host.empty()) {
    return;
  }
  const std::lock_guard lock(guard_);
  if (known_.size() < limits::address_book_max || known_.contains(node)) {
    known_[node] = std::move(where);
  }
}

void address_book::forget(const node_id& node) {
  const std::lock_guard lock(guard_);
  known_.erase(node);
}

std::optional<host_port> address_book::find(const node_id& node) const {
  const std::lock_guard lock(guard_);
  const auto found = known_.find(node);
  if (found == known_.end()) {
    return std::nullopt;
  }
  return found->second;
}

} // namespace headrace::actors
