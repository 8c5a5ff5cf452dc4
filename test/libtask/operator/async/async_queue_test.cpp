#include "libtask/operator/async/async_queue.hpp"

#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

/// Runs a script, and gives what left. "a" to "z": a row comes; "A" to "Z": the same one finishes;
/// a digit: a watermark comes; "!": input is idle; " ": what may leave does.
std::string run(async_order order, const std::string& script) {
  async_queue queue(order);
  std::map<char, async_queue::place> places;
  std::map<async_queue::place, char> names;
  std::string out;
  const auto leave = [&] {
    while (const auto next = queue.take()) {
      if (const auto* row = std::get_if<async_queue::place>(&*next))
        out += names.at(*row);
      else if (const auto* mark =
                   std::get_if<graph::watermark>(&std::get<async_queue::control>(*next)))
        out += static_cast<char>('0' + mark->time_ms);
      else
        out += '!';
    }
    out += ' ';
  };
  for (const auto each : script) {
    if (each == ' ')
      leave();
    else if (each == '!')
      queue.add(graph::watermark_status{true});
    else if (each >= '0' && each <= '9')
      queue.add(graph::watermark{each - '0'});
    else if (each >= 'A' && each <= 'Z')
      queue.finish(places.at(static_cast<char>(each - 'A' + 'a')));
    else
      names[places[each] = queue.add()] = each;
  }
  leave();
  out.pop_back();
  return out;
}

struct sample {
  const char* script;
  const char* ordered;
  const char* unordered;
};
constexpr sample samples[] = {
    {"", "", ""},
    {"1", "1", "1"},
    {"abc", "", ""},
    {"abcB A C", " ab c", "b a c"},
    {"abcCBA", "abc", "cba"},
    {"ab1cC B A", "  ab1c", " b a1c"}, // c does not pass the watermark
    {"ab1cCBA", "ab1c", "ba1c"},
    {"a12!bB A", " a12!b", " a12!b"}, // several behind one row, in order
    {"1a2A b3 B", "1a2  b3", "1a2  b3"},
    {"aA b cC B", "a   bc", "a  c b"},
    {"ab1cd2eE D C B A", "    ab1cd2e", "   b a1dc2e"},
};

} // namespace

TEST_SUITE_BEGIN("task/operator/async/async_queue");

TEST_CASE("rows leave as they came, or as they finish between two watermarks") {
  for (const auto& each : samples) {
    CAPTURE(each.script);
    CHECK(run(async_order::ordered, each.script) == each.ordered);
    CHECK(run(async_order::unordered, each.script) == each.unordered);
  }
}

TEST_CASE("a queue counts the rows that have not left, and tells them as they came") {
  async_queue queue(async_order::unordered);
  const auto a = queue.add();
  const auto b = queue.add();
  queue.add(graph::watermark{1});
  const auto c = queue.add();
  CHECK(queue.size() == 3);
  CHECK_FALSE(queue.has_next());

  queue.finish(b);
  queue.finish(c);
  CHECK(queue.has_next());
  CHECK(queue.in_order() == std::vector{a, b, c}); // finished ones, too
  queue.take();
  CHECK(queue.in_order() == std::vector{a, c});
  const auto d = queue.add();
  CHECK(d == b);                                   // a place is used again …
  CHECK(queue.in_order() == std::vector{a, c, d}); // … behind the others

  queue.finish(a);
  queue.take();
  CHECK_FALSE(queue.is_empty());
  CHECK(std::holds_alternative<async_queue::control>(*queue.take()));
  queue.take();
  queue.finish(d);
  queue.take();
  CHECK(queue.is_empty());
  CHECK(queue.place_count() == 3);
}

TEST_CASE("whatever comes and finishes, none is lost, doubled, or passes what it must not") {
  for (int round = 0; round < 200; ++round) {
    const auto seed = testing::seed() + static_cast<std::uint64_t>(round);
    CAPTURE(seed);
    const auto random = make_seeded_random(seed);
    const auto order = round % 2 == 0 ? async_order::ordered : async_order::unordered;
    async_queue queue(order);
    std::map<async_queue::place, int> numbers; // that are there
    std::vector<async_queue::place> awaited;
    int next = 0;
    std::vector<int> came; // -1 and below: watermarks
    std::vector<int> left;
    const auto leave = [&] {
      while (const auto one = queue.take()) {
        if (const auto* row = std::get_if<async_queue::place>(&*one)) {
          left.push_back(numbers.at(*row));
          numbers.erase(*row);
        } else {
          left.push_back(static_cast<int>(
              std::get<graph::watermark>(std::get<async_queue::control>(*one)).time_ms));
        }
      }
    };
    for (int step = 0; step < 100; ++step) {
      const auto what = random->below(10);
      if (what < 5) {
        const auto at = queue.add();
        REQUIRE(numbers.emplace(at, next).second);
        came.push_back(next++);
        awaited.push_back(at);
      } else if (what == 5) {
        came.push_back(-1 - step);
        queue.add(graph::watermark{-1 - step});
      } else if (!awaited.empty()) {
        const auto at = random->below(awaited.size());
        queue.finish(awaited[at]);
        awaited.erase(awaited.begin() + static_cast<std::ptrdiff_t>(at));
      }
      if (random->below(2) == 0)
        leave();
    }
    for (const auto at : awaited)
      queue.finish(at);
    leave();

    CHECK(queue.is_empty());
    if (order == async_order::unordered) { // rows of one stretch in some order
      for (auto from = left.begin(); from != left.end();) {
        const auto to = std::find_if(from, left.end(), [](int each) { return each < 0; });
        std::sort(from, to);
        from = to == left.end() ? to : to + 1;
      }
    }
    CHECK(left == came);
  }
}

TEST_SUITE_END();

} // namespace headrace::task
