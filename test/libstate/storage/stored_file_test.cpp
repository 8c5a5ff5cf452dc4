#include "libstate/storage/stored_file.hpp"

#include "test/libstate/state_fixture.hpp"
#include "test/support/testing_file_system.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace headrace::state {
namespace {

using namespace headrace::testing;

TEST_SUITE_BEGIN("state/storage/stored_file");

error failure_of(file_system& files, const std::string& path) {
  const auto opened = open_stored(files, path);
  REQUIRE(!opened.has_value());
  return opened.error();
}

TEST_CASE("a file that is not there although its directory is will not come back") {
  testing_file_system files;
  files.put("/job/chk-3/_metadata", "m");
  files.put("/job/shared/b", "b");

  for (const std::string path : {"/job/chk-3/a", "/job/shared/a"}) {
    const auto failed = failure_of(files, path);
    CHECK(failed.code == errc::corrupt_snapshot);
    CHECK(failed.has(errc::file_not_found));
    CHECK(failed.message == "a file of the checkpoint is gone, though its directory is there: "
                            "bring it back, or restore from another checkpoint or savepoint: " +
                                path);
  }
}

TEST_CASE("a file whose directory is not there, either, may come back with it") {
  testing_file_system files;
  check_ok(files.create_directories("/mount"));
  files.put("/other/x", "x");

  for (const std::string path : {"/mount/chk-3/a", "/mount/a", "/other/a", "/job/shared/a", "a"}) {
    const auto failed = failure_of(files, path);
    CHECK(failed.code == errc::storage_failed);
    CHECK(failed.message == "a file of the checkpoint is missing: " + path);
    files.put(path, "whole");
    CHECK(open_stored(files, path).has_value());
    check_ok(files.remove(path));
  }
}

TEST_CASE("what the storage does not answer is no word on whether a file is there") {
  testing_file_system files;
  files.put("/job/chk-3/_metadata", "m");
  std::string failing = "open";
  files.intercept([&](const std::string& call, const std::string& path) {
    return call == failing ? std::optional(error(errc::storage_failed, "no answer: " + path))
                           : std::nullopt;
  });

  CHECK(failure_of(files, "/job/chk-3/a").code == errc::storage_failed);
  failing = "list";
  CHECK(failure_of(files, "/job/chk-3/a").code == errc::storage_failed);

  // A directory that is mounted again between the two looks.
  files.put("/job/chk-3/a", "whole");
  files.intercept([](const std::string& call, const std::string& path) {
    return call == "open" ? std::optional(error(errc::file_not_found, "cannot open: " + path))
                          : std::nullopt;
  });
  CHECK(failure_of(files, "/job/chk-3/a").code == errc::storage_failed);
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::state
