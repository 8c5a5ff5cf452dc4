#include "libstate/checkpoint/checkpoint_files.hpp"

#include "test/libstate/state_fixture.hpp"

#include <doctest/doctest.h>

#include <string>

namespace headrace::state {
namespace {

using namespace headrace::testing;

completed_checkpoint with_all_kinds() {
  completed_checkpoint out;
  out.directory = "/c/chk-1";
  auto& state = out.operators[{1, 2}].subtasks[0];
  state.keyed.push_back(
      {{0, 128}, "rocksdb", {"/c/chk-1/a", 0, 10}, {{"x", {"/c/shared/x", 0, 5}}}});
  state.raw_keyed.push_back({{0, 128}, "raw", {"/c/chk-1/a", 10, 20}, {}});
  state.managed.push_back({{"/c/chk-1/b", 0, 3}, {}});
  state.raw_operator.push_back({{"/c/chk-1/d", 0, 4}, {}});
  state.channels.push_back({{"/c/chk-1/e", 7, 1}});
  out.operators[{1, 3}].subtasks[1].managed.push_back({{"", 0, 0}, {}});
  return out;
}

} // namespace

TEST_SUITE("state/checkpoint/checkpoint_files") {

TEST_CASE_FIXTURE(state_fixture, "each file that is missing or too short is told") {
  const auto checkpoint = with_all_kinds();
  const auto all = files_of(checkpoint);
  CHECK(all == std::map<std::string, std::uint64_t>{{"/c/chk-1/a", 30},
                                                    {"/c/chk-1/b", 3},
                                                    {"/c/chk-1/d", 4},
                                                    {"/c/chk-1/e", 8},
                                                    {"/c/shared/x", 5}});
  for (const auto& [path, bytes] : all)
    files.put(path, byte_string(bytes, 'x'));
  check_ok(check_files(files, checkpoint));

  for (const auto& [path, bytes] : all) {
    files.put(path, byte_string(bytes - 1, 'x'));
    auto refused = check_files(files, checkpoint);
    REQUIRE(!refused);
    CHECK(refused.error().code == errc::corrupt_snapshot);
    CHECK(refused.error().message.find("1 of the 5 files of /c/chk-1") != std::string::npos);
    CHECK(refused.error().message.find(std::to_string(bytes - 1) + " bytes of " +
                                       std::to_string(bytes) + ": " + path) != std::string::npos);
    check_ok(files.remove(path));
    refused = check_files(files, checkpoint);
    REQUIRE(!refused);
    CHECK(refused.error().message.find("not there: " + path) != std::string::npos);
    files.put(path, byte_string(bytes, 'x'));
  }
}

} // TEST_SUITE("state/checkpoint/checkpoint_files")

} // namespace headrace::state
