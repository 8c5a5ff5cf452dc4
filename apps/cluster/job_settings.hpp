#pragma once

#include "libgraph/connector/registry.hpp"
#include "libgraph/function/function.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/option.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace headrace::cluster {

/// Whether every source of the job ends by itself.
/// @errors unknown_connector, and what a source's factory gives (bad options)
result<bool> is_bounded(const graph::job_graph& job, const graph::job_code& code,
                        const graph::connector_registry& connectors);

/// Puts settings into a job where the job itself left them at their defaults: what a job says wins
/// over the configuration. Without any word of an interval, unbounded jobs take a checkpoint every
/// 10 s and bounded ones none. Directories become absolute: the cluster's processes stand
/// elsewhere.
/// @errors bad_option_value  a directory of the job is none of this machine's ("s3://…")
status apply_settings(const configuration& settings, bool bounded, graph::job_graph& job);

/// Of a cluster's configuration what its jobs get where they and their client leave it, as it is
/// set there: of checkpoints, state, restarts and tables. Directories are absolute.
std::map<std::string, std::string, std::less<>> job_settings_of(const configuration& cluster);

/// Slots that the job needs in all: for each slot sharing group, its widest vertex.
std::int32_t slots_needed(const graph::job_graph& job);

} // namespace headrace::cluster
