#pragma once

#include "libgraph/connector/registry.hpp"
#include "libgraph/function/function.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/file_system.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headrace::api {

class environment;

/// A job as its client runs it: what to do, and the code that does it.
struct built_job {
  graph::job_graph graph; ///< without id and artifacts
  std::shared_ptr<const graph::job_code> code;
};

/// Makes a job of what an environment describes. Empties the environment.
/// @param default_parallelism  where the job sets none; 0: structure only (see make_stream_graph)
/// @errors invalid_graph, type_mismatch, duplicate_uid
result<built_job> build_job(environment& env, std::int32_t default_parallelism);

/// Loads job objects (see load_shared_object) and runs their entries. Any thread; blocks.
class object_loader final : public graph::job_code_loader {
public:
  /// @param connectors  for tables of SQL in jobs; null: there are none. Both outlive the loader
  explicit object_loader(file_system& files, const graph::connector_registry* connectors = nullptr);
  ~object_loader() override;

  /// Runs the entry for the client.
  /// @errors job_object_unloadable    no file, no job in it, or a symbol that is missing
  /// @errors job_object_incompatible  built with another compiler, library, version, or other
  /// headers
  /// @errors user_function_failed     the entry threw; others as its error says (e.g. bad_usage)
  /// @errors invalid_graph, type_mismatch, duplicate_uid
  result<built_job> build(const std::string& object_path, const std::vector<std::string>& arguments,
                          std::int32_t default_parallelism);

  result<std::shared_ptr<const graph::job_code>> load(const std::string& object_path,
                                                      const std::vector<std::string>& arguments,
                                                      const std::string& graph_hash) override;

private:
  struct loaded_object;
  result<std::shared_ptr<loaded_object>> object_at(const std::string& path);

  file_system& files_;
  const graph::connector_registry* connectors_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<loaded_object>> objects_; ///< by digest of the content
};

} // namespace headrace::api
