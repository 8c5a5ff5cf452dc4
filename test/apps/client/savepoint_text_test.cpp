#include "apps/client/savepoint_text.hpp"

#include "test/support/testing_file_system.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libstate/operator_state/operator_state_backend.hpp"
#include "libgraph/api/type_info.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace headrace::client {
namespace {

state::completed_checkpoint some_checkpoint() {
  state::completed_checkpoint out;
  out.job = {0xab, 0xcd};
  out.id = 7;
  out.directory = "/savepoints/one";
  return out;
}

} // namespace

TEST_SUITE("apps/client/savepoint_text") {
TEST_CASE("master hooks are listed by identifier, with the bytes that they stored") {
  const auto content = some_checkpoint();
  const savepoint_summary with{content, {}, {{"ledger", "page 12"}, {"a quiet one", ""}}};

  const auto text = savepoint_as_text(with);
  const auto told = nlohmann::json::parse(savepoint_as_json(with));

  const auto at = text.find("MASTER HOOK  BYTES\na quiet one  0\nledger       7\n");
  CHECK_MESSAGE(at != std::string::npos, text);
  CHECK(told["masterHooks"] == nlohmann::json::parse(R"([{"id": "a quiet one", "bytes": 0},
                                                         {"id": "ledger", "bytes": 7}])"));
}

TEST_CASE("nothing is said of master hooks where there are none") {
  const auto content = some_checkpoint();
  const savepoint_summary without{content, {}, {}};
  CHECK(savepoint_as_text(without).find("HOOK") == std::string::npos);
  CHECK(nlohmann::json::parse(savepoint_as_json(without))["masterHooks"].empty());
}

TEST_CASE("operator state of functions is shown with its types, and entry by entry") {
  testing::testing_file_system files;
  state::operator_state_backend backend;
  backend
      .broadcast_map({"rules",
                      graph::state_kind::map,
                      api::info_of<std::int64_t>::type(),
                      api::info_of<std::string>::type(),
                      0,
                      {}})
      .put(api::encoded(std::string("mill")), api::encoded(std::int64_t{7}));
  backend.split_list({"seen", graph::state_kind::list, api::info_of<bool>::type(), {}, 0, {}})
      .add(api::encoded(true));
  const auto storage = state::make_file_checkpoint_storage(files, "/kept", job_id{1, 1});
  auto content = some_checkpoint();
  content.job = {1, 1};
  content.directory = storage->directory(7);
  REQUIRE(storage->begin(7));
  auto target = storage->open(content.directory, {{2, 2}, 0, 0});
  REQUIRE(target);
  auto written = backend.snapshot()->run(**target);
  REQUIRE(written);
  REQUIRE((*target)->finish());
  auto& stored = content.operators[operator_id{3, 3}];
  stored.id = {3, 3};
  stored.name = "watch";
  stored.subtasks[0].managed.push_back(std::move(*written));
  REQUIRE(storage->complete(content));
  const auto reader = processor::savepoint_reader::open(files, content.directory);
  REQUIRE(reader);
  const auto summary = reader->summarize({3, 3});
  REQUIRE(summary);
  const savepoint_summary all{reader->content(), {*summary}, {}};

  const auto text = savepoint_as_text(all);
  CHECK_MESSAGE(text.find("STRING NOT NULL → BIGINT NOT NULL") != std::string::npos, text);
  const auto told = nlohmann::json::parse(savepoint_as_json(all))["operators"][0]["states"];
  REQUIRE(told.size() == 2);
  CHECK(told[0]["kind"] == "broadcast");
  CHECK(told[0]["type"] == "BIGINT NOT NULL");
  CHECK(told[0]["entryKeyType"] == "STRING NOT NULL");
  CHECK(told[1]["type"] == "BOOLEAN NOT NULL");
  const auto rules = entries_as_json(*reader, *summary, summary->states[0], 10);
  REQUIRE(rules);
  CHECK(*rules == "{\"entry\":\"mill\",\"value\":7}\n");
  const auto seen = entries_as_json(*reader, *summary, summary->states[1], 10);
  REQUIRE(seen);
  CHECK(*seen == "{\"element\":true}\n");
}

TEST_CASE(
    "a state that is not there is answered with those that are, and why others are not shown") {
  processor::operator_summary counting;
  counting.name = "counting";
  CHECK(no_such_state("groups", {counting}).message ==
        "savepoint has no such state: `groups`; the operator has none");
  CHECK(no_such_state("groups", {counting, counting}).message ==
        "savepoint has no such state: `groups`; there are none");
  CHECK(no_such_state("groups", {}).message ==
        "savepoint has no such state: `groups`; there are none");

  counting.native_forms = {"rocksdb 1"};
  const std::string note =
      "\ncounting: keyed state is in the form rocksdb 1, which only that backend "
      "reads; a savepoint of type canonical shows it";
  CHECK(no_such_state("groups", {counting}).message ==
        "savepoint has no such state: `groups`; there are none that can be shown" + note);
  counting.states.emplace_back().name = "buffer";
  CHECK(no_such_state("groups", {counting}).message ==
        "savepoint has no such state: `groups`; there are\n  `buffer` of counting" + note);
  CHECK(no_such_state("groups", {counting}).code == errc::state_not_found);
}
} // TEST_SUITE("apps/client/savepoint_text")

} // namespace headrace::client
