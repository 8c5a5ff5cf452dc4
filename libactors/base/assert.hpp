#pragma once

namespace headrace {

/// Prints the condition, the reason and the place, then ends the process with SIGABRT.
[[noreturn]] void assertion_failed(const char* condition, const char* reason, const char* file,
                                   int line);

} // namespace headrace

/// States what only a bug can break; on in release builds too.
#define HEADRACE_ASSERT(condition, reason)                                                         \
  (static_cast<bool>(condition)                                                                    \
       ? static_cast<void>(0)                                                                      \
       : ::headrace::assertion_failed(#condition, reason, __FILE__, __LINE__))
