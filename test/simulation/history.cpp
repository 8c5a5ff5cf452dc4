#include "test/simulation/history.hpp"

#include "test/integration/testing_job.hpp"
#include "test/integration/testing_stop.hpp"
#include "test/simulation/simulated_cluster.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/windowed_job.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "libgraph/api/job_object.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace headrace::simulation {
namespace {

/// Within so much virtual time behind the last fault a job must have ended.
constexpr std::int64_t progress_ms_max = 300'000;
constexpr std::int64_t rest_ms = 5'000; ///< in which everything of an ended job goes
constexpr std::int64_t look_every_ms = 20;

/// How a job runs, and where.
struct plan {
  cluster_shape cluster;
  int parallelism = 2;
  int moved_parallelism = 0; ///< of the run behind a savepoint; 0: there is none
  bool is_native = false;    ///< of the savepoint
  bool unaligned = false;
  bool at_least_once = false;
  bool on_rocksdb = false;
  int faults = 3;
};

int between(random_source& random, int least, int most) {
  return least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least + 1)));
}

plan draw_plan(random_source& random, bool may_repeat) {
  const auto is = [&](std::uint64_t one_in) { return random.below(one_in) == 0; };
  plan out;
  out.cluster.task_managers = between(random, 2, 4);
  out.cluster.slots = between(random, 1, 2);
  out.cluster.latency_us_max = is(3) ? 20'000 : is(2) ? 2'000 : 100;
  const int slots = (out.cluster.task_managers - 1) * out.cluster.slots;
  out.parallelism = between(random, 1, slots);
  if (is(3))
    out.moved_parallelism = between(random, 1, slots);
  out.is_native = is(2);
  out.unaligned = is(2);
  out.at_least_once = may_repeat && !out.unaligned && out.moved_parallelism == 0 && is(6);
  out.on_rocksdb = is(8);
  out.faults = between(random, 0, 8);
  return out;
}

std::string words_of(const plan& what) {
  return std::to_string(what.cluster.task_managers) + " task managers of " +
         std::to_string(what.cluster.slots) + " slots, latency up to " +
         std::to_string(what.cluster.latency_us_max) + " us, parallelism " +
         std::to_string(what.parallelism) +
         (what.moved_parallelism == 0
              ? ""
              : std::string(what.is_native ? ", native" : ", canonical") + " savepoint and on at " +
                    std::to_string(what.moved_parallelism)) +
         (what.unaligned ? ", unaligned" : "") + (what.at_least_once ? ", at least once" : "") +
         (what.on_rocksdb ? ", rocksdb" : "");
}

result<api::built_job> describe(const plan& how, const workload& what, int parallelism) {
  graph::connector_registry connectors;
  cluster::register_all_connectors(connectors, {});
  api::environment env({}, {&connectors, {}});
  env.set_job_name(what.name);
  env.enable_checkpointing(std::chrono::milliseconds(100),
                           how.at_least_once ? graph::barrier_alignment::at_least_once
                                             : graph::barrier_alignment::exactly_once);
  if (how.unaligned)
    env.enable_unaligned_checkpoints(std::chrono::milliseconds(0));
  if (how.on_rocksdb)
    env.set_state_backend("rocksdb");
  env.set_restart_strategy(api::restart::fixed_delay(1'000'000, std::chrono::milliseconds(10)));
  what.describe(env);
  return api::build_job(env, parallelism);
}

/// Lets things happen to a cluster.
class misfortune {
public:
  misfortune(simulated_cluster& cluster, random_source& random, std::vector<std::string>& told)
      : cluster_(cluster), random_(random), told_(told) {}

  void strike() {
    switch (random_.below(10)) {
    case 0:
    case 1:
      return kill(any_task_manager(), false);
    case 2:
      return kill(any_task_manager(), true);
    case 3:
      return kill(simulated_cluster::job_manager_host, random_.below(2) == 0);
    case 4: {
      const auto who = any_host();
      const auto ms = some_ms(3'000);
      cluster_.pause(who, ms);
      return tell("pauses " + who + " for " + std::to_string(ms));
    }
    case 5:
    case 6:
      return cut();
    case 7: {
      const auto [one, other] = any_pair();
      cluster_.network().reset(one, other);
      return tell("resets " + one + " " + other);
    }
    case 8:
      return fail_store();
    default: {
      // A job master at most once: the job of one that ends again and again fails, which is meant
      // so.
      static constexpr const char* kinds[] = {"subtask",          "subtask",     "task_executor",
                                              "dispatcher",       "blob_server", "connection",
                                              "resource_manager", "job_master"};
      const auto* kind = kinds[random_.below(std::size(kinds) - (has_ended_master_ ? 1 : 0))];
      has_ended_master_ = has_ended_master_ || std::string_view(kind) == "job_master";
      const auto who = cluster_.kill_actor(kind);
      return tell("ends " + who.value_or(std::string("no ") + kind));
    }
    }
  }
  /// What lasts for a while ends when it is time.
  void relieve() {
    const auto now = cluster_.now_ms();
    if (std::exchange(mend_at_ms_, mend_at_ms_ > now ? mend_at_ms_ : 0) != mend_at_ms_)
      cluster_.network().mend();
    if (std::exchange(store_at_ms_, store_at_ms_ > now ? store_at_ms_ : 0) != store_at_ms_)
      cluster_.files().intercept({});
  }
  std::int64_t last_ms() const { return last_ms_; }

private:
  std::int64_t some_ms(std::uint64_t most) {
    // As often short as long.
    const auto scale = most >> random_.below(7);
    return 1 + static_cast<std::int64_t>(random_.below(std::max<std::uint64_t>(scale, 2)));
  }
  std::string any_host() {
    const auto all = cluster_.hosts();
    return all[static_cast<std::size_t>(random_.below(all.size()))];
  }
  std::string any_task_manager() {
    auto all = cluster_.hosts();
    std::erase(all, simulated_cluster::job_manager_host);
    return all[static_cast<std::size_t>(random_.below(all.size()))];
  }
  std::pair<std::string, std::string> any_pair() {
    const auto one = any_host();
    auto others = cluster_.hosts();
    std::erase(others, one);
    return {one, others[static_cast<std::size_t>(random_.below(others.size()))]};
  }
  void tell(std::string what) {
    last_ms_ = std::max(last_ms_, cluster_.now_ms());
    told_.push_back(std::to_string(cluster_.now_ms()) + " ms " + std::move(what));
  }
  void lasts_until(std::int64_t ms) { last_ms_ = std::max(last_ms_, ms); }

  void kill(const std::string& host, bool is_silent) {
    const auto ms = some_ms(4'000);
    cluster_.kill(host, ms, is_silent);
    tell(std::string(is_silent ? "powers off " : "kills ") + host + " for " + std::to_string(ms));
    lasts_until(cluster_.now_ms() + ms);
  }
  void cut() {
    const auto [one, other] = any_pair();
    const auto ms = some_ms(4'000);
    const bool both = random_.below(2) == 0;
    cluster_.network().cut(one, other);
    if (both)
      cluster_.network().cut(other, one);
    mend_at_ms_ = std::max(mend_at_ms_, cluster_.now_ms() + ms);
    tell("cuts " + one + (both ? " and " : " to ") + other + " for " + std::to_string(ms));
    lasts_until(mend_at_ms_);
  }
  /// Some calls of the store fail for a while.
  void fail_store() {
    const auto ms = some_ms(1'000);
    const auto one_in = 1 + random_.below(10);
    auto dice = std::shared_ptr<random_source>(make_seeded_random(random_.next()));
    cluster_.files().intercept(
        [dice, one_in](const std::string&, const std::string& path) -> std::optional<error> {
          if (path.starts_with("/input") || dice->below(one_in) != 0)
            return std::nullopt;
          return error(errc::storage_failed, "simulated failure of " + path);
        });
    store_at_ms_ = std::max(store_at_ms_, cluster_.now_ms() + ms);
    tell("fails one in " + std::to_string(one_in) + " calls of the store for " +
         std::to_string(ms));
    lasts_until(store_at_ms_);
  }

  simulated_cluster& cluster_;
  random_source& random_;
  std::vector<std::string>& told_;
  bool has_ended_master_ = false;
  std::int64_t mend_at_ms_ = 0;
  std::int64_t store_at_ms_ = 0;
  std::int64_t last_ms_ = 0;
};

/// In words, how `got` differs; empty: not.
std::string difference(const std::multiset<std::string>& got,
                       const std::multiset<std::string>& expected, bool may_repeat) {
  std::vector<std::string> missing;
  std::vector<std::string> surplus;
  std::set_difference(expected.begin(), expected.end(), got.begin(), got.end(),
                      std::back_inserter(missing));
  if (!may_repeat)
    std::set_difference(got.begin(), got.end(), expected.begin(), expected.end(),
                        std::back_inserter(surplus));
  if (missing.empty() && surplus.empty())
    return {};
  std::string out = std::to_string(missing.size()) + " rows are missing, " +
                    std::to_string(surplus.size()) + " too many";
  if (!missing.empty())
    out += "; missing " + missing.front();
  if (!surplus.empty())
    out += "; too many " + surplus.front();
  return out;
}

/// Of rows "kind,key,second,number" that may have been counted more than once: in words, where less
/// was counted than there was; empty: nowhere.
std::string shortfall(const std::multiset<std::string>& got,
                      const std::multiset<std::string>& expected) {
  const auto split = [](const std::string& row) {
    const auto comma = row.rfind(',');
    return std::pair(row.substr(0, comma), std::stoll(row.substr(comma + 1)));
  };
  std::map<std::string, long long> most;
  for (const auto& row : got) {
    const auto [what, number] = split(row);
    most[what] = std::max(most[what], number);
  }
  for (const auto& row : expected) {
    const auto [what, number] = split(row);
    if (most[what] < number)
      return row + " is missing: " + std::to_string(most[what]) + " was counted";
  }
  return {};
}

/// What must not be left of a job that has ended, by the kind of its actors.
constexpr const char* kinds_of_jobs[] = {"subtask", "job_master", "slot_pool",
                                         "checkpoint_coordinator", "source_coordinator"};

std::string leftovers(simulated_cluster& cluster) {
  for (const auto* kind : kinds_of_jobs)
    if (const auto left = cluster.actors_of(kind); left > 0)
      return std::to_string(left) + " actors are left of kind " + kind;
  return {};
}

/// A job that runs on a cluster until it has ended for good, started and moved as planned.
class running_job {
public:
  running_job(simulated_cluster& cluster, random_source& random, const plan& how,
              const workload& what)
      : cluster_(cluster), random_(random), how_(how), what_(what),
        stop_after_(1 + between(random, 0, 8)) {}

  bool is_submitted() const { return is_submitted_; }
  bool is_moved() const { return is_moved_; }
  int restored() const { return static_cast<int>(restored_.size()); }

  /// @returns how it has ended, empty: well; nothing while it has not
  std::optional<std::string> look(scheduler::job_client& client) {
    if (!job_) {
      if (auto failure = make(how_.parallelism, {}); !failure.empty())
        return failure;
    }
    if (!is_submitted_) {
      const auto submitted = client.submit(job_->graph);
      is_submitted_ = submitted || submitted.error().code == errc::duplicate_job;
      return std::nullopt;
    }
    const auto status = client.status(job_->graph.id);
    if (!status)
      return std::nullopt;
    if (status->restored_checkpoint > 0)
      restored_.insert(status->restored_checkpoint);
    if (how_.moved_parallelism > 0 && !is_moved_) {
      if (!stop_ && status->last_checkpoint >= stop_after_)
        stop_.emplace(job_->graph.id, random_, how_.is_native, false);
      if (stop_) {
        if (const auto path = stop_->look(client, *status)) {
          is_moved_ = true;
          is_submitted_ = false;
          if (auto failure = make(how_.moved_parallelism, *path); !failure.empty())
            return failure;
          return std::nullopt;
        }
        if (stop_->is_waiting())
          return std::nullopt;
      }
    }
    if (!scheduler::is_terminal(status->state))
      return std::nullopt;
    if (status->state == scheduler::job_state::finished)
      return std::string();
    return std::string(scheduler::name_of(status->state)) + ": " + to_string(status->failure);
  }

private:
  std::string make(int parallelism, const std::string& savepoint) {
    auto made = describe(how_, what_, parallelism);
    if (!made)
      return to_string(made.error());
    cluster_.loader().add(made->graph.hash, made->code);
    made->graph.id = cluster_.random().next_id<job_id>();
    made->graph.checkpoints.restore_from = savepoint;
    job_ = std::move(*made);
    return {};
  }

  simulated_cluster& cluster_;
  random_source& random_;
  const plan& how_;
  const workload& what_;
  checkpoint_id stop_after_;
  std::optional<api::built_job> job_;
  std::optional<testing::testing_stop> stop_;
  std::set<checkpoint_id> restored_;
  bool is_submitted_ = false;
  bool is_moved_ = false;
};

/// Runs the job to its end. @returns what went wrong; empty: nothing
std::string run_to_end(simulated_cluster& cluster, random_source& random, running_job& job,
                       misfortune& fate, int faults) {
  if (const auto started = cluster.start(); !started)
    return to_string(started.error());
  auto next_fault_ms = static_cast<std::int64_t>(random.below(1'000));
  for (;;) {
    cluster.run_ms();
    fate.relieve();
    const auto now = cluster.now_ms();
    if (job.is_submitted() && faults > 0 && now >= next_fault_ms) {
      --faults;
      fate.strike();
      // Some come at once, so that they meet a job that is just being restarted.
      next_fault_ms =
          now + (random.below(3) == 0 ? 0 : static_cast<std::int64_t>(random.below(1'000)));
    }
    if (now % look_every_ms == 0)
      if (auto* client = cluster.client())
        if (auto end = job.look(*client))
          return *std::move(end);
    if (now > fate.last_ms() + progress_ms_max)
      return "the job has not ended " + std::to_string(progress_ms_max / 1000) +
             " s behind the last fault";
  }
}

} // namespace

std::multiset<std::string> committed_rows(testing::testing_file_system& files) {
  std::multiset<std::string> out;
  for (const auto& path : files.paths()) {
    if (!path.starts_with("/output/") || path.find("/part-") == path.npos)
      continue;
    for (const auto line : split_text(files.at(path), '\n'))
      if (!line.empty())
        out.emplace(line);
  }
  return out;
}

workload draw_workload(std::uint64_t seed) {
  const auto random = make_seeded_random(mix64(seed));
  const int files = between(*random, 1, 4);
  const int rows = between(*random, 50, 600);
  const bool deals_splits = random->below(4) == 0;
  auto input =
      std::make_shared<const testing::windowed_input>(testing::make_windowed_input(files, rows));
  workload out;
  out.name = std::string(deals_splits ? "splits" : "windows") + " of " + std::to_string(files) +
             " files of " + std::to_string(rows) + " rows";
  for (std::size_t i = 0; i < input->files.size(); ++i)
    out.files["/input/events-" + std::to_string(i) + ".csv"] = input->files[i];
  if (deals_splits) {
    out.describe = [](api::environment& env) {
      env.from_source(api::file_source::csv<testing::click>("/input")
                          .option("source.split-size", "100 b")
                          .option("rows-per-second", "500"))
          .map([](const testing::click& in) { return in; })
          .sink_to(api::file_sink::csv("/output"));
    };
    out.check = [input](testing::testing_file_system& store, bool at_least_once) {
      return difference(committed_rows(store), testing::input_rows(*input), at_least_once);
    };
    return out;
  }
  out.describe = [](api::environment& env) {
    testing::find_in(testing::read_clicks(env, "/input", "500"))
        .sink_to(api::file_sink::csv("/output"));
  };
  out.check = [input](testing::testing_file_system& store, bool at_least_once) {
    const auto got = committed_rows(store);
    return at_least_once ? shortfall(got, testing::expected_rows(*input))
                         : difference(got, testing::expected_rows(*input), false);
  };
  return out;
}

history run_history(std::uint64_t seed, const workload& what, const history_options& options) {
  history out;
  const auto dice = make_seeded_random(seed);
  auto how = draw_plan(*dice, what.may_repeat);
  out.shape = what.name + "; " + words_of(how);
  const testing::scratch_directory scratch; // databases do not lie in memory
  how.cluster.state_directory = scratch.path();
  simulated_cluster cluster(dice->next(), how.cluster, options.log);
  for (const auto& [path, content] : what.files)
    cluster.files().put(path, content);
  misfortune fate(cluster, *dice, out.faults);
  running_job job(cluster, *dice, how, what);
  out.failure =
      run_to_end(cluster, *dice, job, fate,
                 options.faults_max < 0 ? how.faults : std::min(how.faults, options.faults_max));
  if (out.failure.empty()) {
    for (int i = 0; i < rest_ms; ++i) {
      cluster.run_ms();
      fate.relieve();
    }
    out.failure = what.check(cluster.files(), how.at_least_once);
    if (out.failure.empty())
      out.failure = leftovers(cluster);
  }
  out.virtual_ms = cluster.now_ms();
  out.steps = cluster.steps();
  out.trace = cluster.trace();
  out.restored = job.restored();
  out.is_moved = job.is_moved();
  out.job_managers = cluster.job_managers();
  return out;
}

} // namespace headrace::simulation
