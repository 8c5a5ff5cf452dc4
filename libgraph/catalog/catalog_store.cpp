#include "libgraph/catalog/catalog_store.hpp"

#include "libactors/base/assert.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <set>

namespace headrace::graph {
namespace {

template <class Map>
std::vector<std::string_view> keys_of(const Map& map) {
  std::vector<std::string_view> out;
  for (const auto& [key, value] : map)
    out.push_back(key);
  return out;
}

error unknown(std::string_view kind, std::string_view name,
              const std::vector<std::string_view>& candidates) {
  const auto nearest = nearest_name(name, candidates);
  return {errc::bad_usage, "unknown " + std::string(kind) + ": " + std::string(name) +
                               (nearest.empty() ? "" : ", did you mean " + std::string(nearest))};
}

error taken_by(std::string_view kind, std::string_view name) {
  return {errc::bad_usage, std::string(kind) + " exists already: " + std::string(name)};
}

/// Puts a value at a key as the caller wishes.
template <class Map, class Key, class Value>
status put(Map& into, const Key& key, Value value, when_taken taken, std::string_view kind,
           std::string_view shown) {
  const auto found = into.find(key);
  if (found == into.end()) {
    into.emplace(key, std::move(value));
  } else if (taken == when_taken::fail) {
    return taken_by(kind, shown);
  } else if (taken == when_taken::replace) {
    found->second = std::move(value);
  }
  return {};
}

object_path with_capitals(object_path path) {
  path.object = in_capitals(path.object);
  return path;
}

} // namespace

catalog_store::catalog_store() {
  catalogs_[std::string(default_catalog)].databases[std::string(default_database)];
}

result<const catalog_store::catalog*> catalog_store::need_catalog(std::string_view name) const {
  const auto found = catalogs_.find(name);
  if (found == catalogs_.end())
    return unknown("catalog", name, keys_of(catalogs_));
  return &found->second;
}

result<const catalog_store::database*> catalog_store::need_database(const std::string& owner,
                                                                    const std::string& name) const {
  HEADRACE_TRY(const auto* there, need_catalog(owner));
  const auto found = there->databases.find(name);
  if (found == there->databases.end())
    return unknown("database of catalog " + owner, name, keys_of(there->databases));
  return &found->second;
}

result<std::pair<std::string, std::string>>
catalog_store::complete_database(std::span<const std::string> path) const {
  if (path.size() > 2)
    return error(errc::bad_usage, "name of a database has too many parts: " + path[0] + "." +
                                      path[1] + "." + path[2]);
  if (path.empty())
    return std::pair(current_catalog_, current_database_);
  if (path.size() == 1)
    return std::pair(current_catalog_, path[0]);
  return std::pair(path[0], path[1]);
}

catalog_store::database& catalog_store::database_of(const object_path& path) {
  const auto owner = catalogs_.find(path.catalog);
  HEADRACE_ASSERT(owner != catalogs_.end(), "the path was completed");
  const auto found = owner->second.databases.find(path.database);
  HEADRACE_ASSERT(found != owner->second.databases.end(), "the path was completed");
  return found->second;
}

status catalog_store::create_catalog(const std::string& name, object_options options,
                                     when_taken taken) {
  catalog made;
  made.options = std::move(options);
  made.databases["default"];
  return put(catalogs_, name, std::move(made), taken, "catalog", name);
}

status catalog_store::drop_catalog(const std::string& name, bool if_exists) {
  if (const auto owner = need_catalog(name); !owner)
    return if_exists ? status() : status(owner.error());
  if (name == current_catalog_)
    return error(errc::bad_usage, "catalog is in use: " + name + "; USE CATALOG another one first");
  catalogs_.erase(name);
  return {};
}

status catalog_store::create_database(std::span<const std::string> path, object_options options,
                                      when_taken taken) {
  HEADRACE_TRY(const auto names, complete_database(path));
  HEADRACE_CHECK(need_catalog(names.first));
  database made;
  made.options = std::move(options);
  return put(catalogs_[names.first].databases, names.second, std::move(made), taken, "database",
             names.second);
}

result<object_options> catalog_store::catalog_options(const std::string& name) const {
  HEADRACE_TRY(const auto* found, need_catalog(name));
  return found->options;
}

result<object_options> catalog_store::database_options(std::span<const std::string> path) const {
  HEADRACE_TRY(const auto names, complete_database(path));
  HEADRACE_TRY(const auto* found, need_database(names.first, names.second));
  return found->options;
}

status catalog_store::set_catalog_options(const std::string& name, object_options options) {
  HEADRACE_CHECK(need_catalog(name));
  catalogs_[name].options = std::move(options);
  return {};
}

status catalog_store::set_database_options(std::span<const std::string> path,
                                           object_options options) {
  HEADRACE_TRY(const auto names, complete_database(path));
  HEADRACE_CHECK(need_database(names.first, names.second));
  catalogs_[names.first].databases[names.second].options = std::move(options);
  return {};
}

status catalog_store::drop_database(std::span<const std::string> path, bool if_exists,
                                    bool cascades) {
  HEADRACE_TRY(const auto names, complete_database(path));
  const auto found = need_database(names.first, names.second);
  if (!found)
    return if_exists ? status() : status(found.error());
  if (names.first == current_catalog_ && names.second == current_database_)
    return error(errc::bad_usage,
                 "database is in use: " + names.second + "; USE another one first");
  if (!cascades && (!(*found)->relations.empty() || !(*found)->functions.empty()))
    return error(errc::bad_usage,
                 "database is not empty: " + names.second + "; DROP DATABASE … CASCADE drops all");
  catalogs_[names.first].databases.erase(names.second);
  const auto is_inside = [&](const auto& each) {
    return each.first.catalog == names.first && each.first.database == names.second;
  };
  std::erase_if(temporary_relations_, is_inside);
  std::erase_if(temporary_functions_, is_inside);
  return {};
}

status catalog_store::use_catalog(const std::string& name) {
  HEADRACE_TRY(const auto* owner, need_catalog(name));
  if (name == current_catalog_)
    return {};
  current_catalog_ = name;
  current_database_ = owner->databases.empty() ? std::string() : owner->databases.begin()->first;
  return {};
}

status catalog_store::use_database(std::span<const std::string> path) {
  HEADRACE_TRY(auto names, complete_database(path));
  HEADRACE_CHECK(need_database(names.first, names.second));
  current_catalog_ = std::move(names.first);
  current_database_ = std::move(names.second);
  return {};
}

result<object_path> catalog_store::complete(std::span<const std::string> path) const {
  HEADRACE_ASSERT(!path.empty(), "a name has a part");
  if (path.size() > 3)
    return error(errc::bad_usage, "name has too many parts: " + path[0] + "." + path[1] + "." +
                                      path[2] + "." + path[3]);
  HEADRACE_TRY(auto names, complete_database(path.first(path.size() - 1)));
  HEADRACE_CHECK(need_database(names.first, names.second));
  return object_path{std::move(names.first), std::move(names.second), path.back()};
}

status catalog_store::create_relation(const object_path& path, relation made, bool is_temporary,
                                      when_taken taken) {
  const bool is_view = std::holds_alternative<view_definition>(made);
  auto& lasting = database_of(path).relations;
  // A view does not replace a table, nor the other way round.
  const relation* there = nullptr;
  if (is_temporary) {
    const auto found = temporary_relations_.find(path);
    there = found == temporary_relations_.end() ? nullptr : &found->second;
  } else if (const auto found = lasting.find(path.object); found != lasting.end()) {
    there = &found->second;
  }
  if (there != nullptr && taken == when_taken::replace &&
      std::holds_alternative<view_definition>(*there) != is_view)
    return taken_by(is_view ? "table" : "view", path.object);
  if (is_temporary)
    return put(temporary_relations_, path, std::move(made), taken, "temporary table or view",
               path.object);
  return put(lasting, path.object, std::move(made), taken, "table or view", path.object);
}

status catalog_store::create_table(const object_path& path, table_definition table,
                                   bool is_temporary, when_taken taken) {
  HEADRACE_CHECK(check_table(table));
  return create_relation(path, std::move(table), is_temporary, taken);
}

status catalog_store::create_view(const object_path& path, view_definition view, bool is_temporary,
                                  when_taken taken) {
  return create_relation(path, std::move(view), is_temporary, taken);
}

const catalog_store::relation* catalog_store::find_at(const object_path& path,
                                                      bool& is_temporary) const {
  is_temporary = false;
  if (const auto found = temporary_relations_.find(path); found != temporary_relations_.end()) {
    is_temporary = true;
    return &found->second;
  }
  const auto owner = need_database(path.catalog, path.database);
  if (!owner)
    return nullptr;
  const auto found = (*owner)->relations.find(path.object);
  return found == (*owner)->relations.end() ? nullptr : &found->second;
}

error catalog_store::unknown_relation(const object_path& path) const {
  const auto names = relations(std::vector{path.catalog, path.database}, false);
  std::vector<std::string_view> candidates;
  if (names)
    candidates.assign(names->begin(), names->end());
  return unknown("table", path.object, candidates);
}

result<named_relation> catalog_store::find(std::span<const std::string> path) const {
  HEADRACE_TRY(auto whole, complete(path));
  bool is_temporary = false;
  const auto* found = find_at(whole, is_temporary);
  if (found == nullptr)
    return unknown_relation(whole);
  return named_relation{std::move(whole), *found, is_temporary};
}

status catalog_store::drop_relation(const object_path& path, bool is_view, bool is_temporary,
                                    bool if_exists) {
  bool found_temporary = false;
  const auto* found = find_at(path, found_temporary);
  if (found == nullptr || (is_temporary && !found_temporary))
    return if_exists ? status() : status(unknown_relation(path));
  if (std::holds_alternative<view_definition>(*found) != is_view)
    return error(errc::bad_usage, path.object + (is_view ? " is a table: write DROP TABLE"
                                                         : " is a view: write DROP VIEW"));
  if (found_temporary && !is_temporary)
    return error(errc::bad_usage, "there is a temporary " +
                                      std::string(is_view ? "view" : "table") + ": " + path.object +
                                      "; drop it first, by DROP TEMPORARY");
  if (found_temporary)
    temporary_relations_.erase(path);
  else
    database_of(path).relations.erase(path.object);
  return {};
}

status catalog_store::drop_table(const object_path& path, bool is_temporary, bool if_exists) {
  return drop_relation(path, false, is_temporary, if_exists);
}
status catalog_store::drop_view(const object_path& path, bool is_temporary, bool if_exists) {
  return drop_relation(path, true, is_temporary, if_exists);
}

status catalog_store::rename(const object_path& path, const object_path& to) {
  bool is_temporary = false;
  const auto* found = find_at(path, is_temporary);
  if (found == nullptr)
    return unknown_relation(path);
  bool is_other_temporary = false;
  if (find_at(to, is_other_temporary) != nullptr)
    return taken_by("table or view", to.object);
  auto moved = *found;
  if (is_temporary) {
    temporary_relations_.erase(path);
    temporary_relations_.emplace(to, std::move(moved));
  } else {
    database_of(path).relations.erase(path.object);
    database_of(to).relations.emplace(to.object, std::move(moved));
  }
  return {};
}

status catalog_store::create_function(const object_path& path, function_definition function,
                                      bool is_temporary, when_taken taken) {
  const auto key = with_capitals(path);
  if (is_temporary)
    return put(temporary_functions_, key, std::move(function), taken, "function", path.object);
  return put(database_of(path).functions, key.object, std::move(function), taken, "function",
             path.object);
}

status catalog_store::create_system_function(const std::string& name, function_definition function,
                                             when_taken taken) {
  return put(system_functions_, in_capitals(name), std::move(function), taken, "function", name);
}

status catalog_store::drop_function(const object_path& path, bool is_temporary, bool if_exists) {
  const auto key = with_capitals(path);
  const auto dropped = is_temporary ? temporary_functions_.erase(key)
                                    : database_of(path).functions.erase(key.object);
  if (dropped > 0 || if_exists)
    return {};
  return unknown("function", path.object, keys_of(database_of(path).functions));
}

status catalog_store::drop_system_function(const std::string& name, bool if_exists) {
  if (system_functions_.erase(in_capitals(name)) > 0 || if_exists)
    return {};
  return unknown("function", name, keys_of(system_functions_));
}

const function_definition* catalog_store::find_system_function(std::string_view name) const {
  const auto found = system_functions_.find(in_capitals(name));
  return found == system_functions_.end() ? nullptr : &found->second;
}

const function_definition* catalog_store::find_function(std::span<const std::string> path) const {
  if (path.size() == 1)
    if (const auto* found = find_system_function(path[0]))
      return found;
  const auto whole = complete(path);
  if (!whole)
    return nullptr;
  const auto key = with_capitals(*whole);
  if (const auto found = temporary_functions_.find(key); found != temporary_functions_.end())
    return &found->second;
  const auto owner = need_database(key.catalog, key.database);
  if (!owner)
    return nullptr;
  const auto found = (*owner)->functions.find(key.object);
  return found == (*owner)->functions.end() ? nullptr : &found->second;
}

std::vector<std::string> catalog_store::catalogs() const {
  const auto names = keys_of(catalogs_);
  return {names.begin(), names.end()};
}

result<std::vector<std::string>> catalog_store::databases(const std::string& owner) const {
  HEADRACE_TRY(const auto* there, need_catalog(owner));
  const auto names = keys_of(there->databases);
  return std::vector<std::string>(names.begin(), names.end());
}

result<std::vector<std::string>> catalog_store::relations(std::span<const std::string> path,
                                                          bool only_views) const {
  HEADRACE_TRY(const auto names, complete_database(path));
  HEADRACE_TRY(const auto* owner, need_database(names.first, names.second));
  const auto is_wanted = [&](const relation& each) {
    return !only_views || std::holds_alternative<view_definition>(each);
  };
  std::set<std::string> out;
  for (const auto& [name, each] : owner->relations)
    if (is_wanted(each))
      out.insert(name);
  for (const auto& [place, each] : temporary_relations_)
    if (place.catalog == names.first && place.database == names.second && is_wanted(each))
      out.insert(place.object);
  return std::vector<std::string>(out.begin(), out.end());
}

result<std::vector<std::string>> catalog_store::tables(std::span<const std::string> path) const {
  return relations(path, false);
}
result<std::vector<std::string>> catalog_store::views(std::span<const std::string> path) const {
  return relations(path, true);
}

std::vector<std::string> catalog_store::functions() const {
  std::set<std::string> out;
  for (const auto& [name, each] : system_functions_)
    out.insert(name);
  for (const auto& [path, each] : temporary_functions_)
    out.insert(path.object);
  if (const auto current = need_database(current_catalog_, current_database_))
    for (const auto& [name, each] : (*current)->functions)
      out.insert(name);
  return {out.begin(), out.end()};
}

} // namespace headrace::graph
