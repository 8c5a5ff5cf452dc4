#pragma once

/// The C++ DataStream API: all that a job needs.

#include "libgraph/api/environment.hpp"     // IWYU pragma: export
#include "libgraph/api/job_entry.hpp"       // IWYU pragma: export
#include "libgraph/api/keyed_stream.hpp"    // IWYU pragma: export
#include "libgraph/api/stream.hpp"          // IWYU pragma: export
#include "libgraph/api/windowed_stream.hpp" // IWYU pragma: export
