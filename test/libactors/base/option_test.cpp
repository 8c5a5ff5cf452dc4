#include "libactors/base/option.hpp"

#include "libactors/base/old_option_key.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

using namespace headrace;

TEST_SUITE("actors/base/option") {

TEST_CASE("options are sorted by key, and each default is a value of its option") {
  const auto& all = all_options();
  CHECK(std::is_sorted(all.begin(), all.end(),
                       [](const auto& a, const auto& b) { return a.key < b.key; }));
  for (const auto& each : all) {
    CAPTURE(each.key);
    CHECK(!each.description.empty());
    if (!each.default_text.empty()) {
      configuration settings;
      CHECK(settings.set(each.key, each.default_text));
    }
  }
}

TEST_CASE("an unknown option is refused with the nearest known one") {
  configuration settings;

  const auto refused = settings.set("taskmanager.numberOfTaskSlot", "4");

  REQUIRE(!refused);
  CHECK(refused.error().code == errc::unknown_option);
  CHECK(refused.error().message ==
        "unknown option: taskmanager.numberOfTaskSlot, did you mean taskmanager.numberOfTaskSlots");
  CHECK(settings.set("entirely.different.thing", "1").error().message ==
        "unknown option: entirely.different.thing");
}

TEST_CASE("an option is set by the names that it had before") {
  configuration settings;

  REQUIRE(settings.set("state.checkpoints.num-retained", "3"));
  REQUIRE(settings.merge_yaml("state:\n  savepoints.dir: /saved\n", "a.yaml"));

  CHECK(settings.get_int("execution.checkpointing.num-retained") == 3);
  CHECK(settings.get_path("execution.checkpointing.savepoint-dir") == "/saved");
  CHECK(!settings.is_set("state.savepoints.dir"));
  const auto twice = settings.merge_yaml(
      "state.savepoints.dir: /a\nexecution.checkpointing.savepoint-dir: /b\n", "a.yaml");
  REQUIRE(!twice);
  CHECK(twice.error().message ==
        "an option stands twice: execution.checkpointing.savepoint-dir, again at a.yaml:2:40");
  const auto refused = settings.set("state.backend", "disk");
  REQUIRE(!refused);
  CHECK(refused.error().message.starts_with("bad value of option: state.backend, got \"disk\""));
  const auto known = all_old_option_keys();
  CHECK(std::is_sorted(known.begin(), known.end(),
                       [](const auto& a, const auto& b) { return a.old < b.old; }));
}

TEST_CASE("a value that does not fit is refused with what is allowed") {
  configuration settings;
  const auto refused = [&](std::string_view key, std::string_view value) {
    const auto taken = settings.set(key, value);
    REQUIRE(!taken);
    CHECK(taken.error().code == errc::bad_option_value);
    return taken.error().message;
  };

  CHECK(refused("parallelism.default", "0") ==
        "bad value of option: parallelism.default, got \"0\", allowed is a whole number, at least "
        "1, at most 32768");
  CHECK(refused("parallelism.default", "4x").find("got \"4x\"") != std::string::npos);
  CHECK(refused("heartbeat.interval", "soon").find("such as 10 s") != std::string::npos);
  CHECK(refused("heartbeat.interval", "1 fortnight").find("such as 10 s") != std::string::npos);
  CHECK(refused("heartbeat.interval", "99999999999999999 d").find("at most") != std::string::npos);
  CHECK(refused("heartbeat.interval", "-1 s").find("at least") != std::string::npos);
  CHECK(refused("taskmanager.memory.managed.size", "1 kb").find("at least") != std::string::npos);
  CHECK(refused("state.backend.type", "tape").find("one of hashmap") != std::string::npos);
  CHECK(refused("restart-strategy.exponential-delay.backoff-multiplier", "nan").find("a number") !=
        std::string::npos);
  CHECK(settings.values().empty());
}

TEST_CASE("durations and sizes are read with their units") {
  configuration settings;
  const auto duration_of = [&](std::string_view text) {
    REQUIRE(settings.set("execution.checkpointing.timeout", text));
    return settings.get_duration("execution.checkpointing.timeout").count();
  };
  const auto size_of = [&](std::string_view text) {
    REQUIRE(settings.set("taskmanager.memory.managed.size", text));
    return settings.get_memory_size("taskmanager.memory.managed.size");
  };

  CHECK(duration_of("1500") == 1'500);
  CHECK(duration_of("100ms") == 100);
  CHECK(duration_of(" 10 s ") == 10'000);
  CHECK(duration_of("1 min") == 60'000);
  CHECK(duration_of("2 H") == 7'200'000);
  CHECK(duration_of("1 d") == 86'400'000);
  CHECK(duration_of("9223372036854775807 ms") == 3'153'600'000'000); // a hundred years
  CHECK(size_of("64mb") == 64ULL << 20U);
  CHECK(size_of("1 g") == 1ULL << 30U);
  CHECK(size_of("16777216") == 16ULL << 20U);
}

TEST_CASE("directories become absolute when they are set") {
  configuration settings;

  REQUIRE(settings.set("execution.checkpointing.dir", "state"));
  REQUIRE(settings.set("execution.checkpointing.savepoint-dir", "file:///savepoints/"));
  const auto refused = settings.set("high-availability.storageDir", "hdfs://host/ha");

  CHECK(settings.get_path("execution.checkpointing.dir") ==
        std::filesystem::current_path().string() + "/state");
  CHECK(settings.get_path("execution.checkpointing.savepoint-dir") == "/savepoints");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::bad_option_value);
  CHECK(refused.error().message.find("hdfs://host/ha") != std::string::npos);
  CHECK(refused.error().message.find("file:///data") != std::string::npos);
  CHECK(settings.get_path("high-availability.storageDir").empty());
}

TEST_CASE("what is not set has its default, or nothing") {
  const configuration settings;

  CHECK(!settings.is_set("heartbeat.interval"));
  CHECK(settings.get_duration("heartbeat.interval").count() == 1'000);
  CHECK(settings.get_text("restart-strategy.type") == "exponential-delay");
  CHECK(settings.get_real("restart-strategy.exponential-delay.backoff-multiplier") == 1.5);
  CHECK(settings.get_int("parallelism.default") == 0);
}

TEST_CASE("YAML sets nested and dotted keys, and later files override") {
  configuration settings;

  REQUIRE(settings.merge_yaml("execution:\n  checkpointing:\n    interval: 5 s\n"
                              "parallelism.default: 3\n",
                              "a.yaml"));
  REQUIRE(settings.merge_yaml("parallelism.default: 4\n", "b.yaml"));
  REQUIRE(settings.merge_yaml("", "empty.yaml"));

  CHECK(settings.get_duration("execution.checkpointing.interval").count() == 5'000);
  CHECK(settings.get_int("parallelism.default") == 4);
}

TEST_CASE("a bad file changes nothing, and is named with its line") {
  configuration settings;
  const auto error_of = [&](std::string_view text) {
    const auto merged = settings.merge_yaml(text, "a.yaml");
    REQUIRE(!merged);
    CHECK(settings.values().empty());
    return merged.error();
  };

  auto failure = error_of("parallelism.default: 3\nparalelism.default: 4\n");
  CHECK(failure.code == errc::unknown_option);
  CHECK(failure.message.find("at a.yaml:2") != std::string::npos);
  failure = error_of("a: [unclosed\n");
  CHECK(failure.code == errc::bad_configuration_file);
  CHECK(failure.message.find("a.yaml:") != std::string::npos);
  CHECK(error_of("- a\n- b\n").code == errc::bad_configuration_file);
  CHECK(error_of("parallelism.default: [1, 2]\n").code == errc::bad_configuration_file);
  CHECK(error_of("just words\n").code == errc::bad_configuration_file);
  failure = error_of("parallelism.default: 3\nparallelism:\n  default: 4\n");
  CHECK(failure.code == errc::bad_configuration_file);
  CHECK(failure.message == "an option stands twice: parallelism.default, again at a.yaml:3:12");
  failure = error_of("parallelism.default: 3\n---\nparallelism.default: 4\n");
  CHECK(failure.code == errc::bad_configuration_file);
  CHECK(failure.message.find("one YAML document") != std::string::npos);
}

} // TEST_SUITE("actors/base/option")
