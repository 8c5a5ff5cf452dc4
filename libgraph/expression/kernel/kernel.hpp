#pragma once

#include "libgraph/data/column.hpp"
#include "libactors/base/error.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// Functions over whole columns. A kernel is made once for the types of its arguments, then called
// once a batch.
namespace headrace::graph {

/// The rows of the columns that are computed.
struct row_set {
  const std::uint32_t* rows = nullptr; ///< ascending; nullptr: all of [0, total)
  std::size_t count = 0;
  std::size_t total = 0; ///< rows in the columns

  bool is_dense() const { return rows == nullptr; }
  std::uint32_t at(std::size_t index) const {
    return rows == nullptr ? static_cast<std::uint32_t>(index) : rows[index];
  }
};

template <class Body>
void for_each_row(const row_set& set, Body body) {
  if (set.is_dense()) {
    for (std::size_t row = 0; row < set.count; ++row)
      body(row);
  } else {
    for (std::size_t i = 0; i < set.count; ++i)
      body(std::size_t{set.rows[i]});
  }
}

/// An argument: a column with a value for each row of the batch, or one value for all of them.
struct operand {
  column_ptr values;
  bool is_constant = false;
};

/// Buffers that are written anew when nobody holds them any more. Of one thread; who holds a buffer
/// may let go of it on any.
class buffer_pool {
public:
  explicit buffer_pool(std::shared_ptr<memory_budget> budget = nullptr)
      : budget_(std::move(budget)) {}
  /// At least so many bytes, uninitialized.
  std::shared_ptr<buffer> allocate(std::size_t size_bytes);
  const std::shared_ptr<memory_budget>& budget() const { return budget_; }

private:
  static constexpr std::size_t kept_max = 32;
  static constexpr std::size_t kept_bytes_max = std::size_t{1} << 20U;
  std::shared_ptr<memory_budget> budget_;
  std::vector<std::shared_ptr<buffer>> kept_;
  std::size_t next_ = 0;
};

/// One call of a kernel. Values of rows that are not in `rows` have no meaning.
struct kernel_frame {
  std::string_view function;
  const logical_type& type; ///< of the result
  std::span<const operand> arguments;
  row_set rows;
  buffer_pool& buffers;
  std::int64_t now_ms = 0;       ///< when the batch is computed, wall clock
  std::int64_t watermark_ms = 0; ///< least int64: none yet
  std::optional<error> failure;  ///< the first one: the result is dropped then

  /// Says why a value is refused: "CAST failed: STRING to INT: 'abc'".
  void fail(std::string_view what, std::string_view value = {});
  bool has_failed() const { return failure.has_value(); }
};

/// Computes a column of `frame.rows.total` rows.
using kernel = std::function<column_ptr(kernel_frame& frame)>;

/// What times mean: offsets of the session's zone.
class time_zone;

/// What a kernel is made for.
struct kernel_request {
  std::string_view function;
  std::span<const logical_type> arguments;
  std::span<const column_ptr> constants; ///< the values of constant arguments; null for others
  const logical_type& type;
  std::shared_ptr<const time_zone> zone; ///< of the session
  std::uint64_t seed = 0;                ///< of what is drawn
};
using kernel_factory = result<kernel> (*)(const kernel_request& request);

/// A built-in function. `parameters` says as what type each argument is wanted, the last letter for
/// all that follow:
///
///     . as it is    r as the result    d DOUBLE    i INT    l BIGINT    s STRING, when it is none
///     e as the elements of the first argument, when it is not wider
///     h STRING as it is, numbers as BIGINT
///     t TIMESTAMP(3) and f TIMESTAMP(9), by the session's clocks; STRING and intervals as they are
///     n of arithmetic: as the result, where that is a number; decimals with their own digits
///     m of a remainder: decimals, else both BIGINT or DOUBLE
struct kernel_entry {
  std::string_view function;
  std::string_view parameters;
  kernel_factory make = nullptr;
  bool is_strict = true;    ///< NULL when an argument is NULL
  bool may_fail = false;    ///< a value can fail the job: only computed where it is asked for
  bool is_volatile = false; ///< not the same for the same arguments: never shared or folded
};

/// The function by its name in capitals; nullptr: there is none.
const kernel_entry* find_kernel(std::string_view function);

// The families, one source each; sorted by nothing.
std::span<const kernel_entry> logic_kernels();
std::span<const kernel_entry> compare_kernels();
std::span<const kernel_entry> choice_kernels();
std::span<const kernel_entry> arithmetic_kernels();
std::span<const kernel_entry> cast_kernels();
std::span<const kernel_entry> math_kernels();
std::span<const kernel_entry> text_part_kernels();
std::span<const kernel_entry> text_made_kernels();
std::span<const kernel_entry> text_code_kernels();
std::span<const kernel_entry> text_format_kernels();
std::span<const kernel_entry> pattern_kernels();
std::span<const kernel_entry> time_part_kernels();
std::span<const kernel_entry> time_text_kernels();
std::span<const kernel_entry> now_kernels();
std::span<const kernel_entry> array_kernels();
std::span<const kernel_entry> collection_kernels();
std::span<const kernel_entry> chance_kernels();
std::span<const kernel_entry> json_search_kernels();
std::span<const kernel_entry> json_text_kernels();
std::span<const kernel_entry> constraint_kernels();
std::span<const kernel_entry> row_key_kernels();

} // namespace headrace::graph
