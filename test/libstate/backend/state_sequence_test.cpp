#include "test/libstate/backend/evolving_states.hpp"
#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "test/support/seed.hpp"
#include "libstate/checkpoint/redistribution.hpp"
#include "libgraph/data/key_group.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

// Random sequences of writes, snapshots of either kind and restores to either backend at another
// parallelism, over every kind of state, whose types and TTLs may change in between. What is read
// back is what a model says. `HEADRACE_RUNS=1000` makes it long.

namespace headrace::state {
namespace {

using namespace headrace::testing;

constexpr std::int32_t max_parallelism = 128;
enum backend_number : std::size_t { heap, rocks };
struct place {
  std::size_t backend = heap;
  std::int32_t parallelism = 2;
};

class state_sequence {
public:
  explicit state_sequence(std::uint64_t seed)
      : random_(make_seeded_random(seed)), keys_(key_schema(nullable_key_type()), max_parallelism),
        declared_(*random_) {
    for (std::int64_t i = 0; i < 40; ++i)
      names_.push_back(i == 0 ? nullable_key() : nullable_key(i * 7 - 50));
    keys_.assign(nullable_keys(names_), column_0);
    check_ok(keys_.groups(groups_));
    makers_[heap] = make_maker("hashmap");
    makers_[rocks] = std::make_unique<rocksdb_state_backend>(
        std::uint64_t{32} << 20U, rocksdb_state_backend::inline_bytes_usual,
        shared_batch_reading());
  }

  void run() {
    check_ok(start({random_->below(2), 2}, {}));
    for (auto rounds = 1 + random_->below(4); rounds > 0; --rounds) {
      fill();
      const auto to = some_place();
      // RocksDB's own form does not go to the heap.
      const bool is_native =
          (to.backend == at_.backend || at_.backend == heap) && random_->below(2) == 0;
      for (auto increments = random_->below(5); increments > 0; --increments) {
        store(snapshot_kind::native); // later ones go on behind it
        fill();
      }
      const auto stored = store(is_native ? snapshot_kind::native : snapshot_kind::canonical);
      changes_ += declared_.change(*random_, model_);
      check_ok(start(to, redistribute(stored, to.parallelism)));
      REQUIRE(read() == model_);
    }
  }
  /// One move, with writes before and after it.
  /// @returns why what was stored could not be restored
  status run_once(const place& from, snapshot_kind kind, const place& to) {
    check_ok(start(from, {}));
    fill();
    const auto stored = store(kind);
    HEADRACE_CHECK(start(to, redistribute(stored, to.parallelism)));
    REQUIRE(read() == model_);
    fill();
    return {};
  }
  int moves() const { return checkpoints_; }
  int changes() const { return changes_; }

private:
  void fill() {
    for (int step = 0; step < 150; ++step)
      write();
    std::erase_if(model_.maps, [](const auto& one) { return one.second.empty(); });
    REQUIRE(read() == model_);
  }

  status start(const place& at, const std::vector<operator_subtask_state>& from) {
    subtasks_.clear();
    at_ = at;
    for (std::int32_t i = 0; i < at.parallelism; ++i) {
      const auto name = "b" + std::to_string(made_++);
      keyed_backend_setup setup{key_schema(nullable_key_type()),
                                max_parallelism,
                                graph::key_groups_of(i, max_parallelism, at.parallelism),
                                &time_,
                                &files_,
                                nullptr,
                                scratch_.path() + "/" + name,
                                name};
      auto& made = subtasks_.emplace_back();
      made.backend = take(makers_[at.backend]->make(std::move(setup)));
      HEADRACE_CHECK(made.backend->restore(from.empty() ? std::vector<keyed_state_handle>()
                                                        : from[static_cast<std::size_t>(i)].keyed));
      made.open(declared_);
    }
    return {};
  }

  operator_state store(snapshot_kind kind) {
    operator_state stored;
    stored.parallelism = static_cast<std::int32_t>(subtasks_.size());
    stored.max_parallelism = max_parallelism;
    const auto checkpoint = static_cast<checkpoint_id>(++checkpoints_);
    for (std::size_t i = 0; i < subtasks_.size(); ++i) {
      testing_target target(files_, "c" + std::to_string(checkpoint) + "-" + std::to_string(i));
      const auto job = take(subtasks_[i].backend->snapshot(checkpoint, kind));
      stored.subtasks[static_cast<std::int32_t>(i)].keyed.push_back(take(job->run(target)));
      check_ok(target.finish());
      subtasks_[i].backend->notify_completed(checkpoint);
    }
    return stored;
  }

  place some_place() {
    static constexpr std::array<std::int32_t, 8> parallelisms = {2, 3, 2, 3, 1, 4, 5, 128};
    const auto backend = random_->below(2);
    return {backend, parallelisms[random_->below(60) == 0 ? 7 : random_->below(7)]};
  }

  subtask_states& of(std::size_t name) {
    return subtasks_[static_cast<std::size_t>(graph::subtask_of(
        groups_[name], max_parallelism, static_cast<std::int32_t>(subtasks_.size())))];
  }
  std::string some_text() {
    return std::string(random_->below(random_->below(20) == 0 ? 3000 : 30),
                       static_cast<char>('a' + random_->below(26)));
  }

  /// Makes a value of a state, which the model keeps.
  byte_string some(const user_state& of, record& into) {
    into = of.schema.make(*random_);
    return of.schema.encode(into);
  }

  void write() {
    const auto i = random_->below(names_.size());
    const auto name = names_[i];
    auto& at = of(i);
    at.backend->set_current_key(keys_, i);
    const auto text = some_text();
    const auto entry = "e" + std::to_string(random_->below(6));
    switch (random_->below(12)) {
    case 0:
      at.value->put(some(declared_.value, model_.values[name]));
      break;
    case 1:
      at.reduced->put(some(declared_.reduced, model_.reduced[name]));
      break;
    case 2:
      at.aggregated->put(some(declared_.aggregated, model_.aggregated[name]));
      break;
    case 3:
    case 4:
      at.list->add(some(declared_.list, model_.lists[name].emplace_back()));
      break;
    case 5:
    case 6:
      at.map->put(entry, some(declared_.map, model_.maps[name][entry]));
      break;
    case 7:
      at.map->remove(entry);
      model_.maps[name].erase(entry);
      break;
    case 8:
      clear_some(at, name);
      break;
    case 9:
      register_timer(at, i);
      break;
    default:
      write_rows(at, i, text);
    }
  }

  void clear_some(subtask_states& at, const nullable_key& name) {
    switch (random_->below(4)) {
    case 0:
      at.value->clear();
      model_.values.erase(name);
      break;
    case 1:
      at.list->clear();
      model_.lists.erase(name);
      break;
    case 2:
      at.map->clear();
      model_.maps.erase(name);
      break;
    default: {
      const auto space = static_cast<std::int64_t>(random_->below(3)) - 1;
      for (auto& one : subtasks_)
        check_ok(one.sums->drop_namespace(space));
      std::erase_if(model_.sums, [&](const auto& row) { return row.first.first == space; });
    }
    }
  }

  void register_timer(subtask_states& at, std::size_t i) {
    const auto time = static_cast<std::int64_t>(random_->below(100'000));
    if (random_->below(4) > 0) {
      check_ok(at.timers->register_timer(keys_.at(i), time));
      model_.timers.emplace(time, names_[i]);
    } else if (!model_.timers.empty()) {
      const auto [when, who] = *model_.timers.begin();
      const auto row =
          static_cast<std::size_t>(std::find(names_.begin(), names_.end(), who) - names_.begin());
      check_ok(of(row).timers->delete_timer(keys_.at(row), when));
      model_.timers.erase(model_.timers.begin());
    }
  }

  void write_rows(subtask_states& at, std::size_t i, const std::string& text) {
    const auto row = static_cast<std::uint32_t>(i);
    const auto space = static_cast<std::int64_t>(random_->below(3)) - 1;
    located_rows found;
    check_ok(at.sums->locate(keys_, {&row, 1}, space, access::insert, found));
    auto& sum = model_.sums[{space, names_[i]}];
    std::int64_t stored = 0;
    std::memcpy(&stored, found.values[0], sizeof(stored));
    REQUIRE(stored == sum);
    sum += static_cast<std::int64_t>(random_->below(100)) - 50;
    std::memcpy(found.values[0], &sum, sizeof(sum));
    check_ok(at.sums->write_back(found));
    check_ok(at.texts->locate(keys_, {&row, 1}, space, access::insert, found));
    auto& held = model_.texts[{space, names_[i]}];
    REQUIRE(at.texts->get(found, 0) == byte_view(held));
    if (random_->below(5) == 0) {
      check_ok(at.texts->erase(found, {std::array<std::uint32_t, 1>{0}}));
      model_.texts.erase({space, names_[i]});
    } else if (random_->below(2) == 0) {
      check_ok(at.texts->put(found, 0, text));
      held = text;
    } else {
      check_ok(at.texts->append(found, 0, text));
      held += text;
    }
    check_ok(at.texts->write_back(found));
  }

  template <class Take>
  void scan_all(keyed_table& table, Take take_row) {
    auto piece = table.make_piece();
    for (const auto space : table.namespaces()) {
      for (scan_cursor cursor; !cursor.done;) {
        check_ok(table.scan(space, cursor, 7, piece));
        const auto found = take(piece.keys.to_batch());
        for (std::size_t row = 0; row < piece.size(); ++row) {
          nullable_key name;
          if (!found.at(0).is_null(row))
            name = found.at(0).values<std::int64_t>()[row];
          take_row(std::pair(space, name), piece, row);
        }
      }
    }
  }

  contents read() {
    contents out;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      auto& at = of(i);
      at.backend->set_current_key(keys_, i);
      if (const auto value = at.value->get())
        out.values[names_[i]] = declared_.value.schema.decode(*value);
      if (const auto value = at.reduced->get())
        out.reduced[names_[i]] = declared_.reduced.schema.decode(*value);
      if (const auto value = at.aggregated->get())
        out.aggregated[names_[i]] = declared_.aggregated.schema.decode(*value);
      for (std::size_t j = 0; j < at.list->size(); ++j)
        out.lists[names_[i]].push_back(declared_.list.schema.decode(at.list->at(j)));
      std::map<std::string, byte_string> entries;
      at.map->for_each(
          [](void* into, byte_view entry, byte_view value) {
            static_cast<decltype(entries)*>(into)->emplace(entry, value);
            return true;
          },
          &entries);
      REQUIRE(entries.empty() == at.map->is_empty());
      for (const auto& [entry, value] : entries)
        out.maps[names_[i]][entry] = declared_.map.schema.decode(value);
    }
    for (auto& one : subtasks_) {
      scan_all(*one.sums, [&](const auto& name, const scanned_rows& piece, std::size_t row) {
        std::memcpy(&out.sums[name], piece.fixed[row], 8);
      });
      scan_all(*one.texts, [&](const auto& name, const scanned_rows& piece, std::size_t row) {
        out.texts[name] = piece.variable[row];
      });
      // The table behind the timers is opened under its own name: its times are what is registered.
      auto timers = sums("timers.event");
      timers.kind = table_kind::timers;
      timers.value_type = graph::logical_type::array(graph::logical_type::bigint().not_null());
      timers.layout = value_layout::variable();
      scan_all(*take(one.backend->open_table(timers)),
               [&](const auto& name, const scanned_rows& piece, std::size_t row) {
                 for (std::size_t at = 0; at < piece.variable[row].size(); at += 8) {
                   std::int64_t time = 0;
                   std::memcpy(&time, piece.variable[row].data() + at, sizeof(time));
                   out.timers.emplace(time, name.second);
                 }
               });
    }
    return out;
  }

  std::unique_ptr<random_source> random_;
  testing_file_system files_;
  manual_clock time_;
  scratch_directory scratch_;
  std::array<std::unique_ptr<state_backend>, 2> makers_;
  key_batch keys_;
  std::vector<nullable_key> names_;
  std::vector<std::uint16_t> groups_;
  std::vector<subtask_states> subtasks_;
  place at_;
  int made_ = 0;
  int checkpoints_ = 0;
  int changes_ = 0;
  declarations declared_;
  contents model_;
};

} // namespace

TEST_SUITE("state/backend/state_sequence") {
TEST_CASE("all states stay the same over snapshots, backends, parallelisms and types") {
  int moves = 0;
  int changes = 0;
  for (int run = 0; run < runs(8); ++run) {
    const auto of_run = seed() + static_cast<std::uint64_t>(run);
    CAPTURE(of_run);
    state_sequence one(of_run);
    one.run();
    moves += one.moves();
    changes += one.changes();
  }
  MESSAGE(moves << " restores, " << changes << " changed types");
}

TEST_CASE("all states stay the same over each move that there is") {
  for (const auto from : {heap, rocks}) {
    for (const auto to : {heap, rocks}) {
      for (const auto kind : {snapshot_kind::native, snapshot_kind::canonical}) {
        for (const auto& [before, after] : {std::pair(2, 3), std::pair(3, 2), std::pair(2, 128)}) {
          CAPTURE(from);
          CAPTURE(to);
          CAPTURE(static_cast<int>(kind));
          CAPTURE(after);
          const auto moved = state_sequence(seed()).run_once({from, before}, kind, {to, after});
          if (from == rocks && to == heap && kind == snapshot_kind::native) {
            // A form of its own is told apart.
            REQUIRE(!moved);
            CHECK(moved.error().code == errc::incompatible_state);
            CHECK(moved.error().message.find("of another backend") != std::string::npos);
          } else {
            check_ok(moved);
          }
        }
      }
    }
  }
}
} // TEST_SUITE("state/backend/state_sequence")

} // namespace headrace::state
