#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/gather.hpp"

#include <algorithm>
#include <limits>

namespace headrace::graph {

namespace {

constexpr std::size_t first_rows = 64;
constexpr std::size_t elements_max = std::numeric_limits<std::int32_t>::max();

bool is_listed(physical_type physical) {
  return physical == physical_type::list || physical == physical_type::map;
}

std::size_t validity_bytes(std::size_t rows) { return (rows + 7) / 8; }

/// Makes a buffer that starts with the bytes of another one.
std::shared_ptr<buffer> enlarge(const std::shared_ptr<buffer>& old, std::size_t kept_bytes,
                                std::size_t size_bytes,
                                const std::shared_ptr<memory_budget>& budget) {
  auto out = buffer::allocate(size_bytes, budget);
  if (old && kept_bytes > 0)
    std::memcpy(out->mutable_data(), old->data(), kept_bytes);
  return out;
}

} // namespace

struct column_builder::storage {
  explicit storage(std::shared_ptr<memory_budget> budget_in)
      : budget(std::move(budget_in)), blocks(budget) {}

  std::shared_ptr<memory_budget> budget;
  std::shared_ptr<buffer> values;
  std::shared_ptr<buffer> validity;
  string_blocks blocks;
  const buffer* shared = nullptr; ///< held by blocks
  std::vector<column_builder> children;
  std::size_t rows_hint = first_rows; ///< what the last column took
  std::size_t missing_nulls = 0;      ///< NULL rows at the end that the children have not got yet

  static void append_nulls(column_builder& to, std::size_t count);
  /// Gives the children the NULLs of a row column at once: most rows of some columns are NULL.
  void fill_children() {
    if (missing_nulls == 0)
      return;
    for (auto& each : children)
      append_nulls(each, missing_nulls);
    missing_nulls = 0;
  }
};

void column_builder::storage::append_nulls(column_builder& to, std::size_t count) {
  if (to.size_ + count > to.capacity_)
    to.grow(to.size_ + count);
  if (to.validity_ == nullptr)
    to.start_validity();
  if (is_listed(to.physical_)) {
    auto* offsets = reinterpret_cast<std::int32_t*>(to.values_) + to.size_;
    std::fill_n(offsets + 1, count, *offsets);
  } else if (to.physical_ == physical_type::row) {
    to.storage_->missing_nulls += count;
  } else if (to.width_bytes_ > 0) {
    std::memset(to.values_ + to.size_ * to.width_bytes_, 0, count * to.width_bytes_);
  }
  to.size_ += count;
}

column_builder::column_builder(logical_type type, std::shared_ptr<memory_budget> budget)
    : type_(std::move(type)), physical_(type_.physical()),
      width_bytes_(is_listed(physical_) ? std::uint8_t{sizeof(std::int32_t)}
                                        : static_cast<std::uint8_t>(type_.width_bytes())),
      storage_(std::make_unique<storage>(std::move(budget))) {
  storage_->children.reserve(type_.storage_child_count());
  for (std::size_t i = 0; i < type_.storage_child_count(); ++i)
    storage_->children.emplace_back(type_.storage_child(i), storage_->budget);
}

column_builder::~column_builder() = default;
column_builder::column_builder(column_builder&&) noexcept = default;
column_builder& column_builder::operator=(column_builder&&) noexcept = default;

void column_builder::reserve(std::size_t rows) {
  if (rows > capacity_)
    grow(rows);
}

std::size_t column_builder::size_bytes() const {
  storage_->fill_children();
  auto out = size_ * width_bytes_ + storage_->blocks.used_bytes();
  for (const auto& each : storage_->children)
    out += each.size_bytes();
  return out;
}

void column_builder::grow(std::size_t rows) {
  auto& to = *storage_;
  const auto capacity = std::max({rows, capacity_ * 2, capacity_ == 0 ? to.rows_hint : 0});
  if (width_bytes_ > 0) {
    const std::size_t extra = is_listed(physical_) ? 1 : 0; // one more offset than lists
    const auto kept = capacity_ == 0 ? 0 : (size_ + extra) * width_bytes_;
    to.values = enlarge(to.values, kept, (capacity + extra) * width_bytes_, to.budget);
    values_ = to.values->mutable_data();
    if (extra > 0 && kept == 0)
      reinterpret_cast<std::int32_t*>(values_)[0] = 0;
  }
  if (validity_ != nullptr) {
    to.validity = enlarge(to.validity, validity_bytes(size_), validity_bytes(capacity), to.budget);
    validity_ = to.validity->mutable_as<std::uint8_t>();
    std::memset(validity_ + validity_bytes(size_), 0,
                validity_bytes(capacity) - validity_bytes(size_));
  }
  capacity_ = capacity;
}

/// Marks what is there as not NULL and what comes as NULL until it is set.
void column_builder::start_validity() {
  if (capacity_ == 0)
    grow(1);
  storage_->validity = buffer::allocate(validity_bytes(capacity_), storage_->budget);
  validity_ = storage_->validity->mutable_as<std::uint8_t>();
  std::memset(validity_, 0, validity_bytes(capacity_));
  std::memset(validity_, 0xff, size_ / 8);
  if (size_ % 8 != 0)
    validity_[size_ / 8] = static_cast<std::uint8_t>((1U << (size_ % 8)) - 1);
}

void column_builder::append_long(string_slot* slot, std::string_view value) {
  storage_->blocks.append(slot, value);
}

void column_builder::share(const buffer_ptr& owner) {
  if (storage_->shared == owner.get())
    return;
  shared_index_ = storage_->blocks.add(owner);
  shared_base_ = owner->as<char>();
  const auto tail = std::min(owner->size_bytes(), sizeof(string_slot));
  shared_wide_end_ = shared_base_ + (owner->size_bytes() - tail);
  storage_->shared = owner.get();
}

void column_builder::append_null() { storage::append_nulls(*this, 1); }

void column_builder::truncate(std::size_t rows) {
  HEADRACE_ASSERT(rows <= size_, "truncation to more rows than there are");
  if (validity_ != nullptr) {
    for (auto row = rows; row < size_; ++row)
      validity_[row >> 3U] = static_cast<std::uint8_t>(validity_[row >> 3U] & ~(1U << (row & 7U)));
  }
  auto child_rows = rows;
  if (is_listed(physical_))
    child_rows = capacity_ == 0
                     ? 0
                     : static_cast<std::size_t>(reinterpret_cast<std::int32_t*>(values_)[rows]);
  // A row that is open has asked for its children, which then miss none.
  const auto filled_rows = size_ - storage_->missing_nulls;
  if (storage_->missing_nulls > 0 && rows >= filled_rows) {
    storage_->missing_nulls = rows - filled_rows;
  } else {
    storage_->missing_nulls = 0;
    for (auto& each : storage_->children)
      each.truncate(child_rows);
  }
  size_ = rows;
}

void column_builder::begin_list() {
  HEADRACE_ASSERT(is_listed(physical_), "a list in a column of another type");
}

void column_builder::end_list() {
  if (size_ == capacity_)
    grow(size_ + 1);
  const auto elements = storage_->children[0].size();
  HEADRACE_ASSERT(elements <= elements_max, "a list of 2^31 elements or more");
  HEADRACE_ASSERT(storage_->children.back().size() == elements,
                  "a map with fewer values than keys");
  reinterpret_cast<std::int32_t*>(values_)[size_ + 1] = static_cast<std::int32_t>(elements);
  if (validity_ != nullptr)
    set_valid(size_);
  ++size_;
}

void column_builder::end_row() {
  if (size_ == capacity_)
    grow(size_ + 1);
  if (validity_ != nullptr)
    set_valid(size_);
  ++size_;
  for (const auto& each : storage_->children)
    HEADRACE_ASSERT(each.size() == size_, "a row with fields of another count");
}

column_builder& column_builder::child(std::size_t index) {
  storage_->fill_children();
  return storage_->children[index];
}

void column_builder::append_from(const column& source, std::size_t row) {
  const auto index = static_cast<std::uint32_t>(row);
  append_from(source, {&index, 1});
}

void column_builder::append_validity(const column& source, std::span<const std::uint32_t> rows) {
  if (validity_ == nullptr && !source.has_nulls())
    return;
  if (validity_ == nullptr)
    start_validity();
  gather_validity({&source, rows.data(), 0, rows.size()}, validity_, size_);
}

void column_builder::append_from(const column& source, std::span<const std::uint32_t> rows) {
  if (rows.empty())
    return;
  reserve(size_ + rows.size() <= capacity_ ? 0 : std::max(size_ + rows.size(), capacity_ * 2));
  append_validity(source, rows);
  auto* to = values_ + size_ * width_bytes_;
  if (physical_ == physical_type::string) {
    auto* slot = reinterpret_cast<string_slot*>(to);
    const auto* slots = source.slots();
    for (const auto row : rows) {
      *slot = slots[row];
      if (!slot->is_inline())
        append_long(slot, source.string_at(row));
      ++slot;
    }
  } else if (is_listed(physical_)) {
    const auto* from = source.values<std::int32_t>();
    auto* offsets = reinterpret_cast<std::int32_t*>(values_) + size_;
    std::vector<std::uint32_t> elements;
    const auto begin = storage_->children[0].size();
    for (const auto row : rows) {
      if (!source.is_null(row))
        for (auto element = from[row]; element < from[row + 1]; ++element)
          elements.push_back(static_cast<std::uint32_t>(element));
      HEADRACE_ASSERT(begin + elements.size() <= elements_max, "a list of 2^31 elements or more");
      *++offsets = static_cast<std::int32_t>(begin + elements.size());
    }
    for (std::size_t i = 0; i < storage_->children.size(); ++i)
      storage_->children[i].append_from(source.child(i), elements);
  } else if (physical_ == physical_type::row) {
    storage_->fill_children();
    for (std::size_t i = 0; i < storage_->children.size(); ++i)
      storage_->children[i].append_from(source.child(i), rows);
  } else if (width_bytes_ > 0) {
    gather_values(width_bytes_, source.values<std::byte>(), rows, to);
  }
  size_ += rows.size();
}

column_ptr column_builder::finish() {
  auto& from = *storage_;
  from.fill_children();
  if (capacity_ == 0 && is_listed(physical_))
    grow(0);
  column::parts out;
  out.size = size_;
  out.values = std::move(from.values);
  out.validity = std::move(from.validity);
  out.data = from.blocks.finish();
  out.children.reserve(from.children.size());
  for (auto& each : from.children)
    out.children.push_back(each.finish());
  // What is much too large would be held, and counted, as long as the column lives.
  if (out.values && capacity_ > first_rows && size_ < capacity_ / 4) {
    const auto used = (size_ + (is_listed(physical_) ? 1 : 0)) * width_bytes_;
    auto exact = buffer::allocate(used, from.budget);
    std::memcpy(exact->mutable_data(), out.values->data(), used);
    out.values = std::move(exact);
  }
  from.rows_hint = std::max(size_, first_rows);
  from.values = nullptr;
  from.validity = nullptr;
  from.shared = nullptr;
  shared_base_ = nullptr;
  shared_wide_end_ = nullptr;
  shared_index_ = 0;
  values_ = nullptr;
  validity_ = nullptr;
  size_ = 0;
  capacity_ = 0;
  return column::make(type_, std::move(out));
}

} // namespace headrace::graph
