#pragma once

#include "test/simulation/simulated_process.hpp"
#include "test/support/testing_file_system.hpp"
#include "libscheduler/client/job_client.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::simulation {

struct cluster_shape {
  int task_managers = 2;
  std::int32_t slots = 2; ///< of each
  std::int64_t heartbeat_interval_ms = 100;
  std::int64_t heartbeat_timeout_ms = 1'000;
  std::int64_t latency_us_max = 2'000;
  std::string state_directory = {}; ///< a real one, of backends with local files
};

/// The code of the jobs that are run, by the hash of their graph.
class simulated_loader final : public graph::job_code_loader {
public:
  void add(const std::string& graph_hash, std::shared_ptr<const graph::job_code> code) {
    codes_[graph_hash] = std::move(code);
  }
  result<std::shared_ptr<const graph::job_code>> load(const std::string& object,
                                                      const std::vector<std::string>& arguments,
                                                      const std::string& graph_hash) override;

private:
  std::map<std::string, std::shared_ptr<const graph::job_code>> codes_;
};

/// A whole cluster in one thread and in virtual time: a job manager and task managers, each with a
/// node and a transport of its own, over a simulated network and one simulated store. Everything
/// that is drawn is drawn from the seed, so that a seed is a history.
class simulated_cluster {
public:
  simulated_cluster(std::uint64_t seed, cluster_shape shape, logger log);
  ~simulated_cluster();

  /// @errors those of the job manager's start
  status start();
  /// One millisecond: everything that can run does, in an order that is drawn.
  void run_ms();
  std::int64_t now_ms() const { return now_ms_; }

  // --- faults
  static constexpr const char* job_manager_host = "jm";
  std::string task_manager_host(int number) const { return "tm" + std::to_string(number); }
  std::vector<std::string> hosts() const;
  bool is_up(const std::string& host) const;
  /// Ends the process, now, without a word. It is started again after `for_ms`, a job manager with
  /// what it has stored, a task manager under its id and with its directories.
  /// @param is_silent  as a machine without power: nobody is told that its connections are gone
  void kill(const std::string& host, std::int64_t for_ms, bool is_silent);
  /// It does nothing for so long, and does not know of it.
  void pause(const std::string& host, std::int64_t for_ms);
  /// Ends an actor of that kind somewhere. @returns its name; none: there is none
  std::optional<std::string> kill_actor(const std::string& kind);

  /// To the job manager that runs, once it knows its jobs; null: none does. Its calls run that
  /// process alone until they are answered, which takes no time then.
  scheduler::job_client* client();
  simulated_network& network() { return network_; }
  testing::testing_file_system& files() { return files_; }
  simulated_loader& loader() { return loader_; }
  random_source& random() { return *random_; }
  /// Living actors of that kind.
  int actors_of(const std::string& kind);
  std::uint64_t steps() const { return steps_; }
  /// A number that stands for all that has happened, in its order.
  std::uint64_t trace() const;
  /// That were started.
  int job_managers() const { return job_managers_; }

private:
  class leader;
  struct site {
    std::unique_ptr<simulated_process> process;
    std::int64_t up_at_ms = 0; ///< when it is down
    std::int64_t paused_until_ms = 0;
    std::int64_t missed_ms = 0; ///< while it was paused
  };
  status start_process(const std::string& host);
  void start_what_is_due();
  configuration settings() const;

  cluster_shape shape_;
  logger log_;
  std::unique_ptr<random_source> random_;
  testing::testing_file_system files_;
  simulated_loader loader_;
  graph::connector_registry connectors_;
  simulated_network network_;
  std::map<std::string, site> places_;
  std::vector<std::unique_ptr<simulated_process>> gone_;
  std::optional<scheduler::job_client> client_;
  std::shared_ptr<bool> is_answered_ = std::make_shared<bool>(false);
  std::int64_t now_ms_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t trace_ = 0;
  int job_managers_ = 0;
};

} // namespace headrace::simulation
