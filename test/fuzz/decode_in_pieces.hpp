#pragma once

#include "libgraph/connector/format.hpp"
#include "libactors/base/assert.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::fuzzing {

/// A row type of fields "c0", "c1", ….
inline graph::row_type_ptr row_of(std::vector<graph::logical_type> types) {
  std::vector<graph::logical_type::field> fields;
  for (auto& type : types)
    fields.push_back({"c" + std::to_string(fields.size()), std::move(type), ""});
  return std::make_shared<const graph::logical_type>(graph::logical_type::row(std::move(fields)));
}

/// Decodes `input`, first its part up to `cut` (in 256ths), then what is left. Checks that a
/// decoder takes no more than there is, makes valid columns, and comes to an end.
inline void decode_in_pieces(const std::unique_ptr<graph::format>& format,
                             const graph::row_type_ptr& type, byte_view input, std::size_t cut) {
  constexpr std::size_t rows_max = 3;
  auto decoder = std::move(*format->create_decoder(type));
  std::size_t at = 0;
  auto known = input.size() * cut / 256;
  for (std::size_t calls = 0;; ++calls) {
    HEADRACE_ASSERT(calls <= input.size() + 3, "a decoder that makes no progress");
    const bool last = known == input.size();
    const auto size = known - at;
    const auto owner = graph::buffer::allocate(size);
    if (size > 0)
      std::memcpy(owner->mutable_data(), input.data() + at, size);
    graph::batch_builder rows(type);
    const auto done =
        decoder->decode({owner->as<char>(), size}, last, {"in", at, 1}, rows_max, owner, rows);
    if (!done)
      return;
    HEADRACE_ASSERT(done->bytes <= size, "more bytes taken than there are");
    HEADRACE_ASSERT(rows.size() <= rows_max, "more rows than wanted");
    at += done->bytes;
    const bool full = rows.size() == rows_max;
    const auto batch = rows.finish();
    for (const auto& column : batch.columns())
      HEADRACE_ASSERT(column->validate(), "a column that is not valid");
    if (full)
      continue;
    if (last) {
      HEADRACE_ASSERT(at == input.size(), "bytes left over at the end");
      return;
    }
    known = input.size();
  }
}

} // namespace headrace::fuzzing
