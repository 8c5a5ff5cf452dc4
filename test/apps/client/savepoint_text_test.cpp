#include "apps/client/savepoint_text.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

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
} // TEST_SUITE("apps/client/savepoint_text")

} // namespace headrace::client
