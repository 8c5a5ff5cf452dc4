#pragma once

#include "libgraph/data/string_blocks.hpp"
#include "libgraph/expression/kernel/kernel.hpp"

#include <cstring>
#include <string_view>

// How kernels read their arguments and write their results.
namespace headrace::graph {

/// Reads an argument by row of the batch; a constant has one value at every row.
template <class T>
class reader {
public:
  explicit reader(const operand& from)
      : values_(from.values->values<T>()), validity_(from.values->validity()),
        step_(from.is_constant ? 0 : 1) {}
  T operator[](std::size_t row) const { return values_[row * step_]; }
  bool is_null(std::size_t row) const {
    row *= step_;
    return validity_ != nullptr && ((validity_[row >> 3U] >> (row & 7U)) & 1U) == 0U;
  }
  const T* values() const { return values_; }
  bool is_constant() const { return step_ == 0; }

private:
  const T* values_;
  const std::uint8_t* validity_;
  std::size_t step_;
};

template <>
class reader<std::string_view> {
public:
  explicit reader(const operand& from)
      : column_(from.values.get()), step_(from.is_constant ? 0 : 1) {}
  std::string_view operator[](std::size_t row) const { return column_->string_at(row * step_); }
  bool is_null(std::size_t row) const { return column_->is_null(row * step_); }
  const string_slot& slot(std::size_t row) const { return column_->slots()[row * step_]; }

private:
  const column* column_;
  std::size_t step_;
};

/// The validity of a result that is NULL where an argument is; nullptr: nowhere.
std::shared_ptr<buffer> joined_validity(const kernel_frame& frame);

/// Notes NULLs, beginning with none or with those of the arguments.
class validity_writer {
public:
  explicit validity_writer(const kernel_frame& frame) : frame_(frame) {}
  validity_writer(const kernel_frame& frame, std::shared_ptr<buffer> begin)
      : frame_(frame), bits_(std::move(begin)) {
    if (bits_)
      at_ = bits_->mutable_as<std::uint8_t>();
  }
  void set_null(std::size_t row) {
    if (at_ == nullptr) [[unlikely]]
      start();
    at_[row >> 3U] = static_cast<std::uint8_t>(at_[row >> 3U] & ~(1U << (row & 7U)));
  }
  bool is_null(std::size_t row) const {
    return at_ != nullptr && ((static_cast<unsigned>(at_[row >> 3U]) >> (row & 7U)) & 1U) == 0U;
  }
  buffer_ptr finish() { return std::move(bits_); }

private:
  void start();

  const kernel_frame& frame_;
  std::shared_ptr<buffer> bits_;
  std::uint8_t* at_ = nullptr;
};

/// Writes strings in the order of rows.
class text_writer {
public:
  explicit text_writer(const kernel_frame& frame);
  void put(std::size_t row, std::string_view value) {
    auto* slot = slots_ + row;
    if (value.size() <= string_slot::inline_max)
      write_inline_slot(slot, value.data(), value.size());
    else
      blocks_.append(slot, value);
  }
  /// The string of a NULL.
  void put_empty(std::size_t row) { std::memset(static_cast<void*>(slots_ + row), 0, 16); }
  column_ptr finish(const logical_type& type, std::size_t total, buffer_ptr validity);

private:
  std::shared_ptr<buffer> values_;
  string_slot* slots_;
  string_blocks blocks_;
};

column_ptr make_fixed(const logical_type& type, std::size_t total, buffer_ptr values,
                      buffer_ptr validity);

/// Puts results of several branches together, each for other rows.
class column_merger {
public:
  column_merger(const logical_type& type, const row_set& rows, buffer_pool& buffers);
  ~column_merger();
  column_merger(const column_merger&) = delete;
  column_merger& operator=(const column_merger&) = delete;

  /// Takes the values of `from` at `rows`. Rows of the set that are never taken are NULL.
  void take(const operand& from, const row_set& rows);
  column_ptr finish();

private:
  void take_strings(const operand& from, const row_set& rows);
  column_ptr finish_nested();

  logical_type type_;
  row_set rows_;
  std::size_t width_ = 0;
  std::shared_ptr<buffer> values_;
  std::shared_ptr<buffer> validity_;
  std::vector<buffer_ptr> data_;
  std::vector<operand> sources_;         ///< nested types: where values come from
  std::vector<std::uint32_t> source_of_; ///< by row, 1 up; 0: NULL
};

/// An argument as it is.
column_ptr operand_as_column(const kernel_frame& frame, std::size_t argument);

/// One value at every row.
column_ptr expand_constant(const column_ptr& value, std::size_t total);

} // namespace headrace::graph
