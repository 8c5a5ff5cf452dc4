#include "apps/client/remote_cluster.hpp"

#include "apps/client/http_get.hpp"
#include "apps/cluster/process_settings.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/version.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <map>
#include <poll.h>
#include <utility>

namespace headrace::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds find_timeout{5'000};
constexpr milliseconds goodbye_deadline{500};
constexpr std::uint16_t default_port = 8081;
/// How long a job manager that went away is waited for, and how often it is looked for.
constexpr milliseconds away_patience{300'000};
constexpr int find_pause_ms = 200;

struct found_cluster {
  std::string version;
  std::string cluster_id; ///< empty: not told
  actors::host_port rpc;
  std::map<std::string, std::string> job_settings;
};

result<found_cluster> read_cluster(const std::string& text, const actors::host_port& target) {
  const auto page = nlohmann::json::parse(text, nullptr, false);
  const auto about = page.is_object() ? page.find("jobmanager") : page.end();
  if (page.is_discarded() || !page.is_object() || about == page.end())
    return error(errc::malformed_message,
                 "what listens there is no Headrace cluster: " + to_string(target));
  found_cluster out;
  out.version = page.value("version", "");
  if (const auto id = page.find("cluster-id"); id != page.end() && id->is_string())
    out.cluster_id = id->get<std::string>();
  if (!about->is_object())
    return error(errc::peer_lost,
                 to_string(target) +
                     " is the REST port of a headrace run, which no other process can join: ask "
                     "its REST interface (docs/rest.md), or start a cluster with headrace node");
  out.rpc = {about->value("rpc-address", ""), about->value("rpc-port", std::uint16_t{0})};
  if (out.rpc.host.empty())
    out.rpc.host = target.host;
  const auto settings = page.value("job-settings", nlohmann::json::object());
  for (const auto& [key, value] : settings.items())
    if (value.is_string())
      out.job_settings[key] = value.get<std::string>();
  return out;
}

bool is_absence(const error& why) {
  return why.code == errc::peer_lost || why.code == errc::timed_out ||
         why.code == errc::connection_failed;
}

/// Says what to do about a cluster that cannot be reached.
error explain(const error& why, const actors::host_port& target) {
  if (!is_absence(why))
    return why;
  return {why.code,
          "no cluster answers at " + to_string(target) +
              "; start one with headrace node, or name another one's REST port with --target "
              "HOST:PORT",
          why};
}

} // namespace

result<actors::host_port> parse_target(std::string_view text) {
  const auto wrong = [&] {
    return error(errc::bad_usage,
                 "--target wants HOST:PORT, the REST port of a cluster (an IPv6 address in "
                 "brackets: [::1]:8081): " +
                     std::string(text));
  };
  const bool is_bracketed = text.starts_with('[');
  const auto host_end = is_bracketed ? text.find(']') : text.find(':');
  if (is_bracketed && host_end == std::string_view::npos)
    return wrong();
  actors::host_port out{std::string(text.substr(0, host_end)), default_port};
  if (is_bracketed)
    out.host.erase(0, 1);
  if (out.host.empty())
    out.host = "127.0.0.1";
  const auto rest = host_end == std::string_view::npos
                        ? std::string_view()
                        : text.substr(host_end + (is_bracketed ? 1U : 0U));
  if (rest.empty())
    return out;
  const auto digits = rest.substr(1);
  const auto* end = digits.data() + digits.size();
  const auto [stop, failed] = std::from_chars(digits.data(), end, out.port);
  if (rest.front() != ':' || failed != std::errc() || stop != end || out.port == 0)
    return wrong();
  return out;
}

result<configuration> with_settings_of(const actors::host_port& target, configuration own) {
  const auto page = http_get(target, "/debug/cluster", find_timeout);
  if (!page)
    return explain(page.error(), target);
  HEADRACE_TRY(const auto found, read_cluster(*page, target));
  if (found.version == version()) // else `connect` tells
    for (const auto& [key, value] : found.job_settings)
      if (!own.is_set(key))
        HEADRACE_CHECK(own.set(key, value));
  return own;
}

result<std::unique_ptr<remote_cluster>> remote_cluster::connect(const configuration& settings,
                                                                file_system& files,
                                                                const actors::host_port& target) {
  std::unique_ptr<remote_cluster> made(new remote_cluster(target));
  actors::node_options options;
  options.name = "client";
  options.scheduler_threads = 1;
  options.executor_threads = 2;
  options.shutdown_deadline = milliseconds(2'000);
  if (settings.is_set("log.level") || settings.is_set("log.file")) {
    HEADRACE_TRY(options.log, cluster::make_logger(settings, cluster::log_level_of(settings)));
  }
  made->node_ = actors::make_node(std::move(options));
  HEADRACE_TRY(const auto rpc_settings,
               actors::read_rpc_settings(settings, files, actors::process_role::client));
  made->cluster_id_ = rpc_settings.cluster_id;
  HEADRACE_TRY(made->rpc_, actors::rpc_system::start(*made->node_, rpc_settings));
  HEADRACE_CHECK(made->find_again());
  return made;
}

remote_cluster::~remote_cluster() {
  client_.reset();
  if (node_)
    node_->shut_down();
  if (rpc_)
    rpc_->shut_down(goodbye_deadline);
}

status remote_cluster::find_again() {
  const auto page = http_get(target_, "/debug/cluster", find_timeout);
  if (!page)
    return explain(page.error(), target_);
  HEADRACE_TRY(const auto found, read_cluster(*page, target_));
  if (found.version != version())
    return error(errc::registration_refused,
                 "cluster is of another version; use the headrace of its version: cluster " +
                     found.version + ", this " + std::string(version()));
  if (!found.cluster_id.empty() && found.cluster_id != cluster_id_)
    return error(errc::registration_refused,
                 "other cluster: " + to_string(target_) + " has cluster.id '" + found.cluster_id +
                     "', this client '" + cluster_id_ + "'; give it with -D cluster.id=" +
                     found.cluster_id + ", or --config with the cluster's file");
  auto job_manager = rpc_->connect_and_wait(found.rpc, find_timeout);
  if (!job_manager)
    return explain(job_manager.error(), target_);
  addresses_.dispatcher = {*job_manager, "dispatcher", 0};
  addresses_.resource_manager = {*job_manager, "resource_manager", 0};
  addresses_.blob_server = {*job_manager, "blob_server", 0};
  client_.emplace(*node_, addresses_.dispatcher, addresses_.blob_server);
  return {};
}

status remote_cluster::await_again(const error& failure, const std::function<void()>& tell,
                                   const std::function<bool()>& is_interrupted) {
  if (!is_away(failure))
    return failure;
  const system_clock time;
  const auto end_us = time.now_us() + std::chrono::microseconds(away_patience).count();
  for (bool is_first = true;; is_first = false) {
    auto found = find_again();
    if (found)
      return {};
    if (!is_away(found.error()) || time.now_us() > end_us)
      return found;
    if (is_first && tell)
      tell();
    if (is_interrupted && is_interrupted())
      return error(errc::peer_lost, "job manager does not answer", std::move(found).error());
    ::poll(nullptr, 0, find_pause_ms);
  }
}

bool remote_cluster::is_away(const error& failure) {
  return is_absence(failure) || failure.code == errc::shut_down ||
         failure.code == errc::endpoint_not_found || failure.code == errc::connection_refused;
}

} // namespace headrace::client
