#pragma once

#include <cstdint>

namespace headrace::testing {

/// The seed of all random choices of this test run: `HEADRACE_SEED` when set, else a fresh one.
///
/// The test binary prints it at its start, so that a failure can be repeated.
std::uint64_t seed();

/// How many random runs a test makes: `HEADRACE_RUNS` when set, else `usual`.
int runs(int usual);

/// Whether `HEADRACE_TEST_LOG` asks for the log of what a test runs.
bool wants_log();

/// Whether `HEADRACE_ACCEPT` asks for expected files to be written anew.
bool accepts();

} // namespace headrace::testing
