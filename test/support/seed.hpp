#pragma once

#include <cstdint>

namespace headrace::testing {

/// The seed of all random choices of this test run: `HEADRACE_SEED` when set, else a fresh one.
///
/// The test binary prints it at its start, so that a failure can be repeated.
std::uint64_t seed();

} // namespace headrace::testing
