#include "libtask/executor/task_executor_entries.hpp"
#include "libgraph/job_graph/native_libraries.hpp"
#include "libgraph/user_function/shared_object.hpp"
#include "libactors/base/digest.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

namespace {

constexpr std::uint64_t part_bytes = std::uint64_t{4} << 20U;

bool calls(graph::function_ref which) { return !which.is_none(); }

struct code_finder {
  bool operator()(const graph::source_spec& spec) const {
    return calls(spec.connector.provider) || calls(spec.watermarks.assigner);
  }
  bool operator()(const graph::row_function_spec& spec) const { return calls(spec.function); }
  bool operator()(const graph::filter_spec& spec) const { return calls(spec.function); }
  bool operator()(const graph::watermarks_spec& spec) const {
    return calls(spec.watermarks.assigner);
  }
  bool operator()(const graph::keyed_process_spec& spec) const { return calls(spec.function); }
  bool operator()(const graph::co_process_spec& spec) const { return calls(spec.function); }
  bool operator()(const graph::async_wait_spec& spec) const { return calls(spec.function); }
  bool operator()(const graph::keyed_aggregate_spec& spec) const {
    return calls(spec.aggregates.function);
  }
  bool operator()(const graph::window_aggregate_spec& spec) const {
    return calls(spec.aggregates.function) || calls(spec.window_function);
  }
  bool operator()(const graph::sink_spec& spec) const { return calls(spec.connector.provider); }
  template <class Other>
  bool operator()(const Other& /*no function*/) const {
    return false;
  }
};

} // namespace

bool needs_code(const graph::job_vertex& vertex) {
  const auto in_operator = [](const graph::operator_node& node) {
    return std::visit(code_finder(), node.spec);
  };
  const auto in_edge = [](const graph::result_output& output) {
    return calls(output.partitioner.function);
  };
  return std::any_of(vertex.operators.begin(), vertex.operators.end(), in_operator) ||
         std::any_of(vertex.outputs.begin(), vertex.outputs.end(), in_edge);
}

void task_executor_endpoint::load_code(const task_description& task, code_taker then) {
  const auto at = jobs_.find(task.job.id);
  if (around_.loader == nullptr || at == jobs_.end()) {
    then(error(errc::job_object_unloadable, "no loader for job code: " + task.display_name()));
    return;
  }
  auto& job = *at->second;
  if (job.code != nullptr) {
    then(job.code);
    return;
  }
  job.code_takers.push_back(std::move(then));
  if (job.code_takers.size() > 1)
    return;
  const auto load = [this, id = task.job.id, arguments = task.job.arguments,
                     hash = task.job.graph_hash](const std::string& path) {
    using outcome = result<std::shared_ptr<const graph::job_code>>;
    run_blocking<outcome>(
        [loader = around_.loader, path, arguments, hash]() -> outcome {
          try {
            return loader->load(path, arguments, hash);
          } catch (const std::exception& failure) {
            return error(errc::job_object_unloadable, failure.what());
          }
        },
        [this, id](outcome loaded) {
          const auto known = jobs_.find(id);
          if (known == jobs_.end())
            return;
          if (loaded)
            known->second->code = *loaded;
          for (auto& taker : std::exchange(known->second->code_takers, {}))
            taker(loaded);
        });
  };
  if (task.job.artifacts.empty()) {
    load({});
    return;
  }
  const auto& object = task.job.artifacts.front();
  fetch(object, task.job.blob_server,
        [this, load, id = task.job.id, path = cached_path(object.digest)](status done) {
          if (done) {
            load(path);
            return;
          }
          const auto known = jobs_.find(id);
          if (known == jobs_.end())
            return;
          for (auto& taker : std::exchange(known->second->code_takers, {}))
            taker(done.error());
        });
}

void task_executor_endpoint::load_libraries(const task_description& task,
                                            std::function<void(status)> then) {
  std::vector<graph::artifact> wanted;
  for (const auto& digest : graph::native_libraries(task.vertex)) {
    const auto& known = task.job.artifacts;
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const auto& each) { return each.digest == digest; });
    if (found == known.end()) {
      then(error(errc::job_object_unloadable,
                 "library of functions is not among the job's artifacts: " + digest));
      return;
    }
    wanted.push_back(*found);
  }
  if (wanted.empty()) {
    then({});
    return;
  }
  // All are tried; the first failure is told.
  struct progress {
    std::size_t left = 0;
    status outcome;
  };
  const auto so_far = std::make_shared<progress>();
  so_far->left = wanted.size();
  const auto one_done = [so_far, then = std::move(then)](status done) {
    if (!done && so_far->outcome)
      so_far->outcome = std::move(done);
    if (--so_far->left == 0)
      then(so_far->outcome);
  };
  for (const auto& each : wanted)
    load_library(each, task.job.blob_server, one_done);
}

void task_executor_endpoint::load_library(const graph::artifact& which, const actors::address& from,
                                          std::function<void(status)> then) {
  fetch(which, from, [this, path = cached_path(which.digest), then = std::move(then)](status done) {
    if (!done) {
      then(std::move(done));
      return;
    }
    run_blocking<status>(
        [files = &around_.files, path]() -> status {
          HEADRACE_CHECK(graph::load_shared_object(*files, path, graph::object_use::functions));
          return {};
        },
        then);
  });
}

std::string task_executor_endpoint::cached_path(const artifact_digest& which) const {
  return settings_.cache_directory + "/" + which;
}

void task_executor_endpoint::fetch(const graph::artifact& wanted, const actors::address& from,
                                   std::function<void(status)> then) {
  if (!is_sha256_hex(wanted.digest) || wanted.size_bytes > settings_.artifact_bytes_max) {
    then(error(errc::job_object_unloadable, "artifact cannot be fetched: " + wanted.name));
    return;
  }
  auto& waiting = fetching_[wanted.digest];
  waiting.push_back(std::move(then));
  if (waiting.size() > 1)
    return;
  run_blocking<bool>(
      [files = &around_.files, path = cached_path(wanted.digest), size = wanted.size_bytes,
       digest = wanted.digest] {
        const auto there = files->read_all(path, size);
        return there && sha256_hex(*there) == digest; // what is damaged is fetched again
      },
      [this, wanted, from](bool is_there) {
        if (is_there)
          fetched(wanted.digest, {});
        else
          fetch_part(wanted, from, std::make_shared<byte_string>());
      });
}

void task_executor_endpoint::fetch_part(const graph::artifact& wanted, const actors::address& from,
                                        std::shared_ptr<byte_string> so_far) {
  if (so_far->size() >= wanted.size_bytes) {
    store(wanted, std::move(so_far));
    return;
  }
  message_builder<schema::GetBlob> request;
  request->setDigest(wanted.digest);
  request->setOffset(so_far->size());
  request->setBytesMax(part_bytes);
  ask<schema::BlobPart>(
      from, request.finish(), settings_.ask_timeout,
      [this, wanted, from, so_far](const result<message<schema::BlobPart>>& answer) {
        if (!answer) {
          fetched(wanted.digest,
                  error(answer.error().code, "artifact could not be fetched: " + wanted.name,
                        answer.error()));
          return;
        }
        const auto view = answer->view();
        const auto part = view->getPart().asChars();
        if (view->getTotalBytes() != wanted.size_bytes || part.size() == 0 ||
            so_far->size() + part.size() > wanted.size_bytes) {
          fetched(wanted.digest, error(errc::job_object_unloadable,
                                       "artifact has another size than told: " + wanted.name));
          return;
        }
        so_far->append(part.begin(), part.size());
        fetch_part(wanted, from, so_far);
      });
}

void task_executor_endpoint::store(const graph::artifact& wanted,
                                   std::shared_ptr<byte_string> content) {
  run_blocking<status>(
      [files = &around_.files, directory = settings_.cache_directory,
       path = cached_path(wanted.digest), content, wanted]() -> status {
        if (sha256_hex(*content) != wanted.digest)
          return error(errc::job_object_unloadable,
                       "artifact is damaged, its checksum is another: " + wanted.name);
        HEADRACE_CHECK(files->create_directories(directory));
        return files->write_atomically(path, *content);
      },
      [this, digest = wanted.digest](status stored) { fetched(digest, std::move(stored)); });
}

void task_executor_endpoint::fetched(const artifact_digest& which, status outcome) {
  const auto at = fetching_.find(which);
  if (at == fetching_.end())
    return;
  auto waiting = std::move(at->second);
  fetching_.erase(at);
  for (auto& taker : waiting)
    taker(outcome);
}

} // namespace headrace::task
