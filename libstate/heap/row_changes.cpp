#include "libstate/heap/row_changes.hpp"

#include <bit>

namespace headrace::state {

void row_marks::reserve(std::size_t rows) {
  const auto needed = (rows + 63) / 64;
  if (needed > words_.size())
    words_.resize(needed);
}

row_marks row_marks::take() {
  row_marks out;
  out.all_ = all_;
  out.words_.resize(words_.size());
  out.words_.swap(words_);
  all_ = false;
  return out;
}

row_set row_set::all() {
  row_set out;
  out.all_ = true;
  return out;
}

row_set row_set::of(const row_marks& marks) {
  row_set out;
  out.all_ = marks.is_all();
  if (out.all_)
    return out;
  const auto& bits = marks.bits();
  for (std::size_t word = 0; word < bits.size(); ++word) {
    if (bits[word] != 0)
      out.words_.emplace_back(static_cast<std::uint32_t>(word), bits[word]);
  }
  return out;
}

void row_set::add(std::uint32_t row) {
  if (words_.empty() || words_.back().first != row >> 6U)
    words_.emplace_back(row >> 6U, 0);
  words_.back().second |= std::uint64_t{1} << (row & 63U);
}

void row_set::merge(const row_set& other) {
  if (all_ || other.is_empty())
    return;
  if (other.all_) {
    *this = other;
    return;
  }
  std::vector<std::pair<std::uint32_t, std::uint64_t>> both;
  both.reserve(words_.size() + other.words_.size());
  auto left = words_.begin();
  auto right = other.words_.begin();
  while (left != words_.end() || right != other.words_.end()) {
    if (right == other.words_.end() || (left != words_.end() && left->first < right->first))
      both.push_back(*left++);
    else if (left == words_.end() || right->first < left->first)
      both.push_back(*right++);
    else {
      both.emplace_back(left->first, left->second | right->second);
      ++left;
      ++right;
    }
  }
  words_.swap(both);
}

std::uint64_t row_set::size() const {
  std::uint64_t out = 0;
  for (const auto& [word, bits] : words_)
    out += static_cast<std::uint64_t>(std::popcount(bits));
  return out;
}

void merge(change_set& into, const change_set& other) {
  for (const auto& [directory, rows] : other)
    into[directory].merge(rows);
}

} // namespace headrace::state
