#include "libtask/operator/co_process_operator.hpp"

#include "test/libtask/operator/testing_co_functions.hpp"
#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "libgraph/api/co_process_function.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace headrace;
using namespace headrace::testing;

namespace {

/// Of each word the sum of the first input's numbers and the last one of the second's, given ten
/// milliseconds after a row, by either clock.
class pairing final
    : public api::keyed_co_process_function<std::string, counted, counted, counted> {
public:
  explicit pairing(graph::time_domain domain) : domain_(domain) {}
  void open(api::open_context& context) override {
    sum_ = context.value<std::int64_t>("sum");
    last_ = context.value<std::int64_t>("last");
  }
  void process1(const counted& in, context_type& context, api::collector<counted>&) override {
    sum_.set(sum_.value_or(0) + in.n);
    wait(context);
  }
  void process2(const counted& in, context_type& context, api::collector<counted>&) override {
    last_.set(in.n);
    wait(context);
  }
  void on_timer(std::int64_t, context_type& context, api::collector<counted>& out) override {
    out.emit({context.key(), 100 * sum_.value_or(0) + last_.value_or(0)});
  }

private:
  void wait(context_type& context) const {
    if (domain_ == graph::time_domain::event)
      context.register_event_timer(context.timestamp() + 10);
    else
      context.register_processing_timer(context.current_processing_time() + 10);
  }
  graph::time_domain domain_;
  api::value_state<std::int64_t> sum_;
  api::value_state<std::int64_t> last_;
};

/// Numbers the rows of both inputs; in operator state.
class numbering final : public api::co_process_function<counted, counted, counted> {
public:
  void open(api::open_context& context) override {
    rows_ = context.operator_list<std::int64_t>("rows");
    for (const auto rows : rows_.get())
      count_ += rows;
  }
  void process1(const counted& in, context_type&, api::collector<counted>& out) override {
    out.emit({in.word + "1", next()});
  }
  void process2(const counted& in, context_type&, api::collector<counted>& out) override {
    out.emit({in.word + "2", next()});
  }

private:
  std::int64_t next() {
    rows_.set({++count_});
    return count_;
  }
  api::list_state<std::int64_t> rows_;
  std::int64_t count_ = 0;
};

/// Keeps the numbers of both inputs, and gives the sum of all that it knows of.
class adding final : public api::co_process_function<counted, counted, counted> {
public:
  void open(api::open_context& context) override {
    known_ = context.operator_union_list<counted>("known");
  }
  void process1(const counted& in, context_type&, api::collector<counted>& out) override {
    add(in, out);
  }
  void process2(const counted& in, context_type&, api::collector<counted>& out) override {
    add(in, out);
  }

private:
  void add(const counted& in, api::collector<counted>& out) {
    known_.add(in);
    std::int64_t sum = 0;
    for (const auto& each : known_.get())
      sum += each.n;
    out.emit({in.word, sum});
  }
  api::list_state<counted> known_;
};

graph::function_table pairing_by(graph::time_domain domain) {
  return keyed_co_functions(api::keyed_co_process_adaptor<pairing>(
      pairing(domain), api::co_key_columns{{0}, {0}}, nullptr));
}

graph::job_vertex keyed() { return co_vertex({{0}, {0}, {0}}); }

} // namespace

TEST_SUITE_BEGIN("task/operator/co_process_operator");

TEST_CASE("rows of both inputs share the state and the timers of their key") {
  chain_harness harness(keyed(), pairing_by(graph::time_domain::event));
  harness.open();
  harness.push(0, timed_words({{"a", 1}, {"b", 5}, {"a", 2}}, {100, 105, 100}));
  harness.push(1, timed_words({{"a", 7}, {"c", 9}}, {100, 120}));

  harness.watermark(109);
  CHECK(sorted_rows(harness).empty());
  harness.watermark(110);
  CHECK(sorted_rows(harness) == word_rows{{"a", 307}});
  harness.watermark(graph::watermark::end);
  CHECK(sorted_rows(harness) == word_rows{{"b", 500}, {"c", 9}});
}

TEST_CASE("a processing timer of the second input fires at its time") {
  chain_harness harness(keyed(), pairing_by(graph::time_domain::processing));
  harness.open();
  CHECK_FALSE(harness.chain->next_processing_time_ms());
  harness.push(1, timed_words({{"a", 3}}, {0}));

  CHECK(harness.chain->next_processing_time_ms() == harness.time.wall_ms() + 10);
  harness.time.advance_ms(10);
  harness.chain->fire_processing_time(harness.time.wall_ms());
  harness.drain();

  CHECK(sorted_rows(harness) == word_rows{{"a", 3}});
}

TEST_CASE("state and timers of both inputs go where their keys go, on either backend") {
  checkpoint_id next = 2000;
  for (const std::string backend : {"hashmap", "rocksdb"}) {
    for (const auto& [before, after] : {std::pair{2, 3}, std::pair{3, 2}}) {
      CAPTURE(backend);
      CAPTURE(before);
      const auto functions = pairing_by(graph::time_domain::event);
      co_subtasks first(keyed(), functions, before, backend);
      word_rows expected;
      for (std::int64_t i = 0; i < 20; ++i) {
        const auto word = "word" + std::to_string(i);
        first.push_by_key(0, word, i, 100);
        first.push_by_key(1, word, 20 - i, 100);
        expected.emplace_back(word, 100 * (i + 1) + 20 - i);
      }
      const auto stored = first.store(next);

      co_subtasks second(keyed(), functions, after, backend, &stored);
      for (std::int64_t i = 0; i < 20; ++i)
        second.push_by_key(0, "word" + std::to_string(i), 1, 100);
      second.watermark(200);

      std::sort(expected.begin(), expected.end());
      CHECK(second.rows() == expected);
    }
  }
}

TEST_CASE("a function without keys keeps lists of its operator, which are dealt out") {
  const auto functions = co_functions(api::co_process_adaptor<numbering>({}, nullptr));
  const auto vertex = co_vertex({{0}, {}, {}});
  chain_harness first(vertex, functions);
  first.open();
  first.push(0, words({{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}}));
  first.push(1, words({{"e", 0}}));
  std::size_t pieces = 0;
  word_rows rows;
  for (const auto& batch : first.take_batches()) {
    ++pieces;
    for (auto& row : words_of(batch))
      rows.push_back(std::move(row));
  }
  CHECK(pieces == 3); // of three rows at most, each of one input
  CHECK(rows == word_rows{{"a1", 1}, {"b1", 2}, {"c1", 3}, {"d1", 4}, {"e2", 5}});
  const auto stored = first.snapshot(2100);

  chain_harness second(vertex, functions);
  second.open(stored);
  second.push(1, words({{"f", 0}}));

  CHECK(sorted_rows(second) == word_rows{{"f2", 6}});
}

TEST_CASE("what one subtask had in a union list, each has after a restore") {
  checkpoint_id next = 2200;
  const auto functions = co_functions(api::co_process_adaptor<adding>({}, nullptr));
  const auto vertex = co_vertex({{0}, {}, {}});
  co_subtasks first(vertex, functions, 2, "hashmap");
  first.at(0).push(0, words({{"a", 1}}));
  first.at(1).push(1, words({{"b", 10}}));
  CHECK(first.rows() == word_rows{{"a", 1}, {"b", 10}});
  const auto stored = first.store(next);

  co_subtasks second(vertex, functions, 3, "hashmap", &stored);
  second.broadcast(1, "c", 100, 0);

  CHECK(second.rows() == word_rows{{"c", 111}, {"c", 111}, {"c", 111}});
}

TEST_CASE("the operator ends with the last of its inputs") {
  chain_harness harness(co_vertex({{0}, {}, {}}),
                        co_functions(api::co_process_adaptor<numbering>({}, nullptr)));
  harness.open();

  harness.chain->end_input(1);
  harness.drain();
  CHECK_FALSE(harness.chain->has_ended());
  harness.push(0, words({{"a", 0}}));
  CHECK(sorted_rows(harness) == word_rows{{"a1", 1}});
  harness.chain->end_input(0);
  harness.drain();

  CHECK(harness.chain->has_ended());
}

TEST_SUITE_END();
