#pragma once

#include "libactors/http/http_message.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::actors {

/// Finds which route a request takes. Pure; filled once, then only asked.
///
///     router.add("GET", "/jobs/:job/vertices/:vertex");  // 0
///     router.match(request)  → route 0, {"job": …, "vertex": …}
///
/// A literal segment goes before a parameter: /jobs/overview before /jobs/:job. HEAD takes the
/// route of GET.
class router {
public:
  using parameters = std::map<std::string, std::string>;
  struct match_result {
    std::optional<std::size_t> route; ///< none: look at `refusal`
    parameters path;
    http_response refusal; ///< 404; 405, or 204 of OPTIONS, with the methods that there are
  };

  /// @returns the route's number: they count from 0
  std::size_t add(std::string_view method, std::string_view pattern);
  match_result match(const http_request& wanted) const;
  std::size_t size() const { return routes_.size(); }

private:
  struct route {
    std::string method;
    std::vector<std::string> segments; ///< ":name" for a parameter
  };
  std::vector<route> routes_;
};

} // namespace headrace::actors
