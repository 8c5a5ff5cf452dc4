#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/expression/kernel/column_access.hpp"
#include "libgraph/kernel/compare.hpp"

// How kernels read arrays, maps and rows, and write them row by row.
namespace headrace::graph {

/// A list or map of one row: elements [begin, end) of the children.
struct list_range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

class list_reader {
public:
  explicit list_reader(const operand& from)
      : values_(from.values.get()), step_(from.is_constant ? 0 : 1) {}
  bool is_null(std::size_t row) const { return values_->is_null(row * step_); }
  list_range operator[](std::size_t row) const {
    const auto* offsets = values_->values<std::int32_t>() + row * step_;
    return {static_cast<std::size_t>(offsets[0]), static_cast<std::size_t>(offsets[1])};
  }
  const column& elements() const { return values_->child(0); }
  const column& entry_values() const { return values_->child(1); }

private:
  const column* values_;
  std::size_t step_;
};

/// A value of any type.
class any_reader {
public:
  explicit any_reader(const operand& from)
      : values_(from.values.get()), step_(from.is_constant ? 0 : 1) {}
  bool is_null(std::size_t row) const { return values_->is_null(row * step_); }
  void append(std::size_t row, column_builder& to) const { append_to(*values_, row * step_, to); }
  bool equals(std::size_t row, const column& other, std::size_t other_row) const {
    return are_equal_keys(*values_, row * step_, other, other_row);
  }
  static void append_to(const column& from, std::size_t row, column_builder& to) {
    if (from.is_null(row))
      to.append_null();
    else
      to.append_from(from, row);
  }

private:
  const column* values_;
  std::size_t step_;
};

/// Appends a value for each row, in order: `body(builder, row)`; NULL where an argument is, when it
/// is strict, and at rows that are not computed.
template <class Body>
column_ptr build_rows(kernel_frame& frame, bool is_strict, Body body) {
  column_builder out(frame.type);
  validity_writer validity(frame, is_strict ? joined_validity(frame) : nullptr);
  std::size_t next = 0;
  const auto skip_to = [&](std::size_t row) {
    for (; next < row; ++next)
      out.append_null();
  };
  for_each_row(frame.rows, [&](std::size_t row) {
    skip_to(row);
    if (validity.is_null(row))
      out.append_null();
    else
      body(out, row);
    ++next;
  });
  skip_to(frame.rows.total);
  return out.finish();
}

} // namespace headrace::graph
