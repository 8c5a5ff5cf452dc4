#include "libstate/timer/timer_service.hpp"

#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace headrace::state {
namespace {

using namespace headrace::testing;

using timer = std::pair<std::int64_t, std::int64_t>; ///< time, key

std::vector<timer> timers_of(const due_timers& due) {
  std::vector<timer> out;
  const auto keys = numbers_of(take(due.keys.to_batch()));
  for (std::size_t i = 0; i < due.size(); ++i)
    out.emplace_back(due.times_ms[i], keys[i]);
  return out;
}

std::vector<timer> advance_all(timer_service& timers, std::int64_t time_ms, std::size_t rows_max) {
  std::vector<timer> out;
  auto due = timers.make_due();
  do {
    check_ok(timers.advance(time_ms, rows_max, due));
    CHECK(due.size() <= rows_max);
    const auto some = timers_of(due);
    out.insert(out.end(), some.begin(), some.end());
  } while (due.size() == rows_max);
  return out;
}

struct timer_fixture : state_fixture {
  using state_fixture::state_fixture;
  std::unique_ptr<keyed_backend> backend = make(number_type());
  std::unique_ptr<timer_service> timers =
      take(open_timer_service(*backend, graph::time_domain::event));
  key_batch keys = key_batch(backend->key(), max_parallelism);

  key_ref key(std::int64_t value) {
    keys.assign(numbers({value}), column_0);
    return keys.at(0);
  }
  void add(std::int64_t value, std::int64_t time_ms) {
    check_ok(timers->register_timer(key(value), time_ms));
  }
};

} // namespace

TEST_SUITE("state/timer/timer_service") {
STATE_TEST_CASE(timer_fixture, "timers fire once, in order of time, up to the time reached") {
  add(1, 5000);
  add(2, 10);
  add(1, 10);
  add(1, 10);
  add(3, 11);
  CHECK(timers->size() == 4);
  CHECK(timers->next_time_ms() == 10);

  auto fired = advance_all(*timers, 10, 100);
  std::sort(fired.begin(), fired.end());
  CHECK(fired == std::vector<timer>{{10, 1}, {10, 2}});
  CHECK(advance_all(*timers, 10, 100).empty());
  CHECK(timers->next_time_ms() == 11);
  CHECK(advance_all(*timers, 1'000'000, 1) == std::vector<timer>{{11, 3}, {5000, 1}});
  CHECK(timers->size() == 0);
  CHECK(!timers->next_time_ms());
}

STATE_TEST_CASE(timer_fixture, "a deleted timer does not fire, and may come again") {
  add(1, 10);
  add(1, 20);
  add(2, 20);
  check_ok(timers->delete_timer(key(1), 20));
  check_ok(timers->delete_timer(key(1), 30));
  check_ok(timers->delete_timer(key(9), 20));

  CHECK(timers->size() == 2);
  CHECK(advance_all(*timers, 15, 100) == std::vector<timer>{{10, 1}});
  add(1, 20);
  check_ok(timers->delete_timer(key(1), 20));
  add(1, 20);
  check_ok(timers->delete_timer(key(2), 20));
  CHECK(timers->next_time_ms() == 20);
  CHECK(advance_all(*timers, 100, 100) == std::vector<timer>{{20, 1}});
}

STATE_TEST_CASE(timer_fixture, "timers registered while others fire take part") {
  add(1, 100);
  add(1, 200);
  auto due = timers->make_due();
  check_ok(timers->advance(1000, 1, due));
  CHECK(timers_of(due) == std::vector<timer>{{100, 1}});

  add(2, 50);
  add(2, 150);
  CHECK(advance_all(*timers, 1000, 10) == std::vector<timer>{{50, 2}, {150, 2}, {200, 1}});
}

STATE_TEST_CASE(timer_fixture, "the ends of time are times") {
  add(1, std::numeric_limits<std::int64_t>::max());
  add(2, std::numeric_limits<std::int64_t>::min());
  add(3, -1);
  CHECK(advance_all(*timers, std::numeric_limits<std::int64_t>::max(), 10) ==
        std::vector<timer>{{std::numeric_limits<std::int64_t>::min(), 2},
                           {-1, 3},
                           {std::numeric_limits<std::int64_t>::max(), 1}});
}

STATE_TEST_CASE(timer_fixture, "many far apart timers lie in wider buckets") {
  for (std::int64_t i = 0; i < 5000; ++i)
    add(i % 7, i * 60'000);
  CHECK(backend->size_bytes() < 2'000'000);
  const auto fired = advance_all(*timers, 5000 * 60'000, 300);
  REQUIRE(fired.size() == 5000);
  for (std::size_t i = 0; i < fired.size(); ++i)
    CHECK(fired[i].first == static_cast<std::int64_t>(i) * 60'000);
}

STATE_TEST_CASE(timer_fixture, "timers agree with a set, over snapshots") {
  const auto random = make_seeded_random(seed());
  std::set<timer> model;
  std::int64_t now = 0;
  for (int step = 0; step < 3000; ++step) {
    const auto some_key = static_cast<std::int64_t>(random->below(30));
    const auto time_ms =
        now + static_cast<std::int64_t>(random->below(random->below(10) == 0 ? 10'000'000 : 5000)) -
        500;
    const auto action = random->below(20);
    if (action < 13) {
      add(some_key, time_ms);
      model.insert({time_ms, some_key});
    } else if (action < 16 && !model.empty()) {
      auto chosen = model.lower_bound({time_ms, 0});
      if (chosen == model.end())
        chosen = model.begin();
      check_ok(timers->delete_timer(key(chosen->second), chosen->first));
      model.erase(chosen);
    } else if (action < 19) {
      now += static_cast<std::int64_t>(random->below(3000));
      auto fired = advance_all(*timers, now, 1 + random->below(50));
      CHECK(std::is_sorted(fired.begin(), fired.end(), [](const auto& left, const auto& right) {
        return left.first < right.first;
      }));
      std::sort(fired.begin(), fired.end());
      std::vector<timer> wanted(model.begin(), model.upper_bound({now, 1'000'000}));
      REQUIRE(fired == wanted);
      model.erase(model.begin(), model.upper_bound({now, 1'000'000}));
    } else if (random->below(10) == 0) {
      const auto handle = store(*backend, "s" + std::to_string(step));
      timers.reset();
      backend = make(number_type());
      check_ok(backend->restore({handle}));
      timers = take(open_timer_service(*backend, graph::time_domain::event));
    }
    REQUIRE(timers->size() == model.size());
    REQUIRE(timers->next_time_ms().has_value() == !model.empty());
    if (!model.empty())
      REQUIRE(timers->next_time_ms() == model.begin()->first);
  }
}

STATE_TEST_CASE(timer_fixture, "timers of the two domains are apart") {
  const auto processing = take(open_timer_service(*backend, graph::time_domain::processing));
  add(1, 10);
  CHECK(processing->size() == 0);
  check_ok(processing->register_timer(key(2), 20));
  CHECK(advance_all(*timers, 100, 10) == std::vector<timer>{{10, 1}});
  CHECK(advance_all(*processing, 100, 10) == std::vector<timer>{{20, 2}});
}
} // TEST_SUITE("state/timer/timer_service")

} // namespace headrace::state
