#pragma once

#include "libgraph/data/buffer.hpp"
#include "libgraph/data/record_batch.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libactors/base/result.hpp"
#include "libactors/base/shared_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace headrace::task {

/// A batch as `graph::batch_encoding` wrote it, perhaps compressed.
struct wire_batch {
  std::vector<shared_bytes> pieces; ///< one behind the other; of a received one: one
  std::size_t size_bytes = 0;       ///< of all pieces
  std::uint64_t raw_bytes = 0;      ///< before compression; 0: not compressed
  std::uint64_t pinned_bytes = 0;   ///< received: of the frame that holds it
};

/// An element on its way to another process.
struct wire_element {
  std::variant<wire_batch, graph::watermark, graph::watermark_status, graph::barrier,
               graph::end_of_input, graph::latency_marker>
      content;
  /// Credit that it took at its producer: at least its bytes, not compressed. What it costs once
  /// decoded may differ, and what is given back must not.
  std::uint64_t cost = 0;
};
/// Bytes that it takes in a frame's body, with what fills it up to a multiple of 64.
std::size_t body_bytes(const wire_element& element);

/// How batches are written.
struct wire_options {
  bool compresses = false;
  std::size_t compressed_from_bytes = std::size_t{4} << 10U; ///< smaller ones go as they are
};

/// The most bytes of one encoded batch: a larger batch goes in pieces.
inline constexpr std::size_t wire_batch_bytes_max = std::size_t{32} << 20U;
/// The most credit that one element may name, so that sums stay in range.
inline constexpr std::uint64_t wire_cost_max = std::uint64_t{1} << 40U;

struct encoded_element {
  wire_element element;
  std::optional<graph::record_batch> rest; ///< the rows that did not go into it
};
/// Writes an element for the wire; of a batch as many of its first rows as `bytes_max` allows. Long
/// runs of values stay in the batch's buffers; what is copied or compressed is charged to `budget`
/// (null: not counted).
/// @errors message_too_large  one row of more than `bytes_max`
result<encoded_element> encode_element(const graph::stream_element& element,
                                       const wire_options& options,
                                       const std::shared_ptr<graph::memory_budget>& budget,
                                       std::size_t bytes_max = wire_batch_bytes_max);

struct decoded_elements {
  std::vector<graph::stream_element> elements;
  std::vector<std::size_t> costs; ///< of each
};

/// Reads elements of a channel whose rows are of `type`. A batch stays in its frame when it is at
/// least a quarter of it, so that a slow channel does not hold alive what others have long used;
/// else it is copied. Either is charged to `budget` (null: not counted) as long as it lives.
/// @errors malformed_message
result<decoded_elements> decode_elements(std::vector<wire_element> elements,
                                         const graph::row_type_ptr& type,
                                         const std::shared_ptr<graph::memory_budget>& budget);

} // namespace headrace::task
