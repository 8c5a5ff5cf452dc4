// A library that was built from other headers, and must be refused before any code of it runs.

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
extern const char headrace_stamp_f[];
__attribute__((used, section(HEADRACE_STAMP_SECTION))) const char headrace_stamp_f[] =
    HEADRACE_STAMP;
extern const char headrace_name_f[];
__attribute__((used, section(HEADRACE_FUNCTIONS_SECTION))) const char headrace_name_f[] = "f";
void* headrace_function_f();
void* headrace_function_f() { return nullptr; }
}
