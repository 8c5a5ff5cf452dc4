#pragma once

#include "test/libtask/operator/testing_co_functions.hpp"
#include "libgraph/api/headrace.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace headrace::testing {

/// One operator that the API has described, from words to words, as a subtask would run it.
class window_run {
public:
  explicit window_run(const api::stream<counted>& out, const std::string& backend = "hashmap");

  window_run& row(const std::string& word, std::int64_t n, std::int64_t time_ms,
                  std::int32_t input = 0);
  /// The same row without an event time.
  window_run& row(const std::string& word, std::int64_t n);
  window_run& watermark(std::int64_t time_ms);
  /// The clock goes on, and timers fire.
  window_run& clock(std::int64_t by_ms);
  /// What came out since the last call: "word=n", with "@time" where there is one.
  std::vector<std::string> take(std::size_t result = 0);
  /// The same, sorted: timers of several keys fire in no order.
  std::vector<std::string> take_sorted(std::size_t result = 0);
  chain_harness& harness() { return harness_; }

private:
  chain_harness harness_;
};

using texts = std::vector<std::string>;

/// The operator that gives a stream, alone in a vertex; its side outputs are results from 1 on.
graph::job_vertex vertex_of_stream(const api::stream_base& out);

inline api::keyed_stream<std::string, counted> keyed_words(api::environment& env) {
  return env.from_collection(std::vector<counted>{}).key_by(&counted::word);
}

inline counted add_numbers(const counted& left, const counted& right) {
  return {left.word, left.n + right.n};
}
inline std::string text_of(const api::window& window) {
  return window == api::window::global()
             ? "[all)"
             : "[" + std::to_string(window.start_ms) + "," + std::to_string(window.end_ms) + ")";
}
/// "a[0,10)" and the result's number.
inline void name_window(api::window_context<std::string>& context, const counted& result,
                        api::collector<counted>& out) {
  out.emit({context.key() + text_of(context.window()), result.n});
}
/// "a[0,10):1,2" and the number of rows.
inline void list_window(api::window_context<std::string>& context,
                        const api::window_rows<counted>& rows, api::collector<counted>& out) {
  auto text = context.key() + text_of(context.window()) + ":";
  for (const auto& row : rows)
    text += (text.back() == ':' ? "" : ",") + std::to_string(row.n);
  out.emit({text, static_cast<std::int64_t>(rows.size())});
}

} // namespace headrace::testing
