#pragma once

#include "libactors/base/result.hpp"
#include "libactors/transport/address_book.hpp"

#include <chrono>
#include <string>

namespace headrace::client {

/// Gets a page from a cluster's REST interface. Blocks, at most so long.
/// @errors peer_lost          nobody listens there
/// @errors timed_out          no whole answer came in time
/// @errors malformed_message  what came is no HTTP answer, or not 200: with what it said
result<std::string> http_get(const actors::host_port& from, const std::string& path,
                             std::chrono::milliseconds timeout);

} // namespace headrace::client
