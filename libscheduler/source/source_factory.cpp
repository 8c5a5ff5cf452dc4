#include "libscheduler/source/source_factory.hpp"

#include "libgraph/spec/make_source.hpp"

#include <exception>
#include <utility>
#include <variant>

namespace headrace::scheduler {

namespace {

result<loaded_source> load_from_code(const graph::operator_node& node, std::int32_t index,
                                     const graph::job_graph& job, graph::job_code_loader* code,
                                     const std::string& artifact_directory) {
  if (code == nullptr)
    return error(errc::job_object_unloadable, "no loader for job code: source " + node.name);
  const std::string path =
      job.artifacts.empty() ? std::string() : artifact_directory + "/" + job.artifacts[0].digest;
  HEADRACE_TRY(auto loaded, code->load(path, job.arguments, job.hash));
  if (static_cast<std::size_t>(index) >= loaded->functions.size())
    return error(errc::job_object_incompatible,
                 "job code has no function " + std::to_string(index) + ": source " + node.name);
  auto made = loaded->functions[static_cast<std::size_t>(index)]();
  auto* source = std::get_if<std::unique_ptr<graph::source>>(&made);
  if (source == nullptr || *source == nullptr)
    return error(errc::job_object_incompatible, "function " + std::to_string(index) +
                                                    " of the job code makes no source: source " +
                                                    node.name);
  return loaded_source{std::move(loaded), std::move(*source)};
}

} // namespace

result<loaded_source> load_source(const graph::operator_node& node, const graph::job_graph& job,
                                  const graph::connector_registry& connectors,
                                  graph::job_code_loader* code,
                                  const std::string& artifact_directory) {
  const auto* spec = std::get_if<graph::source_spec>(&node.spec);
  HEADRACE_ASSERT(spec != nullptr, "only sources have a source coordinator");
  try {
    if (!spec->connector.provider.is_none())
      return load_from_code(node, spec->connector.provider.index, job, code, artifact_directory);
    HEADRACE_TRY(auto source, graph::make_source(connectors, *spec, node.output_type));
    return loaded_source{nullptr, std::move(source)};
  } catch (const std::exception& thrown) {
    return error(errc::user_function_failed,
                 "making a source failed: " + node.name + ": " + thrown.what());
  }
}

} // namespace headrace::scheduler
