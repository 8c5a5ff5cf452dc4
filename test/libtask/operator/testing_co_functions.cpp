#include "test/libtask/operator/testing_co_functions.hpp"

#include "libstate/key/key_batch.hpp"
#include "libgraph/data/key_group.hpp"

#include <algorithm>
#include <utility>

namespace headrace::testing {
namespace {

constexpr std::int32_t key_columns[] = {0};

std::int32_t group_of(const std::string& word) {
  state::key_batch keys(state::key_schema(*word_type(), key_columns), co_subtasks::groups_most);
  keys.assign(words({{word, 0}}), key_columns);
  return (*keys.key_groups())[0];
}

} // namespace

graph::job_vertex co_vertex(graph::co_process_spec spec) {
  auto vertex = vertex_of(std::move(spec), *word_type(), *word_type());
  vertex.operators[0].input_types.push_back(*word_type());
  vertex.inputs = {{{7, 1}, 0}, {{7, 2}, 1}};
  return vertex;
}

word_rows sorted_rows(chain_harness& harness) {
  word_rows out;
  for (const auto& batch : harness.take_batches())
    for (auto& row : words_of(batch))
      out.push_back(std::move(row));
  std::sort(out.begin(), out.end());
  return out;
}

co_subtasks::co_subtasks(const graph::job_vertex& vertex, const graph::function_table& functions,
                         std::int32_t parallelism, const std::string& backend,
                         const state::operator_state* stored)
    : parallelism_(parallelism) {
  std::vector<state::operator_subtask_state> parts(static_cast<std::size_t>(parallelism));
  if (stored != nullptr)
    parts = state::redistribute(*stored, parallelism);
  for (std::int32_t i = 0; i < parallelism; ++i) {
    chain_harness::options how;
    how.subtask = i;
    how.parallelism = parallelism;
    how.max_parallelism = groups_most;
    how.backend = backend;
    all_.push_back(std::make_unique<chain_harness>(vertex, functions, how));
    state::task_state_snapshot from;
    from.operators[vertex.operators[0].id] = parts[static_cast<std::size_t>(i)];
    all_.back()->open(from);
  }
}

void co_subtasks::push_by_key(std::int32_t input, const std::string& word, std::int64_t n,
                              std::int64_t time_ms) {
  at(graph::subtask_of(group_of(word), groups_most, parallelism_))
      .push(input, timed_words({{word, n}}, {time_ms}));
}

void co_subtasks::broadcast(std::int32_t input, const std::string& word, std::int64_t n,
                            std::int64_t time_ms) {
  for (const auto& each : all_)
    each->push(input, timed_words({{word, n}}, {time_ms}));
}

void co_subtasks::watermark(std::int64_t time_ms) {
  for (const auto& each : all_)
    each->watermark(time_ms);
}

word_rows co_subtasks::rows() {
  word_rows out;
  for (const auto& each : all_)
    for (auto& row : sorted_rows(*each))
      out.push_back(std::move(row));
  std::sort(out.begin(), out.end());
  return out;
}

state::operator_state co_subtasks::store(checkpoint_id& next, state::snapshot_kind kind) {
  state::operator_state out;
  out.parallelism = parallelism_;
  out.max_parallelism = groups_most;
  for (std::int32_t i = 0; i < parallelism_; ++i)
    out.subtasks[i] = at(i).snapshot(next++, kind).operators.at({3, 3});
  return out;
}

} // namespace headrace::testing
