#pragma once

#include "libgraph/catalog/catalog_table.hpp"
#include "libactors/base/result.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headrace::graph {

/// A table or a view, as a name leads to it.
struct named_relation {
  object_path path;
  std::variant<table_definition, view_definition> definition;
  bool is_temporary = false;
};

/// What a CREATE does when the name is taken.
enum class when_taken : std::uint8_t { fail, keep, replace };

/// Catalogs, their databases, and what is in these; in memory. One session's: it has a current
/// catalog and database, which short names are completed with. Temporary objects hide lasting ones
/// of the same path; temporary system functions hide all others. A value, of one thread.
///
/// Names of tables, views and databases tell capitals apart, those of functions do not. Every error
/// is `bad_usage` and names the nearest of what is there.
class catalog_store {
public:
  static constexpr std::string_view default_catalog = "default_catalog";
  static constexpr std::string_view default_database = "default_database";

  catalog_store();

  status create_catalog(const std::string& name, object_options options, when_taken taken);
  status drop_catalog(const std::string& name, bool if_exists);
  /// @param path  a database, or a catalog and a database
  status create_database(std::span<const std::string> path, object_options options,
                         when_taken taken);
  /// @param cascades  drops what is in it, too; else it must be empty
  status drop_database(std::span<const std::string> path, bool if_exists, bool cascades);
  /// What CREATE and ALTER of it set.
  result<object_options> catalog_options(const std::string& name) const;
  result<object_options> database_options(std::span<const std::string> path) const;
  status set_catalog_options(const std::string& name, object_options options);
  status set_database_options(std::span<const std::string> path, object_options options);
  status use_catalog(const std::string& name);
  status use_database(std::span<const std::string> path);
  const std::string& current_catalog() const { return current_catalog_; }
  const std::string& current_database() const { return current_database_; }

  /// Completes a name of one to three parts. The catalog and the database must be there, the object
  /// need not.
  result<object_path> complete(std::span<const std::string> path) const;

  status create_table(const object_path& path, table_definition table, bool is_temporary,
                      when_taken taken);
  status create_view(const object_path& path, view_definition view, bool is_temporary,
                     when_taken taken);
  status drop_table(const object_path& path, bool is_temporary, bool if_exists);
  status drop_view(const object_path& path, bool is_temporary, bool if_exists);
  status rename(const object_path& path, const object_path& to);
  /// Finds a table or view. A one-part name is looked for in the current database alone.
  result<named_relation> find(std::span<const std::string> path) const;

  status create_function(const object_path& path, function_definition function, bool is_temporary,
                         when_taken taken);
  status create_system_function(const std::string& name, function_definition function,
                                when_taken taken);
  status drop_function(const object_path& path, bool is_temporary, bool if_exists);
  status drop_system_function(const std::string& name, bool if_exists);
  /// Returns null when there is none: then it may be a built-in one.
  const function_definition* find_function(std::span<const std::string> path) const;
  /// Of temporary system functions alone, which hide the built-in ones, too.
  const function_definition* find_system_function(std::string_view name) const;

  std::vector<std::string> catalogs() const;
  result<std::vector<std::string>> databases(const std::string& owner) const;
  /// Sorted; temporary ones are among them, views too.
  result<std::vector<std::string>> tables(std::span<const std::string> path) const;
  result<std::vector<std::string>> views(std::span<const std::string> path) const;
  std::vector<std::string> functions() const;

private:
  using relation = std::variant<table_definition, view_definition>;
  struct database {
    object_options options;
    std::map<std::string, relation, std::less<>> relations;
    std::map<std::string, function_definition, std::less<>> functions; ///< by name in capitals
  };
  struct catalog {
    object_options options;
    std::map<std::string, database, std::less<>> databases;
  };

  result<const catalog*> need_catalog(std::string_view name) const;
  result<const database*> need_database(const std::string& owner, const std::string& name) const;
  /// A database by one or two parts; none: the current one.
  result<std::pair<std::string, std::string>>
  complete_database(std::span<const std::string> path) const;
  database& database_of(const object_path& path);
  status create_relation(const object_path& path, relation made, bool is_temporary,
                         when_taken taken);
  status drop_relation(const object_path& path, bool is_view, bool is_temporary, bool if_exists);
  const relation* find_at(const object_path& path, bool& is_temporary) const;
  error unknown_relation(const object_path& path) const;
  result<std::vector<std::string>> relations(std::span<const std::string> path,
                                             bool only_views) const;

  std::map<std::string, catalog, std::less<>> catalogs_;
  std::map<object_path, relation> temporary_relations_;
  std::map<object_path, function_definition> temporary_functions_;
  std::map<std::string, function_definition, std::less<>> system_functions_;
  std::string current_catalog_{default_catalog};
  std::string current_database_{default_database};
};

} // namespace headrace::graph
