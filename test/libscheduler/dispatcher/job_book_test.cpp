#include "libscheduler/dispatcher/job_book.hpp"

#include "libactors/message/ids_codec.hpp"

#include <doctest/doctest.h>

namespace headrace::scheduler {

namespace {

message<schema::JobEnded> finished(const job_id& job) {
  message_builder<schema::JobEnded> how;
  write(how->initResult().initJob(), job);
  how->getResult().setState(schema::JobState::FINISHED);
  return how.finish();
}
constexpr job_id first{1, 1};
constexpr job_id second{1, 2};

} // namespace

TEST_SUITE("scheduler/dispatcher/job_book") {

TEST_CASE("a job is taken once, also after it ended") {
  job_book book(10);
  CHECK(book.add(first, "a", 0).has_value());
  CHECK(book.add(first, "a", 0).error().code == errc::duplicate_job);
  CHECK(book.ended(first, finished(first)));
  CHECK(book.add(first, "a", 0).error().code == errc::duplicate_job);
}

TEST_CASE("the oldest ended jobs are forgotten") {
  job_book book(1);
  for (const auto& job : {first, second}) {
    CHECK(book.add(job, "a", 0).has_value());
    CHECK(book.ended(job, finished(job)));
  }

  CHECK(book.find_ended(first) == nullptr);
  CHECK(book.find_ended(second) != nullptr);
}

TEST_CASE("a job whose master is lost has failed; one that had ended stays as it was") {
  job_book book(10);
  CHECK(book.add(first, "a", 100).has_value());
  CHECK(book.add(second, "b", 100).has_value());
  CHECK(book.ended(second, finished(second)));

  CHECK(book.master_lost(first, error(errc::internal, "boom"), 300));
  CHECK(!book.master_lost(second, error(errc::internal, "boom"), 300));

  const auto lost = book.find_ended(first)->how.view();
  CHECK(lost->getResult().getState() == schema::JobState::FAILED);
  CHECK(lost->getResult().getRuntimeMs() == 200);
  const auto failure = read_error(lost->getResult().getFailure());
  CHECK(failure.code == errc::job_failed);
  CHECK(failure.has(errc::internal));
  CHECK(book.find_ended(second)->how.view()->getResult().getState() == schema::JobState::FINISHED);
}

TEST_CASE("a cancel that came before the master was there is remembered") {
  job_book book(10);
  CHECK(book.add(first, "a", 0).has_value());
  book.find_running(first)->is_cancel_wanted = true;

  CHECK(book.started(first, {{1, 1}, "jobmaster", 1}, {2, 2}));
  CHECK(!book.started(second, {}, {}));
}

} // TEST_SUITE("scheduler/dispatcher/job_book")

} // namespace headrace::scheduler
