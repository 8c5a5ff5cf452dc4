#pragma once

#include "libgraph/api/headrace.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::testing {

struct word_count {
  std::string word;
  std::int64_t count = 0;
  friend bool operator==(const word_count&, const word_count&) = default;
};
HEADRACE_STRUCT(word_count, word, count)

enum class color : std::uint8_t { red, green = 200 };

/// One field of every kind.
struct everything {
  bool flag = false;
  std::int8_t i8 = 0;
  std::int16_t i16 = 0;
  std::int32_t i32 = 0;
  std::int64_t i64 = 0;
  float f32 = 0;
  double f64 = 0;
  std::string text;
  api::decimal<20, 3> amount;
  api::timestamp_ms time;
  std::optional<std::int32_t> maybe;
  std::optional<word_count> maybe_row;
  std::vector<std::string> list;
  std::map<std::string, std::int64_t> map;
  std::vector<std::vector<word_count>> deep;
  word_count row;
  std::pair<std::int32_t, std::string> pair;
  color shade = color::red;
  friend bool operator==(const everything&, const everything&) = default;
};
HEADRACE_STRUCT(everything, flag, i8, i16, i32, i64, f32, f64, text, amount, time, maybe, maybe_row,
                list, map, deep, row, pair, shade)

template <class T>
graph::row_type_ptr row_type_of() {
  return std::make_shared<const graph::logical_type>(api::row_info<T>::type());
}

/// A batch of values; the i-th has event time times_ms[i], if there are any.
template <class T>
graph::record_batch batch_of(const std::vector<T>& values,
                             const std::vector<std::int64_t>& times_ms = {}) {
  graph::batch_builder out(row_type_of<T>());
  for (std::size_t i = 0; i < values.size(); ++i) {
    api::row_info<T>::append(out, values[i]);
    if (times_ms.empty())
      out.end_row();
    else
      out.end_row(times_ms[i]);
  }
  return out.finish();
}

/// The selected rows of a batch as values.
template <class T>
std::vector<T> values_of(const graph::record_batch& batch) {
  const api::row_reader<T> read(batch);
  std::vector<T> out;
  for (std::size_t i = 0; i < batch.size(); ++i)
    out.push_back(read(batch.row_at(i)));
  return out;
}

/// The selection of these rows.
graph::record_batch selected(const graph::record_batch& batch,
                             const std::vector<std::uint32_t>& rows);

/// A function of the job that an environment describes, as a subtask would make it.
template <class Interface>
std::unique_ptr<Interface> function_at(api::environment& env, graph::function_ref ref) {
  auto made = env.program().functions[static_cast<std::size_t>(ref.index)]();
  return std::move(std::get<std::unique_ptr<Interface>>(made));
}
/// The spec of the operator that gives a stream.
template <class Spec>
Spec spec_of(const api::stream_base& stream) {
  return std::get<Spec>(
      std::get<graph::operator_call>(stream.environment().program().at(stream.index()).call).spec);
}

/// Runs a row function to its end in pieces of at most `rows_max`.
struct row_run {
  std::vector<graph::record_batch> pieces;
  std::vector<graph::record_batch> sides; ///< of the whole run
};
row_run run_rows(graph::row_function& function, const graph::record_batch& in,
                 graph::row_type_ptr out, std::size_t rows_max = 1000,
                 const std::vector<graph::row_type_ptr>& sides = {});

template <class T>
std::vector<T> values_of(const std::vector<graph::record_batch>& pieces) {
  std::vector<T> out;
  for (const auto& piece : pieces)
    for (auto& value : values_of<T>(piece))
      out.push_back(std::move(value));
  return out;
}

} // namespace headrace::testing
