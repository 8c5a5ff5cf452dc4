#include "test/simulation/simulated_cluster.hpp"

#include "apps/cluster/mini_cluster.hpp"
#include "libactors/registry/actor_registry.hpp"
#include "schema/job.capnp.h"

#include <algorithm>
#include <utility>

namespace headrace::simulation {
namespace {

/// A guard: in so many rounds of one millisecond everything comes to rest, or goes round for ever.
constexpr int rounds_max = 100'000;
constexpr std::uint64_t steps_a_turn = 20;
constexpr std::chrono::milliseconds one_ms{1};
constexpr std::chrono::milliseconds patience{2'000};

/// Asks the dispatcher something, and notes when it has answered.
class first_ask final : public actors::endpoint {
public:
  first_ask(actors::address dispatcher, std::shared_ptr<bool> is_answered)
      : dispatcher_(std::move(dispatcher)), is_answered_(std::move(is_answered)) {}

protected:
  void on_start() override {
    ask<schema::JobList>(dispatcher_, message_builder<schema::ListJobs>().finish(),
                         std::chrono::hours(1),
                         [this](const result<message<schema::JobList>>& answer) {
                           *is_answered_ = answer.has_value();
                         });
  }

private:
  actors::address dispatcher_;
  std::shared_ptr<bool> is_answered_;
};

} // namespace

result<std::shared_ptr<const graph::job_code>>
simulated_loader::load(const std::string& /*object*/, const std::vector<std::string>& /*arguments*/,
                       const std::string& graph_hash) {
  const auto at = codes_.find(graph_hash);
  if (at == codes_.end())
    return error(errc::graph_mismatch, "no such job");
  return at->second;
}

/// Finds the job manager by asking its host, as a task manager does at its start.
class simulated_cluster::leader final : public actors::leader_retrieval {
public:
  leader(simulated_cluster& of, std::string from) : of_(of), from_(std::move(from)) {}
  result<actors::address> find() override {
    const auto at = of_.places_.find(job_manager_host);
    if (at == of_.places_.end() || !at->second.process ||
        of_.network_.is_cut(from_, job_manager_host) ||
        of_.network_.is_cut(job_manager_host, from_))
      return error(errc::peer_lost, "nobody leads now");
    auto& process = *at->second.process;
    of_.places_.at(from_).process->book().learn(process.node().environment().node,
                                                process.own_address());
    return process.job_manager().resource_manager();
  }

private:
  simulated_cluster& of_;
  std::string from_;
};

simulated_cluster::simulated_cluster(std::uint64_t seed, cluster_shape shape, logger log)
    : shape_(std::move(shape)), log_(std::move(log)), random_(make_seeded_random(mix64(seed))),
      network_(*random_, {shape_.latency_us_max}) {
  cluster::register_all_connectors(connectors_, {});
}

simulated_cluster::~simulated_cluster() {
  for (auto& [host, place] : places_)
    if (place.process)
      place.process->vanish();
}

status simulated_cluster::start() {
  HEADRACE_CHECK(start_process(job_manager_host));
  for (int i = 0; i < shape_.task_managers; ++i)
    HEADRACE_CHECK(start_process(task_manager_host(i)));
  return {};
}

configuration simulated_cluster::settings() const {
  configuration out;
  const auto ms = [](std::int64_t value) { return std::to_string(value) + " ms"; };
  HEADRACE_ASSERT(out.set("heartbeat.interval", ms(shape_.heartbeat_interval_ms)), "a setting");
  HEADRACE_ASSERT(out.set("heartbeat.timeout", ms(shape_.heartbeat_timeout_ms)), "a setting");
  return out;
}

status simulated_cluster::start_process(const std::string& host) {
  job_managers_ += host == job_manager_host ? 1 : 0;
  auto made = std::make_unique<simulated_process>(
      network_, host, random_->next(),
      actors::link_times::from(std::chrono::milliseconds(shape_.heartbeat_interval_ms),
                               std::chrono::milliseconds(shape_.heartbeat_timeout_ms)),
      log_);
  auto& process = *made;
  auto& place = places_[host];
  place = {};
  place.process = std::move(made);
  if (host == job_manager_host) {
    HEADRACE_CHECK(
        process.start_job_manager(files_, loader_, connectors_, {settings(), "/cluster", true}));
    client_.emplace(process.node(), process.job_manager().dispatcher(),
                    process.job_manager().blob_server(), patience);
    is_answered_ = std::make_shared<bool>(false);
    process.node().spawn(
        std::make_unique<first_ask>(process.job_manager().dispatcher(), is_answered_),
        {.name = "first_ask",
         .kind = "first_ask",
         .where = actors::placement::shared,
         .policy = actors::supervision::notify,
         .addressable = false});
    return {};
  }
  cluster::task_manager_options options;
  options.settings = settings();
  HEADRACE_CHECK(options.settings.set("taskmanager.resource-id", host));
  options.slots = shape_.slots;
  options.directory = "/" + host;
  options.state_directory =
      shape_.state_directory.empty() ? std::string() : shape_.state_directory + "/" + host;
  process.start_task_manager(files_, loader_, connectors_, std::make_shared<leader>(*this, host),
                             std::move(options));
  return {};
}

void simulated_cluster::start_what_is_due() {
  for (auto& [host, place] : places_) {
    if (place.process && place.process->fatal().code != errc::none)
      kill(host, 100, false); // whoever watches over the process starts it again
    if (!place.process && place.up_at_ms <= now_ms_)
      if (const auto started = start_process(host); !started) { // it is tried again, as by systemd
        network_.vanish(host, false);
        place.process->vanish();
        gone_.push_back(std::move(place.process));
        place.up_at_ms = now_ms_ + 1'000;
        if (host == job_manager_host)
          client_.reset();
      }
  }
}

void simulated_cluster::run_ms() {
  start_what_is_due();
  std::vector<site*> able;
  for (auto& [host, place] : places_)
    if (place.process && place.paused_until_ms <= now_ms_)
      able.push_back(&place);
  bool any = true;
  for (int round = 0; any; ++round) {
    HEADRACE_ASSERT(round < rounds_max, "a millisecond does not come to its end");
    any = false;
    for (std::size_t i = able.size(); i > 1; --i)
      std::swap(able[i - 1], able[static_cast<std::size_t>(random_->below(i))]);
    for (auto* each : able) {
      const auto turn = 1 + random_->below(steps_a_turn);
      if (!each->process->run(turn))
        continue;
      any = true;
      ++steps_;
    }
    for (auto turn = 1 + random_->below(steps_a_turn); turn > 0 && network_.step(now_ms_ * 1'000);
         --turn)
      any = true;
  }
  ++now_ms_;
  for (auto& [host, place] : places_) {
    if (!place.process)
      continue;
    if (place.paused_until_ms > now_ms_) {
      ++place.missed_ms;
      continue;
    }
    place.process->advance(one_ms + std::chrono::milliseconds(std::exchange(place.missed_ms, 0)));
    trace_ = mix64(trace_ ^ place.process->node().steps());
  }
}

std::vector<std::string> simulated_cluster::hosts() const {
  std::vector<std::string> out;
  for (const auto& [host, place] : places_)
    out.push_back(host);
  return out;
}

bool simulated_cluster::is_up(const std::string& host) const {
  const auto& place = places_.at(host);
  return place.process != nullptr && place.paused_until_ms <= now_ms_;
}

void simulated_cluster::kill(const std::string& host, std::int64_t for_ms, bool is_silent) {
  auto& place = places_.at(host);
  if (!place.process)
    return;
  network_.vanish(host, is_silent);
  place.process->vanish();
  gone_.push_back(std::move(place.process));
  place.up_at_ms = now_ms_ + for_ms;
  if (host == job_manager_host)
    client_.reset();
}

void simulated_cluster::pause(const std::string& host, std::int64_t for_ms) {
  auto& place = places_.at(host);
  place.paused_until_ms = std::max(place.paused_until_ms, now_ms_ + for_ms);
}

std::optional<std::string> simulated_cluster::kill_actor(const std::string& kind) {
  std::vector<std::pair<simulated_process*, actors::address>> found;
  for (auto& [host, place] : places_) {
    if (!place.process)
      continue;
    auto& node = place.process->node();
    for (const auto& each : node.actors().snapshot(node.environment().time.now_us()))
      if (each.kind == kind && each.state == actors::actor_state::running)
        found.emplace_back(place.process.get(),
                           actors::address{node.environment().node, each.name, 0});
  }
  if (found.empty())
    return std::nullopt;
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.second.endpoint < b.second.endpoint; });
  const auto& [process, who] = found[static_cast<std::size_t>(random_->below(found.size()))];
  if (!process->node().kill(who))
    return std::nullopt;
  return who.endpoint;
}

scheduler::job_client* simulated_cluster::client() {
  return client_ && *is_answered_ && is_up(job_manager_host) ? &*client_ : nullptr;
}

int simulated_cluster::actors_of(const std::string& kind) {
  int count = 0;
  for (auto& [host, place] : places_) {
    if (!place.process)
      continue;
    auto& node = place.process->node();
    for (const auto& each : node.actors().snapshot(node.environment().time.now_us()))
      count += each.kind == kind && each.state == actors::actor_state::running ? 1 : 0;
  }
  return count;
}

std::uint64_t simulated_cluster::trace() const { return mix64(trace_ ^ network_.trace()); }

} // namespace headrace::simulation
