#pragma once

#include "libscheduler/rest/rest_endpoint.hpp"
#include "libactors/base/option.hpp"
#include "libactors/rpc/node.hpp"

namespace headrace::cluster {

/// Starts the REST interface of a cluster on its job manager's node, where `rest.port` and
/// `rest.bind-address` say.
/// @errors those of scheduler::spawn_rest
result<scheduler::rest_access> start_rest(actors::node& on, const configuration& settings,
                                          scheduler::cluster_addresses cluster);

/// Names the mail of every library.
std::string mail_name(std::string_view actor_kind, std::uint32_t mail);

} // namespace headrace::cluster
