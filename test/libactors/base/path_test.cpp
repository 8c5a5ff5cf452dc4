#include "libactors/base/path.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace headrace;

TEST_SUITE("actors/base/path") {

TEST_CASE("a URI of a file is its path") {
  for (const auto* same : {"/a/b", "/a/b/", "file:/a/b", "file:///a/b", "file://localhost/a/b//"}) {
    CAPTURE(same);
    CHECK(*local_path(same) == "/a/b");
    CHECK(*absolute_path(same) == "/a/b");
  }
  CHECK(*local_path("/") == "/");
  CHECK(*local_path("file:///") == "/");
  CHECK(*local_path("a/b") == "a/b");
  CHECK(*local_path("10:30/a") == "10:30/a");
  CHECK(*local_path("with:colon") == "with:colon");
  CHECK(*local_path("/a%20b") == "/a%20b");
}

TEST_CASE("other file systems and machines are refused with what is allowed") {
  for (const auto* wrong :
       {"s3://bucket/a", "hdfs:///a", "gs:/a", "file://host/a", "file:", "file://"}) {
    CAPTURE(wrong);
    const auto refused = absolute_path(wrong);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::bad_usage);
    CHECK(refused.error().message.find(wrong) != std::string::npos);
    CHECK(refused.error().message.find("file:///data") != std::string::npos);
  }
}

TEST_CASE("a relative path begins at the working directory of this process") {
  const auto here = std::filesystem::current_path().string();
  CHECK(*absolute_path("a/b") == here + "/a/b");
  CHECK(*absolute_path("./a/") == here + "/a");
  CHECK(*absolute_path(".//./a") == here + "/a");
  CHECK(*absolute_path(".") == here);
  CHECK(*absolute_path("../a") == here + "/../a");
  CHECK(*absolute_path("file:a") == here + "/a");
  CHECK(absolute_path("")->empty());
}

} // TEST_SUITE("actors/base/path")
