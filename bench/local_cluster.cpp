#include "bench/local_cluster.hpp"

#include "libgraph/function/function.hpp"
#include "libactors/base/ids.hpp"
#include "schema/task.capnp.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <unistd.h>
#include <utility>

namespace headrace::bench {

namespace {

template <class T>
T take(result<T> from) {
  if (!from) {
    std::fprintf(stderr, "%s\n", to_string(from.error()).c_str());
    std::exit(1);
  }
  return *std::move(from);
}

void check(const status& outcome) {
  if (!outcome) {
    std::fprintf(stderr, "%s\n", to_string(outcome.error()).c_str());
    std::exit(1);
  }
}

double megabytes_of(const std::string& name) {
  std::ifstream in("/proc/self/status");
  std::string line;
  while (std::getline(in, line))
    if (line.starts_with(name))
      return std::strtod(line.c_str() + name.size(), nullptr) * 1024 / 1e6;
  return 0;
}

} // namespace

/// Gives the code of the job that was submitted last.
class local_cluster::testing_loader final : public graph::job_code_loader {
public:
  void set(std::shared_ptr<const graph::job_code> code) { code_ = std::move(code); }
  result<std::shared_ptr<const graph::job_code>>
  load(const std::string&, const std::vector<std::string>&, const std::string&) override {
    return code_;
  }

private:
  std::shared_ptr<const graph::job_code> code_;
};

local_cluster::local_cluster(std::int32_t slots)
    : directory_(
          (std::filesystem::temp_directory_path() / ("headrace-bench-" + std::to_string(getpid())))
              .string()),
      files_(make_local_file_system()), loader_(std::make_unique<testing_loader>()),
      node_(actors::make_node({})) {
  cluster::mini_cluster_options options;
  options.slots = slots;
  options.directory = directory_;
  cluster_ = std::make_unique<cluster::mini_cluster>(*node_, *files_, *loader_, std::move(options));
  check(cluster_->start());
  client_ = std::make_unique<scheduler::job_client>(
      *node_, cluster_->dispatcher(), cluster_->blob_server(), std::chrono::seconds(60));
}

local_cluster::~local_cluster() {
  node_->shut_down();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

job_id local_cluster::submit(api::environment& env, std::int32_t parallelism) {
  auto job = take(api::build_job(env, parallelism));
  loader_->set(job.code);
  job.graph.id = node_->environment().random.next_id<job_id>();
  return take(client_->submit(job.graph));
}

void local_cluster::finish(const job_id& job) {
  const auto outcome = take(client_->wait(job));
  if (outcome.state != scheduler::job_state::finished) {
    std::fprintf(stderr, "job did not finish: %s\n", to_string(outcome.failure).c_str());
    std::exit(1);
  }
}

void local_cluster::await_running(const job_id& job) {
  const auto running = static_cast<std::size_t>(schema::TaskState::RUNNING);
  for (;;) {
    const auto status = take(client_->status(job));
    bool all = !status.vertices.empty();
    for (const auto& vertex : status.vertices)
      all = all && vertex.tasks_by_state.size() > running &&
            vertex.tasks_by_state[running] == static_cast<std::uint32_t>(vertex.parallelism);
    if (all)
      return;
    if (scheduler::is_terminal(status.state)) {
      std::fprintf(stderr, "job ended: %s\n", to_string(status.failure).c_str());
      std::exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

void local_cluster::cancel(const job_id& job) {
  check(client_->cancel(job));
  static_cast<void>(take(client_->wait(job)));
}

local_cluster::checkpoint_figures local_cluster::await_checkpoint(const job_id& job) {
  for (;;) {
    const auto details = take(client_->details(job));
    const auto entry = details.view()->getCheckpoints().getNewestCompleted();
    if (entry.getId() != 0)
      return {entry.getEndedMs() - entry.getTriggeredMs(), entry.getAlignmentUs() / 1000,
              entry.getInFlightBytes(), entry.getIsUnaligned()};
    if (details.view()->getCheckpoints().getFailed() > 0) {
      std::fprintf(stderr, "checkpoint failed\n");
      std::exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

double process_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double resident_megabytes() { return megabytes_of("VmRSS:"); }
double peak_megabytes() { return megabytes_of("VmHWM:"); }
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5\n"; }

} // namespace headrace::bench
