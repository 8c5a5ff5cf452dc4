#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "test/support/seed.hpp"
#include "libstate/heap/heap_native_format.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::state {
namespace {

using namespace headrace::testing;

/// What a backend holds: numbers and texts by namespace and key, and a map by key.
struct contents {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sums;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> texts;
  std::map<std::int64_t, std::map<std::string, std::string>> maps;
  friend bool operator==(const contents&, const contents&) = default;
};

graph::state_descriptor map_state() {
  graph::state_descriptor out;
  out.name = "map";
  out.kind = graph::state_kind::map;
  out.value_type = graph::logical_type::bytes();
  out.key_type = graph::logical_type::string();
  return out;
}

struct incremental_state {
  testing_file_system files;
  manual_clock time;
  std::unique_ptr<state_backend> maker = make_maker("hashmap");
  std::unique_ptr<random_source> random;
  std::unique_ptr<keyed_backend> backend;
  contents model;
  int made = 0;
  std::int64_t key_count = 500;

  explicit incremental_state(std::uint64_t seed) : random(make_seeded_random(seed)) {
    backend = make({});
  }

  std::unique_ptr<keyed_backend> make(const std::vector<keyed_state_handle>& from,
                                      key_group_range groups = {0, 128}) {
    keyed_backend_setup setup{key_schema(number_type()),   128, groups, &time, &files, nullptr, {},
                              "b" + std::to_string(made++)};
    auto out = take(maker->make(std::move(setup)));
    check_ok(out->restore(from));
    return out;
  }

  std::int64_t some_key() {
    return static_cast<std::int64_t>(random->below(static_cast<std::uint64_t>(key_count)));
  }
  std::string some_text() {
    return std::string(random->below(random->below(30) == 0 ? 9000 : 40),
                       static_cast<char>('a' + random->below(26)));
  }
  static key_batch keys_of(keyed_backend& of, const std::vector<std::int64_t>& keys) {
    key_batch out(of.key(), 128);
    out.assign(numbers(keys), column_0);
    return out;
  }

  void write_sum(std::int64_t space, std::int64_t key, std::int64_t value) {
    auto& table = *take(backend->open_table(sums()));
    located_rows at;
    const auto keys = keys_of(*backend, {key});
    check_ok(table.locate(keys, all_rows(1), space, access::insert, at));
    std::memcpy(at.values[0], &value, sizeof(value));
    check_ok(table.write_back(at));
    model.sums[{space, key}] = value;
  }

  void write_text(std::int64_t key) {
    auto& table = *take(backend->open_table(texts()));
    auto& text = model.texts[{0, key}];
    text = some_text();
    located_rows at;
    check_ok(table.locate(keys_of(*backend, {key}), all_rows(1), 0, access::insert, at));
    check_ok(table.put(at, 0, text));
  }

  /// So few rows that the next snapshot writes an increment: of texts, whose rows are marked one by
  /// one however few there are.
  void change_little() {
    for (int i = 0; i < 5; ++i)
      write_text(some_key());
  }

  void change() {
    const auto space = static_cast<std::int64_t>(random->below(3));
    const auto key = some_key();
    const auto keys = keys_of(*backend, {key});
    located_rows at;
    switch (random->below(8)) {
    case 0:
    case 1:
      write_sum(space, key, static_cast<std::int64_t>(random->next() >> 2U));
      break;
    case 2: {
      auto& table = *take(backend->open_table(sums()));
      check_ok(table.locate(keys, all_rows(1), space, access::update, at));
      check_ok(table.erase(at, all_rows(1)));
      model.sums.erase({space, key});
      break;
    }
    case 3:
    case 4: {
      auto& table = *take(backend->open_table(texts()));
      auto& text = model.texts[{space, key}];
      text = some_text();
      check_ok(table.locate(keys, all_rows(1), space, access::insert, at));
      check_ok(table.put(at, 0, text));
      break;
    }
    case 5: {
      auto& table = *take(backend->open_table(texts()));
      check_ok(table.locate(keys, all_rows(1), space, access::update, at));
      check_ok(table.erase(at, all_rows(1)));
      model.texts.erase({space, key});
      break;
    }
    case 6: {
      backend->set_current_key(keys, 0);
      const auto entry = "e" + std::to_string(random->below(5));
      backend->map(map_state()).put(entry, model.maps[key][entry] = some_text());
      break;
    }
    default: {
      backend->set_current_key(keys, 0);
      const auto entry = "e" + std::to_string(random->below(5));
      backend->map(map_state()).remove(entry);
      if (auto found = model.maps.find(key); found != model.maps.end()) {
        found->second.erase(entry);
        if (found->second.empty())
          model.maps.erase(found);
      }
      if (random->below(200) == 0) {
        check_ok(take(backend->open_table(sums()))->drop_namespace(space));
        std::erase_if(model.sums, [&](const auto& one) { return one.first.first == space; });
      }
    }
    }
  }

  contents read(keyed_backend& from) {
    contents out;
    for (const auto& description : {sums(), texts()}) {
      auto& table = *take(from.open_table(description));
      for (std::int64_t space = 0; space < 3; ++space) {
        auto piece = table.make_piece();
        for (scan_cursor cursor; !cursor.done;) {
          check_ok(table.scan(space, cursor, 100, piece));
          const auto keys = numbers_of(take(piece.keys.to_batch()));
          for (std::size_t i = 0; i < keys.size(); ++i) {
            if (description.name == "sums")
              std::memcpy(&out.sums[{space, keys[i]}], piece.fixed[i], 8);
            else
              out.texts[{space, keys[i]}] = std::string(piece.variable[i]);
          }
        }
      }
    }
    for (std::int64_t key = 0; key < key_count; ++key) {
      const auto keys = keys_of(from, {key});
      from.set_current_key(keys, 0);
      std::map<std::string, std::string> entries;
      from.map(map_state())
          .for_each(
              [](void* context, byte_view entry, byte_view value) {
                static_cast<decltype(entries)*>(context)->emplace(entry, value);
                return true;
              },
              &entries);
      if (!entries.empty())
        out.maps[key] = entries;
      // Found by its key, too.
      for (const auto& [entry, value] : entries)
        CHECK(from.map(map_state()).get(entry) == byte_view(value));
    }
    return out;
  }

  struct taken {
    checkpoint_id id = 0;
    std::unique_ptr<snapshot_job> job;
    contents model;
  };
  taken take_snapshot(checkpoint_id id) {
    return {id, take(backend->snapshot(id, snapshot_kind::native)), model};
  }
  result<keyed_state_handle> run(taken& of, bool shares = true) {
    const auto name = "c" + std::to_string(of.id);
    testing_target shared(files, name);
    standing_alone apart(files, name);
    snapshot_target& target = shares ? static_cast<snapshot_target&>(shared) : apart;
    HEADRACE_TRY(auto handle, of.job->run(target));
    HEADRACE_CHECK(shares ? shared.finish() : apart.finish());
    return handle;
  }
  std::uint64_t stored_bytes() const {
    std::uint64_t out = 0;
    for (const auto& path : files.paths())
      out += files.at(path).size();
    return out;
  }

  /// A savepoint's: it shares nothing.
  class standing_alone final : public snapshot_target {
  public:
    standing_alone(file_system& files, std::string path)
        : files_(&files), own_(files, path), path_(std::move(path)) {}
    result<state_output*> output() override { return own_.output(); }
    result<std::unique_ptr<state_output>> create_shared(const std::string& name,
                                                        const std::string&) override {
      return file_state_output::create(*files_, "savepoint-" + path_ + "/" + name);
    }
    bool shares(const std::string&) const override { return false; }
    status finish() { return own_.finish(); }

  private:
    file_system* files_;
    testing_target own_;
    std::string path_;
  };
};

TEST_SUITE_BEGIN("state/heap/heap_increments");

TEST_CASE("whatever becomes of snapshots, those that complete are whole") {
  for (int run = 0; run < runs(30); ++run) {
    const auto of_run = seed() + static_cast<std::uint64_t>(run);
    CAPTURE(of_run);
    incremental_state at(of_run);
    auto& random = *at.random;
    for (int i = 0; i < 400; ++i)
      at.change();
    std::vector<std::pair<keyed_state_handle, contents>> completed;
    std::optional<incremental_state::taken> late;
    for (checkpoint_id id = 1; id <= 25; ++id) {
      for (auto changes = random.below(id % 7 == 0 ? 400 : 30); changes > 0; --changes)
        at.change();
      auto one = at.take_snapshot(id);
      for (auto changes = random.below(20); changes > 0; --changes)
        at.change(); // while it is written
      const auto fate = random.below(10);
      if (fate == 0)
        continue; // never run
      if (fate == 1 && !late) {
        late = std::move(one);
        continue;
      }
      if (fate == 2)
        at.files.intercept(
            [&, left = random.below(6)](const std::string& call,
                                        const std::string&) mutable -> std::optional<error> {
              if (call == "open" || left-- > 0)
                return std::nullopt;
              return error(errc::storage_failed, "made to fail");
            });
      const auto handle = at.run(one, fate != 3);
      at.files.intercept({});
      if (!handle) {
        CHECK(fate == 2);
        at.backend->notify_aborted(id);
        continue;
      }
      if (fate == 4) { // another subtask failed
        at.backend->notify_aborted(id);
        continue;
      }
      if (late && random.below(2) == 0) {
        const auto of_late = take(at.run(*late));
        CHECK(at.read(*at.make({of_late})) == late->model);
        at.backend->notify_aborted(late->id);
        late.reset();
      }
      at.backend->notify_completed(id);
      completed.emplace_back(*handle, one.model);
      CHECK(handle->shared.size() <= 18);
      const auto restored = at.make({*handle});
      CHECK(at.read(*restored) == one.model);
      if (fate == 5) { // the subtask starts again from it
        at.backend = at.make({*handle});
        at.model = one.model;
        late.reset();
      }
    }
    // What a complete snapshot names stays, whatever came later.
    for (const auto& [handle, model] : completed)
      CHECK(at.read(*at.make({handle})) == model);
    CHECK(at.read(*at.backend) == at.model);
  }
}

TEST_CASE("increments are restored at another parallelism, and in the canonical form") {
  incremental_state at(seed());
  for (int i = 0; i < 2000; ++i)
    at.change();
  for (std::int64_t key = 0; key < at.key_count; ++key)
    at.write_text(key);
  keyed_state_handle handle;
  for (checkpoint_id id = 1; id <= 4; ++id) {
    at.change_little();
    auto one = at.take_snapshot(id);
    handle = take(at.run(one));
    at.backend->notify_completed(id);
  }
  CHECK(handle.shared.size() >= 2);

  const auto low = at.make({handle}, {0, 50});
  const auto high = at.make({handle}, {50, 128});

  auto both = at.read(*low);
  const auto rest = at.read(*high);
  CHECK(low->row_count() + high->row_count() == at.backend->row_count());
  both.sums.insert(rest.sums.begin(), rest.sums.end());
  both.texts.insert(rest.texts.begin(), rest.texts.end());
  both.maps.insert(rest.maps.begin(), rest.maps.end());
  CHECK(both == at.model);
}

TEST_CASE("a snapshot writes about as much as has changed") {
  incremental_state at(1);
  at.key_count = 50'000;
  for (std::int64_t key = 0; key < at.key_count; ++key)
    at.write_sum(0, key, static_cast<std::int64_t>(at.random->next() >> 1U));
  std::uint64_t before = 0;
  const auto written = [&](checkpoint_id id) {
    auto one = at.take_snapshot(id);
    take(at.run(one));
    at.backend->notify_completed(id);
    return at.stored_bytes() - std::exchange(before, at.stored_bytes());
  };
  const auto whole = written(1);
  CHECK(whole > 50'000 * 7);

  const auto nothing = written(2);
  for (int i = 0; i < 50; ++i)
    at.write_sum(0, at.some_key(), 7);
  const auto little = written(3);
  for (int i = 0; i < 500; ++i)
    at.write_sum(0, at.some_key(), 8);
  const auto more = written(4);

  CHECK(nothing < 1000);
  CHECK(little < 50 * 25 + 1000);
  CHECK(more < 550 * 25 + 1000);
  CHECK(more > 4 * (little - nothing));
}

TEST_CASE("what has expired goes when the states of a restart are known") {
  incremental_state at(seed());
  auto aging = map_state();
  aging.ttl_ms = 1000;
  const auto keys = incremental_state::keys_of(*at.backend, {1});
  at.backend->set_current_key(keys, 0);
  at.backend->map(aging).put("old", "1");
  at.time.advance_ms(600);
  at.backend->map(aging).put("new", "2");
  auto one = at.take_snapshot(1);
  const auto handle = take(at.run(one));
  at.time.advance_ms(600);

  const auto restored = at.make({handle});
  restored->set_current_key(keys, 0);
  auto& map = restored->map(aging);
  CHECK(restored->row_count() == 2);
  check_ok(restored->settle_restored(false));
  CHECK(restored->row_count() == 1);
  CHECK(map.get("new") == byte_view("2"));
  CHECK(!map.get("old"));
}

TEST_CASE("damage anywhere in a snapshot is found") {
  incremental_state at(seed());
  for (int i = 0; i < 1000; ++i)
    at.change();
  for (std::int64_t key = 0; key < at.key_count; ++key)
    at.write_text(key);
  keyed_state_handle handle;
  for (checkpoint_id id = 1; id <= 3; ++id) {
    at.change_little();
    auto one = at.take_snapshot(id);
    handle = take(at.run(one));
    at.backend->notify_completed(id);
  }
  std::vector<std::string> paths = {handle.segment.path};
  for (const auto& file : handle.shared)
    paths.push_back(file.segment.path);
  REQUIRE(paths.size() >= 3);
  for (const auto& path : paths) {
    const auto whole = at.files.at(path);
    for (int run = 0; run < 40; ++run) {
      auto damaged = whole;
      const auto where = at.random->below(damaged.size());
      CAPTURE(path);
      CAPTURE(where);
      if (run % 4 == 0)
        damaged.resize(where);
      else
        damaged[where] = static_cast<char>(damaged[where] ^ (1 << at.random->below(8)));
      at.files.put(path, damaged);
      keyed_backend_setup setup{
          key_schema(number_type()), 128, {0, 128}, &at.time, &at.files, nullptr, {}, "damaged"};
      const auto outcome = take(at.maker->make(std::move(setup)))->restore({handle});
      REQUIRE(!outcome.has_value());
      CHECK_MESSAGE((outcome.error().has(errc::corrupt_snapshot) ||
                     outcome.error().has(errc::unsupported_snapshot_version)),
                    to_string(outcome.error()));
    }
    at.files.put(path, whole);
  }
  CHECK(at.read(*at.make({handle})) == at.model);
}

TEST_CASE("files that no complete checkpoint names go") {
  incremental_state at(3);
  for (int i = 0; i < 1000; ++i)
    at.change();
  for (checkpoint_id id = 1; id <= 40; ++id) {
    for (int i = 0; i < 10; ++i)
      at.change();
    auto one = at.take_snapshot(id);
    take(at.run(one));
    at.backend->notify_aborted(id);
  }
  std::size_t shared = 0;
  for (const auto& path : at.files.paths())
    shared += path.starts_with("shared/") ? 1U : 0U;
  CHECK(shared <= 18);
}

TEST_CASE("what aborted checkpoints left is written anew once it is removed") {
  incremental_state at(4);
  for (checkpoint_id id = 1; id <= 10; ++id) {
    for (int i = 0; i < (id == 1 ? 1000 : 20); ++i)
      at.change();
    auto one = at.take_snapshot(id);
    take(at.run(one));
    at.backend->notify_aborted(id);
    if (id % 3 == 0) {
      for (const auto& path : at.files.paths())
        if (path.starts_with("shared/"))
          check_ok(at.files.remove(path));
    }
  }
  auto last = at.take_snapshot(11);
  const auto handle = take(at.run(last));
  at.backend->notify_completed(11);
  CHECK(at.read(*at.make({handle})) == at.model);
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::state
