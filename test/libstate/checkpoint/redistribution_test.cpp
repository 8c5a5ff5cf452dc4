#include "libstate/checkpoint/redistribution.hpp"

#include "test/libstate/state_fixture.hpp"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::state {
namespace {

using namespace headrace::testing;

operator_state stored_with(std::int32_t parallelism) {
  operator_state out;
  out.id = {1, 1};
  out.name = "sum";
  out.parallelism = parallelism;
  for (std::int32_t subtask = 0; subtask < parallelism; ++subtask)
    out.subtasks[subtask].keyed.push_back({graph::key_groups_of(subtask, 128, parallelism),
                                           "canonical",
                                           {"file-" + std::to_string(subtask), 0, 10},
                                           {}});
  return out;
}

completed_checkpoint checkpoint_of(const operator_state& one) {
  completed_checkpoint out;
  out.directory = "/chk-1";
  out.operators[one.id] = one;
  return out;
}

restored_operator wanting(const operator_state& one, std::int32_t parallelism) {
  return {one.id, one.name, parallelism, 128, false};
}

} // namespace

TEST_SUITE("state/checkpoint/redistribution") {
TEST_CASE("every key group is covered by the handles that its subtask gets") {
  for (const std::int32_t from : {1, 2, 3, 128}) {
    const auto stored = stored_with(from);
    for (const std::int32_t to : {1, 2, 3, 7, 128}) {
      const auto parts = redistribute(stored, to);
      REQUIRE(parts.size() == static_cast<std::size_t>(to));
      for (std::int32_t subtask = 0; subtask < to; ++subtask) {
        const auto groups = graph::key_groups_of(subtask, 128, to);
        std::int32_t covered = 0;
        for (const auto& handle : parts[static_cast<std::size_t>(subtask)].keyed) {
          const auto common = intersection(handle.groups, groups);
          CHECK(!common.is_empty());
          covered += common.size();
        }
        CHECK(covered == groups.size());
      }
    }
  }
}

TEST_CASE("at the same parallelism each subtask gets its own back, channels included") {
  auto stored = stored_with(2);
  stored.subtasks[1].channels.push_back({{"in-flight", 0, 5}});
  const auto parts = redistribute(stored, 2);
  CHECK(parts[0] == stored.subtasks[0]);
  CHECK(parts[1] == stored.subtasks[1]);
}

TEST_CASE("at the same parallelism a union alone goes to all") {
  // Where one subtask starts again alone, an element that was dealt to another would be lost.
  using mode = operator_state_handle::mode;
  auto stored = stored_with(3);
  for (std::int32_t subtask = 0; subtask < 3; ++subtask) {
    operator_state_handle handle{{"lists-" + std::to_string(subtask), 0, 50}, {}};
    handle.lists.push_back({"all", mode::union_, {{0, 5, 7}}});
    handle.lists.push_back({"each", mode::broadcast, {{5, 9, 8}}});
    if (subtask != 0) // the first one has nothing to commit
      handle.lists.push_back({"own", mode::split, {{14, 3, 9}, {17, 3, 9}}});
    stored.subtasks[subtask].managed.push_back(std::move(handle));
  }
  const auto parts = redistribute(stored, 3);
  for (std::int32_t subtask = 0; subtask < 3; ++subtask) {
    CAPTURE(subtask);
    std::map<std::string, std::vector<std::string>> from; // segments of the elements, by list
    for (const auto& handle : parts[static_cast<std::size_t>(subtask)].managed)
      for (const auto& list : handle.lists)
        from[list.name].insert(from[list.name].end(), list.elements.size(), handle.segment.path);
    const auto own = "lists-" + std::to_string(subtask);
    CHECK(from["all"] == std::vector<std::string>{"lists-0", "lists-1", "lists-2"});
    CHECK(from["each"] == std::vector<std::string>{own});
    CHECK(from["own"] == std::vector<std::string>(subtask == 0 ? 0 : 2, own));
  }
}

TEST_CASE("a max parallelism that was set is not overridden, a derived one is") {
  const auto stored = stored_with(2);
  auto wanted = wanting(stored, 2);
  wanted.max_parallelism = 256;
  CHECK(take(assign_states(checkpoint_of(stored), {wanted}, false))
            .operators.at(stored.id)
            .max_parallelism == 128);
  wanted.max_parallelism_is_fixed = true;
  const auto refused = assign_states(checkpoint_of(stored), {wanted}, false);
  REQUIRE(!refused);
  CHECK(refused.error().message.find("was 128, is 256") != std::string::npos);
}

TEST_CASE("operators without state start empty, and the stored max parallelism is kept") {
  const auto stored = stored_with(2);
  auto wanted = wanting(stored, 3);
  wanted.max_parallelism = 256;
  const restored_operator other{{9, 9}, "new", 2, 256, true};

  const auto assigned = take(assign_states(checkpoint_of(stored), {wanted, other}, false));

  CHECK(assigned.operators.at(stored.id).max_parallelism == 128);
  CHECK(assigned.operators.at(stored.id).subtasks.size() == 3);
  CHECK(assigned.operators.at(other.id).max_parallelism == 256);
  CHECK(assigned.operators.at(other.id).subtasks[1].is_empty());
}

TEST_CASE("a fixed max parallelism must be the stored one") {
  const auto stored = stored_with(2);
  auto wanted = wanting(stored, 2);
  wanted.max_parallelism = 256;
  wanted.max_parallelism_is_fixed = true;
  const auto refused = assign_states(checkpoint_of(stored), {wanted}, false);
  REQUIRE(!refused.has_value());
  CHECK(refused.error().code == errc::incompatible_state);
  CHECK(refused.error().message.find("was 128, is 256") != std::string::npos);
  CHECK(assign_states(checkpoint_of(stored), {wanting(stored, 129)}, false).error().code ==
        errc::incompatible_state);
}

TEST_CASE("state without its operator is refused unless that is allowed") {
  const auto stored = stored_with(2);
  const auto refused = assign_states(checkpoint_of(stored), {}, false);
  REQUIRE(!refused.has_value());
  CHECK(refused.error().code == errc::incompatible_state);
  CHECK(refused.error().message.find("`sum`") != std::string::npos);
  const auto allowed = take(assign_states(checkpoint_of(stored), {}, true));
  REQUIRE(allowed.left_out.size() == 1);
  CHECK(allowed.left_out[0].find("`sum`") != std::string::npos);
  CHECK(take(assign_states(checkpoint_of(stored), {wanting(stored, 2)}, true)).left_out.empty());
  operator_state empty;
  empty.id = {7, 7};
  CHECK(assign_states(checkpoint_of(empty), {}, false).has_value());
}

TEST_CASE("in-flight data stays with its subtask at the same parallelism") {
  auto stored = stored_with(2);
  stored.subtasks[1].channels.push_back({{"in-flight", 0, 5}});
  const auto same = redistribute(stored, 2);
  CHECK(same[0].channels.empty());
  CHECK(same[1].channels == stored.subtasks[1].channels);
}

TEST_CASE("in-flight data goes to all that may have a part of it when the parallelism changes") {
  auto stored = stored_with(4);
  for (std::int32_t subtask = 0; subtask < 4; ++subtask)
    stored.subtasks[subtask].channels.push_back({{"in-flight", 10ULL * subtask, 5}});
  const auto from = [](const operator_subtask_state& one) {
    std::vector<std::int32_t> out;
    for (const auto& handle : one.channels) {
      CHECK(handle.segment.offset == 10ULL * handle.rescaled_from);
      out.push_back(handle.rescaled_from);
    }
    return out;
  };
  using subtasks = std::vector<std::int32_t>;
  const auto fewer = redistribute(stored, 2);
  CHECK(from(fewer[0]) == subtasks{0, 1, 2}); // the first half of the keys, and every second
  CHECK(from(fewer[1]) == subtasks{1, 2, 3});
  const auto more = redistribute(stored, 8);
  CHECK(from(more[0]) == subtasks{0});
  CHECK(from(more[1]) == subtasks{0, 1});
  CHECK(from(more[3]) == subtasks{1, 3});
  CHECK(from(more[7]) == subtasks{3});
}

TEST_CASE("in-flight data is dealt out anew, too, when the other end of its edge is rescaled") {
  auto sending = stored_with(2);
  sending.subtasks[0].channels.push_back({{"in-flight", 0, 5}});
  auto receiving = stored_with(2);
  receiving.id = {77, 7};
  auto checkpoint = checkpoint_of(sending);
  checkpoint.operators[receiving.id] = receiving;
  const auto channels = [&](std::int32_t parallelism) {
    return take(assign_states(checkpoint, {wanting(sending, 2), wanting(receiving, parallelism)},
                              false))
        .operators.at(sending.id)
        .subtasks[0]
        .channels.at(0);
  };
  CHECK(channels(2).rescaled_from == -1);
  CHECK(channels(3).rescaled_from == 0);
}

TEST_CASE("a watermark stays with its subtask, or is the least of those whose rows may come") {
  using marks = std::vector<std::optional<std::int64_t>>;
  const auto dealt = [](const operator_state& stored, std::int32_t parallelism) {
    marks out;
    for (const auto& one : redistribute(stored, parallelism))
      out.push_back(one.watermark_ms);
    return out;
  };
  auto keyed = stored_with(3); // [0, 43), [43, 86), [86, 128)
  keyed.subtasks[0].watermark_ms = 30;
  keyed.subtasks[1].watermark_ms = 10;
  keyed.subtasks[2].watermark_ms = 20;
  CHECK(dealt(keyed, 3) == marks{30, 10, 20});
  CHECK(dealt(keyed, 2) == marks{10, 10});         // [0, 64), [64, 128)
  CHECK(dealt(keyed, 4) == marks{30, 10, 10, 20}); // [0, 32), [32, 64), [64, 96), [96, 128)
  CHECK(dealt(keyed, 1) == marks{10});
  CHECK(redistribute(keyed, 3, true)[2].watermark_ms == 20);

  auto pair = stored_with(2); // [0, 64), [64, 128)
  pair.subtasks[0].watermark_ms = -5;
  pair.subtasks[1].watermark_ms = 7;
  CHECK(dealt(pair, 3) == marks{-5, -5, 7});

  pair.subtasks[1].watermark_ms.reset(); // had none yet
  CHECK(dealt(pair, 2) == marks{-5, std::nullopt});
  CHECK(dealt(pair, 3) == marks{-5, std::nullopt, std::nullopt});
  CHECK(dealt(stored_with(2), 3) == marks(3));
}

TEST_CASE("without keyed state the watermark at another parallelism is the least of all") {
  operator_state source;
  source.id = {1, 1};
  source.parallelism = 3;
  source.subtasks[0].watermark_ms = 30;
  source.subtasks[1].watermark_ms = 10;
  source.subtasks[2].watermark_ms = 20;
  for (const auto& one : redistribute(source, 2))
    CHECK(one.watermark_ms == 10);
  for (const auto& one : redistribute(source, 3, true)) // rows in flight are dealt out anew
    CHECK(one.watermark_ms == 10);
  CHECK(redistribute(source, 3)[2].watermark_ms == 20);
  source.subtasks.erase(1);
  for (const auto& one : redistribute(source, 2))
    CHECK_FALSE(one.watermark_ms);
  CHECK(redistribute(source, 3)[2].watermark_ms == 20);
}

TEST_CASE("an operator of which there is no more than a watermark may go") {
  operator_state filter;
  filter.id = {1, 1};
  filter.subtasks[0].watermark_ms = 30;
  CHECK_FALSE(filter.has_state());
  CHECK_FALSE(filter.subtasks[0].is_empty());

  const auto assigned = take(assign_states(checkpoint_of(filter), {}, false));

  CHECK(assigned.left_out.empty());
}

TEST_CASE("handles in a message come back, and cut off ones are refused") {
  task_state_snapshot snapshot;
  snapshot.operators[{1, 2}] = stored_with(1).subtasks[0];
  auto& state = snapshot.operators[{1, 2}];
  state.keyed[0].shared.push_back({"000001.sst", {"/shared/1", 0, 100}});
  auto& managed = state.managed.emplace_back();
  managed.segment = {"/m", 1, 20};
  managed.lists.push_back({"l", operator_state_handle::mode::union_, {{0, 5, 77}, {5, 9, 78}}});
  state.channels.push_back({{"/c", 2, 3}, 7});
  state.watermark_ms = -1234;
  byte_string stored;
  byte_writer out(stored);
  encode(snapshot, out);

  byte_reader in(stored);
  CHECK(take(decode_task_state_snapshot(in)) == snapshot);
  for (std::size_t size = 0; size < stored.size(); ++size) {
    byte_reader cut(byte_view(stored).substr(0, size));
    REQUIRE(decode_task_state_snapshot(cut).error().code == errc::malformed_message);
  }
}
} // TEST_SUITE("state/checkpoint/redistribution")

} // namespace headrace::state
