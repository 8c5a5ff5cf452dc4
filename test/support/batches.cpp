#include "test/support/batches.hpp"

#include "libgraph/data/batch_builder.hpp"

namespace headrace::testing {

using graph::logical_type;

graph::row_type_ptr number_type() {
  static const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"n", logical_type::bigint().not_null(), ""}}));
  return type;
}

graph::row_type_ptr word_type() {
  static const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"word", logical_type::string().not_null(), ""},
                         {"n", logical_type::bigint().not_null(), ""}}));
  return type;
}

graph::record_batch numbers(const std::vector<std::int64_t>& values) {
  graph::batch_builder rows(number_type());
  for (const auto value : values) {
    rows.column(0).append(value);
    rows.end_row();
  }
  return rows.finish();
}

graph::record_batch timed_numbers(const std::vector<std::int64_t>& values) {
  graph::batch_builder rows(number_type());
  for (const auto value : values) {
    rows.column(0).append(value);
    rows.end_row(value);
  }
  return rows.finish();
}

graph::record_batch words(const word_rows& content) {
  graph::batch_builder rows(word_type());
  for (const auto& [word, number] : content) {
    rows.column(0).append_string(word);
    rows.column(1).append(number);
    rows.end_row();
  }
  return rows.finish();
}

graph::record_batch timed_words(const word_rows& content,
                                const std::vector<std::int64_t>& times_ms) {
  graph::batch_builder rows(word_type());
  for (std::size_t i = 0; i < content.size(); ++i) {
    rows.column(0).append_string(content[i].first);
    rows.column(1).append(content[i].second);
    rows.end_row(times_ms[i]);
  }
  return rows.finish();
}

std::vector<std::int64_t> numbers_of(const graph::record_batch& batch, std::size_t index) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < batch.size(); ++i)
    out.push_back(batch.at(index).values<std::int64_t>()[batch.row_at(i)]);
  return out;
}

word_rows words_of(const graph::record_batch& batch) {
  word_rows out;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto row = batch.row_at(i);
    out.emplace_back(std::string(batch.at(0).string_at(row)),
                     batch.at(1).values<std::int64_t>()[row]);
  }
  return out;
}

} // namespace headrace::testing
