#include "libgraph/catalog/catalog_store.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace headrace::graph {
namespace {

using names = std::vector<std::string>;

table_definition table_of(std::vector<std::string> columns) {
  table_definition out;
  for (auto& each : columns)
    out.columns.push_back({.name = std::move(each),
                           .type = logical_type::bigint().not_null(),
                           .kind = column_kind::physical,
                           .expression = {},
                           .metadata_key = {},
                           .is_virtual = false,
                           .comment = {}});
  return out;
}

view_definition view_of(std::string query) {
  view_definition out;
  out.query = std::move(query);
  return out;
}

object_path path_of(const catalog_store& store, const names& path) {
  auto whole = store.complete(path);
  REQUIRE(whole);
  return *whole;
}

std::string message(const status& of) {
  REQUIRE_FALSE(of);
  CHECK(of.error().code == errc::bad_usage);
  return of.error().message;
}

template <class T>
std::string message(const result<T>& of) {
  REQUIRE_FALSE(of);
  CHECK(of.error().code == errc::bad_usage);
  return of.error().message;
}

} // namespace

TEST_SUITE("graph/catalog/catalog_store") {

TEST_CASE("short names are completed by the current catalog and database") {
  catalog_store store;
  CHECK(path_of(store, {"t"}).to_sql() == "`default_catalog`.`default_database`.`t`");

  REQUIRE(store.create_catalog("c", {}, when_taken::fail));
  REQUIRE(store.create_database(names{"c", "d"}, {}, when_taken::fail));
  REQUIRE(store.use_database(names{"c", "d"}));
  CHECK(path_of(store, {"t"}) == object_path{"c", "d", "t"});
  CHECK(path_of(store, {"default", "t"}) == object_path{"c", "default", "t"});
  REQUIRE(store.use_catalog("default_catalog"));
  CHECK(store.current_database() == "default_database");
  CHECK(store.catalogs() == names{"c", "default_catalog"});
  CHECK(*store.databases("c") == names{"d", "default"});
}

TEST_CASE("what is missing is named, with the nearest") {
  catalog_store store;
  REQUIRE(store.create_table(path_of(store, {"orders"}), table_of({"a"}), false, when_taken::fail));

  CHECK(message(store.find(names{"order"})) == "unknown table: order, did you mean orders");
  CHECK(message(store.find(names{"Orders"})) == "unknown table: Orders, did you mean orders");
  CHECK(message(store.find(names{"default_databse", "orders"})) ==
        "unknown database of catalog default_catalog: default_databse, did you mean "
        "default_database");
  CHECK(message(store.use_catalog("default_catlog")) ==
        "unknown catalog: default_catlog, did you mean default_catalog");
  CHECK(message(store.find(names{"a", "b", "c", "d"})) == "name has too many parts: a.b.c.d");
}

TEST_CASE("a taken name is refused, kept or replaced") {
  catalog_store store;
  const auto path = path_of(store, {"t"});
  REQUIRE(store.create_table(path, table_of({"a"}), false, when_taken::fail));

  CHECK(message(store.create_table(path, table_of({"b"}), false, when_taken::fail)) ==
        "table or view exists already: t");
  REQUIRE(store.create_table(path, table_of({"b"}), false, when_taken::keep));
  CHECK(std::get<table_definition>(store.find(names{"t"})->definition).find_column("a"));
  REQUIRE(store.create_table(path, table_of({"b"}), false, when_taken::replace));
  CHECK(std::get<table_definition>(store.find(names{"t"})->definition).find_column("b"));
  CHECK(message(store.create_view(path, view_of("SELECT 1"), false, when_taken::replace)) ==
        "table exists already: t");
}

TEST_CASE("temporary tables hide lasting ones") {
  catalog_store store;
  const auto path = path_of(store, {"t"});
  REQUIRE(store.create_table(path, table_of({"a"}), false, when_taken::fail));
  REQUIRE(store.create_view(path, view_of("SELECT 1"), true, when_taken::fail));
  CHECK(store.find(names{"t"})->is_temporary);
  CHECK(*store.tables(names{}) == names{"t"});
  CHECK(*store.views(names{}) == names{"t"});

  CHECK(message(store.drop_table(path, false, false)) == "t is a view: write DROP VIEW");
  CHECK(message(store.drop_view(path, false, false)).find("DROP TEMPORARY") != std::string::npos);
  REQUIRE(store.drop_view(path, true, false));
  CHECK_FALSE(store.find(names{"t"})->is_temporary);
  REQUIRE(store.drop_table(path, false, false));
  CHECK(message(store.drop_table(path, false, false)) == "unknown table: t");
  CHECK(store.drop_table(path, false, true));
}

TEST_CASE("tables are renamed") {
  catalog_store store;
  REQUIRE(store.create_table(path_of(store, {"t"}), table_of({"a"}), false, when_taken::fail));
  REQUIRE(store.create_table(path_of(store, {"u"}), table_of({"b"}), true, when_taken::fail));
  CHECK(message(store.rename(path_of(store, {"t"}), path_of(store, {"u"}))) ==
        "table or view exists already: u");
  REQUIRE(store.rename(path_of(store, {"t"}), path_of(store, {"v"})));
  CHECK_FALSE(store.find(names{"t"}));
  CHECK(store.find(names{"v"}));
}

TEST_CASE("databases and catalogs in use, or full, are not dropped") {
  catalog_store store;
  REQUIRE(store.create_database(names{"d"}, {}, when_taken::fail));
  REQUIRE(store.create_table(path_of(store, {"d", "t"}), table_of({"a"}), false, when_taken::fail));
  REQUIRE(store.create_table(path_of(store, {"d", "u"}), table_of({"a"}), true, when_taken::fail));
  CHECK(message(store.drop_database(names{"d"}, false, false)).find("CASCADE") !=
        std::string::npos);
  CHECK(message(store.drop_database(names{"default_database"}, false, true)).find("in use") !=
        std::string::npos);
  CHECK(message(store.drop_catalog("default_catalog", false)).find("in use") != std::string::npos);
  REQUIRE(store.drop_database(names{"d"}, false, true));
  REQUIRE(store.create_database(names{"d"}, {}, when_taken::fail));
  CHECK(store.tables(names{"d"})->empty());
  CHECK(store.drop_database(names{"e"}, true, false));
  CHECK(store.drop_catalog("x", true));
}

TEST_CASE("functions are found in any case, system ones first") {
  catalog_store store;
  const auto made_of = [](const char* source) {
    user_function code;
    code.source = source;
    return function_definition{std::make_shared<const user_function>(std::move(code)), {}};
  };
  const auto lasting = made_of("lasting");
  const auto temporary = made_of("temporary");
  const auto system = made_of("system");
  const auto path = path_of(store, {"Twice"});
  const auto found = [&] { return store.find_function(names{"twice"})->code->source; };

  REQUIRE(store.create_function(path, lasting, false, when_taken::fail));
  CHECK(found() == "lasting");
  REQUIRE(store.create_function(path, temporary, true, when_taken::fail));
  CHECK(found() == "temporary");
  REQUIRE(store.create_system_function("TWICE", system, when_taken::fail));
  CHECK(found() == "system");
  CHECK(store.functions() == names{"TWICE"});
  REQUIRE(store.drop_system_function("twice", false));
  REQUIRE(store.drop_function(path, true, false));
  REQUIRE(store.drop_function(path, false, false));
  CHECK(store.find_function(names{"twice"}) == nullptr);
  CHECK(message(store.drop_function(path, false, false)) == "unknown function: Twice");
}

TEST_CASE("a table's definition is checked") {
  auto table = table_of({"a", "b"});
  CHECK(check_table(table));
  CHECK(table.row_type().to_sql() == "ROW<`a` BIGINT NOT NULL, `b` BIGINT NOT NULL> NOT NULL");

  auto twice = table_of({"a", "a"});
  CHECK(message(check_table(twice)) == "column is there twice: a");

  auto key = table;
  key.primary_key = {"a"};
  CHECK(check_table(key));
  key.primary_key = {"a", "a"};
  CHECK(message(check_table(key)) == "column is twice in the primary key: a");
  key.primary_key = {"key_column"};
  CHECK(message(check_table(key)) == "unknown column of the primary key: key_column");
  key.primary_key = {"a"};
  key.columns[0].type = logical_type::bigint();
  CHECK(message(check_table(key)) == "primary key needs columns that are NOT NULL: a");
  key.columns[0].kind = column_kind::computed;
  CHECK(message(check_table(key)) == "primary key needs physical columns: a");

  auto partitioned = table;
  partitioned.partitioned_by = {"b"};
  CHECK(check_table(partitioned));
  partitioned.partitioned_by = {"b", "a"};
  CHECK(message(check_table(partitioned)) == "PARTITIONED BY leaves no column for the files");

  auto watermark = table;
  watermark.watermark = table_watermark{"bb", "bb"};
  CHECK(message(check_table(watermark)) == "unknown column of WATERMARK: bb, did you mean b");
}

} // TEST_SUITE("graph/catalog/catalog_store")

} // namespace headrace::graph
