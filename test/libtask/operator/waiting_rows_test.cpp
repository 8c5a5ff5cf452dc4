#include "libtask/operator/waiting_rows.hpp"

#include "test/support/batches.hpp"
#include "test/support/scratch_directory.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/manual_clock.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::task {

namespace {

using graph::logical_type;
using key_and_time = std::pair<std::int64_t, std::optional<std::int64_t>>;

/// Rows of a key and a time wait; an entry is its time.
struct waiting_fixture {
  explicit waiting_fixture(const std::string& kind, std::size_t keys_a_time = 2)
      : waiting(keys_a_time) {
    state::keyed_backend_setup setup{state::key_schema(*type, columns),
                                     8,
                                     {0, 8},
                                     &time,
                                     files.get(),
                                     nullptr,
                                     scratch.path(),
                                     ""};
    auto made = state::make_state_backend(kind);
    REQUIRE(made);
    auto opened = (*made)->make(std::move(setup));
    REQUIRE(opened);
    of_kind = *std::move(made);
    backend = *std::move(opened);
    REQUIRE(waiting.open(*backend, *type));
  }
  /// @returns how many were late
  std::uint64_t add(const std::vector<key_and_time>& rows,
                    std::optional<std::int64_t> late_until_ms) {
    graph::batch_builder builder(type);
    for (const auto& [key, time_ms] : rows) {
      builder.column(0).append(key);
      if (time_ms)
        builder.column(1).append(*time_ms);
      else
        builder.column(1).append_null();
      builder.end_row();
    }
    const auto batch = builder.finish();
    keys.assign(batch, columns);
    const auto late = waiting.pick(batch, 1, late_until_ms);
    REQUIRE(waiting.add(keys, [&](std::size_t place, std::int64_t time_ms, byte_string& to) {
      CHECK(time_ms == rows[place].second.value_or(graph::watermark::none));
      byte_writer(to).put(time_ms);
    }));
    return late;
  }
  /// Takes what is due, in pieces. @returns times by key
  std::map<std::int64_t, std::vector<std::int64_t>> take(std::int64_t passed_ms) {
    std::map<std::int64_t, std::vector<std::int64_t>> out;
    for (bool is_due = true; is_due;) {
      const auto found = waiting.next(passed_ms);
      REQUIRE(found);
      if (!*found)
        break;
      CHECK(waiting.limit_ms() <= passed_ms);
      for (std::uint32_t i = 0; i < waiting.size(); ++i) {
        byte_string left;
        byte_reader in(waiting.bytes(i));
        while (!in.at_end()) {
          const auto time_ms = in.get<std::int64_t>();
          REQUIRE(time_ms);
          if (*time_ms <= passed_ms)
            out[static_cast<std::int64_t>(waiting.keys().at(i).fixed)].push_back(*time_ms);
          else
            byte_writer(left).put(*time_ms);
        }
        waiting.leave(i, std::move(left));
      }
      const auto more = waiting.finish();
      REQUIRE(more);
      is_due = *more;
    }
    return out;
  }

  graph::row_type_ptr type = std::make_shared<const logical_type>(logical_type::row(
      {{"key", logical_type::bigint(), {}}, {"time", logical_type::timestamp_ltz(3), {}}}));
  const std::vector<std::int32_t> columns{0};
  manual_clock time;
  testing::scratch_directory scratch;
  std::unique_ptr<file_system> files = make_local_file_system();
  std::unique_ptr<state::state_backend> of_kind;
  std::unique_ptr<state::keyed_backend> backend;
  state::key_batch keys{state::key_schema(*type, columns), 8};
  waiting_rows waiting;
};

using times_by_key = std::map<std::int64_t, std::vector<std::int64_t>>;

} // namespace

TEST_SUITE("task/operator/waiting_rows") {

TEST_CASE("rows leave once time has passed them, and the rest of their bucket waits on") {
  for (const auto* kind : {"hashmap", "rocksdb"}) {
    CAPTURE(kind);
    waiting_fixture rows(kind);
    CHECK_FALSE(rows.waiting.first_over_ms());
    CHECK(rows.add({{1, 100}, {2, 900}, {1, 1000}, {3, 5000}, {4, 50}}, std::nullopt) == 0);
    CHECK(rows.waiting.first_over_ms() == 1024);

    CHECK(rows.take(10) == times_by_key{});
    CHECK(rows.take(950) == times_by_key{{1, {100}}, {2, {900}}, {4, {50}}});
    CHECK(rows.take(950) == times_by_key{});
    CHECK(rows.take(4999) == times_by_key{{1, {1000}}});
    CHECK(rows.take(graph::watermark::end - 1) == times_by_key{{3, {5000}}});
    CHECK_FALSE(rows.waiting.first_over_ms());
  }
}

TEST_CASE("late rows are counted, and a row without time is before all others") {
  waiting_fixture rows("hashmap");
  CHECK(rows.add({{1, 100}, {2, std::nullopt}, {3, 101}}, 100) == 2);
  CHECK(rows.take(200) == times_by_key{{3, {101}}});
  CHECK(rows.add({{2, std::nullopt}, {2, 7}}, std::nullopt) == 0);
  CHECK(rows.take(200) == times_by_key{{2, {graph::watermark::none, 7}}});
}

TEST_CASE("nothing is stored of no rows") {
  waiting_fixture rows("hashmap");
  CHECK(rows.add({}, std::nullopt) == 0);
  CHECK(rows.add({{1, 5}}, 5) == 1);
  CHECK_FALSE(rows.waiting.first_over_ms());
}

} // TEST_SUITE("task/operator/waiting_rows")

} // namespace headrace::task
