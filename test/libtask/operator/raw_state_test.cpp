#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "libstate/checkpoint/redistribution.hpp"
#include "libstate/key/key_batch.hpp"
#include "libgraph/api/process_function.hpp"
#include "libgraph/data/key_group.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

using namespace headrace;
using namespace headrace::testing;

namespace {

struct counted {
  std::string word;
  std::int64_t n = 0;
};
HEADRACE_STRUCT(counted, word, n)

constexpr std::int32_t groups_most = 8;
constexpr std::int32_t key_columns[] = {0};

/// Sums by word in maps of its own, and counts its rows; both are its raw state.
class own_sums : public api::keyed_process_function<std::string, counted, counted>,
                 public api::raw_state_writer {
public:
  void open(api::open_context& context) override {
    for (const auto& [group, bytes] : context.raw_state().key_groups)
      for (const auto& one : api::read_values<counted>(bytes))
        sums_[group][one.word] = one.n;
    for (const auto& bytes : context.raw_state().partitions)
      for (const auto rows : api::read_values<std::int64_t>(bytes))
        rows_ += rows;
  }
  void process(const counted& in, context_type& context, api::collector<counted>& out) override {
    auto& sum = sums_[context.current_key_group()][in.word];
    sum += in.n;
    out.emit({in.word, sum});
    out.emit({"rows", ++rows_});
  }
  void write_raw_state(api::raw_state_output& out) override {
    for (const auto& [group, sums] : sums_) {
      out.begin_key_group(group);
      for (const auto& [word, sum] : sums) {
        if (word == "unwritable")
          throw std::runtime_error("cannot write this");
        api::write_value(out, counted{word, sum});
      }
    }
    out.begin_partition();
    api::write_value(out, rows_);
  }

private:
  std::map<std::int32_t, std::map<std::string, std::int64_t>> sums_;
  std::int64_t rows_ = 0;
};

/// Counts its rows.
class own_count : public api::process_function<std::int64_t, std::int64_t>,
                  public api::raw_state_writer {
public:
  void open(api::open_context& context) override {
    for (const auto& bytes : context.raw_state().partitions)
      for (const auto rows : api::read_values<std::int64_t>(bytes))
        rows_ += rows;
  }
  void process(const std::int64_t&, context_type&, api::collector<std::int64_t>& out) override {
    out.emit(++rows_);
  }
  void write_raw_state(api::raw_state_output& out) override {
    out.begin_partition();
    api::write_value(out, rows_);
  }

private:
  std::int64_t rows_ = 0;
};

/// The same without raw state.
class no_count : public api::process_function<std::int64_t, std::int64_t> {
public:
  void process(const std::int64_t& in, context_type&, api::collector<std::int64_t>& out) override {
    out.emit(in);
  }
};

graph::function_table summing() {
  return {[] {
    return graph::any_function(std::unique_ptr<graph::keyed_process_function>(
        new api::keyed_process_adaptor<own_sums>({}, {0}, {})));
  }};
}

template <class F>
graph::function_table rows_by() {
  return {[] {
    return graph::any_function(
        std::unique_ptr<graph::row_function>(new api::process_adaptor<F>({}, {})));
  }};
}

graph::job_vertex by_word() {
  return vertex_of(graph::keyed_process_spec{{0}, {0}}, *word_type(), *word_type());
}
graph::job_vertex by_row() {
  return vertex_of(graph::row_function_spec{{0}}, *number_type(), *number_type());
}

std::int32_t group_of(const std::string& word) {
  state::key_batch keys(state::key_schema(*word_type(), key_columns), groups_most);
  keys.assign(words({{word, 0}}), key_columns);
  return (*keys.key_groups())[0];
}

/// The subtasks of one operator, run on from what others have stored.
class subtasks {
public:
  subtasks(std::int32_t parallelism, const std::string& backend,
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
      all_.push_back(std::make_unique<chain_harness>(by_word(), summing(), how));
      state::task_state_snapshot from;
      from.operators[{3, 3}] = parts[static_cast<std::size_t>(i)];
      all_.back()->open(from);
    }
  }
  /// @returns what came out for it
  std::int64_t add(const std::string& word, std::int64_t n) {
    const auto owner = graph::subtask_of(group_of(word), groups_most, parallelism_);
    auto& to = *all_[static_cast<std::size_t>(owner)];
    to.push(words({{word, n}}));
    std::int64_t sum = 0;
    for (const auto& batch : to.take_batches())
      for (const auto& [key, value] : words_of(batch))
        (key == "rows" ? rows_[owner] : sum) = value;
    return sum;
  }
  state::operator_state store(checkpoint_id& next, state::snapshot_kind kind) {
    state::operator_state out;
    out.parallelism = parallelism_;
    out.max_parallelism = groups_most;
    for (std::int32_t i = 0; i < parallelism_; ++i)
      out.subtasks[i] =
          all_[static_cast<std::size_t>(i)]->snapshot(next++, kind).operators.at({3, 3});
    return out;
  }

private:
  std::int32_t parallelism_;
  std::vector<std::unique_ptr<chain_harness>> all_;
  std::map<std::int32_t, std::int64_t> rows_;
};

} // namespace

TEST_SUITE_BEGIN("task/operator/raw_state");
TEST_CASE("a function's own format survives checkpoints, savepoints and other parallelisms") {
  using enum state::snapshot_kind;
  struct step {
    std::int32_t parallelism;
    std::string backend;
    state::snapshot_kind kind;
  };
  // A savepoint goes to the other backend.
  const std::vector<step> steps = {{2, "hashmap", native},    {3, "hashmap", canonical},
                                   {2, "rocksdb", native},    {8, "rocksdb", canonical},
                                   {1, "hashmap", canonical}, {3, "rocksdb", native}};
  std::map<std::string, std::int64_t> expected;
  std::optional<state::operator_state> stored;
  checkpoint_id next = 1000;
  for (const auto& [parallelism, backend, kind] : steps) {
    CAPTURE(parallelism);
    subtasks now(parallelism, backend, stored ? &*stored : nullptr);
    for (std::int64_t i = 0; i < 60; ++i) {
      const auto word = "word" + std::to_string(i * 7 % 23);
      expected[word] += i;
      CHECK(now.add(word, i) == expected[word]);
    }
    stored = now.store(next, kind);
  }
  std::int64_t rows = 0;
  for (const auto& [subtask, part] : stored->subtasks)
    rows += static_cast<std::int64_t>(part.raw_operator.size());
  CHECK(rows == 3); // a partition of each subtask
}

TEST_CASE("partitions of a function without key are dealt out") {
  chain_harness first(by_row(), rows_by<own_count>());
  first.open();
  first.push(numbers({1, 2, 3}));
  const auto stored = first.snapshot(1100);

  chain_harness second(by_row(), rows_by<own_count>());
  second.open(stored);
  second.push(numbers({1}));

  CHECK(numbers_of(second.take_batches().at(0)) == std::vector<std::int64_t>{4});
}

TEST_CASE("raw state that nobody takes is refused, or dropped where that is allowed") {
  chain_harness first(by_row(), rows_by<own_count>());
  first.open();
  first.push(numbers({1, 2, 3}));
  const auto stored = first.snapshot(1200);

  for (const bool may_drop : {false, true}) {
    chain_harness second(by_row(), rows_by<no_count>());
    const auto opened = second.try_open(stored, may_drop);
    CHECK(opened.has_value() == may_drop);
    if (!opened)
      CHECK(opened.error().has(errc::incompatible_state));
  }
}

TEST_CASE("a function that cannot write its raw state fails the checkpoint, not the task") {
  chain_harness harness(by_word(), summing());
  harness.open();
  harness.push(words({{"unwritable", 1}}));

  const auto failure = harness.failed_snapshot(1300);

  CHECK(failure.code == errc::user_function_failed);
  CHECK(to_string(failure).find("cannot write this") != std::string::npos);
  harness.push(words({{"fine", 1}}));
}
TEST_SUITE_END();
