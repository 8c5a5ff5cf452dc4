#pragma once

#include "libgraph/types/logical_type.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::task {

/// The fields of a row type by name, and which of them the current record has had. Not thread-safe;
/// the type must outlive it.
class json_field_plan {
public:
  explicit json_field_plan(const graph::logical_type& type);

  const graph::logical_type& type() const { return *type_; }
  void start_record() {
    ++record_;
    place_ = 0;
    seen_count_ = 0;
  }
  /// The field of that name; -1 when there is none. Guesses that records name the same in the same
  /// places.
  int find(std::string_view name) {
    const auto place = place_++;
    if (place < guesses_.size() && guesses_[place].name == name) [[likely]]
      return guesses_[place].index;
    return search(name, place);
  }
  /// Marks a field; false when the record had it before.
  bool mark(std::size_t index) {
    const bool is_first = std::exchange(seen_[index], record_) != record_;
    seen_count_ += is_first ? 1 : 0;
    return is_first;
  }
  bool has(std::size_t index) const { return seen_[index] == record_; }
  bool has_all() const { return seen_count_ == seen_.size(); }

private:
  struct guess {
    std::string name;
    int index = -1;
  };
  int search(std::string_view name, std::size_t place);

  const graph::logical_type* type_;
  std::vector<std::pair<std::string_view, int>> sorted_;
  std::vector<guess> guesses_;      ///< what stood at a place of the record, from 0
  std::vector<std::uint64_t> seen_; ///< record number that had the field last
  std::uint64_t record_ = 0;
  std::size_t place_ = 0;
  std::size_t seen_count_ = 0;
};

} // namespace headrace::task
