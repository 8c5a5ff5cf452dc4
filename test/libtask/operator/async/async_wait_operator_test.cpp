#include "libtask/operator/async/async_wait_operator.hpp"

#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "libstate/checkpoint/redistribution.hpp"
#include "libgraph/api/async_function.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace headrace;
using namespace headrace::testing;

namespace {

struct asked {
  std::string word;
  std::int64_t n = 0;
};
HEADRACE_STRUCT(asked, word, n)

using future = api::result_future<asked>;

/// What a function and the test share: the calls that have begun, which the test ends.
struct call_log {
  std::vector<std::pair<std::string, future>> begun;
  std::vector<std::string> timed_out;
  bool is_closed = false;

  std::string words() const {
    std::string out;
    for (const auto& [word, result] : begun)
      out += word + " ";
    return out;
  }
  /// Ends the newest call for a word with that word and a number.
  void end(const std::string& word, std::int64_t n = 0) const { of(word).complete({{word, n}}); }
  const future& of(const std::string& word) const {
    const auto found = std::find_if(begun.rbegin(), begun.rend(),
                                    [&](const auto& each) { return each.first == word; });
    REQUIRE(found != begun.rend());
    return found->second;
  }
};

class asking final : public api::async_function<asked, asked> {
public:
  explicit asking(std::shared_ptr<call_log> log) : log_(std::move(log)) {}
  void async_invoke(const asked& in, future result) override {
    if (in.word == "throws")
      throw std::runtime_error("no such word");
    if (in.word == "at once")
      result.complete({in, in});
    log_->begun.emplace_back(in.word, std::move(result));
  }
  void close() override { log_->is_closed = true; }

private:
  std::shared_ptr<call_log> log_;
};

/// Gives what the timeout is told instead of failing.
class patient final : public api::async_function<asked, asked> {
public:
  explicit patient(std::shared_ptr<call_log> log) : log_(std::move(log)) {}
  void async_invoke(const asked& in, future result) override {
    log_->begun.emplace_back(in.word, std::move(result));
  }
  void timeout(const asked& in, future result) override {
    log_->timed_out.push_back(in.word);
    result.complete({{in.word + " late", in.n}});
  }

private:
  std::shared_ptr<call_log> log_;
};

/// Runs its calls on the executor.
class blocking final : public api::async_function<asked, asked> {
public:
  void open(api::open_context& context) override { steps_ = &context.blocking(); }
  void async_invoke(const asked& in, future result) override {
    api::run_async(
        *steps_,
        [in] {
          if (in.word == "throws")
            throw std::runtime_error("no such word");
          return asked{in.word + "!", in.n};
        },
        std::move(result));
  }

private:
  graph::blocking_steps* steps_ = nullptr;
};

template <class F>
graph::function_table
functions_of(F function, std::optional<api::async_retry_strategy<asked>> retry = std::nullopt) {
  return {[adaptor = api::async_adaptor<F>(std::move(function), std::move(retry))] {
    return graph::any_function(
        std::unique_ptr<graph::async_function>(new api::async_adaptor<F>(adaptor)));
  }};
}

graph::async_wait_spec spec(bool is_ordered, std::int64_t capacity = 100,
                            std::int64_t timeout_ms = 0, graph::async_retry_spec retry = {}) {
  return {{0}, is_ordered, timeout_ms, capacity, retry};
}

/// One operator, and calls that the test ends.
struct fixture {
  explicit fixture(graph::async_wait_spec what,
                   std::optional<api::async_retry_strategy<asked>> retry = std::nullopt,
                   bool is_patient = false)
      : log(std::make_shared<call_log>()),
        harness(vertex_of(what, *word_type(), *word_type()),
                is_patient ? functions_of(patient(log), std::move(retry))
                           : functions_of(asking(log), std::move(retry))) {}

  /// As a turn of the task does.
  void turn() {
    harness.chain->take_due();
    harness.drain();
  }
  void pass_ms(std::int64_t ms) {
    harness.time.advance_ms(ms);
    harness.chain->fire_processing_time(harness.time.wall_ms());
  }
  void push(const std::vector<std::string>& all, std::int64_t time_ms = 0) {
    word_rows rows;
    for (const auto& each : all)
      rows.emplace_back(each, 1);
    harness.push(timed_words(rows, std::vector<std::int64_t>(rows.size(), time_ms)));
  }
  /// What left since the last call: words, "W" and the time of watermarks, "E" for the end.
  std::string left() {
    std::string out;
    for (const auto& each : std::exchange(harness.results.of(0), {})) {
      if (const auto* rows = std::get_if<graph::record_batch>(&each)) {
        for (const auto& [word, n] : words_of(*rows))
          out += word + " ";
      } else if (const auto* mark = std::get_if<graph::watermark>(&each)) {
        out += mark->time_ms == graph::watermark::end ? std::string("Wend ")
                                                      : "W" + std::to_string(mark->time_ms) + " ";
      } else if (std::holds_alternative<graph::end_of_input>(each)) {
        out += "E ";
      } else if (const auto* state = std::get_if<graph::watermark_status>(&each)) {
        out += state->idle ? "idle " : "active ";
      } else if (std::holds_alternative<graph::barrier>(each)) {
        out += "| ";
      }
    }
    return out;
  }

  std::shared_ptr<call_log> log;
  chain_harness harness;
};

} // namespace

TEST_SUITE_BEGIN("task/operator/async/async_wait_operator");

TEST_CASE("results leave as their calls end, between the watermarks around their rows") {
  fixture test(spec(false));
  test.harness.open();
  test.push({"a", "b"});
  test.harness.watermark(10);
  test.push({"c"});
  test.harness.chain->add(graph::watermark_status{true});
  test.harness.drain();
  CHECK(test.log->words() == "a b c ");
  CHECK(test.left().empty());

  test.log->end("c");
  test.log->end("b");
  CHECK(test.harness.chain->is_drained());  // until a turn looks
  CHECK(*test.harness.services.wakes == 1); // once for both
  test.turn();
  CHECK(test.left() == "b ");
  test.log->end("a");
  CHECK(*test.harness.services.wakes == 2);
  test.turn();
  CHECK(test.left() == "a W10 c idle ");
}

TEST_CASE("in order, results wait for those before them") {
  fixture test(spec(true));
  test.harness.open();
  test.push({"a", "b", "c"});
  test.log->end("c");
  test.log->end("b");
  test.turn();
  CHECK(test.left().empty());
  test.log->end("a");
  test.turn();
  CHECK(test.left() == "a b c ");
}

TEST_CASE("results get the event time of their row, and may be none or several") {
  fixture test(spec(false));
  test.harness.open();
  test.push({"a"}, 70);
  test.push({"b"}, 80);
  test.log->of("b").complete({});
  test.log->of("a").complete({{"x", 1}, {"y", 2}});
  test.turn();

  const auto batches = test.harness.take_batches();
  REQUIRE(batches.size() == 1);
  CHECK(words_of(batches[0]) == word_rows{{"x", 1}, {"y", 2}});
  CHECK(batches[0].timestamps()[1] == 70);
}

TEST_CASE("calls that end at once need no other turn") {
  fixture test(spec(false, 2));
  test.harness.open();
  test.push({"at once", "at once", "at once", "a"});

  CHECK(test.left() == "at once at once at once at once at once at once ");
  CHECK(test.log->words() == "at once at once at once a ");
  CHECK(*test.harness.services.wakes == 0);
}

TEST_CASE("no more rows are in flight than there is capacity for") {
  fixture test(spec(false, 2));
  test.harness.open();
  test.push({"a", "b", "c", "d"});
  CHECK(test.log->words() == "a b ");
  CHECK_FALSE(test.harness.chain->takes_rows());
  CHECK(test.harness.chain->is_drained());

  test.log->end("b");
  test.turn();
  CHECK(test.log->words() == "a b c ");
  CHECK_FALSE(test.harness.chain->takes_rows());
  test.log->end("c");
  test.turn();
  CHECK(test.log->words() == "a b c d ");
  CHECK(test.harness.chain->takes_rows()); // and what is taken waits in its turn
  test.push({"e"});
  CHECK(test.log->words() == "a b c d ");
  CHECK(test.left() == "b c ");
}

TEST_CASE("a call ends once, also when it ends on another thread or when all is over") {
  fixture test(spec(false));
  test.harness.open();
  test.push({"a", "b"});
  std::thread([result = test.log->of("a")] {
    result.complete({{"first", 1}});
    result.complete({{"second", 1}});
    result.complete_exceptionally("third");
  }).join();
  test.turn();
  CHECK(test.left() == "first ");
  test.log->of("a").complete_exceptionally("fourth");
  test.turn();
  CHECK(test.left().empty());

  const auto before = test.harness.services.wakes->load();
  test.harness.chain->close();
  CHECK(test.log->is_closed);
  test.log->end("b");
  CHECK_FALSE(test.harness.chain->at(0).has_output_due());
  CHECK(*test.harness.services.wakes == before);
  test.harness.chain.reset(); // the futures outlive it
  test.log->end("b");
}

TEST_CASE("a failure of a call fails the operator by name, and so does what it throws") {
  fixture test(spec(false));
  test.harness.open();
  test.push({"a"});
  test.log->of("a").complete_exceptionally("server is gone");
  test.harness.chain->take_due();
  const auto failed = test.harness.drain_to_failure();
  REQUIRE(failed);
  CHECK(failed->has(errc::user_function_failed));
  CHECK(to_string(*failed).find("test operator") != std::string::npos);
  CHECK(to_string(*failed).find("server is gone") != std::string::npos);

  fixture other(spec(false));
  other.harness.open();
  other.harness.chain->add(0, words({{"throws", 1}}));
  const auto thrown = other.harness.drain_to_failure();
  REQUIRE(thrown);
  CHECK(to_string(*thrown).find("no such word") != std::string::npos);
}

TEST_CASE("a row whose time is over fails the operator, which tells the timeout") {
  fixture test(spec(false, 100, 500));
  test.harness.open();
  test.push({"a"});
  test.pass_ms(499);
  test.turn();
  CHECK(test.harness.chain->next_processing_time_ms() == test.harness.time.wall_ms() + 1);
  test.pass_ms(1);
  const auto failed = test.harness.drain_to_failure();
  REQUIRE(failed);
  CHECK(to_string(*failed).find("test operator") != std::string::npos);
  CHECK(to_string(*failed).find("timeout: 500 ms") != std::string::npos);
}

TEST_CASE("a function may give something else when a row's time is over") {
  fixture test(spec(true, 100, 500), std::nullopt, true);
  test.harness.open();
  test.push({"a", "b", "c"});
  test.log->end("b");
  test.log->end("c"); // has ended, although no turn has looked
  test.pass_ms(500);
  test.harness.drain();
  CHECK(test.log->timed_out == std::vector<std::string>{"a"});
  CHECK(test.left() == "a late b c ");
  test.log->end("a");
  test.turn();
  CHECK(test.left().empty());
}

TEST_CASE("calls are made again for results and failures that the strategy does not take") {
  const auto retry = api::exponential_backoff_retry<asked>(3, std::chrono::milliseconds(10),
                                                           std::chrono::milliseconds(100), 2)
                         .if_result(api::is_empty_result<asked>)
                         .if_exception([](const std::string& words) { return words == "busy"; });
  fixture test(spec(true, 100, 0, retry.spec()), retry);
  test.harness.open();
  test.push({"a", "b"});
  const auto first = test.log->of("a");
  first.complete_exceptionally("busy");
  test.log->end("b");
  test.turn();
  CHECK(test.left().empty());
  first.complete({{"too late", 0}}); // the call is over

  test.pass_ms(9);
  test.harness.drain();
  CHECK(test.log->words() == "a b ");
  test.pass_ms(1);
  test.harness.drain();
  CHECK(test.log->words() == "a b a ");
  test.log->of("a").complete({});
  test.turn();
  test.pass_ms(20);
  test.harness.drain();
  CHECK(test.log->words() == "a b a a ");
  test.log->end("a");
  test.turn();
  CHECK(test.left() == "a b ");
}

TEST_CASE("when no attempts are left, what the last one gave counts") {
  const auto retry = api::fixed_delay_retry<asked>(1, std::chrono::milliseconds(5))
                         .if_result(api::is_empty_result<asked>)
                         .if_exception(api::has_exception);
  fixture test(spec(false, 100, 0, retry.spec()), retry);
  test.harness.open();
  test.push({"a", "b"});
  for (int attempt = 0; attempt < 2; ++attempt) {
    test.log->of("a").complete({});
    test.turn();
    test.pass_ms(5);
    test.harness.drain();
  }
  CHECK(test.log->words() == "a b a ");
  test.log->of("b").complete_exceptionally("busy");
  test.turn();
  test.pass_ms(5);
  test.harness.drain();
  test.log->of("b").complete_exceptionally("still busy");
  test.harness.chain->take_due();
  const auto failed = test.harness.drain_to_failure();
  REQUIRE(failed);
  CHECK(to_string(*failed).find("2 calls: still busy") != std::string::npos);
}

TEST_CASE("the timeout is over all attempts, also while a row waits for the next one") {
  const auto retry = api::fixed_delay_retry<asked>(100, std::chrono::milliseconds(50))
                         .if_exception(api::has_exception);
  fixture test(spec(false, 100, 70, retry.spec()), retry, true);
  test.harness.open();
  test.push({"a"});
  test.log->of("a").complete_exceptionally("busy");
  test.turn();
  test.pass_ms(50);
  test.harness.drain();
  CHECK(test.log->words() == "a a ");
  test.log->of("a").complete_exceptionally("busy");
  test.turn();
  test.pass_ms(20);
  test.harness.drain();
  CHECK(test.left() == "a late ");
  CHECK_FALSE(test.harness.chain->next_processing_time_ms());
}

TEST_CASE("the end of input waits for all results") {
  fixture test(spec(false, 2));
  test.harness.open();
  test.push({"a", "b", "c"});
  test.log->end("a");
  test.turn();
  test.harness.end();
  CHECK(test.left() == "a ");
  CHECK_FALSE(test.harness.chain->has_ended());
  CHECK(test.harness.chain->is_drained()); // nothing spins meanwhile

  test.log->end("c");
  test.turn();
  CHECK_FALSE(test.harness.chain->has_ended());
  test.log->end("b");
  test.turn();
  CHECK(test.left() == "c b Wend E ");
  CHECK(test.harness.chain->has_ended());
}

TEST_CASE("a barrier waits for no result, not even where the input has ended") {
  fixture test(spec(false, 2));
  test.harness.open();
  test.push({"a", "b", "c"});
  test.harness.snapshot(3000);
  CHECK(test.left() == "| ");
  test.log->end("a");
  test.turn();
  CHECK(test.left() == "a ");
  test.harness.end();
  test.harness.snapshot(3001);
  CHECK(test.left() == "| ");
  CHECK_FALSE(test.harness.chain->has_ended());
  test.log->end("b");
  test.log->end("c");
  test.turn();
  CHECK(test.left() == "b c Wend E ");
}

TEST_CASE("the barrier of a savepoint that drains the job waits for all results") {
  fixture test(spec(false));
  test.harness.open();
  test.push({"a"});
  test.harness.end();
  auto order = std::make_shared<graph::savepoint_order>();
  order->stop = graph::savepoint_stop::drain;
  graph::barrier split{3002, 0, {}};
  split.savepoint = order;
  test.harness.chain->add(split);
  test.harness.drain();
  CHECK(test.harness.chain->is_blocked());
  CHECK(test.left().empty());
  test.log->end("a");
  test.turn();
  CHECK(test.left() == "a Wend E | ");
}

TEST_CASE("rows in flight are called for again after a restore, ahead of new ones") {
  for (const bool is_ordered : {false, true}) {
    fixture first(spec(is_ordered, 3));
    first.harness.open();
    first.push({"a", "b"}, 5);
    first.harness.watermark(10);
    first.push({"c", "d", "e"}, 15);
    first.log->end("b");
    first.turn();
    const auto stored = first.harness.snapshot(3100 + (is_ordered ? 1 : 0));
    CHECK(first.left() == (is_ordered ? "| " : "b | "));

    fixture second(spec(is_ordered, 3));
    second.harness.open(stored);
    second.turn();
    CHECK(second.log->words() == (is_ordered ? "a b c " : "a c d "));
    second.harness.watermark(20);
    second.push({"f"}, 25);
    for (int round = 0; round < 6; ++round) {
      for (const auto& [word, result] : second.log->begun)
        result.complete({{word, 1}});
      second.turn();
    }
    CHECK(second.left() == (is_ordered ? "a b W10 c d e W20 f " : "a W10 c d e W20 f "));
  }
}

TEST_CASE("rows in flight are dealt out at another parallelism") {
  fixture first(spec(false, 3));
  first.harness.open();
  first.push({"a", "b", "c", "d", "e"});
  state::operator_state whole;
  whole.parallelism = 1;
  whole.max_parallelism = 8;
  whole.subtasks[0] = first.harness.snapshot(3200).operators.at({3, 3});

  std::string all;
  const auto parts = state::redistribute(whole, 2);
  for (const auto& part : parts) {
    fixture second(spec(false, 3));
    state::task_state_snapshot from;
    from.operators[{3, 3}] = part;
    second.harness.open(from);
    second.turn();
    CHECK_FALSE(second.log->begun.empty());
    all += second.log->words();
  }
  std::sort(all.begin(), all.end());
  CHECK(all == "     abcde");
}

TEST_CASE("what blocks runs on the executor") {
  chain_harness harness(vertex_of(spec(true), *word_type(), *word_type()),
                        functions_of(blocking()));
  harness.open();
  harness.push(words({{"a", 1}, {"b", 2}}));
  CHECK(harness.services.steps.size() == 2);
  harness.services.run_steps();
  CHECK(*harness.services.wakes == 1);
  harness.chain->take_due();
  harness.drain();
  word_rows rows;
  for (const auto& batch : harness.take_batches())
    for (auto& row : words_of(batch))
      rows.push_back(std::move(row));
  CHECK(rows == word_rows{{"a!", 1}, {"b!", 2}});

  harness.push(words({{"throws", 1}}));
  harness.services.run_steps();
  harness.chain->take_due();
  const auto failed = harness.drain_to_failure();
  REQUIRE(failed);
  CHECK(to_string(*failed).find("no such word") != std::string::npos);
}

TEST_CASE("steps that have not begun when the task ends are left out") {
  chain_harness harness(vertex_of(spec(true), *word_type(), *word_type()),
                        functions_of(blocking()));
  harness.open();
  harness.push(words({{"a", 1}}));
  harness.chain->close();
  harness.services.run_steps();
  CHECK(*harness.services.wakes == 0);
}

TEST_SUITE_END();
