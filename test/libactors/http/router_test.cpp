#include "libactors/http/router.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using actors::error_response;
using actors::read_target;
using actors::router;

TEST_SUITE_BEGIN("actors/http/router");

TEST_CASE("a target is taken apart") {
  struct row {
    const char* target;
    std::vector<std::string> segments;
    std::map<std::string, std::string> query;
  };
  const row rows[] = {
      {"/", {}, {}},
      {"/jobs", {"jobs"}, {}},
      {"/jobs/", {"jobs"}, {}},
      {"//jobs//a%20b/", {"jobs", "a b"}, {}},
      {"/a%2Fb", {"a/b"}, {}},
      {"/a+b", {"a+b"}, {}},
      {"/jobs?mode=cancel", {"jobs"}, {{"mode", "cancel"}}},
      {"/jobs?a=1&a=2&b&=c&d=x%3Dy+z", {"jobs"}, {{"a", "2"}, {"b", ""}, {"d", "x=y z"}}},
      {"/jobs?a=b?c#d=e", {"jobs"}, {{"a", "b?c"}}},
      {"http://host:81/jobs?a=1", {"jobs"}, {{"a", "1"}}},
      {"http://host", {}, {}},
  };
  for (const auto& each : rows) {
    CAPTURE(each.target);

    const auto read = read_target("GET", each.target);

    REQUIRE(read.has_value());
    CHECK(read->segments == each.segments);
    CHECK(read->query == each.query);
  }
}

TEST_CASE("a malformed target is refused") {
  for (const char* target : {"", "*", "jobs", "ftp://host/jobs", "/%", "/%4", "/%zz", "/%00",
                             "/jobs?%=1", "/jobs?a=%g0", "/jobs?a=%00"}) {
    CAPTURE(target);
    const auto read = read_target("GET", target);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == errc::bad_usage);
  }
}

TEST_CASE("a request finds its route") {
  router routes;
  const auto jobs = routes.add("GET", "/jobs");
  const auto job = routes.add("GET", "/jobs/:job");
  const auto cancel = routes.add("PATCH", "/jobs/:job");
  const auto overview = routes.add("GET", "/jobs/overview");
  const auto pressure = routes.add("GET", "/jobs/:job/vertices/:vertex/backpressure");

  struct row {
    const char* method;
    const char* target;
    std::size_t route;
    router::parameters path;
  };
  const row rows[] = {
      {"GET", "/jobs", jobs, {}},
      {"HEAD", "/jobs/", jobs, {}},
      {"GET", "/jobs/12", job, {{"job", "12"}}},
      {"PATCH", "/jobs/12?mode=cancel", cancel, {{"job", "12"}}},
      {"GET", "/jobs/overview", overview, {}},
      {"GET", "/jobs/1/vertices/a%2Fb/backpressure", pressure, {{"job", "1"}, {"vertex", "a/b"}}},
  };
  for (const auto& each : rows) {
    CAPTURE(each.target);

    const auto found = routes.match(*read_target(each.method, each.target));

    REQUIRE(found.route.has_value());
    CHECK(*found.route == each.route);
    CHECK(found.path == each.path);
  }
}

TEST_CASE("a request without route is refused in words") {
  router routes;
  routes.add("GET", "/jobs/:job");
  routes.add("PATCH", "/jobs/:job");

  const auto unknown = routes.match(*read_target("GET", "/nothing/here"));
  const auto forbidden = routes.match(*read_target("DELETE", "/jobs/1"));

  CHECK_FALSE(unknown.route.has_value());
  CHECK(unknown.refusal.status == 404);
  CHECK(unknown.refusal.body == R"({"errors":["no such path: /nothing/here"]})");
  CHECK_FALSE(forbidden.route.has_value());
  CHECK(forbidden.refusal.status == 405);
  CHECK(forbidden.refusal.allow == "GET, HEAD, PATCH, OPTIONS");
  CHECK(
      forbidden.refusal.body ==
      R"({"errors":["method DELETE is not allowed for /jobs/1, allowed are GET, HEAD, PATCH, OPTIONS"]})");
}

TEST_CASE("OPTIONS tells the methods of a path that there is") {
  router routes;
  routes.add("PATCH", "/jobs/:job");

  const auto told = routes.match(*read_target("OPTIONS", "/jobs/1"));
  const auto unknown = routes.match(*read_target("OPTIONS", "/nothing"));

  CHECK(told.refusal.status == 204);
  CHECK(told.refusal.allow == "PATCH, OPTIONS");
  CHECK(told.refusal.body.empty());
  CHECK(unknown.refusal.status == 404);
}

TEST_CASE("a path of its own has its own methods only") {
  router routes;
  routes.add("PATCH", "/jobs/:job");
  routes.add("GET", "/jobs/overview");

  const auto told = routes.match(*read_target("OPTIONS", "/jobs/overview"));
  const auto refused = routes.match(*read_target("PATCH", "/jobs/overview"));

  CHECK(told.refusal.allow == "GET, HEAD, OPTIONS");
  CHECK_FALSE(refused.route.has_value());
  CHECK(refused.refusal.status == 405);
}

TEST_CASE("failures have the status that fits") {
  struct row {
    errc code;
    unsigned status;
  };
  const row rows[] = {{errc::bad_usage, 400},         {errc::invalid_graph, 400},
                      {errc::job_not_found, 404},     {errc::duplicate_job, 409},
                      {errc::timed_out, 504},         {errc::peer_lost, 503},
                      {errc::message_too_large, 413}, {errc::internal, 500}};
  for (const auto& each : rows)
    CHECK(error_response(error(each.code, "no")).status == each.status);
}

TEST_CASE("words that are no UTF-8 make JSON all the same") {
  CHECK(error_response(400, "\xff\"").body == "{\"errors\":[\"\xef\xbf\xbd\\\"\"]}");
}

TEST_SUITE_END();
