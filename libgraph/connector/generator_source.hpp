#pragma once

#include "libgraph/connector/abilities.hpp"
#include "libgraph/connector/rate_limiter.hpp"
#include "libgraph/connector/source.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace headrace::graph {

/// Makes the rows of a generator. One a reader, called by one thread at a time.
class row_generator {
public:
  virtual ~row_generator() = default;
  /// Appends the rows with the indices [first, first + count). The same index should give the same
  /// row always: after a recovery indices are asked for again.
  virtual status fill(std::uint64_t first, std::size_t count, batch_builder& out) = 0;
};

struct generator_options {
  std::optional<std::uint64_t> rows; ///< of all readers together; nothing: without end
  double rows_per_second = 0;        ///< of all readers together; 0: as fast as it goes
};

/// A part of a generator: every `stripes`-th block of `block_rows` indices, from block `stripe` on.
/// So readers go through the indices side by side, and event time that follows the index is not
/// torn apart. A value; in snapshots.
///
///     stripe 0 of 2   |0..3|    |8..11|       …
///     stripe 1 of 2        |4..7|     |12..15|
struct generator_split {
  std::uint64_t stripe = 0;
  std::uint64_t stripes = 1;
  std::uint64_t block_rows = 1;
  std::uint64_t next = 0; ///< the next index; always one of the split's own

  byte_string encode() const;
  /// @errors corrupt_snapshot, unsupported_snapshot_version
  static result<generator_split> decode(byte_view bytes);
  /// How many of its indices from `next` on lie side by side.
  std::uint64_t run() const { return block_rows - next % block_rows; }
  /// Moves over `count` indices, at most `run()`.
  void advance(std::uint64_t count);
  friend bool operator==(const generator_split&, const generator_split&) = default;
};

/// A source whose rows are made by a function of their index.
class generator_source final : public source, public projectable_source {
public:
  /// Makes a generator of rows of `produced`: the source's type, or some of its fields where those
  /// alone are read and the source `can_project`.
  using generator_factory = std::function<result<std::unique_ptr<row_generator>>(
      const reader_context& context, const row_type_ptr& produced)>;

  generator_source(row_type_ptr type, generator_options options, generator_factory factory,
                   bool can_project = false)
      : type_(std::move(type)), options_(options), factory_(std::move(factory)),
        can_project_(can_project) {}

  boundedness bounds() const override {
    return options_.rows ? boundedness::bounded : boundedness::unbounded;
  }
  row_type_ptr row_type() const override { return type_; }
  bool project(row_type_ptr produced) override;
  result<std::unique_ptr<split_enumerator>>
  create_enumerator(enumerator_context& context,
                    std::optional<byte_string> restored) const override;
  result<std::unique_ptr<split_reader>> create_reader(reader_context context) const override;

private:
  row_type_ptr type_;
  generator_options options_;
  generator_factory factory_;
  bool can_project_;
};

} // namespace headrace::graph
