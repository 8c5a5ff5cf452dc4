// A job object that was built from other headers, and must be refused before any code of it runs.

#include "libgraph/user_function/object_stamp.hpp"

#include <cstdlib>

#undef HEADRACE_HEADERS_DIGEST
#define HEADRACE_HEADERS_DIGEST "of other headers"

namespace {
struct runs_when_loaded {
  runs_when_loaded() { std::abort(); }
};
const runs_when_loaded loaded;
} // namespace

extern "C" {
extern const char headrace_job_stamp[];
__attribute__((used, section(HEADRACE_STAMP_SECTION))) const char headrace_job_stamp[] =
    HEADRACE_STAMP;
void headrace_job_entry(void*);
void headrace_job_entry(void*) {}
}
