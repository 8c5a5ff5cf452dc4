#include "libstate/rocksdb/scratch_env.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace headrace::state {
namespace {

/// Tells what it was told to.
class testing_clock final : public rocksdb::SystemClockWrapper {
public:
  testing_clock(rocksdb::Status outcome, std::int64_t seconds)
      : SystemClockWrapper(rocksdb::SystemClock::Default()), outcome_(std::move(outcome)),
        seconds_(seconds) {}
  const char* Name() const override { return "testing_clock"; }
  rocksdb::Status GetCurrentTime(std::int64_t* seconds) override {
    *seconds = seconds_;
    return outcome_;
  }

private:
  rocksdb::Status outcome_;
  std::int64_t seconds_;
};

std::int64_t told_by(rocksdb::Status outcome, std::int64_t seconds) {
  const auto clock =
      make_clock_since_1970(std::make_shared<testing_clock>(std::move(outcome), seconds));
  std::int64_t out = -7;
  CHECK(clock->GetCurrentTime(&out).ok());
  return out;
}

} // namespace

TEST_SUITE("state/rocksdb/scratch_env") {
TEST_CASE("RocksDB is never told a time before 1970") {
  CHECK(told_by(rocksdb::Status::OK(), 1'700'000'000) == 1'700'000'000);
  CHECK(told_by(rocksdb::Status::OK(), 0) == 0);
  CHECK(told_by(rocksdb::Status::OK(), -1'000'000'000) == 0);
  CHECK(told_by(rocksdb::Status::IOError("GetCurrentTime"), -1) == 0);
}

TEST_CASE("databases have that clock") {
  CHECK(scratch_env().GetSystemClock()->Name() == std::string("headrace.clock_since_1970"));
}
} // TEST_SUITE("state/rocksdb/scratch_env")

} // namespace headrace::state
