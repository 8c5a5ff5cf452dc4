#include "libactors/transport/rpc_settings.hpp"

#include "libactors/base/text.hpp"
#include "libactors/transport/socket.hpp"

#include <utility>

namespace headrace::actors {
namespace {

constexpr std::uint64_t secret_file_bytes_max = 4'096;

result<byte_string> read_secret(const configuration& from, file_system& files) {
  const auto given = from.get_text("security.shared-secret");
  const auto path = from.get_path("security.shared-secret-file");
  if (path.empty()) {
    return given;
  }
  if (!given.empty()) {
    return error(errc::bad_option_value,
                 "security.shared-secret and security.shared-secret-file are both set: choose one");
  }
  HEADRACE_TRY(const auto whole, files.read_all(path, secret_file_bytes_max));
  byte_string secret(trim_text(whole));
  if (secret.empty()) {
    return error(errc::bad_option_value,
                 "security.shared-secret-file is empty: write the secret into " + path);
  }
  return secret;
}

/// Reads where a node listens, and what it tells others of it.
status read_place(const configuration& from, const char* bind_key, const char* port_key,
                  const char* host_key, rpc_settings& into) {
  into.bind = {without_brackets(from.get_text(bind_key)),
               static_cast<std::uint16_t>(from.get_int(port_key))};
  into.advertised_host = without_brackets(from.get_text(host_key));
  if (!is_wildcard(into.advertised_host.empty() ? into.bind.host : into.advertised_host)) {
    return {};
  }
  if (!into.advertised_host.empty()) {
    return error(errc::bad_option_value,
                 std::string(host_key) + " must be an address that other nodes can dial, but is " +
                     into.advertised_host);
  }
  return error(errc::bad_option_value, std::string(bind_key) + " is " + into.bind.host +
                                           ", all addresses of the machine: set " + host_key +
                                           " to the one that other nodes dial");
}

} // namespace

result<rpc_settings> read_rpc_settings(const configuration& from, file_system& files,
                                       process_role role) {
  rpc_settings out;
  out.cluster_id = from.get_text("cluster.id");
  HEADRACE_TRY(out.secret, read_secret(from, files));
  if (from.get_bool("security.ssl.internal.enabled")) {
    out.tls = {.certificate = from.get_path("security.ssl.internal.certificate"),
               .key = from.get_path("security.ssl.internal.key"),
               .ca = from.get_path("security.ssl.internal.ca")};
    HEADRACE_TRY(const auto checked, tls_context::load(out.tls));
  }
  if (role == process_role::job_manager) {
    HEADRACE_CHECK(read_place(from, "jobmanager.bind-host", "jobmanager.rpc.port",
                              "jobmanager.rpc.address", out));
  } else if (role == process_role::task_manager) {
    HEADRACE_CHECK(
        read_place(from, "taskmanager.bind-host", "taskmanager.rpc.port", "taskmanager.host", out));
  }
  out.heartbeat_interval = from.get_duration("heartbeat.interval");
  out.heartbeat_timeout = from.get_duration("heartbeat.timeout");
  HEADRACE_CHECK(check(out));
  return out;
}

status check(const rpc_settings& settings) {
  if (settings.heartbeat_timeout < 2 * settings.heartbeat_interval) {
    return error(errc::bad_option_value, "heartbeat.timeout is less than twice heartbeat.interval");
  }
  HEADRACE_TRY(const auto where, resolve(settings.bind));
  if (!is_loopback(where) && settings.secret.empty() && settings.tls.is_none()) {
    return error(errc::bad_option_value,
                 "listening on " + settings.bind.host +
                     " would let anyone in: set security.shared-secret (the same on all nodes) or "
                     "security.ssl.internal.enabled, or listen on 127.0.0.1");
  }
  return {};
}

} // namespace headrace::actors
