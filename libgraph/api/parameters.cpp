#include "libgraph/api/parameters.hpp"

#include "libgraph/function/failure.hpp"
#include "libactors/base/text.hpp"

#include <charconv>

namespace headrace::api {
namespace {

bool is_name(const std::string& argument) {
  return argument.starts_with("--") && argument.size() > 2;
}

[[noreturn]] void refuse(const std::string& name, const std::string& given, const char* wanted) {
  throw graph::failure({errc::bad_usage, "--" + name + " is no " + wanted + ": \"" + given + "\""});
}

template <class T>
T number(const std::string& name, const std::string& given, const char* wanted) {
  T value{};
  const auto* end = given.data() + given.size();
  const auto [at, code] = std::from_chars(given.data(), end, value);
  if (code != std::errc() || at != end)
    refuse(name, given, wanted);
  return value;
}

} // namespace

parameters::parameters(std::vector<std::string> arguments) : all_(std::move(arguments)) {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const auto& argument = all_[i];
    if (!is_name(argument)) {
      positional_.push_back(argument);
    } else if (const auto equals = argument.find('='); equals != std::string::npos) {
      named_[argument.substr(2, equals - 2)] = argument.substr(equals + 1);
    } else if (i + 1 < all_.size() && !is_name(all_[i + 1])) {
      named_[argument.substr(2)] = all_[i + 1];
      ++i;
    } else {
      named_[argument.substr(2)] = "true";
    }
  }
}

std::optional<std::string> parameters::find(const std::string& name) const {
  const auto found = named_.find(name);
  return found == named_.end() ? std::nullopt : std::optional(found->second);
}

std::string parameters::get(const std::string& name) const {
  if (const auto found = find(name))
    return *found;
  std::string words = "missing argument --" + name;
  std::vector<std::string> given;
  std::vector<std::string_view> names;
  for (const auto& [known, value] : named_) {
    given.push_back("--" + known);
    names.push_back(known);
  }
  if (const auto nearest = nearest_name(name, names); !nearest.empty())
    words += ", is it --" + std::string(nearest);
  else if (!given.empty())
    words += ", given: " + join_text(given, ", ");
  throw graph::failure({errc::bad_usage, std::move(words)});
}

std::string parameters::get(const std::string& name, const std::string& fallback) const {
  return find(name).value_or(fallback);
}

std::int64_t parameters::get_int(const std::string& name, std::int64_t fallback) const {
  const auto found = find(name);
  return found ? number<std::int64_t>(name, *found, "whole number") : fallback;
}

double parameters::get_real(const std::string& name, double fallback) const {
  const auto found = find(name);
  return found ? number<double>(name, *found, "number") : fallback;
}

bool parameters::get_bool(const std::string& name, bool fallback) const {
  const auto found = find(name);
  if (!found)
    return fallback;
  if (*found == "true")
    return true;
  if (*found != "false")
    refuse(name, *found, "boolean (true or false)");
  return false;
}

} // namespace headrace::api
