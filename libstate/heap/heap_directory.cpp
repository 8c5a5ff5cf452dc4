#include "libstate/heap/heap_directory.hpp"

#include "libstate/key/key_hash.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::state {

namespace {

page_header& header_of(std::byte* page) { return *reinterpret_cast<page_header*>(page); }

std::uint32_t index_hash(const key_ref& key) { return static_cast<std::uint32_t>(key.hash >> 32U); }

} // namespace

heap_directory::heap_directory(page_pool& pool, const row_layout& layout)
    : pool_(&pool), id_(pool.next_directory_id()), layout_(&layout), index_(pool), blobs_(pool) {
  while (first_class_ != page_class::full &&
         layout.rows_at + 2 * layout.stride > page_pool::size_of(first_class_))
    first_class_ = static_cast<page_class>(static_cast<int>(first_class_) + 1);
}

heap_directory::~heap_directory() {
  for (std::size_t i = 0; i < pages_.size(); ++i)
    pool_->retire(pages_[i], i == 0 ? first_class_ : page_class::full, header_of(pages_[i]).born);
  pool_->discharge(charged_);
}

std::byte* heap_directory::make_page(page_class size) {
  auto* page = pool_->allocate(size);
  std::memset(page, 0, layout_->rows_at);
  header_of(page).born = pool_->epoch();
  return page;
}

void heap_directory::copy_page(std::byte*& page) {
  const auto size = &page == pages_.data() ? first_class_ : page_class::full;
  auto* copy = pool_->allocate(size);
  std::memcpy(copy, page,
              layout_->rows_at + static_cast<std::size_t>(header_of(page).used) * layout_->stride);
  header_of(copy).born = pool_->epoch();
  pool_->retire(page, size, header_of(page).born);
  page = copy;
}

void heap_directory::reserve(std::size_t rows) {
  if (pages_.size() > 1 || (pages_.size() == 1 && first_class_ == page_class::full))
    return;
  const auto used = pages_.empty() ? 0U : header_of(pages_[0]).used;
  const auto wanted = used + rows;
  auto size = first_class_;
  while (size != page_class::full && layout_->rows_of(size) < wanted)
    size = static_cast<page_class>(static_cast<int>(size) + 1);
  if (pages_.empty()) {
    first_class_ = size;
    pages_.push_back(make_page(size));
    grow_marks();
  } else if (size != first_class_) {
    auto* larger = pool_->allocate(size);
    std::memcpy(larger, pages_[0], layout_->rows_at + std::size_t{used} * layout_->stride);
    header_of(larger).born = pool_->epoch();
    pool_->retire(pages_[0], first_class_, header_of(pages_[0]).born);
    pages_[0] = larger;
    first_class_ = size;
  }
}

void heap_directory::push_page() {
  const auto before = pages_.capacity();
  pages_.push_back(make_page(page_class::full));
  const auto grown = (pages_.capacity() - before) * sizeof(std::byte*);
  pool_->charge(grown);
  charged_ += grown;
  grow_marks();
}

std::uint32_t heap_directory::add_row(std::int64_t floor) {
  std::uint32_t number = free_row_;
  if (number != none) {
    auto* reused = writable(number, floor);
    std::memcpy(&free_row_, reused, sizeof(free_row_));
  } else {
    if (pages_.empty())
      reserve(1);
    auto page_number = pages_.size() - 1;
    auto room = page_number == 0 ? layout_->rows_of(first_class_) : layout_->rows_a_page;
    if (header_of(pages_.back()).used == room && page_number == 0 &&
        first_class_ != page_class::full) {
      reserve(1);
      room = layout_->rows_of(first_class_);
    }
    if (header_of(pages_.back()).used == room) {
      push_page();
      ++page_number;
      HEADRACE_ASSERT(pages_.size() << layout_->row_bits < none,
                      "rows of a directory have numbers");
    }
    const auto of_page = header_of(pages_.back()).used;
    number = static_cast<std::uint32_t>(page_number << layout_->row_bits) | of_page;
    writable(number, floor);
    ++header_of(pages_.back()).used;
  }
  auto& header = header_of(pages_[number >> layout_->row_bits]);
  const auto of_page = number & ((1U << layout_->row_bits) - 1U);
  header.live_bits()[of_page / 64] |= std::uint64_t{1} << (of_page % 64);
  ++header.live;
  return number;
}

std::uint32_t heap_directory::find(const key_ref& key) const {
  if (layout_->shape == key_shape::fixed) {
    if (key.is_null)
      return null_row_;
    return index_.find(index_hash(key), [&](std::uint32_t number) {
      return row_layout::fixed_key(row(number)) == key.fixed;
    });
  }
  return index_.find(index_hash(key), [&](std::uint32_t number) {
    return row_layout::bytes_key(row(number)).view() == key.bytes;
  });
}

std::uint32_t heap_directory::add(const key_ref& key, std::int64_t floor) {
  const auto number = add_row(floor);
  auto* added = row(number);
  std::memset(added, 0, layout_->stride);
  if (layout_->shape == key_shape::bytes) {
    blobs_.assign(*reinterpret_cast<blob*>(added), key.bytes);
  } else if (key.is_null) {
    null_row_ = number;
    return number;
  } else {
    std::memcpy(added, &key.fixed, sizeof(key.fixed));
  }
  index_.insert(index_hash(key), number);
  return number;
}

void heap_directory::erase(std::uint32_t number, std::int64_t floor) {
  const auto key = key_of(number);
  auto* gone = writable(number, floor);
  if (number == null_row_)
    null_row_ = none;
  else
    index_.erase(index_hash(key), number);
  if (layout_->shape == key_shape::bytes)
    blobs_.release(row_layout::bytes_key(gone));
  if (layout_->has_blob)
    blobs_.release(layout_->value(gone));
  std::memcpy(gone, &free_row_, sizeof(free_row_));
  free_row_ = number;
  auto& header = header_of(pages_[number >> layout_->row_bits]);
  const auto of_page = number & ((1U << layout_->row_bits) - 1U);
  header.live_bits()[of_page / 64] &= ~(std::uint64_t{1} << (of_page % 64));
  --header.live;
}

key_ref heap_directory::key_of(std::uint32_t number) const {
  const auto* at = row(number);
  key_ref key;
  if (layout_->shape == key_shape::bytes) {
    key.bytes = row_layout::bytes_key(at).view();
    key.hash = hash_of_bytes(key.bytes);
  } else {
    key.is_null = number == null_row_;
    key.fixed = row_layout::fixed_key(at);
    key.hash = key.is_null ? hash_of_null : hash_of_fixed(key.fixed);
  }
  return key;
}

bool heap_directory::is_live(std::uint32_t number) const {
  const auto* page = pages_[number >> layout_->row_bits];
  return reinterpret_cast<const page_header*>(page)->is_live(number &
                                                             ((1U << layout_->row_bits) - 1U));
}

directory_image heap_directory::image(std::int64_t space) const {
  directory_image out;
  out.id = id_;
  out.space = space;
  out.pages.resize(pages_.size());
  std::copy(pages_.begin(), pages_.end(), out.pages.begin());
  out.null_row = null_row_;
  out.row_count = row_count();
  return out;
}

void heap_directory::begin_restore(std::uint64_t id) {
  HEADRACE_ASSERT(pages_.empty(), "a directory is filled while it is empty");
  id_ = id;
  pool_->pass_directory_id(id);
}

std::byte* heap_directory::restore_page(std::uint64_t page, std::uint64_t used) {
  if (page > pages_.size())
    return nullptr;
  const auto first_used = pages_.empty() ? 0U : header_of(pages_[0]).used;
  // The first page alone may be small.
  const auto first_wanted = page > 0 ? layout_->rows_a_page : used;
  if (pages_.empty() || first_wanted > first_used)
    reserve(first_wanted > first_used ? static_cast<std::size_t>(first_wanted - first_used) : 1);
  if (page == pages_.size())
    push_page();
  return pages_[static_cast<std::size_t>(page)];
}

status heap_directory::end_restore(std::uint32_t null_row) {
  std::uint64_t rows = 0;
  free_row_ = none;
  for (auto page = pages_.size(); page-- > 0;) {
    auto& header = header_of(pages_[page]);
    header.live = 0;
    for (auto i = header.used; i-- > 0;) {
      if (header.is_live(i)) {
        ++header.live;
        continue;
      }
      auto* const unused = layout_->row(pages_[page], i);
      std::memcpy(unused, &free_row_, sizeof(free_row_));
      free_row_ = static_cast<std::uint32_t>(page << layout_->row_bits) | i;
    }
    rows += header.live;
  }
  if (null_row != none && (layout_->shape != key_shape::fixed ||
                           null_row >> layout_->row_bits >= pages_.size() || !is_live(null_row)))
    return error(errc::malformed_message, "impossible row of the key NULL");
  null_row_ = null_row;
  index_.build(rows - (null_row == none ? 0U : 1U), [&](auto&& body) {
    visit(0, [&](std::uint32_t number, const std::byte* at) {
      if (number != null_row_)
        body(static_cast<std::uint32_t>((layout_->shape == key_shape::fixed
                                             ? hash_of_fixed(row_layout::fixed_key(at))
                                             : hash_of_bytes(row_layout::bytes_key(at).view())) >>
                                        32U),
             number);
      return true;
    });
  });
  marks_.take();
  return {};
}

} // namespace headrace::state
