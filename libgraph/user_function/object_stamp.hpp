#pragma once

#include "libgraph/headers_digest.hpp"

#include <cstddef>

/// The version of this API; equal to `headrace::version()`.
#define HEADRACE_VERSION_TEXT "0.1.0"

#define HEADRACE_TEXT_INNER(x) #x
#define HEADRACE_TEXT(x) HEADRACE_TEXT_INNER(x)

#if defined(__clang__)
#define HEADRACE_STAMP_COMPILER "clang " HEADRACE_TEXT(__clang_major__)
#elif defined(__GNUC__)
#define HEADRACE_STAMP_COMPILER "gcc " HEADRACE_TEXT(__GNUC__)
#else
#define HEADRACE_STAMP_COMPILER "unknown"
#endif

#if defined(__x86_64__)
#define HEADRACE_STAMP_MACHINE "x86-64"
#elif defined(__aarch64__)
#define HEADRACE_STAMP_MACHINE "arm64"
#else
#define HEADRACE_STAMP_MACHINE "unknown"
#endif

#if defined(_GLIBCXX_RELEASE)
#define HEADRACE_STAMP_LIBRARY                                                                     \
  "libstdc++ " HEADRACE_TEXT(_GLIBCXX_RELEASE) " strings " HEADRACE_TEXT(_GLIBCXX_USE_CXX11_ABI)
#elif defined(_LIBCPP_VERSION)
#define HEADRACE_STAMP_LIBRARY "libc++ " HEADRACE_TEXT(_LIBCPP_ABI_VERSION)
#else
#define HEADRACE_STAMP_LIBRARY "unknown"
#endif

#if defined(__SANITIZE_ADDRESS__)
#define HEADRACE_STAMP_SANITIZER "address"
#elif defined(__SANITIZE_THREAD__)
#define HEADRACE_STAMP_SANITIZER "thread"
#else
#define HEADRACE_STAMP_SANITIZER "none"
#endif

/// What must be equal in a shared object (a job, a library of functions) and in the one who loads
/// it: lines of name, '=', value.
#define HEADRACE_STAMP                                                                             \
  "headrace=" HEADRACE_VERSION_TEXT "\n"                                                           \
  "machine=" HEADRACE_STAMP_MACHINE "\n"                                                           \
  "compiler=" HEADRACE_STAMP_COMPILER "\n"                                                         \
  "c++ abi=" HEADRACE_TEXT(__GXX_ABI_VERSION) "\n"                                                 \
                                              "c++ library=" HEADRACE_STAMP_LIBRARY "\n"           \
                                              "sanitizer=" HEADRACE_STAMP_SANITIZER "\n"           \
                                              "headers=" HEADRACE_HEADERS_DIGEST "\n"

/// The section of a shared object that holds its stamps: read from the file, before any of its code
/// runs.
#define HEADRACE_STAMP_SECTION "headrace_stamp"
#define HEADRACE_ENTRY_NAME "headrace_job_entry"
/// The section that holds the names of a library's functions.
#define HEADRACE_FUNCTIONS_SECTION "headrace_functions"
/// Before the name of a function: what its object exports, a `const native_function*()`.
#define HEADRACE_FUNCTION_PREFIX "headrace_function_"
