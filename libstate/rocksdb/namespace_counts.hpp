#pragma once

#include "libstate/key/key_group_range.hpp"
#include "libstate/keyed/keyed_table.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace headrace::state {

/// How many rows a table has, by namespace and key group: so that namespaces are known without
/// looking, a scan visits only key groups with rows, and ends with the last of them.
class namespace_counts {
public:
  namespace_counts() = default;
  namespace_counts(const namespace_counts&) = delete;
  namespace_counts& operator=(const namespace_counts&) = delete;

  void add(state_namespace space, std::uint16_t group, std::uint64_t rows);
  /// Of rows that are there. A namespace without rows is forgotten.
  void remove(state_namespace space, std::uint16_t group);
  void drop(state_namespace space);

  std::uint64_t total() const { return total_; }
  std::uint64_t of(state_namespace space) const;
  std::vector<state_namespace> namespaces() const;
  std::optional<state_namespace> first() const;
  /// The key groups with rows of a namespace, ascending, with how many.
  struct group_rows {
    std::uint16_t group;
    std::uint64_t rows;
  };
  std::vector<group_rows> groups_of(state_namespace space) const;

  void encode(byte_writer& out) const;
  /// Adds what was encoded, as far as it is of these groups. @errors malformed_message
  status add_encoded(byte_reader& in, key_group_range groups);

private:
  struct space_rows {
    std::uint64_t total = 0;
    boost::unordered_flat_map<std::uint16_t, std::uint64_t> groups;
  };
  space_rows& at(state_namespace space);

  std::map<state_namespace, space_rows> spaces_;
  std::uint64_t total_ = 0;
  state_namespace last_space_ = 0;
  space_rows* last_ = nullptr; ///< asked for last
};

} // namespace headrace::state
