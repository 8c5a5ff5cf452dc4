#include "libscheduler/job_master/job_report.hpp"

#include "libactors/message/message.hpp"

#include <doctest/doctest.h>

namespace headrace::scheduler {
namespace {

execution_attempt_id attempt_of(std::int32_t number) {
  execution_attempt_id out;
  out.attempt = number;
  return out;
}

task_figures report(std::uint64_t in, std::uint64_t out, std::uint64_t busy_us,
                    std::int32_t attempt, const task_figures& before) {
  message_builder<schema::TaskStateChanged> news;
  auto metrics = news->initMetrics();
  metrics.setRecordsIn(in);
  metrics.setRecordsOut(out);
  metrics.setBusyUs(busy_us);
  metrics.setIdleUs(1'000);
  return read_figures(metrics.asReader(), attempt_of(attempt), before);
}

} // namespace

TEST_SUITE("scheduler/job_master/job_report") {

TEST_CASE("what ended attempts counted is kept beside what the running one counts") {
  auto figures = report(10, 20, 1'000, 0, {});
  CHECK(figures.earlier == record_counts());
  figures = report(30, 60, 3'000, 0, figures);
  CHECK(figures.records.in == 30);
  CHECK(figures.earlier == record_counts());
  CHECK(figures.shares.busy == 1.0F); // since the report before

  figures = report(5, 7, 9'000, 1, figures); // later than its predecessor's, all the same another
  CHECK(figures.records.in == 5);
  CHECK(figures.earlier.in == 30);
  CHECK(figures.earlier.out == 60);
  CHECK(figures.shares.busy == doctest::Approx(0.9));

  figures = report(8, 9, 9'500, 1, figures);
  figures = report(1, 1, 10, 2, figures);
  CHECK(figures.earlier.in == 38);
  CHECK(figures.earlier.out == 69);
}

} // TEST_SUITE("scheduler/job_master/job_report")

} // namespace headrace::scheduler
