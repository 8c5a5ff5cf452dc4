#include "libgraph/api/job_object.hpp"

#include "libgraph/api/environment.hpp"
#include "libgraph/function/failure.hpp"
#include "libgraph/stream_graph/job_graph_builder.hpp"
#include "libgraph/user_function/object_stamp.hpp"
#include "libgraph/user_function/shared_object.hpp"

#include <utility>

namespace headrace::api {

result<built_job> build_job(environment& env, std::int32_t default_parallelism) {
  auto& program = env.program();
  built_job out;
  HEADRACE_TRY(out.graph, graph::build_job_graph(program, default_parallelism));
  out.graph.arguments = env.arguments().all();
  auto code = std::make_shared<graph::job_code>();
  code->functions = std::move(program.functions);
  program = {};
  out.code = std::move(code);
  return out;
}

// ---- object_loader --------------------------------------------------------------------------

struct object_loader::loaded_object {
  using entry_function = void(environment*);

  entry_function* entry = nullptr;
  job_surroundings around;
  std::mutex running; ///< entries of one object share its statics

  /// Runs the entry; what it throws becomes an error.
  result<built_job> build(const std::string& path, const std::vector<std::string>& arguments,
                          std::int32_t default_parallelism) {
    const std::lock_guard lock(running);
    const auto failed = [&](const std::string& what) {
      return error(errc::user_function_failed,
                   "the entry of the job failed: " + path + ": " + what);
    };
    try {
      environment env(arguments, around);
      entry(&env);
      if (auto unwanted = env.arguments().unwanted(); !unwanted.empty())
        return error(errc::bad_usage, std::move(unwanted));
      return build_job(env, default_parallelism);
    } catch (const graph::failure& thrown) {
      return error(thrown.cause());
    } catch (const std::exception& thrown) {
      return failed(thrown.what());
    } catch (...) {
      return failed("it threw what is no std::exception");
    }
  }
};

object_loader::object_loader(file_system& files, const graph::connector_registry* connectors)
    : files_(files), connectors_(connectors) {}
object_loader::~object_loader() = default;

result<std::shared_ptr<object_loader::loaded_object>>
object_loader::object_at(const std::string& path) {
  HEADRACE_TRY(const auto object, graph::load_shared_object(files_, path, graph::object_use::job));
  const std::lock_guard lock(mutex_);
  auto& made = objects_[object->digest()];
  if (made != nullptr)
    return made;
  auto* const entry = object->symbol(HEADRACE_ENTRY_NAME);
  if (entry == nullptr) {
    objects_.erase(object->digest());
    return error(errc::job_object_unloadable, "job object cannot be loaded: " + path +
                                                  ": no job in it: HEADRACE_JOB is missing");
  }
  made = std::make_shared<loaded_object>();
  made->entry = reinterpret_cast<loaded_object::entry_function*>(entry);
  made->around = {connectors_, object->digest()};
  return made;
}

result<built_job> object_loader::build(const std::string& object_path,
                                       const std::vector<std::string>& arguments,
                                       std::int32_t default_parallelism) {
  HEADRACE_TRY(const auto object, object_at(object_path));
  HEADRACE_TRY(auto job, object->build(object_path, arguments, default_parallelism));
  // The functions point into the object, which stays; `loaded` says so to those who ask.
  auto code = std::make_shared<graph::job_code>(*job.code);
  code->loaded = object;
  job.code = std::move(code);
  return job;
}

result<std::shared_ptr<const graph::job_code>>
object_loader::load(const std::string& object_path, const std::vector<std::string>& arguments,
                    const std::string& graph_hash) {
  HEADRACE_TRY(auto job, build(object_path, arguments, 0));
  if (const auto difference = graph::graph_difference(job.graph, graph_hash); !difference.empty())
    return error(
        errc::graph_mismatch,
        "the job object describes another job here than where it was submitted: " + object_path +
            ": " + difference + "; its entry must depend on nothing but its arguments");
  return std::move(job.code);
}

} // namespace headrace::api
