#pragma once

#include "libgraph/data/record_batch.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace headrace::testing {

/// A row type of one BIGINT column `n`.
graph::row_type_ptr number_type();
/// A row type of STRING `word` and BIGINT `n`.
graph::row_type_ptr word_type();

graph::record_batch numbers(const std::vector<std::int64_t>& values);
/// With the value as the event time.
graph::record_batch timed_numbers(const std::vector<std::int64_t>& values);
using word_rows = std::vector<std::pair<std::string, std::int64_t>>;
graph::record_batch words(const word_rows& rows);
/// Each row's event time in `times_ms`.
graph::record_batch timed_words(const word_rows& rows, const std::vector<std::int64_t>& times_ms);

/// The BIGINT column `index` of the selected rows.
std::vector<std::int64_t> numbers_of(const graph::record_batch& batch, std::size_t index = 0);
word_rows words_of(const graph::record_batch& batch);

} // namespace headrace::testing
