#include "libgraph/sql/translate/option_places.hpp"

namespace headrace::sql {
namespace {

bool quotes(std::string_view message, std::string_view word) {
  for (const char quote : {'\'', '"'}) {
    const auto quoted = quote + std::string(word) + quote;
    if (message.find(quoted) != message.npos)
      return true;
  }
  return false;
}

/// Whether a message names an option: formats know theirs without the format's name before it.
bool names_key(std::string_view message, std::string_view key) {
  const auto dot = key.find('.');
  return quotes(message, key) || (dot != key.npos && quotes(message, key.substr(0, dot)) &&
                                  quotes(message, key.substr(dot + 1)));
}

} // namespace

void option_places::note(const graph::object_path& table,
                         const std::vector<option_setting>& options) {
  tables_[table] = options;
}

std::optional<source_span> option_places::find(const graph::object_path& table,
                                               const graph::object_options& in_use,
                                               std::string_view message) const {
  const auto found = tables_.find(table);
  if (found == tables_.end())
    return std::nullopt;
  std::optional<source_span> out;
  for (const auto& [key, value] : found->second) {
    const auto used = in_use.find(key.text);
    if (used == in_use.end() || used->second != value.text)
      continue;
    if (names_key(message, key.text))
      return join(key.at, value.at);
    if ((key.text == "connector" || key.text == "format") && quotes(message, value.text) && !out)
      out = value.at;
  }
  return out;
}

} // namespace headrace::sql
