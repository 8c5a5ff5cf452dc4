#include "libgraph/user_function/native_function.hpp"

#include "libgraph/user_function/user_function.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace headrace::graph {
namespace {

const std::string directory = HEADRACE_TESTING_JOBS;
const std::string library_path = directory + "/testing_functions.so";

struct loading {
  std::unique_ptr<file_system> files = make_local_file_system();

  error refusal_of(const std::string& path, const std::string& name = "twice") {
    const auto loaded = load_native_function(*files, path, name);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().message.find(path) != std::string::npos);
    return loaded.error();
  }
  user_function definition_of(const std::string& name) {
    const auto loaded = load_native_function(*files, library_path, name);
    REQUIRE_MESSAGE(loaded.has_value(), (loaded ? "" : to_string(loaded.error())));
    user_function out;
    out.name = "f";
    out.language = user_language::cpp;
    out.form = loaded->code->form;
    out.source = loaded->digest;
    out.symbol = name;
    out.result = loaded->code->result;
    for (const auto& each : loaded->code->parameters)
      out.parameters.push_back({"a", each, {}});
    return out;
  }
};

column_ptr texts_column(const std::vector<std::string>& values) {
  column_builder out(logical_type::string());
  for (const auto& each : values)
    out.append_string(each);
  return out.finish();
}

} // namespace

TEST_SUITE_BEGIN("graph/user_function/native_function");

TEST_CASE("a library tells what its functions take and give") {
  loading t;
  const auto of = [&](const char* name) {
    const auto loaded = load_native_function(*t.files, library_path, name);
    REQUIRE(loaded);
    return *loaded->code;
  };

  CHECK(of("twice").parameters == std::vector{logical_type::bigint()});
  CHECK(of("twice").result == logical_type::bigint());
  CHECK(of("or_zero").result == logical_type::bigint().not_null());
  CHECK(of("answer").parameters.empty());
  CHECK(of("answer").result == logical_type::integer().not_null());
  CHECK(of("copies").form == user_form::table);
  CHECK(of("copies").result.to_sql() ==
        "ROW<`text` STRING NOT NULL, `place` INT NOT NULL> NOT NULL");
  CHECK(of("longest").form == user_form::aggregate);
  CHECK_FALSE(of("longest").has_retract);
  CHECK_FALSE(of("longest").has_merge);
}

TEST_CASE("what is no library of functions is refused in words") {
  loading t;
  const auto text = (std::filesystem::temp_directory_path() / "headrace_no_library.so").string();
  REQUIRE(t.files->write_atomically(text, "hello"));

  CHECK(t.refusal_of("/no/such/file.so").code == errc::job_object_unloadable);
  CHECK(t.refusal_of(text).message.find("not an ELF file") != std::string::npos);
  CHECK(t.refusal_of(directory + "/testing_job.so").message.find("no function in it") !=
        std::string::npos);
  const auto missing = t.refusal_of(library_path, "thrice");
  CHECK(missing.message == "library has no function thrice: " + library_path +
                               "; it has answer, checked, copies, longest, or_zero, twice");
  const auto stale = t.refusal_of(directory + "/testing_stale_functions.so", "f");
  CHECK(stale.code == errc::job_object_incompatible);
  CHECK(stale.message.find("rebuild the library") != std::string::npos);
  CHECK(stale.message.find("headers: the library has of other headers, this is ") !=
        std::string::npos);
  REQUIRE(t.files->remove(text));
}

TEST_CASE("what a function throws names the function") {
  loading t;
  const auto scalar = make_user_scalar(t.definition_of("checked")).value();
  const auto outcome_of = [&](const std::string& text) {
    const auto values = texts_column({text});
    const user_argument argument{values.get(), false};
    column_builder out(logical_type::string());
    const auto done = scalar->compute({&argument, 1}, {nullptr, 1}, out);
    if (done)
      return std::string(out.finish()->string_at(0));
    CHECK(done.error().code == errc::user_function_failed);
    return done.error().message;
  };

  CHECK(outcome_of("good") == "good!");
  CHECK(outcome_of("bad") == "f failed: it is bad");
  CHECK(outcome_of("number") == "f failed: it threw what is no std::exception");
}

TEST_CASE("a function of a library that is not loaded can be made, and fails when it is called") {
  user_function of;
  of.name = "far";
  of.language = user_language::cpp;
  of.source = std::string(64, 'a');
  of.symbol = "f";
  of.result = logical_type::integer();
  const auto scalar = make_user_scalar(of);
  REQUIRE(scalar);
  column_builder out(logical_type::integer());

  const auto done = (*scalar)->compute({}, {nullptr, 1}, out);

  REQUIRE_FALSE(done);
  CHECK(done.error().message.find("library of function far is not loaded") != std::string::npos);
}

TEST_SUITE_END();

} // namespace headrace::graph
