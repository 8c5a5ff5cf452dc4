#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace headrace::task {

/// A match as far as it has come: in which state, and by which rows.
struct partial_match {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t state = 0;
  std::uint32_t node = none;      ///< its newest row, of `pattern_matches`; none: has not begun
  std::uint32_t first_row = none; ///< the one that it began with
  friend bool operator==(const partial_match&, const partial_match&) = default;
};

/// Matches with the one that began earliest in front. Of those that began with the same row it
/// decides which one counts, so it is the very heap that Flink's results come from: binary, a newer
/// item goes up past greater ones only, and is walked through as it lies.
class match_queue {
public:
  bool is_empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  const partial_match& front() const { return items_.front(); }
  /// As they lie.
  const std::vector<partial_match>& items() const { return items_; }
  std::vector<partial_match>& items() { return items_; }
  void clear() { items_.clear(); }

  void push(const partial_match& added) {
    items_.push_back(added);
    auto at = items_.size() - 1;
    while (at > 0) {
      const auto parent = (at - 1) / 2;
      if (items_[parent].first_row <= added.first_row)
        break;
      items_[at] = items_[parent];
      at = parent;
    }
    items_[at] = added;
  }
  partial_match pop() {
    const auto out = items_.front();
    const auto last = items_.back();
    items_.pop_back();
    if (!items_.empty())
      sink(0, last);
    return out;
  }
  template <class Gone>
  void remove_if(const Gone& is_gone) {
    if (std::erase_if(items_, is_gone) == 0)
      return;
    for (auto i = items_.size() / 2; i-- > 0;)
      sink(i, items_[i]);
  }
  friend void swap(match_queue& one, match_queue& other) noexcept { one.items_.swap(other.items_); }

private:
  void sink(std::size_t at, partial_match moved) {
    while (at < items_.size() / 2) {
      auto child = 2 * at + 1;
      if (child + 1 < items_.size() && items_[child].first_row > items_[child + 1].first_row)
        ++child;
      if (moved.first_row <= items_[child].first_row)
        break;
      items_[at] = items_[child];
      at = child;
    }
    items_[at] = moved;
  }

  std::vector<partial_match> items_;
};

} // namespace headrace::task
