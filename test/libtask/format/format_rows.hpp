#pragma once

#include "libgraph/connector/format.hpp"

#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace headrace::testing {

using random_engine = std::mt19937_64;

/// A row type of the given types, named "c0", "c1", ….
graph::row_type_ptr row_of(std::vector<graph::logical_type> types);
/// Draws a scalar type.
graph::logical_type random_scalar_type(random_engine& random);
/// Draws rows whose values formats can write: dates in four-digit years, text of few letters.
graph::record_batch random_rows(random_engine& random, const graph::row_type_ptr& type,
                                std::size_t rows);

/// Each selected row as SQL-like text, exact; behind its kind when it is no insert.
std::vector<std::string> rows_as_texts(const graph::record_batch& rows);

/// What came out of decoding a whole text in pieces.
struct decoded_text {
  std::vector<std::string> rows;
  std::size_t skipped = 0;
  std::uint64_t lines = 0;
  std::optional<error> failure;
};
/// Decodes `text`, whose first `first_bytes` bytes come first and the rest when the decoder wants
/// more, `rows_max` rows a call. Checks what each call promises.
decoded_text decode_text(graph::decoder& decoder, const graph::row_type_ptr& type,
                         const std::string& text, std::size_t first_bytes, std::size_t rows_max,
                         bool shares = true);

} // namespace headrace::testing
