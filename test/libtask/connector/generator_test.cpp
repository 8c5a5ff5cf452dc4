#include "test/libtask/connector/source_run.hpp"
#include "test/support/batches.hpp"
#include "test/support/manual_clock.hpp"
#include "test/support/seed.hpp"
#include "test/support/testing_file_system.hpp"
#include "libtask/connector/collection_source.hpp"
#include "libtask/connector/registration.hpp"
#include "libgraph/connector/generator_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using testing::manual_clock;
using testing::numbers_of;
using testing::testing_enumerator_context;
using testing::testing_file_system;

graph::row_type_ptr type_of(std::vector<logical_type::field> fields) {
  return std::make_shared<const logical_type>(logical_type::row(std::move(fields)));
}

graph::connector_registry make_registry(sink_targets targets = {}) {
  graph::connector_registry out;
  register_connectors(out, std::move(targets));
  return out;
}

std::unique_ptr<graph::source>
make_source(const std::string& name, const graph::option_map& options, graph::row_type_ptr type) {
  auto made = make_registry().create_source(name, options, std::move(type));
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
  return std::move(*made);
}

/// Runs a bounded source with some readers, each of which restarts from its state at times.
std::vector<graph::record_batch> run(const graph::source& source, std::int32_t readers,
                                     std::mt19937_64& random) {
  testing_file_system files;
  manual_clock clock;
  testing_enumerator_context context(files, readers);
  auto enumerator = source.create_enumerator(context, std::nullopt);
  REQUIRE(enumerator);
  REQUIRE((*enumerator)->start());
  std::vector<graph::record_batch> out;
  for (std::int32_t reader = 0; reader < readers; ++reader) {
    REQUIRE((*enumerator)->add_reader(reader));
    CHECK(context.finished.contains(reader));
    auto splits = context.assigned[reader];
    while (!splits.empty()) {
      auto made = source.create_reader({reader, readers, files, clock, {}});
      REQUIRE(made);
      for (const auto& split : splits)
        REQUIRE((*made)->add_split(split));
      for (auto steps = random() % 5 + 1; steps > 0 && !splits.empty(); --steps) {
        auto got = (*made)->fetch({random() % 7 + 1, 1U << 20U});
        REQUIRE((got && got->has_value()));
        out.push_back((*got)->rows);
        const auto its = std::find_if(splits.begin(), splits.end(), [&](const auto& split) {
          return split.id == (*got)->split_id;
        });
        REQUIRE(its != splits.end());
        its->state = (*got)->state_after;
        if ((*got)->split_finished)
          splits.erase(its);
        clock.advance_ms(static_cast<std::int64_t>((*got)->wait.count()));
      }
    }
  }
  return out;
}

} // namespace

TEST_SUITE("task/connector/generator") {
TEST_CASE("a sequence gives each number once, whatever the readers and restarts") {
  std::mt19937_64 random(testing::seed());
  for (const int readers : {1, 2, 5}) {
    for (const char* rate : {"0", "300", "1000000"}) {
      const auto source = make_source("generator",
                                      {{"fields.n.kind", "sequence"},
                                       {"fields.n.start", "-3"},
                                       {"fields.n.end", "96"},
                                       {"rows-per-second", rate}},
                                      type_of({{"n", logical_type::bigint(), ""}}));
      CHECK(source->bounds() == graph::boundedness::bounded);
      std::vector<std::int64_t> all;
      for (const auto& batch : run(*source, readers, random)) {
        if (batch.is_empty())
          continue;
        const auto numbers = numbers_of(batch);
        all.insert(all.end(), numbers.begin(), numbers.end());
      }
      std::sort(all.begin(), all.end());
      REQUIRE(all.size() == 100);
      CHECK(all.front() == -3);
      CHECK(all.back() == 96);
      CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
    }
  }
}

TEST_CASE("random values keep to their range and come again for the same seed") {
  const auto type = type_of({{"i", logical_type::integer(), ""},
                             {"d", logical_type::float64(), ""},
                             {"s", logical_type::varchar(5), ""},
                             {"t", logical_type::timestamp(3), ""},
                             {"e", logical_type::decimal(4, 2), ""}});
  const graph::option_map options{{"number-of-rows", "500"},    {"fields.i.min", "-5"},
                                  {"fields.i.max", "5"},        {"fields.d.max", "0.5"},
                                  {"fields.s.var-len", "true"}, {"fields.t.max-past", "1 h"},
                                  {"fields.i.null-rate", "0.5"}};
  std::mt19937_64 random(testing::seed());
  const auto first = run(*make_source("datagen", options, type), 1, random);
  std::size_t nulls = 0;
  std::size_t rows = 0;
  std::vector<std::string> texts;
  for (const auto& batch : first) {
    for (std::size_t row = 0; row < batch.size(); ++row, ++rows) {
      const auto number = batch.at(0).values<std::int32_t>()[row];
      nulls += batch.at(0).is_null(row) ? 1 : 0;
      CHECK((batch.at(0).is_null(row) || (number >= -5 && number <= 5)));
      const auto real = batch.at(1).values<double>()[row];
      CHECK((real >= 0 && real <= 0.5));
      CHECK(batch.at(2).string_at(row).size() <= 5);
      texts.emplace_back(batch.at(2).string_at(row));
      const auto unscaled = static_cast<std::int64_t>(batch.at(4).values<graph::int128>()[row]);
      CHECK((unscaled >= -9999 && unscaled <= 9999));
    }
  }
  CHECK(rows == 500);
  CHECK(nulls > 150);
  CHECK(nulls < 350);

  std::vector<std::string> again;
  for (const auto& batch : run(*make_source("datagen", options, type), 1, random)) {
    for (std::size_t row = 0; row < batch.size(); ++row)
      again.emplace_back(batch.at(2).string_at(row));
  }
  CHECK(again == texts);
}

TEST_CASE("rows inside of rows are made of their fields") {
  std::mt19937_64 random(testing::seed());
  const auto inner = logical_type::row({{"x", logical_type::integer(), ""},
                                        {"y.z", logical_type::string(), ""},
                                        {"n", logical_type::bigint(), ""}});
  const auto type = type_of({{"id", logical_type::bigint(), ""}, {"r", inner, ""}});
  const auto source = make_source("generator",
                                  {{"number-of-rows", "200"},
                                   {"fields.r.x.min", "3"},
                                   {"fields.r.x.max", "5"},
                                   {"fields.r.y.z.length", "7"},
                                   {"fields.r.n.kind", "sequence"},
                                   {"fields.r.n.start", "1"},
                                   {"fields.r.n.end", "50"},
                                   {"fields.r.null-rate", "0.3"}},
                                  type);
  std::size_t rows = 0;
  std::size_t nulls = 0;
  for (const auto& batch : run(*source, 2, random)) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto row = batch.row_at(i);
      ++rows;
      const auto& values = batch.at(1);
      if (values.is_null(row)) {
        ++nulls;
        continue;
      }
      const auto x = values.child(0).values<std::int32_t>()[row];
      CHECK((x >= 3 && x <= 5));
      CHECK(values.child(1).string_at(row).size() == 7);
    }
  }
  CHECK(rows == 50); // the sequence ends the source
  CHECK(nulls > 0);
  CHECK(nulls < 50);
}

TEST_CASE("the rate is shared by the readers, and time is waited for") {
  const auto source = make_source("datagen", {{"rows-per-second", "100"}},
                                  type_of({{"n", logical_type::bigint(), ""}}));
  CHECK(source->bounds() == graph::boundedness::unbounded);
  testing_file_system files;
  manual_clock clock;
  testing_enumerator_context context(files, 4);
  auto enumerator = source->create_enumerator(context, std::nullopt);
  REQUIRE((*enumerator)->add_reader(1));
  auto reader = source->create_reader({1, 4, files, clock, {}});
  REQUIRE((*reader)->add_split(context.assigned[1][0]));
  std::size_t rows = 0;
  for (int step = 0; step < 2000; ++step) {
    auto got = (*reader)->fetch({});
    REQUIRE((got && got->has_value()));
    rows += (*got)->rows.size();
    if ((*got)->rows.is_empty())
      CHECK((*got)->wait.count() > 0);
    clock.advance_ms(2);
  }
  CHECK(rows >= 95); // 4 seconds at a quarter of 100
  CHECK(rows <= 101);
}

TEST_CASE("splits that come back go to the same reader") {
  const auto source = make_source("generator", {{"number-of-rows", "10"}},
                                  type_of({{"n", logical_type::bigint(), ""}}));
  testing_file_system files;
  testing_enumerator_context context(files, 2);
  auto enumerator = source->create_enumerator(context, std::nullopt);
  REQUIRE((*enumerator)->add_reader(0));
  auto state = (*enumerator)->snapshot(1);
  REQUIRE((*enumerator)->add_splits_back(context.assigned[0], 0));
  context.assigned.clear();
  REQUIRE((*enumerator)->add_reader(0));
  CHECK(context.assigned[0].size() == 1);

  testing_enumerator_context later(files, 2);
  REQUIRE(state);
  auto restored = source->create_enumerator(later, *state);
  REQUIRE((*restored)->add_reader(0));
  REQUIRE((*restored)->add_reader(1));
  CHECK(later.assigned[0].empty());
  CHECK(later.assigned[1].size() == 1);
  CHECK(source->create_enumerator(later, "x").error().code == errc::corrupt_snapshot);
}

TEST_CASE("options of fields are checked") {
  const auto fails = [](const graph::option_map& options, logical_type type) {
    auto made = make_registry().create_source("datagen", options, type_of({{"f", type, ""}}));
    REQUIRE_FALSE(made);
    return made.error().code;
  };
  CHECK(fails({{"fields.g.kind", "random"}}, logical_type::bigint()) == errc::unknown_option);
  CHECK(fails({{"fields.f.kynd", "random"}}, logical_type::bigint()) == errc::unknown_option);
  CHECK(fails({{"fields.f.min", "5"}, {"fields.f.max", "1"}}, logical_type::bigint()) ==
        errc::bad_option_value);
  CHECK(fails({{"fields.f.kind", "sequence"}}, logical_type::float64()) == errc::bad_option_value);
  CHECK(fails({}, logical_type::array(logical_type::bigint())) == errc::type_mismatch);
}

TEST_CASE("a range beyond that of the type is refused") {
  const auto told = [](const graph::option_map& options, logical_type type) {
    auto made = make_registry().create_source("datagen", options, type_of({{"f", type, ""}}));
    return made ? std::string("nothing") : made.error().message;
  };
  const std::string begin = "bad options of field `f` of source 'generator': ";
  CHECK(told({{"fields.f.max", "1000"}}, logical_type::tinyint()) ==
        begin + "'max' is '1000', values of TINYINT are made from -128 to 127");
  CHECK(told({{"fields.f.min", "-32769"}}, logical_type::smallint()) ==
        begin + "'min' is '-32769', values of SMALLINT are made from -32768 to 32767");
  CHECK(told({{"fields.f.kind", "sequence"}, {"fields.f.end", "128"}}, logical_type::tinyint()) ==
        begin + "'end' is '128', values of TINYINT are made from -128 to 127");
  CHECK(told({{"fields.f.max", "9223372036854775808"}}, logical_type::bigint()) ==
        begin + "'max' is '9223372036854775808', values of BIGINT are made from "
                "-9223372036854775808 to 9223372036854775807");
  CHECK(told({{"fields.f.max", "100"}}, logical_type::decimal(3, 1)) ==
        begin + "'max' is '100', values of DECIMAL(3, 1) are made from -99.9 to 99.9");
  CHECK(told({{"fields.f.max", "1e39"}}, logical_type::float32()) ==
        begin + "'max' is '1e39', which is no FLOAT");
  CHECK(told({{"fields.f.max", "1"}}, logical_type::string()) ==
        begin + "'max' is of numbers, not of STRING");
  CHECK(told({{"fields.f.length", "6"}}, logical_type::varchar(5)) ==
        begin + "'length' is 6, more than VARCHAR(5) has");
  CHECK(told({{"fields.f.min", "-9223372036854775808"}, {"fields.f.max", "9223372036854775807"}},
             logical_type::bigint()) == "nothing");
  CHECK(told({{"fields.f.min", "-128"}, {"fields.f.max", "127"}}, logical_type::tinyint()) ==
        "nothing");
}

TEST_CASE("decimals and reals keep to their range, however wide") {
  const auto type =
      type_of({{"e", logical_type::decimal(4, 2), ""}, {"d", logical_type::float64(), ""}});
  const graph::option_map options{{"number-of-rows", "200"},
                                  {"fields.e.min", "1.5"},
                                  {"fields.e.max", "2"},
                                  {"fields.d.min", "-1.7e308"},
                                  {"fields.d.max", "1.7e308"}};
  std::mt19937_64 random(testing::seed());
  for (const auto& batch : run(*make_source("datagen", options, type), 1, random)) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const auto unscaled = static_cast<std::int64_t>(batch.at(0).values<graph::int128>()[row]);
      CHECK((batch.at(0).is_null(row) || (unscaled >= 150 && unscaled <= 200)));
      const auto real = batch.at(1).values<double>()[row];
      CHECK((real >= -1.7e308 && real <= 1.7e308));
    }
  }
}

TEST_CASE("a generator's state that is no such thing is an error") {
  CHECK(graph::generator_split::decode("").error().code == errc::corrupt_snapshot);
  CHECK(graph::generator_split::decode("\x09").error().code == errc::unsupported_snapshot_version);
  const graph::generator_split split{1, 3, 4, 18};
  CHECK(*graph::generator_split::decode(split.encode()) == split);
}

TEST_CASE("a collection gives its rows once") {
  const auto rows = testing::words({{"a", 1}, {"b", 2}, {"a long word, not inline", 3}});
  const auto source =
      make_source("collection", {{"rows", encode_collection(rows)}}, testing::word_type());
  std::mt19937_64 random(testing::seed());
  for (const int readers : {1, 3}) {
    testing::word_rows all;
    for (const auto& batch : run(*source, readers, random)) {
      if (batch.is_empty())
        continue;
      const auto words = testing::words_of(batch);
      all.insert(all.end(), words.begin(), words.end());
    }
    CHECK(all == testing::words_of(rows));
  }
  const auto made =
      make_registry().create_source("collection", {{"rows", "AAAA"}}, testing::word_type());
  CHECK(made.error().code == errc::bad_option_value);
}
} // TEST_SUITE("task/connector/generator")

TEST_SUITE("task/connector/simple sinks") {
TEST_CASE("rows are printed as lines, behind the subtask when there are several") {
  std::string printed;
  sink_targets targets;
  targets.print = [&](std::string_view lines) {
    printed += lines;
    return status();
  };
  const auto registry = make_registry(std::move(targets));
  testing_file_system files;
  const manual_clock clock;
  const auto print = [&](const graph::option_map& options, std::int32_t subtask,
                         std::int32_t parallelism) {
    printed.clear();
    auto sink = registry.create_sink("print", options, testing::word_type());
    REQUIRE(sink);
    auto writer = (*sink)->create_writer(
        {subtask, parallelism, 0, "print", files, clock, {}, {}, {}, false}, {});
    REQUIRE(writer);
    REQUIRE((*writer)->write(testing::words({{"a", 1}, {"b", 2}})));
    REQUIRE((*writer)->close());
    return printed;
  };

  CHECK(print({}, 0, 1) == "+I[a, 1]\n+I[b, 2]\n");
  CHECK(print({}, 2, 4) == "3> +I[a, 1]\n3> +I[b, 2]\n");
  CHECK(print({{"print-identifier", "out"}}, 0, 1) == "out> +I[a, 1]\nout> +I[b, 2]\n");
  CHECK(print({{"print-identifier", "out"}}, 2, 4) == "out:3> +I[a, 1]\nout:3> +I[b, 2]\n");
  CHECK(registry.create_sink("print", {{"identifier", "x"}}, testing::word_type()).error().code ==
        errc::unknown_option);
}

TEST_CASE("a black hole takes everything") {
  const auto registry = make_registry();
  testing_file_system files;
  const manual_clock clock;
  auto sink = registry.create_sink("blackhole", {}, testing::word_type());
  REQUIRE(sink);
  auto writer = (*sink)->create_writer({0, 1, 0, "blackhole", files, clock, {}, {}, {}, false}, {});
  REQUIRE((*writer)->write(testing::words({{"a", 1}, {"", 2}})));
  CHECK((*writer)->prepare_commit(true)->empty());
  CHECK(*(*sink)->create_committer({0, 1, 0, "blackhole", files, clock, {}, {}, {}, false}) ==
        nullptr);
}
} // TEST_SUITE("task/connector/simple sinks")

} // namespace headrace::task
