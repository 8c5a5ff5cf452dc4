#pragma once

#include "libactors/base/file_system.hpp"
#include "libactors/base/option.hpp"
#include "libactors/transport/address_book.hpp"
#include "libactors/transport/tls_channel.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace headrace::actors {

/// How a node speaks to others.
struct rpc_settings {
  std::string cluster_id = "default";
  byte_string secret; ///< empty: none
  /// Where it listens; port 0: any free one.
  host_port bind{"127.0.0.1", 0};
  /// What it tells others of where it listens; empty: the address that they see it from.
  std::string advertised_host;
  tls_files tls;
  std::chrono::milliseconds heartbeat_interval{1'000};
  std::chrono::milliseconds heartbeat_timeout{10'000};
};

/// A client is dialed by nobody: it listens on loopback, whatever is set.
enum class process_role : std::uint8_t { job_manager, task_manager, client };

/// Reads `cluster.id`, `security.shared-secret` or `security.shared-secret-file`,
/// `security.ssl.internal.*`, the heartbeat's times, and of the role its bind host, its address for
/// others and its port.
/// @errors bad_option_value  both secrets are set, or the file is empty; it listens on all
/// addresses
///                           and says none that others can dial
/// @errors file_not_found, storage_failed  the file cannot be read
result<rpc_settings> read_rpc_settings(const configuration& from, file_system& files,
                                       process_role role);
/// Refuses what would let strangers in: listening on other addresses than loopback without a
/// secret.
status check(const rpc_settings& settings);

} // namespace headrace::actors
