#include "libactors/base/limits.hpp"
#include "libactors/base/old_option_key.hpp"
#include "libactors/base/option.hpp"

#include <yaml-cpp/yaml.h>

#include <set>

namespace headrace {
namespace {

std::string place_of(const YAML::Mark& mark, const std::string& origin) {
  return origin + ':' + std::to_string(mark.line + 1) + ':' + std::to_string(mark.column + 1);
}

/// Walks nested maps, and sets what is at their ends under the keys joined by dots; each comes
/// once.
status merge_node(const YAML::Node& node, const std::string& key, const std::string& origin,
                  std::set<std::string>& seen, configuration& into) {
  if (node.IsMap()) {
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) {
        return error(errc::bad_configuration_file,
                     "a key must be a word: at " + place_of(entry.first.Mark(), origin));
      }
      const auto& name = entry.first.Scalar();
      HEADRACE_CHECK(
          merge_node(entry.second, key.empty() ? name : key + '.' + name, origin, seen, into));
    }
    return {};
  }
  if (key.empty()) {
    return error(errc::bad_configuration_file,
                 "a configuration is a map of keys to values: at " + place_of(node.Mark(), origin));
  }
  if (!node.IsScalar()) {
    return error(errc::bad_configuration_file,
                 "an option has one value: " + key + ", at " + place_of(node.Mark(), origin));
  }
  if (!seen.insert(std::string(current_option_key(key))).second) {
    return error(errc::bad_configuration_file,
                 "an option stands twice: " + key + ", again at " + place_of(node.Mark(), origin));
  }
  auto taken = into.set(key, node.Scalar());
  if (!taken) {
    return error(taken.error().code,
                 taken.error().message + ", at " + place_of(node.Mark(), origin));
  }
  return {};
}

} // namespace

status configuration::merge_yaml(std::string_view text, const std::string& origin) {
  if (text.size() > limits::configuration_bytes_max) {
    return error(errc::bad_configuration_file, "configuration too large: " + origin + ", " +
                                                   std::to_string(text.size()) + " bytes");
  }
  configuration merged = *this; // all of the file or nothing
  try {
    const auto documents = YAML::LoadAll(std::string(text));
    if (documents.size() > 1) {
      return error(errc::bad_configuration_file,
                   "a configuration is one YAML document, remove the line --- between two: at " +
                       place_of(documents[1].Mark(), origin));
    }
    if (documents.empty() || documents.front().IsNull()) {
      return {};
    }
    std::set<std::string> seen;
    HEADRACE_CHECK(merge_node(documents.front(), "", origin, seen, merged));
  } catch (const YAML::Exception& failure) {
    return error(errc::bad_configuration_file,
                 "not YAML: " + failure.msg + ", at " + place_of(failure.mark, origin));
  }
  *this = std::move(merged);
  return {};
}

} // namespace headrace
