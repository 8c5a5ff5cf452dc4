#pragma once

#include "libactors/base/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::actors {

/// What a client wants, decoded: no percent signs are left. A value.
struct http_request {
  std::string method;                       ///< "GET", …
  std::string path;                         ///< as it was sent, without the query
  std::vector<std::string> segments;        ///< of the path; never empty ones
  std::map<std::string, std::string> query; ///< the last one wins where a key comes twice
  std::string body;
};

/// What it gets. A value.
struct http_response {
  unsigned status = 200;
  std::string body;
  std::string content_type = "application/json; charset=UTF-8";
  std::string allow; ///< of a 405, or of OPTIONS: the methods that there are
};

/// Takes a request's target apart. @errors bad_usage  a broken percent code, a zero byte, or no
/// path
result<http_request> read_target(std::string_view method, std::string_view target);

/// `{"errors": [ … ]}`, as Flink's REST interface has it.
http_response error_response(unsigned status, std::string_view message);
/// The status that fits the code: 400 what the client did wrong, 404 not there, 503 not now, …
http_response error_response(const error& failure);

} // namespace headrace::actors
