#include "libgraph/api/job_object.hpp"

#include "test/libgraph/api/testing_values.hpp"
#include "libactors/base/version.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace headrace;
using namespace headrace::testing;

TEST_SUITE_BEGIN("graph/api/job_object");

namespace {

using arguments = std::vector<std::string>;
const std::string directory = HEADRACE_TESTING_JOBS;
const std::string job_path = directory + "/testing_job.so";

struct loading {
  std::unique_ptr<file_system> files = make_local_file_system();
  api::object_loader loader{*files};
};

} // namespace

TEST_CASE("the API's version is the library's") { CHECK(version() == HEADRACE_VERSION_TEXT); }

TEST_CASE("a job object is built and rebuilt to the same graph, with functions that run") {
  loading t;

  const auto built = t.loader.build(job_path, {"--x", "1"}, 4);
  REQUIRE_MESSAGE(built.has_value(), (built ? "" : to_string(built.error())));
  const auto code = t.loader.load(job_path, {"--x", "1"}, built->graph.hash);
  REQUIRE(code);

  CHECK(built->graph.arguments == arguments{"--x", "1"});
  CHECK(validate(built->graph));
  REQUIRE((*code)->functions.size() == 2);
  auto made = (*code)->functions[1]();
  auto& map = *std::get<std::unique_ptr<graph::row_function>>(made);
  const auto run = run_rows(map, batch_of<std::int64_t>({4}), row_type_of<std::int64_t>());
  CHECK(values_of<std::int64_t>(run.pieces) == std::vector<std::int64_t>{8});
}

TEST_CASE("an entry that describes another job each time is refused with the difference") {
  loading t;
  auto built = t.loader.build(job_path, {"--mode", "changing"}, 1);
  REQUIRE(built);
  const auto again = t.loader.load(job_path, {"--mode", "changing"}, built->graph.hash);

  REQUIRE_FALSE(again);
  CHECK(again.error().code == errc::graph_mismatch);
  CHECK(again.error().message.find("first difference at operator") != std::string::npos);
}

TEST_CASE("what an entry throws is an error in words") {
  loading t;
  const auto failed = [&](const char* mode) {
    auto built = t.loader.build(job_path, {"--mode", mode}, 1);
    REQUIRE_FALSE(built);
    return built.error();
  };

  CHECK(failed("throw").code == errc::user_function_failed);
  CHECK(failed("throw").message.find("thrown by the entry") != std::string::npos);
  CHECK(failed("throw-number").code == errc::user_function_failed);
  CHECK(failed("missing").code == errc::bad_usage);
  CHECK(failed("missing").message.find("missing argument --needed") != std::string::npos);
  CHECK(failed("empty").code == errc::invalid_graph);
  CHECK(t.loader.build(job_path, {"--moed", "plain"}, 1).error() ==
        error(errc::bad_usage, "the job has no argument --moed, is it --mode"));
}

TEST_CASE("a job object of another headrace is refused before its code runs") {
  loading t;

  const auto built = t.loader.build(directory + "/testing_foreign_job.so", {}, 1);

  REQUIRE_FALSE(built);
  CHECK(built.error().code == errc::job_object_incompatible);
  CHECK(built.error().message.find("headrace: the job has 9.9.9, this is 0.1.0") !=
        std::string::npos);
  CHECK(built.error().message.find("compiler: the job has gcc 99") != std::string::npos);
}

TEST_CASE("a job object that was built from other headers is refused before its code runs") {
  loading t;

  const auto built = t.loader.build(directory + "/testing_stale_job.so", {}, 1);

  REQUIRE_FALSE(built);
  CHECK(built.error().code == errc::job_object_incompatible);
  CHECK(built.error().message.find("rebuild the job") != std::string::npos);
  CHECK(built.error().message.find("headers: the job has of other headers, this is ") !=
        std::string::npos);
}

TEST_CASE("what is no job object is refused in words") {
  loading t;
  const auto code_of = [&](const std::string& path) {
    const auto built = t.loader.build(path, {}, 1);
    REQUIRE_FALSE(built);
    CHECK(built.error().message.find(path) != std::string::npos);
    return built.error().code;
  };
  const auto text = (std::filesystem::temp_directory_path() / "headrace_no_object.so").string();
  REQUIRE(t.files->write_atomically(text, "hello"));

  CHECK(code_of("/no/such/file.so") == errc::job_object_unloadable);
  CHECK(code_of(text) == errc::job_object_unloadable);
  CHECK(code_of(directory + "/testing_no_job.so") == errc::job_object_unloadable);
  REQUIRE(t.files->remove(text));
}

TEST_CASE("an object that was rebuilt under the same path is loaded beside the old one") {
  loading t;
  const auto path = (std::filesystem::temp_directory_path() / "headrace_rebuilt.so").string();
  const auto content = t.files->read_all(job_path, 1U << 30U).value();
  REQUIRE(t.files->write_atomically(path, content));
  REQUIRE(t.loader.build(path, {}, 1));
  REQUIRE(t.files->write_atomically(path, content + std::string(8, '\0')));

  const auto built = t.loader.build(path, {}, 1);

  CHECK_MESSAGE(built.has_value(), (built ? "" : to_string(built.error())));
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::temp_directory_path()))
    if (entry.path().filename().string().starts_with("headrace_rebuilt.so"))
      std::filesystem::remove(entry.path());
}

TEST_SUITE_END();
