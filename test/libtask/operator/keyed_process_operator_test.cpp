#include "libtask/operator/keyed_process_operator.hpp"

#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"

#include <doctest/doctest.h>

#include <cstring>

using namespace headrace;
using namespace headrace::testing;

namespace {

/// Counts rows a word; at each row registers a timer 10 ms later, which gives the count.
class count_and_wait final : public graph::keyed_process_function {
public:
  explicit count_and_wait(graph::time_domain domain) : domain_(domain) {}
  void open(const graph::function_context& context) override {
    count_ = &context.keyed_state->value(
        {"count", graph::state_kind::value, graph::logical_type::bigint(), {}, 0, {}});
  }
  std::size_t process(const graph::record_batch& in, std::size_t from, graph::keyed_context& keyed,
                      graph::function_output&) override {
    for (; from < in.size(); ++from) {
      keyed.set_row(from);
      const auto count = read() + 1;
      count_->put({reinterpret_cast<const char*>(&count), sizeof(count)});
      if (domain_ == graph::time_domain::event)
        keyed.register_event_timer(in.timestamps()[in.row_at(from)] + 10);
      else
        keyed.register_processing_timer(keyed.current_processing_time() + 10);
    }
    return from;
  }
  void on_timer(std::int64_t, graph::time_domain, const graph::record_batch& keys, std::size_t row,
                graph::keyed_context&, graph::function_output& out) override {
    out.main().column(0).append_string(keys.at(0).string_at(keys.row_at(row)));
    out.main().column(1).append(read());
    out.main().end_row();
  }

private:
  std::int64_t read() {
    std::int64_t value = 0;
    if (const auto stored = count_->get())
      std::memcpy(&value, stored->data(), sizeof(value));
    return value;
  }
  graph::time_domain domain_;
  graph::value_access* count_ = nullptr;
};

graph::function_table functions(graph::time_domain domain) {
  return {[domain] {
    return graph::any_function(
        std::unique_ptr<graph::keyed_process_function>(new count_and_wait(domain)));
  }};
}

word_rows rows_of(chain_harness& harness) {
  word_rows out;
  for (const auto& batch : harness.take_batches())
    for (auto& row : words_of(batch))
      out.push_back(std::move(row));
  std::sort(out.begin(), out.end());
  return out;
}

graph::job_vertex counting() {
  return vertex_of(graph::keyed_process_spec{{0}, {0}}, *word_type(), *word_type());
}

} // namespace

TEST_SUITE_BEGIN("task/operator/keyed_process_operator");
TEST_CASE("an event timer fires when the watermark has reached it") {
  chain_harness harness(counting(), functions(graph::time_domain::event));
  harness.open();
  harness.push(timed_words({{"a", 0}, {"b", 0}, {"a", 0}}, {100, 105, 100}));

  harness.watermark(109);
  CHECK(rows_of(harness).empty());
  harness.watermark(110);
  CHECK(rows_of(harness) == word_rows{{"a", 2}});
  harness.watermark(graph::watermark::end);
  CHECK(rows_of(harness) == word_rows{{"b", 1}});
}

TEST_CASE("a thousand timers at once come in bounded pieces") {
  chain_harness harness(counting(), functions(graph::time_domain::event));
  harness.open();
  word_rows rows;
  std::vector<std::int64_t> times;
  for (int i = 0; i < 1000; ++i) {
    rows.emplace_back("word" + std::to_string(i), 0);
    times.push_back(i % 7);
  }
  harness.push(timed_words(rows, times));

  harness.watermark(1000);

  std::size_t fired = 0;
  for (const auto& batch : harness.take_batches()) {
    CHECK(batch.size() <= 3);
    fired += batch.size();
  }
  CHECK(fired == 1000);
}

TEST_CASE("a processing timer wants its time and fires at it") {
  chain_harness harness(counting(), functions(graph::time_domain::processing));
  harness.open();
  CHECK_FALSE(harness.chain->next_processing_time_ms());
  harness.push(timed_words({{"a", 0}}, {0}));

  CHECK(harness.chain->next_processing_time_ms() == harness.time.wall_ms() + 10);
  harness.time.advance_ms(10);
  harness.chain->fire_processing_time(harness.time.wall_ms());
  harness.drain();

  CHECK(rows_of(harness) == word_rows{{"a", 1}});
  CHECK_FALSE(harness.chain->next_processing_time_ms());
}

TEST_CASE("state and timers are there after a restore") {
  state::task_state_snapshot stored;
  {
    chain_harness harness(counting(), functions(graph::time_domain::event));
    harness.open();
    harness.push(timed_words({{"a", 0}, {"b", 0}, {"a", 0}}, {100, 100, 100}));
    stored = harness.snapshot(1);
    CHECK_FALSE(stored.operators.empty());
  }

  chain_harness harness(counting(), functions(graph::time_domain::event));
  harness.open(stored);
  harness.push(timed_words({{"a", 0}}, {100}));
  harness.watermark(200);

  CHECK(rows_of(harness) == word_rows{{"a", 3}, {"b", 1}});
}

TEST_SUITE_END();
