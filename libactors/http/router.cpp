#include "libactors/http/router.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <set>

namespace headrace::actors {
namespace {

bool is_parameter(const std::string& segment) { return segment.front() == ':'; }

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  return std::equal(
      pattern.begin(), pattern.end(), path.begin(), path.end(),
      [](const auto& wanted, const auto& is) { return is_parameter(wanted) || wanted == is; });
}

/// Whether `left` says more: has the first literal segment where `right` has a parameter.
bool is_closer(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  const auto differ =
      std::mismatch(left.begin(), left.end(), right.begin(), [](const auto& a, const auto& b) {
        return is_parameter(a) == is_parameter(b);
      });
  return differ.first != left.end() && !is_parameter(*differ.first);
}

} // namespace

std::size_t router::add(std::string_view method, std::string_view pattern) {
  auto parsed = read_target(method, pattern);
  HEADRACE_ASSERT(parsed.has_value(), "a route's pattern is a path");
  routes_.push_back({std::string(method), std::move(parsed->segments)});
  return routes_.size() - 1;
}

router::match_result router::match(const http_request& wanted) const {
  const auto method =
      wanted.method == "HEAD" ? std::string_view("GET") : std::string_view(wanted.method);
  match_result out;
  std::set<std::string> allowed;
  const std::vector<std::string>* closest = nullptr;
  for (const auto& each : routes_)
    if (fits(each.segments, wanted.segments) &&
        (closest == nullptr || is_closer(each.segments, *closest)))
      closest = &each.segments;
  if (closest == nullptr) {
    out.refusal = error_response(404, "no such path: " + wanted.path);
    return out;
  }
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    if (!fits(routes_[i].segments, wanted.segments) || is_closer(*closest, routes_[i].segments))
      continue; // a path of its own hides what a parameter stands for
    allowed.insert(routes_[i].method);
    if (routes_[i].method == method && !out.route)
      out.route = i;
  }
  if (out.route) {
    const auto& segments = routes_[*out.route].segments;
    for (std::size_t i = 0; i < segments.size(); ++i)
      if (is_parameter(segments[i]))
        out.path[segments[i].substr(1)] = wanted.segments[i];
    return out;
  }
  std::string names;
  for (const auto& name : allowed)
    names += name + (name == "GET" ? ", HEAD, " : ", ");
  names += "OPTIONS";
  if (method == "OPTIONS") {
    out.refusal.status = 204;
    out.refusal.allow = names;
    return out;
  }
  out.refusal = error_response(405, "method " + wanted.method + " is not allowed for " +
                                        wanted.path + ", allowed are " + names);
  out.refusal.allow = names;
  return out;
}

} // namespace headrace::actors
