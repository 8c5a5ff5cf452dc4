// A job object of another headrace, which must be refused before any code of it runs.

#include <cstdlib>

namespace {
struct runs_when_loaded {
  runs_when_loaded() { std::abort(); }
};
const runs_when_loaded loaded;
} // namespace

extern "C" {
extern const char headrace_job_stamp[];
__attribute__((used, section("headrace_stamp"))) const char headrace_job_stamp[] =
    "headrace=9.9.9\nmachine=x86-64\ncompiler=gcc 99\n";
void headrace_job_entry(void*);
void headrace_job_entry(void*) {}
}
