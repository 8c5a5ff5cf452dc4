#pragma once

#include "libgraph/data/stream_element.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

namespace headrace::task {

enum class async_order : std::uint8_t { ordered, unordered };

/// In which order rows leave whose results come in any order, and what goes between them. Rows have
/// places, which are used again when they have left. Pure.
///
///     ordered     1 2 W 3 4      in the order in which they came
///     unordered   {1 2} W {3 4}  between two watermarks in the order in which they finished
class async_queue {
public:
  using place = std::uint32_t;
  /// What rows do not pass.
  using control = std::variant<graph::watermark, graph::watermark_status>;

  explicit async_queue(async_order order) : order_(order) {}

  place add();
  void add(control what);
  /// The results of a row are there: once for each.
  void finish(place which);
  /// What leaves next: a row, whose place is free then, or a control; nothing: all wait.
  std::optional<std::variant<place, control>> take();
  bool has_next() const;

  /// Rows that have not left.
  std::size_t size() const { return size_; }
  /// Whether nothing is there, no control either.
  bool is_empty() const { return size_ == 0 && controls_ == 0; }
  /// Places that there have ever been.
  std::size_t place_count() const { return rows_.size(); }
  /// Places of the rows that have not left, as they came.
  std::vector<place> in_order() const;

private:
  static constexpr place none = UINT32_MAX;
  struct row {
    std::uint64_t number = 0;  ///< rises as rows come
    std::uint64_t segment = 0; ///< its number
    place next = none;         ///< that finished behind it in its segment
    bool is_there = false;
  };
  /// Rows between which no order is kept, and what follows them.
  struct segment {
    std::size_t awaited = 0;
    place first = none; ///< of those that have finished
    place last = none;
    std::optional<control> end;
  };
  bool is_over(const segment& of) const { return of.awaited == 0 && of.first == none && !of.end; }

  async_order order_;
  std::vector<row> rows_; ///< by place
  std::vector<place> free_;
  std::deque<segment> segments_; ///< none at the front is over
  std::uint64_t first_segment_ = 0;
  std::uint64_t next_number_ = 0;
  std::size_t size_ = 0;
  std::size_t controls_ = 0;
};

} // namespace headrace::task
