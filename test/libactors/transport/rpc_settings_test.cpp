#include "libactors/transport/rpc_settings.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace headrace;
using namespace headrace::actors;

namespace {

result<rpc_settings> read(process_role role,
                          const std::vector<std::pair<std::string, std::string>>& given) {
  configuration from;
  for (const auto& [key, value] : given)
    REQUIRE(from.set(key, value));
  const auto files = make_local_file_system();
  return read_rpc_settings(from, *files, role);
}

} // namespace

TEST_SUITE("actors/transport/rpc_settings") {

TEST_CASE("who listens on all addresses must say which one others dial") {
  struct role_case {
    process_role role;
    std::string bind_key;
    std::string host_key;
  };
  const std::vector<role_case> roles{
      {process_role::job_manager, "jobmanager.bind-host", "jobmanager.rpc.address"},
      {process_role::task_manager, "taskmanager.bind-host", "taskmanager.host"}};
  for (const auto& each : roles)
    for (const auto* wildcard : {"0.0.0.0", "::", "0"}) {
      CAPTURE(each.bind_key);
      CAPTURE(wildcard);

      const auto silent =
          read(each.role, {{"security.shared-secret", "s"}, {each.bind_key, wildcard}});
      const auto useless = read(
          each.role,
          {{"security.shared-secret", "s"}, {each.bind_key, wildcard}, {each.host_key, wildcard}});
      const auto told = read(each.role, {{"security.shared-secret", "s"},
                                         {each.bind_key, wildcard},
                                         {each.host_key, "here.example"}});

      REQUIRE(!silent);
      CHECK(silent.error().code == errc::bad_option_value);
      CHECK(silent.error().message.find(each.bind_key) != std::string::npos);
      CHECK(silent.error().message.find(each.host_key) != std::string::npos);
      REQUIRE(!useless);
      CHECK(useless.error().message.find(each.host_key) != std::string::npos);
      REQUIRE(told);
      CHECK(told->advertised_host == "here.example");
    }
}

TEST_CASE("a client listens on loopback, whatever the nodes' settings are") {
  const auto client = read(process_role::client,
                           {{"taskmanager.bind-host", "0.0.0.0"}, {"taskmanager.rpc.port", "7"}});

  REQUIRE(client);
  CHECK(client->bind == host_port{"127.0.0.1", 0});
}

TEST_CASE("other addresses than loopback need a secret") {
  const auto open = read(process_role::task_manager, {{"taskmanager.bind-host", "192.0.2.1"}});

  REQUIRE(!open);
  CHECK(open.error().message.find("security.shared-secret") != std::string::npos);
}

} // TEST_SUITE("actors/transport/rpc_settings")
