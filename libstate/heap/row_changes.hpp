#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace headrace::state {

/// Which rows of a directory were written since somebody asked last: a bit a row number, or all of
/// them. On the mailbox.
class row_marks {
public:
  void mark(std::uint32_t row) { words_[row >> 6U] |= std::uint64_t{1} << (row & 63U); }
  void mark_all() { all_ = true; }
  /// Makes room for row numbers below `rows`.
  void reserve(std::size_t rows);
  /// Where `mark` writes, for who marks many.
  std::uint64_t* words() { return words_.data(); }
  /// Gives what was marked, and begins anew.
  row_marks take();

  bool is_all() const { return all_; }
  const std::vector<std::uint64_t>& bits() const { return words_; }
  std::size_t size_bytes() const { return words_.size() * sizeof(std::uint64_t); }

private:
  std::vector<std::uint64_t> words_;
  bool all_ = false;
};

/// A set of row numbers of one directory. A value.
class row_set {
public:
  static row_set all();
  static row_set of(const row_marks& marks);
  /// A set of some rows is built in ascending order.
  void add(std::uint32_t row);
  void merge(const row_set& other);

  bool is_all() const { return all_; }
  bool is_empty() const { return !all_ && words_.empty(); }
  /// Of a set of some rows.
  std::uint64_t size() const;
  /// Calls `body(row)` for the rows of a set of some, ascending.
  template <class Body>
  void for_each(Body body) const {
    for (const auto& [word, bits] : words_) {
      for (auto left = bits; left != 0; left &= left - 1)
        body(word << 6U | static_cast<std::uint32_t>(__builtin_ctzll(left)));
    }
  }
  friend bool operator==(const row_set&, const row_set&) = default;

private:
  bool all_ = false;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> words_; ///< number, bits; ascending
};

/// Changed rows by the id of their directory (heap_directory::id). A value.
using change_set = std::map<std::uint64_t, row_set>;
void merge(change_set& into, const change_set& other);

} // namespace headrace::state
