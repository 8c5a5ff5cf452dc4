#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::api {

/// The arguments of a job: `--name value`, `--name=value`, or `--name` alone (true). What stands
/// without a name is positional. A negative number may be a value. Keeps in mind what was asked
/// for, so that an argument that no one wants is refused; copies share that.
class parameters {
public:
  parameters() : parameters(std::vector<std::string>()) {}
  /// @throws graph::failure  (bad_usage) a name comes twice
  explicit parameters(std::vector<std::string> arguments);

  /// All of them as they came; who asks for them knows what to do with each.
  const std::vector<std::string>& all() const;
  const std::vector<std::string>& positional() const;
  bool has(const std::string& name) const;
  /// "true" for a name alone.
  std::optional<std::string> find(const std::string& name) const;
  /// @throws graph::failure  (bad_usage) it was not given, or without a value
  std::string get(const std::string& name) const;
  /// @throws graph::failure  (bad_usage) it was given without a value
  std::string get(const std::string& name, const std::string& fallback) const;
  // @throws graph::failure  (bad_usage) what was given is no such value
  std::int64_t get_int(const std::string& name, std::int64_t fallback) const;
  double get_real(const std::string& name, double fallback) const;
  bool get_bool(const std::string& name, bool fallback) const;

  /// Words about the first argument that no one has asked for; empty: there is none.
  std::string unwanted() const;

private:
  struct asked_names;
  std::optional<std::string> value_of(const std::string& name) const;

  std::vector<std::string> all_;
  std::vector<std::string> positional_;
  std::map<std::string, std::optional<std::string>> named_; ///< nothing: the name alone
  std::shared_ptr<asked_names> asked_;
};

} // namespace headrace::api
