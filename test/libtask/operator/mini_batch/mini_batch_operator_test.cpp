#include "libtask/operator/mini_batch/mini_batch_operator.hpp"

#include "test/support/changelog.hpp"
#include "test/support/manual_clock.hpp"
#include "libtask/operator/mini_batch/folds.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using graph::row_kind;
using lines = std::vector<std::string>;

graph::row_type_ptr number_type() {
  static const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"k", logical_type::bigint(), {}}, {"v", logical_type::bigint(), {}}}));
  return type;
}

struct pair_row {
  std::int64_t k = 0;
  std::int64_t v = 0;
  row_kind kind = row_kind::insert;
};

graph::record_batch batch_of(const std::vector<pair_row>& rows) {
  graph::batch_builder out(number_type());
  for (const auto& each : rows) {
    out.column(0).append(each.k);
    out.column(1).append(each.v);
    out.end_row(each.kind);
  }
  return out.finish();
}

/// Notes what it is given, and passes it on.
class noting_operator final : public stream_operator {
public:
  explicit noting_operator(lines& log) : log_(log) {}
  status add(std::int32_t input, const graph::record_batch& rows) override {
    log_.push_back("input " + std::to_string(input) + ": " + std::to_string(rows.size()));
    rows_ = rows;
    return {};
  }
  status advance(graph::watermark mark) override {
    log_.push_back("advance " + std::to_string(mark.time_ms));
    return {};
  }
  status end_input(std::int32_t input) override {
    log_.push_back("end " + std::to_string(input));
    return {};
  }
  status prepare_barrier(checkpoint_id checkpoint) override {
    log_.push_back("barrier " + std::to_string(checkpoint));
    return {};
  }
  result<drain_result> drain(operator_output& out, const drain_budget&) override {
    if (!rows_.is_empty())
      out.emit(std::exchange(rows_, {}));
    return drain_result::done;
  }

private:
  lines& log_;
  graph::record_batch rows_;
};

class noting_output final : public operator_output {
public:
  explicit noting_output(lines& log) : log_(log) {}
  void emit(graph::record_batch rows) override {
    for (const auto& each : testing::changes_of({rows}))
      log_.push_back(each);
  }
  void emit_side(std::int32_t, graph::record_batch) override {}
  void emit(graph::watermark mark) override {
    log_.push_back("watermark " + std::to_string(mark.time_ms));
  }
  void emit(graph::watermark_status) override { log_.push_back("status"); }

private:
  lines& log_;
};

/// A bundle before a noting operator.
struct bundle_fixture {
  explicit bundle_fixture(std::int64_t rows_max, std::vector<std::int32_t> inputs = {0},
                          bundle_fold fold = {})
      : gathered(gather_rows(std::make_unique<noting_operator>(log),
                             {{rows_max, 100}, std::move(inputs), std::move(fold)}, clock)) {}

  lines take() {
    noting_output out(log);
    while (gathered->drain(out, {}).value() == drain_result::more) {
    }
    return std::exchange(log, {});
  }

  testing::manual_clock clock;
  lines log;
  std::unique_ptr<stream_operator> gathered;
};

} // namespace

TEST_SUITE_BEGIN("task/operator/mini_batch/mini_batch_operator");

TEST_CASE("bundles have the size that is asked for, however rows come") {
  bundle_fixture of(3);

  REQUIRE(of.gathered->add(0, batch_of({{1, 1}, {2, 2}})));
  CHECK(of.take().empty());
  REQUIRE(of.gathered->add(0, batch_of({{3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 7}})));
  CHECK(of.take() == lines{"input 0: 3", "+I[1, 1]", "+I[2, 2]", "+I[3, 3]", "input 0: 3",
                           "+I[4, 4]", "+I[5, 5]", "+I[6, 6]"});
  REQUIRE(of.gathered->end_input(0));
  CHECK(of.take() == lines{"input 0: 1", "+I[7, 7]", "end 0"});
}

TEST_CASE("the first row waits no longer than the latency") {
  bundle_fixture of(100);
  CHECK(!of.gathered->next_processing_time_ms());

  REQUIRE(of.gathered->add(0, batch_of({{1, 1}})));
  CHECK(of.take().empty());
  const auto due = of.clock.wall_ms() + 100;
  of.clock.advance_ms(60);
  REQUIRE(of.gathered->add(0, batch_of({{2, 2}})));
  CHECK(of.take().empty());
  CHECK(of.gathered->next_processing_time_ms() == due);
  of.clock.advance_ms(40);
  REQUIRE(of.gathered->on_processing_time(of.clock.wall_ms()));

  CHECK(of.take() == lines{"input 0: 2", "+I[1, 1]", "+I[2, 2]"});
  CHECK(!of.gathered->next_processing_time_ms());
}

TEST_CASE("a watermark waits behind the rows of the bundle, the last one ends it") {
  bundle_fixture of(100);
  CHECK(!of.gathered->forwards_watermarks());

  REQUIRE(of.gathered->advance(graph::watermark{5}));
  CHECK(of.take() == lines{"advance 5", "watermark 5"});
  REQUIRE(of.gathered->add(0, batch_of({{1, 1}})));
  CHECK(of.take().empty());
  REQUIRE(of.gathered->advance(graph::watermark{6}));
  CHECK(of.take().empty());
  REQUIRE(of.gathered->advance(graph::watermark{7}));
  CHECK(of.take().empty());
  REQUIRE(of.gathered->on_processing_time(of.clock.wall_ms()));
  CHECK(of.take() == lines{"input 0: 1", "+I[1, 1]", "advance 7", "watermark 7"});

  REQUIRE(of.gathered->add(0, batch_of({{2, 2}})));
  CHECK(of.take().empty());
  REQUIRE(of.gathered->advance(graph::watermark{graph::watermark::end}));
  const auto end = std::to_string(graph::watermark::end);
  CHECK(of.take() == lines{"input 0: 1", "+I[2, 2]", "advance " + end, "watermark " + end});
}

TEST_CASE("a change of status is behind the rows and the watermark before it") {
  bundle_fixture of(100);
  REQUIRE(of.gathered->add(0, batch_of({{1, 1}})));
  CHECK(of.take().empty());
  REQUIRE(of.gathered->advance(graph::watermark{5}));
  CHECK(of.take().empty());

  REQUIRE(of.gathered->change_status(graph::watermark_status{true}));

  CHECK(of.take() == lines{"input 0: 1", "+I[1, 1]", "advance 5", "watermark 5", "status"});
}

TEST_CASE("nothing of a bundle is behind a barrier, and inputs come in their order") {
  bundle_fixture of(100, {1, 0});
  REQUIRE(of.gathered->add(0, batch_of({{1, 1}})));
  CHECK(of.take().empty());
  REQUIRE(of.gathered->add(1, batch_of({{2, 2}})));
  CHECK(of.take().empty());

  REQUIRE(of.gathered->prepare_barrier(9));

  CHECK(of.take() == lines{"input 1: 1", "+I[2, 2]", "input 0: 1", "+I[1, 1]", "barrier 9"});
}

TEST_CASE("rows that come and go within a bundle leave it") {
  const auto gone = row_kind::delete_;
  bundle_fixture of(100, {0}, fold_pairs({*number_type()}, 128));

  REQUIRE(of.gathered->add(0, batch_of({{1, 1}, {1, 1}, {2, 2}})));
  CHECK(of.take().empty());
  REQUIRE(of.gathered->add(0, batch_of({{1, 1, gone},
                                        {3, 3, row_kind::update_before},
                                        {3, 4, row_kind::update_after},
                                        {3, 4, row_kind::update_before},
                                        {3, 3, row_kind::update_after},
                                        {2, 5},
                                        {4, 4, gone}})));
  CHECK(of.take().empty());
  REQUIRE(of.gathered->end_input(0));

  CHECK(of.take() == lines{"input 0: 4", "+I[1, 1]", "+I[2, 2]", "+I[2, 5]", "-D[4, 4]", "end 0"});
}

TEST_CASE("of a key the row that is first in the order stays") {
  graph::rank_spec spec;
  spec.key_columns = {0};
  spec.order = {{1, true, false}};
  bundle_fixture of(100, {0}, fold_to_first(spec, *number_type(), 128));

  REQUIRE(of.gathered->add(0, batch_of({{1, 5}, {2, 1}, {1, 7}, {1, 7}, {2, 3}, {1, 6}})));
  CHECK(of.take().empty());
  REQUIRE(of.gathered->end_input(0));

  CHECK(of.take() == lines{"input 0: 2", "+I[1, 7]", "+I[2, 3]", "end 0"});
}

TEST_SUITE_END();

} // namespace headrace::task
