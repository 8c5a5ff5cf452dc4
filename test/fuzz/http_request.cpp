#include "libactors/http/http_server.hpp"
#include "libactors/http/router.hpp"

#include <cstdlib>

using namespace headrace::actors;

namespace {

router make_routes() {
  router routes;
  routes.add("GET", "/jobs");
  routes.add("GET", "/jobs/:job");
  routes.add("PATCH", "/jobs/:job");
  routes.add("GET", "/jobs/overview");
  routes.add("GET", "/jobs/:job/vertices/:vertex/backpressure");
  return routes;
}

} // namespace

/// Any bytes make a request within the limits, or a refusal; a request finds a route, or is
/// refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const router routes = make_routes();
  http_limits limits;
  limits.header_bytes = 4096;
  limits.body_bytes = 256;
  const auto read = read_request({reinterpret_cast<const char*>(data), size}, limits);
  if (read.is_refused) {
    if (read.refusal.status < 400)
      std::abort();
    return 0;
  }
  if (read.request.body.size() > limits.body_bytes)
    std::abort();
  const auto found = routes.match(read.request);
  if (found.route ? *found.route >= routes.size() : found.refusal.status < 400)
    std::abort();
  return 0;
}
