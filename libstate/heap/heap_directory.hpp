#pragma once

#include "libstate/heap/blob_store.hpp"
#include "libstate/heap/row_changes.hpp"
#include "libstate/heap/row_layout.hpp"
#include "libstate/heap/slot_index.hpp"
#include "libstate/key/key_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace::state {

/// What a snapshot sees of one directory: pages that stand still.
struct directory_image {
  std::uint64_t id = 0; ///< of the directory, in its backend and its snapshots
  std::int64_t space = 0;
  std::vector<const std::byte*> pages;
  std::uint32_t null_row = slot_index::none;
  std::uint64_t row_count = 0;
};

/// The rows of one namespace of one table: an index over numbered rows in pages.
///
/// A row keeps its number for life; its address changes when its page is copied because a snapshot
/// reads it (`writable`), or when the first page grows (`reserve`). On the mailbox only.
class heap_directory {
public:
  static constexpr std::uint32_t none = slot_index::none;
  static constexpr std::size_t near_bytes = std::size_t{512} << 10U;

  heap_directory(page_pool& pool, const row_layout& layout);
  /// Retires all memory, in time of the pages.
  ~heap_directory();
  heap_directory(const heap_directory&) = delete;
  heap_directory& operator=(const heap_directory&) = delete;

  std::uint64_t row_count() const { return index_.size() + (null_row_ != none ? 1U : 0U); }
  std::uint32_t null_row() const { return null_row_; }

  /// The row, for reading.
  std::byte* row(std::uint32_t number) const {
    return layout_->row(pages_[number >> layout_->row_bits],
                        number & ((1U << layout_->row_bits) - 1U));
  }
  /// The row, for writing: its page is copied first when it is as old as `floor` (page_pool).
  std::byte* writable(std::uint32_t number, std::int64_t floor) {
    marks_.mark(number);
    auto*& page = pages_[number >> layout_->row_bits];
    if (floor != page_pool::no_snapshot &&
        reinterpret_cast<const page_header*>(page)->born <= floor) [[unlikely]]
      copy_page(page);
    return layout_->row(page, number & ((1U << layout_->row_bits) - 1U));
  }

  /// What a look-up reads, by value: valid until a row is added or copied.
  struct view {
    slot_index::view index;
    std::byte* const* pages;
    std::uint32_t row_bits;
    std::uint32_t stride;
    std::uint32_t rows_at;
    std::byte* row(std::uint32_t number) const {
      return pages[number >> row_bits] + rows_at +
             static_cast<std::size_t>(number & ((1U << row_bits) - 1U)) * stride;
    }
  };
  view look() const {
    return {index_.look(), pages_.data(), layout_->row_bits, layout_->stride, layout_->rows_at};
  }

  /// Whether all of it fits the caches beside what else a batch needs: then a look-up goes straight
  /// through, and fetching ahead only costs.
  bool is_near() const {
    return index_.is_one_segment() && index_.size() * (layout_->stride + 16) <= near_bytes;
  }

  std::uint32_t find(const key_ref& key) const;
  /// Makes the row of a key that is not there, zero but for the key. Moves no row if `reserve` was
  /// called for it.
  std::uint32_t add(const key_ref& key, std::int64_t floor);
  /// Removes a row and frees its bytes.
  void erase(std::uint32_t number, std::int64_t floor);
  /// Makes room so that adding `rows` rows moves none.
  void reserve(std::size_t rows);

  blob_store& blobs() { return blobs_; }
  key_ref key_of(std::uint32_t number) const;
  bool is_live(std::uint32_t number) const;

  /// Visits live rows from row number `position` on, until `visit_row(number, row)` returns false;
  /// returns where to go on. `end()` when all were visited.
  template <class Visit>
  std::uint64_t visit(std::uint64_t position, Visit visit_row) const {
    return visit(position, end(), visit_row);
  }
  /// The same of row numbers before `stop`, which is at most `end()`; returns it, or more, when all
  /// of these were visited.
  template <class Visit>
  std::uint64_t visit(std::uint64_t position, std::uint64_t stop, Visit visit_row) const {
    for (; position < stop; ++position) {
      const auto page_number = position >> layout_->row_bits;
      auto* page = pages_[page_number];
      const auto* header = reinterpret_cast<const page_header*>(page);
      const auto of_page = static_cast<std::uint32_t>(position & ((1U << layout_->row_bits) - 1U));
      if (of_page >= header->used) {
        position |= (1U << layout_->row_bits) - 1U;
        continue;
      }
      if (header->is_live(of_page) &&
          !visit_row(static_cast<std::uint32_t>(position), layout_->row(page, of_page)))
        return position + 1;
    }
    return position;
  }
  std::uint64_t end() const {
    return static_cast<std::uint64_t>(pages_.size()) << layout_->row_bits;
  }

  directory_image image(std::int64_t space) const;

  // --- incremental snapshots (see heap_chain)
  std::uint64_t id() const { return id_; }
  /// A row, or any of them, is about to be written by its address.
  void mark(std::uint32_t number) { marks_.mark(number); }
  void mark_all() { marks_.mark_all(); }
  /// What was written since the last call.
  row_marks take_marks() { return marks_.take(); }

  /// Fills an empty directory as it was: pages in order, with their used and live rows; then
  /// `end_restore` finds keys again. Nothing counts as written.
  void begin_restore(std::uint64_t id);
  /// The page, to be filled; made when it is the next one. `used` rows of it at least are there.
  /// @returns nullptr  pages before it are missing
  std::byte* restore_page(std::uint64_t page, std::uint64_t used);
  /// @errors malformed_message
  status end_restore(std::uint32_t null_row);

  // What `locate` of heap_table keeps here while it prepares a batch.
  std::uint32_t batch_rows = 0;
  std::uint32_t ordinal = 0;

private:
  void copy_page(std::byte*& page);
  std::byte* make_page(page_class size);
  std::uint32_t add_row(std::int64_t floor);
  void push_page();
  void grow_marks() { marks_.reserve(pages_.size() << layout_->row_bits); }

  page_pool* pool_;
  std::uint64_t id_;
  const row_layout* layout_;
  std::vector<std::byte*> pages_;
  std::size_t charged_ = 0;
  page_class first_class_ = page_class::small;
  std::uint32_t null_row_ = none;
  std::uint32_t free_row_ = none; ///< linked through the rows
  slot_index index_;
  blob_store blobs_;
  row_marks marks_;
};

} // namespace headrace::state
