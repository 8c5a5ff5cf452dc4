#include "libactors/http/http_message.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace headrace::actors {
namespace {

std::optional<unsigned> hex_digit(char digit) {
  if (digit >= '0' && digit <= '9')
    return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f')
    return static_cast<unsigned>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F')
    return static_cast<unsigned>(digit - 'A' + 10);
  return std::nullopt;
}

/// Nothing: a broken code, or a zero byte.
std::optional<std::string> decode_percent(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char next = text[i];
    if (next == '+' && plus_is_space) {
      next = ' ';
    } else if (next == '%') {
      const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
      const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
      if (!low)
        return std::nullopt;
      next = static_cast<char>(*high * 16 + *low);
      i += 2;
    }
    if (next == '\0')
      return std::nullopt;
    out += next;
  }
  return out;
}

error malformed(std::string_view what) {
  return {errc::bad_usage, "malformed " + std::string(what) + " in the request"};
}

/// Cuts off what stands before the next `separator`, or all.
std::string_view cut(std::string_view& rest, char separator) {
  const auto at = rest.find(separator);
  const auto part = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return part;
}

unsigned status_for(errc code) {
  switch (code) {
  case errc::job_not_found:
  case errc::file_not_found:
  case errc::state_not_found:
    return 404;
  case errc::duplicate_job:
  case errc::illegal_transition:
  case errc::checkpoint_declined:
    return 409;
  case errc::message_too_large:
    return 413;
  case errc::timed_out:
    return 504;
  case errc::endpoint_not_found:
  case errc::peer_lost:
  case errc::shut_down:
  case errc::fenced_off:
  case errc::not_enough_slots:
    return 503;
  default:
    // Of configuration, SQL and planning: what the client sent.
    return static_cast<unsigned>(code) < 3000 ? 400 : 500;
  }
}

} // namespace

result<http_request> read_target(std::string_view method, std::string_view target) {
  // The absolute form of RFC 9112, section 3.2.2: the host is ours, whatever it is called.
  if (constexpr std::string_view scheme = "http://"; target.starts_with(scheme)) {
    const auto slash = target.find('/', scheme.size());
    target = slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
  }
  if (target.empty() || target.front() != '/')
    return malformed("path");
  http_request out;
  out.method = method;
  auto query = target.substr(0, target.find('#'));
  const auto path = cut(query, '?');
  out.path = path;
  for (auto rest = path; !rest.empty();) {
    const auto part = cut(rest, '/');
    if (part.empty())
      continue;
    auto decoded = decode_percent(part, false);
    if (!decoded)
      return malformed("path");
    out.segments.push_back(std::move(*decoded));
  }
  while (!query.empty()) {
    auto value = cut(query, '&');
    const auto key = decode_percent(cut(value, '='), true);
    auto decoded = decode_percent(value, true);
    if (!key || !decoded)
      return malformed("query");
    if (!key->empty())
      out.query[*key] = std::move(*decoded);
  }
  return out;
}

http_response error_response(unsigned status, std::string_view message) {
  const nlohmann::json body = {{"errors", {message}}};
  http_response out;
  out.status = status;
  // Words of users and of the network may be no UTF-8.
  out.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return out;
}

http_response error_response(const error& failure) {
  return error_response(status_for(failure.code), to_string(failure));
}

} // namespace headrace::actors
