#include "test/libtask/operator/testing_co_functions.hpp"
#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "libgraph/api/broadcast_process_function.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace headrace;
using namespace headrace::testing;

namespace {

const api::map_state_descriptor<std::string, std::int64_t> factors{"factors"};

api::broadcast_states with_factors() {
  api::broadcast_states out;
  out.add(factors);
  return out;
}

/// Multiplies each row's number by the factor of its word; a factor of 0 is forgotten.
class multiplying final : public api::broadcast_process_function<counted, counted, counted> {
public:
  void process(const counted& in, read_only_context_type& context,
               api::collector<counted>& out) override {
    out.emit({in.word, in.n * context.state(factors).get(in.word).value_or(1)});
  }
  void process_broadcast(const counted& in, context_type& context,
                         api::collector<counted>& out) override {
    if (in.n == 0)
      context.state(factors).remove(in.word);
    else
      context.state(factors).put(in.word, in.n);
    std::int64_t entries = 0;
    context.state(factors).for_each([&](const std::string&, std::int64_t) { ++entries; });
    out.emit({"factors", entries});
  }
};

/// Sums by word, in a state of each kind. What is broadcast is, by its word: "all" gives the sums
/// of all keys, "drop" forgets those of at most `n`, "now" uses a state without a key.
class summing final
    : public api::keyed_broadcast_process_function<std::string, counted, counted, counted> {
public:
  void open(api::open_context& context) override {
    sum_ = context.value<std::int64_t>("sum");
    rows_ = context.list<std::int64_t>("rows");
    seen_ = context.map<std::int64_t, std::int64_t>("seen");
  }
  void process(const counted& in, read_only_context_type& context,
               api::collector<counted>&) override {
    sum_.set(sum_.value_or(0) + in.n * context.state(factors).get("all").value_or(1));
    rows_.add(in.n);
    seen_.put(in.n, 1);
    seen_.put(-in.n, 1);
    context.register_event_timer(context.timestamp() + 10);
  }
  void process_broadcast(const counted& in, context_type& context,
                         api::collector<counted>& out) override {
    if (in.word == "now")
      sum_.set(1);
    else if (in.word == "all")
      context.apply_to_keyed_state(
          seen_, [&](const std::string& key, api::map_state<std::int64_t, std::int64_t>&) {
            out.emit({key, sum_.value_or(-1)});
          });
    else if (in.word == "drop")
      context.apply_to_keyed_state(sum_,
                                   [&](const std::string&, api::value_state<std::int64_t>& sum) {
                                     const auto held = *sum.get();
                                     sum.clear();
                                     if (held > in.n)
                                       sum.set(held);
                                   });
    else if (in.word == "lists")
      context.apply_to_keyed_state(
          rows_, [&](const std::string& key, api::list_state<std::int64_t>& rows) {
            out.emit({key, static_cast<std::int64_t>(rows.size())});
          });
    else
      context.state(factors).put("all", in.n);
  }
  void on_timer(std::int64_t, read_only_context_type& context,
                api::collector<counted>& out) override {
    out.emit({context.key() + "!", context.state(factors).get("all").value_or(0)});
  }

private:
  api::value_state<std::int64_t> sum_;
  api::list_state<std::int64_t> rows_;
  api::map_state<std::int64_t, std::int64_t> seen_;
};

graph::function_table multiplying_functions() {
  return co_functions(api::broadcast_process_adaptor<multiplying>({}, with_factors(), nullptr));
}
graph::function_table summing_functions() {
  return keyed_co_functions(
      api::keyed_broadcast_process_adaptor<summing>({}, with_factors(), {0}, nullptr));
}
graph::job_vertex by_row() { return co_vertex({{0}, {}, {}, true}); }
graph::job_vertex by_word() { return co_vertex({{0}, {0}, {}, true}); }

constexpr std::int64_t keys = 1200; // more than are visited at once

std::string word_of(std::int64_t i) { return "word" + std::to_string(i); }

chain_harness::options on(const std::string& backend) {
  chain_harness::options how;
  how.backend = backend;
  return how;
}

void push_words(chain_harness& to) {
  word_rows rows;
  std::vector<std::int64_t> times;
  for (std::int64_t i = 0; i < keys; ++i) {
    rows.emplace_back(word_of(i), i);
    times.push_back(100);
  }
  to.push(0, timed_words(rows, times));
}

} // namespace

TEST_SUITE_BEGIN("task/operator/broadcast_state");

TEST_CASE("each row is processed by the states that rows before it have made") {
  chain_harness harness(by_row(), multiplying_functions());
  harness.open();
  harness.push(0, words({{"a", 3}}));
  harness.push(1, words({{"a", 10}, {"b", 20}}));
  harness.push(0, words({{"a", 3}, {"b", 1}, {"c", 5}}));
  harness.push(1, words({{"a", 0}}));
  harness.push(0, words({{"a", 3}}));

  word_rows rows;
  for (const auto& batch : harness.take_batches())
    for (auto& row : words_of(batch))
      rows.push_back(std::move(row));
  CHECK(rows == word_rows{{"a", 3},
                          {"factors", 1},
                          {"factors", 2},
                          {"a", 30},
                          {"b", 20},
                          {"c", 5},
                          {"factors", 1},
                          {"a", 3}});
}

TEST_CASE("a broadcast state is copied to each subtask of another parallelism") {
  checkpoint_id next = 3000;
  for (const auto& [before, after] : {std::pair{2, 3}, std::pair{3, 2}, std::pair{2, 2}}) {
    CAPTURE(before);
    CAPTURE(after);
    co_subtasks first(by_row(), multiplying_functions(), before, "hashmap");
    first.broadcast(1, "a", 10, 0);
    first.broadcast(1, "b", 20, 0);
    first.broadcast(1, "b", 0, 0);
    const auto stored = first.store(next, state::snapshot_kind::canonical);

    co_subtasks second(by_row(), multiplying_functions(), after, "hashmap", &stored);
    second.broadcast(1, "c", 2, 0);
    CHECK(second.rows() == word_rows(static_cast<std::size_t>(after), {"factors", 2}));
    second.broadcast(0, "a", 1, 0);
    CHECK(second.rows() == word_rows(static_cast<std::size_t>(after), {"a", 10}));
    second.broadcast(0, "b", 1, 0);
    CHECK(second.rows() == word_rows(static_cast<std::size_t>(after), {"b", 1}));
  }
}

TEST_CASE("a function is applied to a state of all keys, which it may change") {
  for (const std::string backend : {"hashmap", "rocksdb"}) {
    CAPTURE(backend);
    chain_harness harness(by_word(), summing_functions(), on(backend));
    harness.open();
    push_words(harness);

    harness.push(1, words({{"all", 0}}));
    word_rows all;
    for (std::int64_t i = 0; i < keys; ++i)
      all.emplace_back(word_of(i), i);
    std::sort(all.begin(), all.end());
    CHECK(sorted_rows(harness) == all); // each key once, whatever entries it has

    harness.push(1, words({{"lists", 0}}));
    for (auto& row : all)
      row.second = 1;
    CHECK(sorted_rows(harness) == all);

    harness.push(1, words({{"drop", 700}, {"all", 0}}));
    std::int64_t dropped = 0;
    for (const auto& [word, sum] : sorted_rows(harness))
      dropped += sum == -1 ? 1 : 0;
    CHECK(dropped == 701);
  }
}

TEST_CASE("timers of a keyed stream see the broadcast states, as of when they fire") {
  chain_harness harness(by_word(), summing_functions());
  harness.open();
  harness.push(0, timed_words({{"a", 1}, {"b", 1}}, {100, 200}));
  harness.push(1, words({{"factor", 7}}));

  harness.watermark(110);
  CHECK(sorted_rows(harness) == word_rows{{"a!", 7}});
  harness.push(1, words({{"factor", 8}}));
  harness.watermark(210);
  CHECK(sorted_rows(harness) == word_rows{{"b!", 8}});
}

TEST_CASE("keyed and broadcast states are restored together at another parallelism") {
  checkpoint_id next = 3100;
  for (const std::string backend : {"hashmap", "rocksdb"}) {
    for (const auto& [before, after] : {std::pair{2, 3}, std::pair{3, 2}}) {
      CAPTURE(backend);
      CAPTURE(before);
      co_subtasks first(by_word(), summing_functions(), before, backend);
      first.broadcast(1, "factor", 10, 0);
      for (std::int64_t i = 0; i < 20; ++i)
        first.push_by_key(0, word_of(i), i, 100);
      const auto stored = first.store(next);

      co_subtasks second(by_word(), summing_functions(), after, backend, &stored);
      word_rows expected;
      for (std::int64_t i = 0; i < 20; ++i) {
        second.push_by_key(0, word_of(i), 1, 100);
        expected.emplace_back(word_of(i), 10 * (i + 1));
      }
      second.broadcast(1, "all", 0, 0);
      std::sort(expected.begin(), expected.end());
      CHECK(second.rows() == expected);
      second.watermark(1000);
      CHECK(second.rows().size() == 20);
    }
  }
}

TEST_CASE("a keyed state without a key is refused in words, not taken for that of some key") {
  for (const std::string backend : {"hashmap", "rocksdb"}) {
    CAPTURE(backend);
    chain_harness harness(by_word(), summing_functions(), on(backend));
    harness.open();
    harness.push(0, timed_words({{"a", 1}}, {100}));

    harness.chain->add(1, words({{"all", 0}, {"now", 0}}));
    const auto failure = harness.drain_to_failure();

    REQUIRE(failure);
    CHECK(failure->code == errc::user_function_failed);
    CHECK(to_string(*failure).find("use apply_to_keyed_state") != std::string::npos);
  }
}

namespace {

/// As the value of a broadcast state: one field, later two.
struct rule {
  std::int64_t factor = 1;
};
struct longer_rule {
  std::string note = "none";
  std::int64_t factor = 1;
};
HEADRACE_STRUCT(rule, factor)
HEADRACE_STRUCT(longer_rule, note, factor)

template <class Value>
class ruled final : public api::broadcast_process_function<counted, counted, counted> {
public:
  static inline const api::map_state_descriptor<std::string, Value> rules{"rules"};
  void process(const counted& in, read_only_context_type& context,
               api::collector<counted>& out) override {
    Value of{};
    if constexpr (std::is_arithmetic_v<Value>) {
      of = context.state(rules).get(in.word).value_or(of);
      out.emit({in.word, static_cast<std::int64_t>(of)});
    } else {
      of = context.state(rules).get(in.word).value_or(of);
      if constexpr (requires { of.note; })
        out.emit({of.note, of.factor});
      else
        out.emit({in.word, of.factor});
    }
  }
  void process_broadcast(const counted& in, context_type& context,
                         api::collector<counted>&) override {
    if constexpr (std::is_arithmetic_v<Value>)
      context.state(rules).put(in.word, static_cast<Value>(in.n));
    else {
      Value of{};
      of.factor = in.n;
      context.state(rules).put(in.word, of);
    }
  }
};

template <class Value>
graph::function_table ruled_functions() {
  api::broadcast_states states;
  states.add(ruled<Value>::rules);
  return co_functions(api::broadcast_process_adaptor<ruled<Value>>({}, std::move(states), nullptr));
}

} // namespace

TEST_CASE("values of a broadcast state are migrated, or refused with the difference") {
  chain_harness first(by_row(), ruled_functions<rule>());
  first.open();
  first.push(1, words({{"a", 9}}));
  const auto stored = first.snapshot(3200);

  chain_harness same(by_row(), ruled_functions<longer_rule>());
  same.open(stored);
  same.push(0, words({{"a", 0}}));
  CHECK(sorted_rows(same) == word_rows{{"none", 9}});

  chain_harness other(by_row(), ruled_functions<double>());
  const auto opened = other.try_open(stored);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().has(errc::incompatible_state));
  CHECK(to_string(opened.error()).find("rules") != std::string::npos);
}

TEST_CASE("a broadcast state that is no longer declared is refused, or dropped where allowed") {
  chain_harness first(by_row(), ruled_functions<rule>());
  first.open();
  first.push(1, words({{"a", 9}}));
  const auto stored = first.snapshot(3300);

  for (const bool may_drop : {false, true}) {
    chain_harness second(by_row(), multiplying_functions());
    const auto opened = second.try_open(stored, may_drop);
    CHECK(opened.has_value() == may_drop);
    if (!opened)
      CHECK(to_string(opened.error()).find("no longer declares: `rules`") != std::string::npos);
  }
}

TEST_SUITE_END();
