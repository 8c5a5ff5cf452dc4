#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::api {

/// The arguments of a job: `--name value`, `--name=value`, or `--name` alone ("true"). What stands
/// without a name is positional. A negative number may be a value.
class parameters {
public:
  parameters() = default;
  explicit parameters(std::vector<std::string> arguments);

  const std::vector<std::string>& all() const { return all_; }
  const std::vector<std::string>& positional() const { return positional_; }
  bool has(const std::string& name) const { return named_.contains(name); }
  std::optional<std::string> find(const std::string& name) const;
  /// @throws graph::failure  (bad_usage) it was not given
  std::string get(const std::string& name) const;
  std::string get(const std::string& name, const std::string& fallback) const;
  // @throws graph::failure  (bad_usage) what was given is no such value
  std::int64_t get_int(const std::string& name, std::int64_t fallback) const;
  double get_real(const std::string& name, double fallback) const;
  bool get_bool(const std::string& name, bool fallback) const;

private:
  std::vector<std::string> all_;
  std::vector<std::string> positional_;
  std::map<std::string, std::string> named_;
};

} // namespace headrace::api
