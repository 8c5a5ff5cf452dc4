#include "libgraph/api/parameters.hpp"

#include "libgraph/function/failure.hpp"
#include "libactors/base/text.hpp"

#include <charconv>
#include <mutex>
#include <set>
#include <utility>

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

struct parameters::asked_names {
  std::mutex guard;
  std::set<std::string> names;
  bool all = false;
  bool positional = false;

  void note(const std::string& name) {
    const std::lock_guard lock(guard);
    names.insert(name);
  }
};

parameters::parameters(std::vector<std::string> arguments)
    : all_(std::move(arguments)), asked_(std::make_shared<asked_names>()) {
  const auto put = [this](const std::string& name, std::optional<std::string> value) {
    if (!named_.emplace(name, std::move(value)).second)
      throw graph::failure({errc::bad_usage, "--" + name + " is given twice"});
  };
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const auto& argument = all_[i];
    if (!is_name(argument)) {
      positional_.push_back(argument);
    } else if (const auto equals = argument.find('='); equals != std::string::npos) {
      put(argument.substr(2, equals - 2), argument.substr(equals + 1));
    } else if (i + 1 < all_.size() && !is_name(all_[i + 1])) {
      put(argument.substr(2), all_[i + 1]);
      ++i;
    } else {
      put(argument.substr(2), std::nullopt);
    }
  }
}

const std::vector<std::string>& parameters::all() const {
  const std::lock_guard lock(asked_->guard);
  asked_->all = true;
  return all_;
}

const std::vector<std::string>& parameters::positional() const {
  const std::lock_guard lock(asked_->guard);
  asked_->positional = true;
  return positional_;
}

bool parameters::has(const std::string& name) const {
  asked_->note(name);
  return named_.contains(name);
}

std::optional<std::string> parameters::find(const std::string& name) const {
  asked_->note(name);
  const auto found = named_.find(name);
  return found == named_.end() ? std::nullopt : std::optional(found->second.value_or("true"));
}

/// As `find`, but a name alone is no value.
std::optional<std::string> parameters::value_of(const std::string& name) const {
  asked_->note(name);
  const auto found = named_.find(name);
  if (found != named_.end() && !found->second)
    throw graph::failure({errc::bad_usage, "--" + name + " wants a value"});
  return found == named_.end() ? std::nullopt : found->second;
}

std::string parameters::unwanted() const {
  const std::lock_guard lock(asked_->guard);
  if (asked_->all)
    return {};
  const std::vector<std::string_view> wanted(asked_->names.begin(), asked_->names.end());
  for (const auto& [name, value] : named_) {
    if (asked_->names.contains(name))
      continue;
    const auto nearest = nearest_name(name, wanted);
    if (!nearest.empty())
      return "the job has no argument --" + name + ", is it --" + std::string(nearest);
    std::vector<std::string> known;
    for (const auto& each : asked_->names)
      known.push_back("--" + each);
    return "the job has no argument --" + name +
           (known.empty() ? ", and takes none" : ", it has " + join_text(known, ", "));
  }
  if (!positional_.empty() && !asked_->positional)
    return "the job takes no argument without a name: " + positional_.front();
  return {};
}

std::string parameters::get(const std::string& name) const {
  if (auto found = value_of(name))
    return *std::move(found);
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
  return value_of(name).value_or(fallback);
}

std::int64_t parameters::get_int(const std::string& name, std::int64_t fallback) const {
  const auto found = value_of(name);
  return found ? number<std::int64_t>(name, *found, "whole number") : fallback;
}

double parameters::get_real(const std::string& name, double fallback) const {
  const auto found = value_of(name);
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
