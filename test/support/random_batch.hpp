#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::testing {

/// Draws numbers from a seed.
class dice {
public:
  explicit dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix64(state_);
  }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }

private:
  std::uint64_t state_;
};

/// Draws a type, nested at most `depth` levels.
graph::logical_type random_type(dice& random, int depth = 2);
/// Draws a row type of 1 to `fields_max` fields.
graph::row_type_ptr random_row_type(dice& random, std::size_t fields_max = 5, int depth = 2);

/// How values are drawn: from few different ones, so that keys repeat, or from many.
enum class variety : std::uint8_t { few, many };

/// Appends a random value (NULL at times, when the type may be) and returns its `cell_text`.
std::string append_random(dice& random, graph::column_builder& to, variety values);

/// A value as text, read one field after the other: the naive model that vectorized code is
/// compared with. Equal as keys if and only if equal as text (entries of maps are sorted).
std::string cell_text(const graph::column& values, std::size_t row);

/// The selected rows, each as one text of kind, timestamp and cells.
std::vector<std::string> row_texts(const graph::record_batch& batch);

/// Builds a batch of rows; `texts` receives what `row_texts` must give. With kinds, timestamps and
/// a selection at times.
graph::record_batch random_batch(dice& random, const graph::row_type_ptr& type, std::size_t rows,
                                 variety values, std::vector<std::string>& texts);

/// Makes a selection of the given rows.
graph::buffer_ptr selection_of(const std::vector<std::uint32_t>& rows);

/// Fails the current test case for a column whose parts do not agree.
void check_valid(const graph::record_batch& batch);

} // namespace headrace::testing
