#include "libgraph/api/aggregate_function.hpp"

#include "test/libgraph/api/testing_values.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::testing;

TEST_SUITE_BEGIN("graph/api/aggregate_function");

namespace {

struct average_state {
  std::int64_t sum = 0;
  std::int64_t count = 0;
};

/// Its accumulator lies in the state as it is.
struct average : api::aggregate_function<word_count, average_state, double> {
  void add(const word_count& in, average_state& into) override {
    into.sum += in.count;
    ++into.count;
  }
  void merge(average_state& into, const average_state& from) override {
    into.sum += from.sum;
    into.count += from.count;
  }
  double result(const average_state& of) override {
    return static_cast<double>(of.sum) / static_cast<double>(of.count);
  }
};

/// Its accumulator must be encoded.
struct concatenation : api::aggregate_function<word_count, std::vector<std::string>, std::string> {
  void add(const word_count& in, std::vector<std::string>& into) override {
    into.push_back(in.word);
  }
  void merge(std::vector<std::string>& into, const std::vector<std::string>& from) override {
    into.insert(into.end(), from.begin(), from.end());
  }
  std::string result(const std::vector<std::string>& of) override {
    std::string out;
    for (const auto& each : of)
      out += each;
    return out;
  }
};

template <class F>
std::unique_ptr<graph::aggregate_function> aggregate_of(F function) {
  api::environment env;
  const auto out = env.from_collection(std::vector<word_count>{})
                       .key_by(&word_count::word)
                       .aggregate(std::move(function));
  return function_at<graph::aggregate_function>(
      env, spec_of<graph::keyed_aggregate_spec>(out).aggregates.function);
}

const auto rows = batch_of<word_count>({{"a", 1}, {"b", 10}, {"c", 5}, {"d", 30}});
const graph::record_batch no_keys;

} // namespace

TEST_CASE("a small plain accumulator is fixed: created when fresh, folded, merged") {
  const auto function = aggregate_of(average());
  REQUIRE(function->fixed_bytes() == sizeof(average_state));
  alignas(8) std::byte first[sizeof(average_state)] = {};
  alignas(8) std::byte second[sizeof(average_state)] = {};
  const std::vector<std::uint32_t> at{0, 1, 2, 3};
  const std::vector<std::byte*> into{first, second, first, second};
  const std::vector<std::uint8_t> fresh{1, 1, 0, 0};

  function->add_fixed(rows, at, into, fresh);
  graph::batch_builder out(row_type_of<double>());
  const std::vector<const std::byte*> held{first, second};
  function->result_fixed(no_keys, held, out);
  function->merge_fixed(first, second);
  function->result_fixed(no_keys, std::span(held).first(1), out);

  CHECK(values_of<double>(out.finish()) == std::vector<double>{3.0, 20.0, 11.5});
}

TEST_CASE("another accumulator is encoded") {
  const auto function = aggregate_of(concatenation());
  CHECK(function->fixed_bytes() == 0);
  CHECK(function->accumulator_type().to_sql() == "ARRAY<STRING NOT NULL> NOT NULL");
  byte_string first;
  byte_string second;

  function->add_variable(rows, 0, first);
  function->add_variable(rows, 2, first);
  function->add_variable(rows, 3, second);
  function->merge_variable(first, second);
  graph::batch_builder out(row_type_of<std::string>());
  function->result_variable(no_keys, 0, first, out);

  CHECK(values_of<std::string>(out.finish()) == std::vector<std::string>{"acd"});
}

TEST_CASE("reduce starts from the first row, whatever the type") {
  api::environment env;
  const auto source = env.from_collection(std::vector<word_count>{});
  const auto out =
      source.key_by(&word_count::word).reduce([](const word_count& left, const word_count& right) {
        return word_count{left.word + right.word, left.count + right.count};
      });
  const auto function = function_at<graph::aggregate_function>(
      env, spec_of<graph::keyed_aggregate_spec>(out).aggregates.function);
  byte_string held;

  for (const auto row : {1U, 3U, 0U})
    function->add_variable(rows, row, held);
  graph::batch_builder results(row_type_of<word_count>());
  function->result_variable(no_keys, 0, held, results);

  CHECK(values_of<word_count>(results.finish()) == std::vector<word_count>{{"bda", 41}});
}

TEST_CASE("sums and extremes of fields are built-in calls, not functions") {
  api::environment env;
  const auto keyed = env.from_collection(std::vector<word_count>{}).key_by(&word_count::word);
  const auto functions = env.program().functions.size();
  using graph::aggregate_kind;
  using calls = std::vector<graph::aggregate_call>;

  CHECK(spec_of<graph::keyed_aggregate_spec>(keyed.sum(&word_count::count)).aggregates.calls ==
        calls{{aggregate_kind::first, 0}, {aggregate_kind::sum, 1}});
  CHECK(spec_of<graph::keyed_aggregate_spec>(keyed.max_by(&word_count::count)).aggregates.calls ==
        calls{{aggregate_kind::max_by, 1}});
  CHECK(spec_of<graph::window_aggregate_spec>(
            keyed.window(api::end_of_stream()).min(&word_count::count))
            .aggregates.calls == calls{{aggregate_kind::first, 0}, {aggregate_kind::min, 1}});
  CHECK(env.program().functions.size() == functions);
}

TEST_SUITE_END();
