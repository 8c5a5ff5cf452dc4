#pragma once

#include "libgraph/types/logical_type.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
  /// The same for a name that ends with a quote, without looking for it. `text` goes on to `end` at
  /// least. @returns the length of the name and its quote; 0, and `index` is left, when the guess
  ///          fails: then call `find`
  std::size_t find_guessed(const char* text, const char* end, int& index) {
    if (place_ >= guesses_.size() || end - text < static_cast<std::ptrdiff_t>(sizeof(quoted)))
      return 0;
    const auto& guessed = guesses_[place_];
    quoted words;
    std::memcpy(words.data(), text, sizeof(words));
    if ((((words[0] ^ guessed.text[0]) & guessed.mask[0]) |
         ((words[1] ^ guessed.text[1]) & guessed.mask[1])) != 0)
      return 0;
    index = guessed.index;
    place_ += guessed.bytes > 0 ? 1 : 0;
    return guessed.bytes;
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
  using quoted = std::array<std::uint64_t, 2>;
  struct guess {
    std::string name;
    int index = -1;
    quoted text{};         ///< a short name and a quote, as they lie in a text
    quoted mask{};         ///< of their bytes
    std::size_t bytes = 0; ///< of both; 0: too long, or it would be escaped
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
