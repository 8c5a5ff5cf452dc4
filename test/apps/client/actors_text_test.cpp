#include "apps/client/actors_text.hpp"

#include <doctest/doctest.h>

namespace headrace::client {

TEST_SUITE("client/actors_text") {
TEST_CASE("actors are drawn below their parents, node by node") {
  const auto list = read_actors(R"({"actors":[
    {"name":"root","kind":"root_supervisor","parent":"","node":"n1","state":"running"},
    {"name":"dispatcher","kind":"dispatcher","parent":"root","node":"n1","state":"running",
     "id":"n1-7","refused":2,"queue-depth":3,"taken":12,"busy-us":1500000},
    {"name":"dispatcher/jobmaster-1","kind":"job_master","parent":"dispatcher","node":"n1",
     "state":"running"},
    {"name":"root","kind":"root_supervisor","parent":"","node":"n2","state":"stopping"}],
    "failed":[{"name":"dispatcher/jobmaster-0","kind":"job_master","parent":"gone","node":"n1",
     "state":"running","last-error":"it broke [internal 9001]\n  caused by: x"}],
    "nodes":[{"node":"n1","state":"answered"},{"node":"n3","state":"silent"}]})");

  REQUIRE(list);
  CHECK(list->actors[1].id == 7);
  CHECK(list->actors[1].refused == 2);
  CHECK(actors_as_text(*list) ==
        "node n1\n"
        "  ACTOR            KIND             STATE    QUEUE  TAKEN  BUSY   ERROR\n"
        "  root             root_supervisor  running  0      0      0.0 s  \n"
        "    dispatcher     dispatcher       running  3      12     1.5 s  \n"
        "      jobmaster-1  job_master       running  0      0      0.0 s  \n"
        "  jobmaster-0      job_master       failed   0      0      0.0 s  it broke [internal "
        "9001]\n"
        "node n2\n"
        "  ACTOR  KIND             STATE     QUEUE  TAKEN  BUSY   ERROR\n"
        "  root   root_supervisor  stopping  0      0      0.0 s  \n"
        "node n3 does not answer\n");
  CHECK(actors_as_text(*list, "jobmaster-1") ==
        "node n1\n"
        "  ACTOR            KIND        STATE    QUEUE  TAKEN  BUSY   ERROR\n"
        "      jobmaster-1  job_master  running  0      0      0.0 s  \n"
        "node n3 does not answer\n");
}

TEST_CASE("what is no list of actors is refused") {
  CHECK(read_actors("no JSON").error().code == errc::malformed_message);
  CHECK(read_actors("{}").error().code == errc::malformed_message);
  CHECK(read_actors(R"({"actors":[{"name":1}]})").error().code == errc::malformed_message);
  CHECK(read_actors(R"({"actors":[1]})").error().code == errc::malformed_message);
}
} // TEST_SUITE("client/actors_text")

} // namespace headrace::client
