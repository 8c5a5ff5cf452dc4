#pragma once

#include "libgraph/catalog/catalog_table.hpp"
#include "libgraph/sql/parse/statement_ast.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::sql {

/// Where the options of tables stand in a script, so that what is wrong with one is told there.
class option_places {
public:
  /// Notes the options of CREATE TABLE; those of a former table of the name are forgotten.
  void note(const graph::object_path& table, const std::vector<option_setting>& options);

  /// The place of the option that a message is about: the one whose key it quotes, or whose name of
  /// a connector or format. Nothing where it is about none, or where another value is in use, as of
  /// a hint.
  std::optional<source_span> find(const graph::object_path& table,
                                  const graph::object_options& in_use,
                                  std::string_view message) const;

private:
  std::map<graph::object_path, std::vector<option_setting>> tables_;
};

} // namespace headrace::sql
