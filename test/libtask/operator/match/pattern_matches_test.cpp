#include "libtask/operator/match/pattern_matches.hpp"

#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/data_errc.hpp"
#include "libactors/base/text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::task {
namespace {

using lines = std::vector<std::string>;

/// "A B*? C{1,2}"
graph::match_spec spec_of(std::string_view pattern,
                          graph::match_skip skip = graph::match_skip::to_next_row,
                          std::int32_t skip_variable = -1, std::int64_t within_ms = 0) {
  graph::match_spec out;
  out.skip = skip;
  out.skip_variable = skip_variable;
  out.within_ms = within_ms;
  while (!pattern.empty()) {
    const auto word = pattern.substr(0, pattern.find(' '));
    pattern.remove_prefix(std::min(pattern.size(), word.size() + 1));
    graph::pattern_variable made;
    made.name = word.substr(0, 1);
    auto quantifier = word.substr(1);
    const bool is_reluctant = quantifier.size() > 1 && quantifier.ends_with('?');
    if (is_reluctant)
      quantifier.remove_suffix(1);
    if (quantifier == "?" || quantifier == "*")
      made.repeat_min = 0;
    if (quantifier == "*" || quantifier == "+")
      made.repeat_max = -1;
    if (quantifier.starts_with('{')) {
      made.repeat_min = quantifier[1] - '0';
      made.repeat_max = quantifier[2] == '}'   ? made.repeat_min
                        : quantifier[3] == '}' ? -1
                                               : quantifier[3] - '0';
    }
    made.is_greedy = !is_reluctant && made.repeat_max != 1 && made.repeat_max != made.repeat_min;
    out.variables.push_back(std::move(made));
  }
  return out;
}

/// Lets rows, each with the letters of the variables that can take it, one a millisecond, go
/// through a pattern.
class pattern_run {
public:
  explicit pattern_run(const graph::match_spec& spec)
      : spec_(spec), automaton_(spec), matches_(automaton_) {}

  status add(std::string_view letters) {
    return add(letters, static_cast<std::int64_t>(times_.size()));
  }
  status add(std::string_view letters, std::int64_t time_ms) {
    const auto row = static_cast<std::uint32_t>(times_.size());
    times_.push_back(time_ms);
    HEADRACE_CHECK(matches_.expire(time_ms, times_, found_));
    const auto holds = [&](std::size_t, std::uint32_t variable) {
      return letters.find(spec_.variables[variable].name) != letters.npos;
    };
    HEADRACE_CHECK(matches_.take(row, time_ms, holds, found_));
    note();
    return {};
  }
  status expire(std::int64_t now_ms) {
    HEADRACE_CHECK(matches_.expire(now_ms, times_, found_));
    note();
    return {};
  }
  /// Stores what has begun, and goes on from it.
  void store() {
    byte_string bytes;
    std::vector<std::uint32_t> rows;
    matches_.save(bytes, rows);
    pattern_matches loaded(automaton_);
    byte_reader in(bytes);
    // Rows keep their numbers in this run: so as many come before the first as have gone.
    std::vector<std::int64_t> times;
    std::vector<std::size_t> numbers;
    for (const auto row : rows) {
      times.push_back(times_[row]);
      numbers.push_back(number(row));
    }
    REQUIRE(loaded.load(in, 0, static_cast<std::uint32_t>(rows.size())));
    REQUIRE(in.at_end());
    matches_ = std::move(loaded);
    times_ = std::move(times);
    count_ = next_;
    numbers_ = std::move(numbers);
  }
  pattern_matches& matches() { return matches_; }
  const std::vector<std::int64_t>& times() const { return times_; }
  const std::vector<found_match>& found() const { return all_; }
  /// "A0 B1 B2 | A3 B4", the rows by their numbers.
  std::string take() { return join_text(std::exchange(shown_, {}), " | "); }

private:
  std::size_t number(std::uint32_t row) {
    if (row < numbers_.size())
      return numbers_[row];
    next_ = std::max(next_, count_ + row - numbers_.size() + 1);
    return count_ + row - numbers_.size();
  }
  void note() {
    next_ = count_ + times_.size() - numbers_.size();
    for (const auto& each : found_) {
      std::string shown;
      for (auto at = each.node; at != partial_match::none; at = matches_.nodes()[at].parent) {
        const auto& node = matches_.nodes()[at];
        shown = spec_.variables[node.variable].name + std::to_string(number(node.row)) +
                (shown.empty() ? "" : " ") + shown;
      }
      shown_.push_back(shown);
      all_.push_back(each);
    }
    found_.clear();
  }

  graph::match_spec spec_;
  pattern_automaton automaton_;
  pattern_matches matches_;
  std::vector<std::int64_t> times_;
  std::vector<std::size_t> numbers_; ///< of rows that were there when it was stored last
  std::size_t count_ = 0;            ///< rows before the others
  std::size_t next_ = 0;
  std::vector<found_match> found_;
  std::vector<found_match> all_;
  lines shown_;
};

/// @param rows  "A AB C", `.` is a row that no variable takes
std::string matches_of(const graph::match_spec& spec, std::string_view rows) {
  pattern_run run(spec);
  while (!rows.empty()) {
    const auto word = rows.substr(0, rows.find(' '));
    rows.remove_prefix(std::min(rows.size(), word.size() + 1));
    REQUIRE(run.add(word));
  }
  return run.take();
}

} // namespace

TEST_SUITE_BEGIN("task/operator/match/pattern_matches");

TEST_CASE("each quantifier takes as many rows as it says") {
  const struct {
    const char* pattern;
    const char* rows;
    const char* matches;
  } cases[] = {
      {"A B C", "A B C A B B", "A0 B1 C2"},
      {"A B? C", "A C A B C", "A0 C1 | A2 B3 C4"},
      {"A B* C", "A C A B B C", "A0 C1 | A2 B3 B4 C5"},
      {"A B+ C", "A C A B B C", "A2 B3 B4 C5"},
      {"A B{2} C", "A B C A B B C A B B B C", "A3 B4 B5 C6"},
      {"A B{1,2} C", "A C A B C A B B C A B B B C", "A2 B3 C4 | A5 B6 B7 C8"},
      {"A B{0,2} C", "A C A B C A B B C A B B B C", "A0 C1 | A2 B3 C4 | A5 B6 B7 C8"},
      {"A B{2,} C", "A B C A B B C A B B B C", "A3 B4 B5 C6 | A7 B8 B9 B10 C11"},
      {"A* B C", "A A B C", "A0 A1 B2 C3 | A1 B2 C3 | B2 C3"},
      // At the end: as soon as it may.
      {"A B+?", "A B B", "A0 B1"},
      {"A B*?", "A B B", "A0"},
      {"A B?", "A B", "A0"},
      {"A{2} B{2}?", "A A B B B", "A0 A1 B2 B3"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.pattern);
    CHECK(matches_of(spec_of(each.pattern), each.rows) == std::string(each.matches));
  }
}

TEST_CASE("a greedy variable keeps what it can take, a reluctant one gives it to the next") {
  CHECK(matches_of(spec_of("A B* C"), "A B BC C") == "A0 B1 B2 C3");
  CHECK(matches_of(spec_of("A B*? C"), "A B BC C") == "A0 B1 C2");
  CHECK(matches_of(spec_of("A+ B C"), "A AB B C") == "A0 A1 B2 C3 | A1 B2 C3");
  // Greedy even when nothing comes of it: the row that C needs is B's.
  CHECK(matches_of(spec_of("A B+ C"), "A B BC .").empty());
  CHECK(matches_of(spec_of("A B+? C"), "A B BC .") == "A0 B1 C2");
}

TEST_CASE("rows of a match follow each other") {
  CHECK(matches_of(spec_of("A B"), "A . B A B") == "A3 B4");
  CHECK(matches_of(spec_of("A B"), ". . .").empty());
}

TEST_CASE("the next match begins where the pattern says") {
  const auto* rows = "A AB AB BC A B C";
  using skip = graph::match_skip;

  CHECK(matches_of(spec_of("A+? B+? C", skip::past_last_row), rows) == "A0 A1 B2 C3 | A4 B5 C6");
  CHECK(matches_of(spec_of("A+? B+? C", skip::to_next_row), rows) ==
        "A0 A1 B2 C3 | A1 B2 C3 | A4 B5 C6");
  CHECK(matches_of(spec_of("A A+? B", skip::to_next_row), "A A").empty());
  CHECK(matches_of(spec_of("A{2} B C", skip::to_last, 0), "A A A B C") == "A1 A2 B3 C4");
  CHECK(matches_of(spec_of("A B B", skip::to_first, 1), "A").empty());
}

TEST_CASE("a place that is none for the next match is an error") {
  pattern_run first(spec_of("A B", graph::match_skip::to_first, 0));
  REQUIRE(first.add("A"));
  const auto again = first.add("B");
  REQUIRE_FALSE(again);
  CHECK(again.error().code == data_errc::match_stuck);
  CHECK(again.error().message.find("would find it for ever") != std::string::npos);

  pattern_run none(spec_of("A B* C", graph::match_skip::to_last, 1));
  REQUIRE(none.add("A"));
  const auto missing = none.add("C");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("has no row in the match") != std::string::npos);
}

TEST_CASE("a match waits for one that began before it, and is given when that has failed") {
  const auto spec = spec_of("A B*? C", graph::match_skip::past_last_row, -1, 10);
  pattern_run run(spec);

  // The first needs a C; within its ten milliseconds none comes. Rows of the second are its B's.
  REQUIRE(run.add("A", 0));
  REQUIRE(run.add("AB", 6));
  CHECK(run.take().empty());
  CHECK(run.matches().deadline_ms(run.times()) == 10);
  REQUIRE(run.expire(9));
  CHECK(run.matches().partials().size() == 3);
  REQUIRE(run.expire(10));
  CHECK(run.matches().partials().size() == 2);
  REQUIRE(run.add("C", 15));
  CHECK(run.take() == "A1 C2");
  CHECK(run.found().back().time_ms == 15);
  CHECK(run.matches().is_idle());
}

TEST_CASE("when a match that waited was found does not depend on when it is looked for") {
  for (const bool is_looked_at_once : {false, true}) {
    // A2 B3 is complete while A0, which began before, still waits for a B.
    auto spec = spec_of("A C*? B", graph::match_skip::to_next_row, -1, 10);
    pattern_run run(spec);
    REQUIRE(run.add("A", 0));
    REQUIRE(run.add("C", 1));
    REQUIRE(run.add("AC", 2));
    REQUIRE(run.add("B", 3));
    CHECK(run.take() == "A0 C1 C2 B3 | A2 B3");
    REQUIRE(run.add("A", 20));
    REQUIRE(run.add("C", 21));
    if (!is_looked_at_once) {
      REQUIRE(run.expire(29));
      REQUIRE(run.expire(30));
    }
    REQUIRE(run.expire(1000));
    CHECK(run.take().empty());
    CHECK(run.matches().is_idle());
  }
}

TEST_CASE("WITHIN is shorter than its time, from the first row on") {
  const auto spec = spec_of("A B* C", graph::match_skip::to_next_row, -1, 10);
  pattern_run run(spec);
  REQUIRE(run.add("A", 0));
  REQUIRE(run.add("B", 5));
  REQUIRE(run.add("C", 9));
  CHECK(run.take() == "A0 B1 C2");
  REQUIRE(run.add("A", 20));
  REQUIRE(run.add("C", 30));
  CHECK(run.take().empty());
  CHECK(run.matches().is_idle());
}

TEST_CASE("rows of variables are found by their places from both ends") {
  pattern_run run(spec_of("A+ B{3} C"));
  for (const auto* each : {"A", "A", "B", "B", "B"})
    REQUIRE(run.add(each));
  const auto& matches = run.matches();
  const auto tip = std::ranges::find_if(matches.partials(), [](const auto& each) {
                     return each.first_row == 0;
                   })->node;
  const auto row = [&](std::uint32_t node) {
    return node == partial_match::none ? -1 : static_cast<int>(matches.nodes()[node].row);
  };

  CHECK(row(matches.first_of(tip, 0, 0)) == 0);
  CHECK(row(matches.first_of(tip, 0, 1)) == 1);
  CHECK(row(matches.first_of(tip, 0, 2)) == -1);
  CHECK(row(matches.last_of(tip, 0, 0)) == 1);
  CHECK(row(matches.first_of(tip, 1, 1)) == 3);
  CHECK(row(matches.last_of(tip, 1, 2)) == 2);
  CHECK(row(matches.last_of(tip, 1, 3)) == -1);
  CHECK(row(matches.first_of(tip, 2, 0)) == -1);
  CHECK(matches.count_of(tip, 2) == 0);
  for (std::uint32_t i = 0; i < 5; ++i) {
    CHECK(row(matches.first_of(tip, -1, i)) == static_cast<int>(i));
    CHECK(row(matches.last_of(tip, -1, i)) == 4 - static_cast<int>(i));
  }
  CHECK(matches.count_of(tip, -1) == 5);
  CHECK(matches.count_of(partial_match::none, -1) == 0);
}

TEST_CASE("what is stored at any row goes on to the same matches") {
  testing::dice random(testing::seed());
  const char* patterns[] = {"A B*? C", "A+ B+ C", "A+? B{1,2}? C", "A* B C", "A{2} B?", "A B+?"};
  for (int run = 0; run < testing::runs(200); ++run) {
    const auto* pattern = patterns[random.below(std::size(patterns))];
    const auto skip =
        random.one_in(2) ? graph::match_skip::to_next_row : graph::match_skip::past_last_row;
    const auto spec = spec_of(pattern, skip, -1, random.one_in(2) ? 0 : 4);
    CAPTURE(pattern);
    pattern_run whole(spec);
    pattern_run stored(spec);
    for (std::int64_t time = 0; time < 30; ++time) {
      std::string letters;
      for (const char each : {'A', 'B', 'C'})
        if (random.one_in(2))
          letters += each;
      REQUIRE(whole.add(letters, time));
      REQUIRE(stored.add(letters, time));
      if (random.one_in(3))
        stored.store();
    }
    REQUIRE(stored.take() == whole.take());
  }
}

TEST_CASE("bytes that are none of a pattern's are refused") {
  const auto spec = spec_of("A B C");
  const pattern_automaton automaton(spec);
  pattern_run run(spec);
  REQUIRE(run.add("A"));
  REQUIRE(run.add("B"));
  byte_string bytes;
  std::vector<std::uint32_t> rows;
  run.matches().save(bytes, rows);
  REQUIRE(rows.size() == 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    pattern_matches loaded(automaton);
    byte_reader cut(byte_view(bytes).substr(0, i));
    CHECK_FALSE(loaded.load(cut, 0, 2));
    auto changed = bytes;
    changed[i] = '\x70';
    byte_reader in(changed);
    CHECK_FALSE(loaded.load(in, 0, 2));
  }
  pattern_matches loaded(automaton);
  byte_reader in(bytes);
  CHECK(loaded.load(in, 0, 2));
}

TEST_CASE("a state asks for the conditions that it needs alone") {
  const auto wanted = [](const pattern_automaton& of, std::uint32_t state) {
    const auto found = of.wanted(state);
    return std::vector<std::uint32_t>(found.begin(), found.end());
  };
  const auto behind_start = [](const pattern_automaton& of) {
    return of.edges(of.start())[0].target;
  };
  const pattern_automaton automaton(spec_of("A B*? C D"));
  CHECK(wanted(automaton, automaton.start()) == std::vector<std::uint32_t>{0});
  CHECK(wanted(automaton, pattern_automaton::final_state).empty());
  CHECK(wanted(automaton, behind_start(automaton)) == std::vector<std::uint32_t>{1, 2});
  // What a greedy variable could take is asked for, too.
  const pattern_automaton greedy(spec_of("A+ B"));
  CHECK(wanted(greedy, behind_start(greedy)) == std::vector<std::uint32_t>{0, 1});
}

TEST_SUITE_END();

} // namespace headrace::task
