#pragma once

#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "libstate/checkpoint/redistribution.hpp"
#include "libgraph/api/process_function.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headrace::testing {

/// A row of `word_type`.
struct counted {
  std::string word;
  std::int64_t n = 0;
};
HEADRACE_STRUCT(counted, word, n)

/// The one function of a job: copies of this one.
template <class Adaptor>
graph::function_table co_functions(Adaptor adaptor) {
  return {[adaptor] {
    return graph::any_function(std::unique_ptr<graph::co_function>(new Adaptor(adaptor)));
  }};
}
template <class Adaptor>
graph::function_table keyed_co_functions(Adaptor adaptor) {
  return {[adaptor] {
    return graph::any_function(std::unique_ptr<graph::keyed_co_function>(new Adaptor(adaptor)));
  }};
}

/// A vertex of one operator, with words in on both sides, and words out.
graph::job_vertex co_vertex(graph::co_process_spec spec);

/// What came out since the last call, in order of words.
word_rows sorted_rows(chain_harness& harness);

/// The subtasks of one operator of two inputs, begun new or from what others have stored.
class co_subtasks {
public:
  static constexpr std::int32_t groups_most = 8;

  co_subtasks(const graph::job_vertex& vertex, const graph::function_table& functions,
              std::int32_t parallelism, const std::string& backend,
              const state::operator_state* stored = nullptr);

  chain_harness& at(std::int32_t subtask) { return *all_[static_cast<std::size_t>(subtask)]; }
  /// A row to the subtask that has its word's key group.
  void push_by_key(std::int32_t input, const std::string& word, std::int64_t n,
                   std::int64_t time_ms);
  /// The same to all of them.
  void broadcast(std::int32_t input, const std::string& word, std::int64_t n, std::int64_t time_ms);
  void watermark(std::int64_t time_ms);
  /// What came out of all of them, sorted.
  word_rows rows();
  state::operator_state store(checkpoint_id& next,
                              state::snapshot_kind kind = state::snapshot_kind::native);

private:
  std::int32_t parallelism_;
  std::vector<std::unique_ptr<chain_harness>> all_;
};

} // namespace headrace::testing
