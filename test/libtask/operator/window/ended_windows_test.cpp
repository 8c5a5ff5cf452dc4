#include "libtask/operator/window/ended_windows.hpp"

#include "test/support/scratch_directory.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/manual_clock.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using key_and_end = std::pair<std::int64_t, std::int64_t>;

/// Keys with the end of a window; their state is the number of the key.
struct windows_fixture {
  explicit windows_fixture(const std::string& kind) {
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
    state::state_description wanted;
    wanted.name = "rows";
    wanted.value_type = logical_type::bytes();
    wanted.layout = state::value_layout::variable();
    table = *backend->open_table(wanted);
  }
  graph::record_batch batch(const std::vector<key_and_end>& rows) {
    graph::batch_builder builder(type);
    for (const auto& [key, end] : rows) {
      builder.column(0).append(key);
      builder.column(1).append(end);
      builder.end_row();
    }
    return builder.finish();
  }
  void store(const std::vector<key_and_end>& given, bool takes_late = false) {
    const auto rows = batch(given);
    windows.pick(rows, takes_late);
    CHECK(windows.picked(rows).size() == windows.rows().size());
    state::key_batch keys(state::key_schema(*type, columns), 8);
    keys.assign(rows, columns);
    state::located_rows found;
    REQUIRE(table->locate(keys, windows.rows(), windows.spaces(), state::access::insert, found));
    for (std::size_t i = 0; i < windows.rows().size(); ++i)
      REQUIRE(table->append(found, i, "x"));
    REQUIRE(table->write_back(found));
  }
  /// Each window that is over, with how many keys it has.
  std::vector<std::pair<std::int64_t, std::size_t>> over_at(std::int64_t time_ms) {
    windows.set_time(time_ms);
    std::vector<std::pair<std::int64_t, std::size_t>> out;
    auto piece = table->make_piece();
    while (windows.begin(*table)) {
      std::size_t keys = 0;
      do {
        REQUIRE(windows.scan(*table, 1, piece));
        keys += piece.size();
      } while (!windows.is_read());
      CHECK(windows.last_ms() == windows.end() - 1);
      out.emplace_back(windows.end(), keys);
      REQUIRE(windows.drop(*table));
    }
    return out;
  }

  std::shared_ptr<const logical_type> type = std::make_shared<const logical_type>(
      logical_type::row({{"k", logical_type::bigint(), {}}, {"end", logical_type::bigint(), {}}})
          .not_null());
  std::vector<std::int32_t> columns{0};
  testing::scratch_directory scratch;
  std::unique_ptr<file_system> files = make_local_file_system();
  manual_clock time;
  std::unique_ptr<state::state_backend> of_kind;
  std::unique_ptr<state::keyed_backend> backend;
  state::keyed_table* table = nullptr;
  ended_windows windows{*window_time::of(""), 1};
};

} // namespace

TEST_SUITE("task/operator/window/ended_windows") {
TEST_CASE("windows are over one behind the other, once time has passed their last millisecond") {
  for (const auto* kind : {"hashmap", "rocksdb"}) {
    CAPTURE(kind);
    windows_fixture fixture(kind);
    CHECK_FALSE(fixture.windows.first_over_ms(*fixture.table));
    fixture.store({{1, 20}, {2, 10}, {3, 10}, {1, 10}, {4, 30}});

    CHECK(fixture.windows.first_over_ms(*fixture.table) == 10);
    CHECK(fixture.over_at(8).empty());
    CHECK(fixture.over_at(9) == std::vector<std::pair<std::int64_t, std::size_t>>{{10, 3}});
    CHECK(fixture.over_at(100) ==
          std::vector<std::pair<std::int64_t, std::size_t>>{{20, 1}, {30, 1}});
  }
}

TEST_CASE("rows whose window is over are late, unless they are taken all the same") {
  windows_fixture fixture("hashmap");
  fixture.windows.set_time(19);

  fixture.store({{1, 20}, {2, 21}, {3, 10}});
  CHECK(fixture.windows.rows() == std::vector<std::uint32_t>{1});
  CHECK(fixture.windows.late() == std::vector<std::uint32_t>{0, 2});
  fixture.store({{1, 20}, {2, 21}}, true);
  CHECK(fixture.windows.rows() == std::vector<std::uint32_t>{0, 1});
  CHECK(fixture.windows.late().empty());
}
} // TEST_SUITE("task/operator/window/ended_windows")

} // namespace headrace::task
