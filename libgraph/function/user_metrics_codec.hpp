#pragma once

#include "libgraph/function/user_metrics.hpp"
#include "schema/task.capnp.h"

#include <vector>

namespace headrace::graph {

/// What user code measures, as it is reported.
void write_user_figures(schema::TaskMetrics::Builder out, const std::vector<user_figure>& figures);
/// Figures of a kind that this build does not know are left out.
std::vector<user_figure> read_user_figures(schema::TaskMetrics::Reader in);

} // namespace headrace::graph
