#pragma once

#include "libgraph/api/row_info.hpp"
#include "libgraph/connector/source.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace headrace::api {

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// The indices first, first + stride, … below `end`: what one reader of a generator gives.
struct index_range {
  std::uint64_t next = 0;
  std::uint64_t stride = 1;
  std::uint64_t end = 0;

  byte_string encode() const;
  /// @errors malformed_message
  static result<index_range> decode(byte_view bytes);
};

/// Gives each reader its own interleaved part of [0, count), however often it asks: each is held to
/// its share of the rate.
/// @param restored  what `snapshot` gave; @errors corrupt_snapshot
result<std::unique_ptr<graph::split_enumerator>>
make_range_enumerator(std::uint64_t count, graph::enumerator_context& context,
                      const std::optional<byte_string>& restored);

/// Appends the rows of `count` indices of a range to a batch.
class range_filler {
public:
  virtual ~range_filler() = default;
  virtual void fill(std::uint64_t first, std::uint64_t stride, std::size_t count,
                    graph::batch_builder& out) = 0;
};

/// Reads index ranges at a bounded rate. Called as a split_reader is.
class range_reader final : public graph::split_reader {
public:
  /// @param rows_per_second  of this reader; 0: no limit
  range_reader(graph::row_type_ptr type, std::unique_ptr<range_filler> filler,
               double rows_per_second, const headrace::clock& time);
  status add_split(graph::source_split split) override;
  result<std::optional<graph::fetched>> fetch(const graph::fetch_budget& budget) override;

private:
  struct open_range {
    std::string id;
    index_range range;
  };
  std::uint64_t rows_allowed();
  std::chrono::milliseconds wait_for_row() const;

  std::unique_ptr<range_filler> filler_;
  graph::batch_builder builder_;
  double rows_per_second_;
  const headrace::clock& time_;
  std::optional<std::int64_t> started_us_;
  std::uint64_t emitted_ = 0;
  std::deque<open_range> ranges_;
};

/// A source whose i-th row is `function(i)`, for i in [0, count).
template <class T, class F>
class function_source final : public graph::source {
public:
  function_source(F function, std::uint64_t count, double rows_per_second)
      : function_(std::move(function)), count_(count), rows_per_second_(rows_per_second),
        type_(std::make_shared<const graph::logical_type>(row_info<T>::type())) {}

  graph::boundedness bounds() const override {
    return count_ == unlimited ? graph::boundedness::unbounded : graph::boundedness::bounded;
  }
  graph::row_type_ptr row_type() const override { return type_; }
  result<std::unique_ptr<graph::split_enumerator>>
  create_enumerator(graph::enumerator_context& context,
                    std::optional<byte_string> restored) const override {
    return make_range_enumerator(count_, context, restored);
  }
  result<std::unique_ptr<graph::split_reader>>
  create_reader(graph::reader_context context) const override {
    return std::unique_ptr<graph::split_reader>(
        std::make_unique<range_reader>(type_, std::make_unique<filler>(function_),
                                       rows_per_second_ / context.parallelism, context.time));
  }

private:
  class filler final : public range_filler {
  public:
    explicit filler(F function) : function_(std::move(function)) {}
    void fill(std::uint64_t first, std::uint64_t stride, std::size_t count,
              graph::batch_builder& out) override {
      for (std::size_t i = 0; i < count; ++i) {
        row_info<T>::append(out, function_(first + i * stride));
        out.end_row();
      }
    }

  private:
    F function_;
  };

  F function_;
  std::uint64_t count_;
  double rows_per_second_;
  graph::row_type_ptr type_;
};

} // namespace headrace::api
