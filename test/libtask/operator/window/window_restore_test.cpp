#include "test/libtask/operator/window/testing_windows.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace headrace;
using namespace headrace::testing;
using namespace std::chrono_literals;

namespace {

const std::vector<std::pair<std::string, std::string>> ways{
    {"hashmap", "hashmap"}, {"rocksdb", "rocksdb"}, {"hashmap", "rocksdb"}, {"rocksdb", "hashmap"}};

/// Runs a job to a savepoint, and on from it at another parallelism and maybe on another backend.
/// @returns what came out before and behind, sorted
template <class Before, class After>
std::pair<word_rows, word_rows> over_savepoint(const api::stream<counted>& out,
                                               const std::pair<std::string, std::string>& backends,
                                               std::pair<std::int32_t, std::int32_t> parallelism,
                                               checkpoint_id& next, Before before, After after) {
  const auto vertex = vertex_of_stream(out);
  const auto& functions = out.environment().program().functions;
  co_subtasks first(vertex, functions, parallelism.first, backends.first);
  before(first);
  auto given = first.rows();
  const auto stored = first.store(next, state::snapshot_kind::canonical);
  co_subtasks second(vertex, functions, parallelism.second, backends.second, &stored);
  after(second);
  return {std::move(given), second.rows()};
}

std::string word(std::int64_t i) { return "word" + std::to_string(i); }

} // namespace

TEST_SUITE_BEGIN("task/operator/window/window_restore");

TEST_CASE("open sessions and their triggers' states go with a savepoint") {
  checkpoint_id next = 3000;
  for (const auto& backends : ways) {
    for (const auto& parallelism : {std::pair{2, 3}, std::pair{3, 1}}) {
      CAPTURE(backends.first);
      CAPTURE(backends.second);
      api::environment env;
      const auto out = keyed_words(env)
                           .window(api::session_event_time(10ms))
                           .trigger(api::count_trigger(3))
                           .reduce(add_numbers, name_window);
      word_rows expected;

      const auto [before, after] = over_savepoint(
          out, backends, parallelism, next,
          [](co_subtasks& to) {
            for (std::int64_t i = 0; i < 20; ++i) {
              to.push_by_key(0, word(i), i, 0);
              to.push_by_key(0, word(i), 100, 15);
            }
          },
          [&](co_subtasks& to) {
            for (std::int64_t i = 0; i < 20; ++i) {
              to.push_by_key(0, word(i), 1000, 8);
              expected.emplace_back(word(i) + "[0,25)", 1100 + i);
            }
            to.watermark(100);
          });

      std::sort(expected.begin(), expected.end());
      CHECK(before.empty());
      CHECK(after == expected);
    }
  }
}

TEST_CASE("timers of continuous triggers, and of windows' ends, go with a savepoint") {
  checkpoint_id next = 3200;
  for (const auto& backends : ways) {
    CAPTURE(backends.first);
    CAPTURE(backends.second);
    api::environment env;
    const auto out = keyed_words(env)
                         .window(api::tumbling_event_time(25ms))
                         .allowed_lateness(10ms)
                         .trigger(api::continuous_event_time_trigger(10ms))
                         .process(list_window);
    word_rows expected_before;
    word_rows expected_after;

    const auto [before, after] = over_savepoint(
        out, backends, {2, 3}, next,
        [&](co_subtasks& to) {
          for (std::int64_t i = 0; i < 20; ++i) {
            to.push_by_key(0, word(i), i, 3);
            expected_before.emplace_back(word(i) + "[0,25):" + std::to_string(i), 1);
          }
          to.watermark(10);
        },
        [&](co_subtasks& to) {
          to.watermark(25); // at 20, and at the end
          for (std::int64_t i = 0; i < 20; ++i) {
            to.push_by_key(0, word(i), 7, 3);
            const auto text = word(i) + "[0,25):" + std::to_string(i);
            expected_after.emplace_back(text, 1);
            expected_after.emplace_back(text, 1);
            expected_after.emplace_back(text + ",7", 2);
          }
          to.watermark(34);
          for (std::int64_t i = 0; i < 20; ++i)
            to.push_by_key(0, word(i), 7, 3);
        });

    std::sort(expected_before.begin(), expected_before.end());
    std::sort(expected_after.begin(), expected_after.end());
    CHECK(before == expected_before);
    CHECK(after == expected_after);
  }
}

TEST_CASE("rows that an evictor left go with a savepoint") {
  checkpoint_id next = 3400;
  for (const auto& backends : ways) {
    CAPTURE(backends.first);
    CAPTURE(backends.second);
    api::environment env;
    const auto out = keyed_words(env).count_window(3, 2).process(list_window);

    const auto [before, after] = over_savepoint(
        out, backends, {1, 2}, next,
        [](co_subtasks& to) {
          for (std::int64_t n = 1; n <= 5; ++n)
            for (const auto* key : {"a", "b"})
              to.push_by_key(0, key, n, 0);
        },
        [](co_subtasks& to) {
          for (const auto* key : {"a", "b"})
            to.push_by_key(0, key, 6, 0);
        });

    CHECK(
        before ==
        word_rows{{"a[all):1,2", 2}, {"a[all):2,3,4", 3}, {"b[all):1,2", 2}, {"b[all):2,3,4", 3}});
    CHECK(after == word_rows{{"a[all):4,5,6", 3}, {"b[all):4,5,6", 3}});
  }
}

TEST_CASE("sessions and count windows of random rows are those that a plain loop finds") {
  const auto gap = 7;
  const auto disorder = 20;
  const auto random = make_seeded_random(seed());
  for (int round = 0; round < runs(20); ++round) {
    CAPTURE(round);
    api::environment env;
    const std::string backend = round % 5 == 0 ? "rocksdb" : "hashmap";
    window_run sessions(keyed_words(env)
                            .window(api::session_event_time(std::chrono::milliseconds(gap)))
                            .reduce(add_numbers, name_window),
                        backend);
    window_run counts(keyed_words(env).count_window(4, 3).process(list_window), backend);
    std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> rows;
    texts expected_counts;
    std::int64_t most = 0;

    for (int i = 0; i < 300; ++i) {
      const auto key = word(static_cast<std::int64_t>(random->below(5)));
      // Even times, so that no two are just the gap apart; none behind the watermark.
      const auto time = 2 * i + 2 * static_cast<std::int64_t>(random->below(disorder / 2));
      const auto n = static_cast<std::int64_t>(random->below(1000));
      sessions.row(key, n, time);
      counts.row(key, n);
      auto& own = rows[key];
      own.emplace_back(time, n);
      most = std::max(most, time);
      if (random->below(4) == 0)
        sessions.watermark(2 * i + 1);
      if (own.size() % 3 == 0) {
        auto text = key + "[all):";
        const auto first = own.size() < 4 ? 0 : own.size() - 4;
        for (auto at = first; at < own.size(); ++at)
          text += (at == first ? "" : ",") + std::to_string(own[at].second);
        expected_counts.push_back(text + "=" + std::to_string(own.size() - first));
      }
    }
    sessions.watermark(graph::watermark::end);

    texts expected;
    for (auto& [key, own] : rows) {
      std::sort(own.begin(), own.end());
      for (std::size_t at = 0; at < own.size();) {
        const auto start = own[at].first;
        auto end = start;
        std::int64_t sum = 0;
        for (; at < own.size() && (end == start || own[at].first < end); ++at) {
          end = own[at].first + gap;
          sum += own[at].second;
        }
        expected.push_back(key + "[" + std::to_string(start) + "," + std::to_string(end) +
                           ")=" + std::to_string(sum) + "@" + std::to_string(end - 1));
      }
    }
    auto found = sessions.take();
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    CHECK(found == expected);
    CHECK(counts.take() == expected_counts);
  }
}

TEST_SUITE_END();
