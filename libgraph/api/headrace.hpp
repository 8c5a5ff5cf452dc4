#pragma once

/// The C++ API: all that a job needs, or a library of functions for SQL.

#include "libgraph/api/async_data_stream.hpp"         // IWYU pragma: export
#include "libgraph/api/broadcast_stream.hpp"          // IWYU pragma: export
#include "libgraph/api/connected_streams.hpp"         // IWYU pragma: export
#include "libgraph/api/environment.hpp"               // IWYU pragma: export
#include "libgraph/api/interval_join.hpp"             // IWYU pragma: export
#include "libgraph/api/job_entry.hpp"                 // IWYU pragma: export
#include "libgraph/api/keyed_stream.hpp"              // IWYU pragma: export
#include "libgraph/api/sql_function.hpp"              // IWYU pragma: export
#include "libgraph/api/stream.hpp"                    // IWYU pragma: export
#include "libgraph/api/table_environment.hpp"         // IWYU pragma: export
#include "libgraph/api/window/co_grouped_streams.hpp" // IWYU pragma: export
#include "libgraph/api/windowed_stream.hpp"           // IWYU pragma: export
