#include "libstate/operator_state/operator_state_backend.hpp"

#include "test/libstate/state_fixture.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libstate/checkpoint/redistribution.hpp"
#include "libstate/processor/savepoint_reader.hpp"
#include "libgraph/function/failure.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace headrace::state {
namespace {

using namespace headrace::testing;

struct operator_fixture : state_fixture {
  operator_state stored(int parallelism, const std::vector<operator_state_handle>& handles) {
    operator_state out;
    out.parallelism = parallelism;
    for (std::size_t i = 0; i < handles.size(); ++i)
      out.subtasks[static_cast<std::int32_t>(i)].managed.push_back(handles[i]);
    return out;
  }
  operator_state_handle store_states(operator_state_backend& backend, const std::string& path) {
    testing_target target(files, path);
    // What others wrote before into the same file moves the offsets.
    check_ok(take(target.output())->append("before"));
    auto handle = take(backend.snapshot()->run(target));
    check_ok(target.finish());
    return handle;
  }
};

} // namespace

TEST_SUITE("state/operator_state/operator_state_backend") {
TEST_CASE_FIXTURE(operator_fixture, "lists are dealt out, unions go to all, broadcasts once each") {
  std::vector<operator_state_handle> handles;
  for (int subtask = 0; subtask < 2; ++subtask) {
    operator_state_backend backend;
    CHECK(backend.is_empty());
    for (int i = 0; i < 4; ++i) {
      const auto element = std::to_string(subtask) + "-" + std::to_string(i);
      take(backend.list("splits"))->add(element);
      take(backend.union_list("offsets"))->add(element);
    }
    take(backend.broadcast("rules"))->put("a", "1");
    take(backend.broadcast("rules"))->put("", "empty");
    CHECK(!backend.is_empty());
    handles.push_back(store_states(backend, "s" + std::to_string(subtask)));
  }

  for (const std::int32_t parallelism : {1, 2, 3, 8}) {
    const auto parts = redistribute(stored(2, handles), parallelism);
    std::multiset<std::string> splits;
    for (const auto& part : parts) {
      operator_state_backend backend;
      check_ok(backend.restore(part.managed, files));
      const auto& own = take(backend.list("splits"))->elements();
      CHECK(own.size() >= 8U / static_cast<unsigned>(parallelism));
      CHECK(own.size() <=
            (8U + static_cast<unsigned>(parallelism) - 1) / static_cast<unsigned>(parallelism));
      splits.insert(own.begin(), own.end());
      CHECK(take(backend.union_list("offsets"))->elements().size() == 8);
      auto& rules = *take(backend.broadcast("rules"));
      CHECK(rules.entries().size() == 2);
      REQUIRE(rules.get("a") != nullptr);
      CHECK(*rules.get("a") == "1");
      rules.remove("a");
      CHECK(rules.get("a") == nullptr);
    }
    CHECK(splits.size() == 8);
    CHECK(std::set(splits.begin(), splits.end()).size() == 8);
  }
}

TEST_CASE_FIXTURE(operator_fixture, "a state of another mode is refused") {
  operator_state_backend backend;
  take(backend.list("l"))->add("x");
  const auto handle = store_states(backend, "s");
  operator_state_backend other;
  check_ok(other.restore({handle}, files));

  const auto refused = other.broadcast("l");
  REQUIRE(!refused.has_value());
  CHECK(refused.error().code == errc::incompatible_state);
}

TEST_CASE_FIXTURE(operator_fixture, "changed bytes are noticed") {
  operator_state_backend backend;
  take(backend.list("l"))->add("element");
  auto handle = store_states(backend, "s");
  auto bytes = files.at("s");
  bytes[8] = static_cast<char>(bytes[8] ^ 1);
  files.put("s", bytes);

  operator_state_backend other;
  auto refused = other.restore({handle}, files);
  REQUIRE(!refused.has_value());
  CHECK(refused.error().code == errc::corrupt_snapshot);
  CHECK(refused.error().message ==
        "corrupt operator state: checksum does not fit, at offset 6, in s");
  files.put("s", "short");
  CHECK(other.restore({handle}, files).error().code == errc::corrupt_snapshot);
  static_cast<void>(files.remove("s").has_value());
  CHECK(other.restore({handle}, files).error().code == errc::storage_failed);
}

TEST_CASE_FIXTURE(operator_fixture, "states of functions are restored through their handles") {
  graph::state_descriptor list{
      "rows", graph::state_kind::list, graph::logical_type::bigint(), {}, 0, {}};
  graph::state_descriptor map{"rules",
                              graph::state_kind::map,
                              graph::logical_type::bytes(),
                              graph::logical_type::string(),
                              0,
                              {}};
  operator_state_backend backend;
  auto& rows = backend.split_list(list);
  rows.add("1");
  rows.add("2");
  auto& rules = backend.broadcast_map(map);
  rules.put("b", "2");
  rules.put("a", "1");
  rules.put("c", "3");
  rules.remove("c");
  CHECK_FALSE(rules.is_empty());
  const auto handle = store_states(backend, "s");

  operator_state_backend other;
  check_ok(other.restore({handle}, files));
  auto& restored = other.split_list(list);
  CHECK(&restored == &other.split_list(list)); // asked for again
  REQUIRE(restored.size() == 2);
  CHECK(restored.at(1) == "2");
  std::string all;
  other.broadcast_map(map).for_each(
      [](void* context, byte_view key, byte_view value) {
        *static_cast<std::string*>(context) += std::string(key) + "=" + std::string(value) + " ";
        return true;
      },
      &all);
  CHECK(all == "a=1 b=2 ");
  check_ok(other.settle_restored(false));
  restored.clear();
  CHECK(restored.size() == 0);
}

TEST_CASE_FIXTURE(operator_fixture,
                  "states of functions that do not fit the restored are refused") {
  graph::state_descriptor map{"rules",
                              graph::state_kind::map,
                              graph::logical_type::bigint(),
                              graph::logical_type::string(),
                              0,
                              {}};
  operator_state_backend backend;
  backend.broadcast_map(map).put("a", "1");
  const auto handle = store_states(backend, "s");
  const auto restored = [&](operator_state_backend& into) {
    check_ok(into.restore({handle}, files));
  };

  operator_state_backend nobody;
  restored(nobody);
  CHECK(nobody.settle_restored(false).error().code == errc::incompatible_state);
  check_ok(nobody.settle_restored(true));
  CHECK(nobody.is_empty());
  auto other_key = map;
  other_key.key_type = graph::logical_type::bigint();
  operator_state_backend by_number;
  restored(by_number);
  CHECK_THROWS_AS(by_number.broadcast_map(other_key), graph::failure);
  operator_state_backend as_list;
  restored(as_list);
  CHECK_THROWS_AS(as_list.union_list(map), graph::failure);
  operator_state_backend twice;
  twice.broadcast_map(map);
  CHECK_THROWS_AS(twice.broadcast_map(other_key), graph::failure);
  map.name = std::string(operator_state_backend::declarations);
  CHECK_THROWS_AS(twice.broadcast_map(map), graph::failure);
}

TEST_CASE_FIXTURE(operator_fixture, "a savepoint tells what functions declared of their states") {
  graph::state_descriptor map{"rules",
                              graph::state_kind::map,
                              graph::logical_type::bigint(),
                              graph::logical_type::string(),
                              0,
                              {}};
  graph::state_descriptor list{
      "rows", graph::state_kind::list, graph::logical_type::boolean(), {}, 0, {}};
  operator_state_backend backend;
  backend.broadcast_map(map).put("key", "value");
  backend.union_list(list).add("element");
  take(backend.list("of nobody"))->add("x");
  const auto storage = make_file_checkpoint_storage(files, "/kept", job_id{1, 1});
  completed_checkpoint savepoint;
  savepoint.job = {1, 1};
  savepoint.directory = "/kept/savepoint-1";
  auto& kept = savepoint.operators[operator_id{3, 3}];
  kept = stored(1, {store_states(backend, "/kept/savepoint-1/part")});
  kept.id = {3, 3};
  check_ok(storage->complete(savepoint));

  const auto reader = take(processor::savepoint_reader::open(files, "/kept/savepoint-1"));
  const auto summary = take(reader.summarize({3, 3}));

  REQUIRE(summary.states.size() == 3); // by name, without what tells of them
  CHECK_FALSE(summary.states[0].declared);
  CHECK(summary.states[1].name == "rows");
  CHECK(summary.states[1].kind == "union list");
  REQUIRE(summary.states[1].declared);
  CHECK(summary.states[1].declared->kind == table_kind::list);
  CHECK(summary.states[1].declared->value_type == graph::logical_type::boolean());
  CHECK(summary.states[2].kind == "broadcast");
  REQUIRE(summary.states[2].declared);
  CHECK(summary.states[2].declared->kind == table_kind::map);
  CHECK(summary.states[2].declared->entry_key_type == graph::logical_type::string());
  check_ok(reader.read_elements({3, 3}, "rules", [](byte_view element) -> result<bool> {
    const auto entry = take(read_broadcast_entry(element));
    CHECK(entry.key == "key");
    CHECK(entry.value == "value");
    return true;
  }));
}
} // TEST_SUITE("state/operator_state/operator_state_backend")

} // namespace headrace::state
