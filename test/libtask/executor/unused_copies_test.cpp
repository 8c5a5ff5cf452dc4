#include "libtask/executor/unused_copies.hpp"

#include <doctest/doctest.h>

#include <string>

namespace headrace::task {
namespace {

constexpr job_id a{0, 1};
constexpr job_id b{0, 2};
constexpr std::int64_t patience = 100;

/// What happens at a time, and which copies go by it.
struct moment {
  enum class kind { look, came, manager_lost };
  std::int64_t at_us = 0;
  kind what = kind::look;
  std::set<job_id> there;
  std::set<job_id> here;
  std::vector<job_id> gone;
};
using kind = moment::kind;

struct course {
  std::string name;
  std::vector<moment> moments;
};

} // namespace

TEST_SUITE("task/executor/unused_copies") {
TEST_CASE("copies of a job go when it has not come for long") {
  const std::vector<course> courses = {
      {"a job that never comes",
       {{10, kind::look, {a}, {}, {}},
        {109, kind::look, {a}, {}, {}},
        {110, kind::look, {a}, {}, {a}},
        {111, kind::look, {}, {}, {}}}},
      {"a job that comes late, and stays",
       {{10, kind::look, {a}, {}, {}},
        {109, kind::look, {a}, {a}, {}},
        {500, kind::look, {a}, {a}, {}}}},
      {"a job that leaves again",
       {{10, kind::look, {a}, {a}, {}},
        {60, kind::look, {a}, {}, {}},
        {159, kind::look, {a}, {}, {}},
        {160, kind::look, {a}, {}, {a}}}},
      {"a job that was here between two looks",
       {{10, kind::look, {a}, {}, {}},
        {100, kind::came, {a}, {}, {}},
        {110, kind::look, {a}, {}, {}},
        {210, kind::look, {a}, {}, {a}}}},
      {"each job has its own time",
       {{10, kind::look, {a}, {}, {}},
        {60, kind::look, {a, b}, {}, {}},
        {110, kind::look, {a, b}, {}, {a}},
        {160, kind::look, {b}, {}, {b}}}},
      {"no job can come without a resource manager",
       {{10, kind::look, {a}, {}, {}},
        {100, kind::manager_lost, {}, {}, {}},
        {300, kind::look, {a}, {}, {}},
        {399, kind::look, {a}, {}, {}},
        {400, kind::look, {a}, {}, {a}}}},
      {"copies that went otherwise, and are made again",
       {{10, kind::look, {a}, {}, {}},
        {60, kind::look, {}, {}, {}},
        {110, kind::look, {a}, {}, {}},
        {210, kind::look, {a}, {}, {a}}}},
      {"what could not be removed is tried again",
       {{10, kind::look, {a}, {}, {}},
        {110, kind::look, {a}, {}, {a}},
        {120, kind::look, {a}, {}, {}},
        {220, kind::look, {a}, {}, {a}}}},
  };
  for (const auto& one : courses) {
    CAPTURE(one.name);
    unused_copies copies(patience);
    for (const auto& now : one.moments) {
      CAPTURE(now.at_us);
      if (now.what == kind::came)
        copies.on_came(a);
      else if (now.what == kind::manager_lost)
        copies.on_manager_lost();
      else
        CHECK(copies.look(now.there, now.here, now.at_us) == now.gone);
    }
  }
}
} // TEST_SUITE("task/executor/unused_copies")

} // namespace headrace::task
