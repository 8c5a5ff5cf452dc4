#pragma once

#include "libgraph/connector/registry.hpp"
#include "libgraph/connector/source.hpp"
#include "libgraph/function/function.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/result.hpp"

#include <memory>
#include <string>

namespace headrace::scheduler {

/// A source and the code that must stay loaded as long as it lives.
struct loaded_source {
  std::shared_ptr<const graph::job_code> code; ///< null for a connector of ours
  std::unique_ptr<graph::source> source;
};

/// Makes the source of an operator: a connector by name, or one that the job's code brings, found
/// as an artifact in `artifact_directory`. May block: call on an executor. `connectors` and `code`
/// live longer; `code` may be null where jobs bring no code.
/// @errors unknown_connector, job_object_unloadable, job_object_incompatible, graph_mismatch
result<loaded_source> load_source(const graph::operator_node& node, const graph::job_graph& job,
                                  const graph::connector_registry& connectors,
                                  graph::job_code_loader* code,
                                  const std::string& artifact_directory);

} // namespace headrace::scheduler
