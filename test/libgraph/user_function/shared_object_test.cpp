#include "libgraph/user_function/shared_object.hpp"

#include "test/support/testing_file_system.hpp"
#include "libgraph/user_function/object_stamp.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace headrace::graph {

TEST_SUITE_BEGIN("graph/user_function/shared_object");

TEST_CASE("a damaged object never crashes the one who reads its stamp") {
  const auto files = make_local_file_system();
  const std::string object = std::string(HEADRACE_TESTING_JOBS) + "/testing_job.so";
  const auto content = files->read_all(object, 1U << 30U).value();
  const auto path = (std::filesystem::temp_directory_path() / "headrace_damaged.so").string();

  for (const std::size_t size : {10U, 64U, 1000U, 5000U}) {
    REQUIRE(files->write_atomically(path, content.substr(0, size)));
    CHECK_FALSE(read_stamp(*files, path, object_use::job));
  }
  for (std::size_t at = 16; at < 64; ++at) {
    auto damaged = content;
    damaged[at] = '\xff';
    REQUIRE(files->write_atomically(path, damaged));
    (void)read_stamp(*files, path, object_use::job);
  }
  REQUIRE(files->remove(path));
}

TEST_CASE("an object that cannot be read now may be tried again, one that is not there not") {
  testing::testing_file_system files;
  files.put("/job.so", "x");
  files.intercept([](const std::string& call, const std::string&) -> std::optional<error> {
    return call == "open" ? std::optional(error(errc::storage_failed, "Too many open files"))
                          : std::nullopt;
  });
  const auto busy = load_shared_object(files, "/job.so", object_use::job);
  REQUIRE(!busy);
  CHECK(busy.error().code == errc::storage_failed);
  CHECK_FALSE(busy.error().has(errc::job_object_unloadable));
  files.intercept({});
  CHECK(load_shared_object(files, "/none.so", object_use::job).error().code ==
        errc::job_object_unloadable);
}

TEST_CASE("stamps differ by what is named") {
  CHECK(stamp_difference(HEADRACE_STAMP, HEADRACE_STAMP).empty());
  CHECK(stamp_difference("a=1\n", "a=1\nb=2\n") == "b: the job has none, this is 2");
  CHECK(stamp_difference("a=1\n", "a=2\n", object_use::functions) ==
        "a: the library has 1, this is 2");
}

TEST_SUITE_END();

} // namespace headrace::graph
