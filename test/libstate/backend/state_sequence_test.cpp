#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "test/support/seed.hpp"
#include "libstate/checkpoint/redistribution.hpp"
#include "libstate/timer/timer_service.hpp"
#include "libgraph/data/key_group.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

// Random sequences of writes, snapshots of either kind and restores to either backend at another
// parallelism, over every kind of state. What is read back is what a model says.

namespace headrace::state {
namespace {

using namespace headrace::testing;

constexpr std::int32_t max_parallelism = 128;
using key = std::optional<std::int64_t>;

struct contents {
  std::map<key, std::string> values;
  std::map<key, std::string> reduced;
  std::map<key, std::string> aggregated;
  std::map<key, std::vector<std::string>> lists;
  std::map<key, std::map<std::string, std::string>> maps;
  std::map<std::pair<std::int64_t, key>, std::int64_t> sums;
  std::map<std::pair<std::int64_t, key>, std::string> texts;
  std::set<std::pair<std::int64_t, key>> timers;
  friend bool operator==(const contents&, const contents&) = default;
};

graph::state_descriptor described(std::string name, graph::state_kind kind, std::int64_t ttl_ms) {
  graph::state_descriptor out;
  out.name = std::move(name);
  out.kind = kind;
  out.value_type = graph::logical_type::bytes();
  out.key_type = graph::logical_type::string();
  out.ttl_ms = ttl_ms;
  return out;
}

/// One subtask: its backend and all states.
struct subtask_states {
  std::unique_ptr<keyed_backend> backend;
  graph::value_access* value = nullptr;
  graph::value_access* reduced = nullptr;
  graph::value_access* aggregated = nullptr;
  graph::list_access* list = nullptr;
  graph::map_access* map = nullptr;
  keyed_table* sums = nullptr;
  keyed_table* texts = nullptr;
  std::unique_ptr<timer_service> timers;

  void open() {
    constexpr std::int64_t ttl_ms = 1'000'000; // the clock stands still
    value = &backend->value(described("v", graph::state_kind::value, ttl_ms));
    reduced = &backend->value(described("r", graph::state_kind::reducing, 0));
    aggregated = &backend->value(described("a", graph::state_kind::aggregating, 0));
    list = &backend->list(described("l", graph::state_kind::list, ttl_ms));
    map = &backend->map(described("m", graph::state_kind::map, 0));
    sums = take(backend->open_table(testing::sums()));
    texts = take(backend->open_table(testing::texts()));
    timers = take(open_timer_service(*backend, graph::time_domain::event));
  }
};

class state_sequence {
public:
  explicit state_sequence(std::uint64_t seed)
      : random_(make_seeded_random(seed)), keys_(key_schema(nullable_key_type()), max_parallelism) {
    for (std::int64_t i = 0; i < 40; ++i)
      names_.push_back(i == 0 ? key() : key(i * 7 - 50));
    keys_.assign(nullable_keys(names_), column_0);
    check_ok(keys_.groups(groups_));
    makers_[0] = take(make_state_backend("hashmap"));
    makers_[1] = take(make_state_backend("rocksdb", std::uint64_t{32} << 20U));
    start(0, 2, {});
  }

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (int step = 0; step < 150; ++step)
        write();
      std::erase_if(model_.maps, [](const auto& one) { return one.second.empty(); });
      REQUIRE(read() == model_);
      move();
      REQUIRE(read() == model_);
    }
  }

private:
  void start(std::size_t backend, std::int32_t parallelism,
             const std::vector<operator_subtask_state>& from) {
    subtasks_.clear();
    backend_ = backend;
    for (std::int32_t i = 0; i < parallelism; ++i) {
      const auto name = "b" + std::to_string(made_++);
      keyed_backend_setup setup{key_schema(nullable_key_type()),
                                max_parallelism,
                                graph::key_groups_of(i, max_parallelism, parallelism),
                                &time_,
                                &files_,
                                nullptr,
                                scratch_.path() + "/" + name,
                                name};
      auto& made = subtasks_.emplace_back();
      made.backend = take(makers_[backend]->make(std::move(setup)));
      check_ok(made.backend->restore(from.empty() ? std::vector<keyed_state_handle>()
                                                  : from[static_cast<std::size_t>(i)].keyed));
      made.open();
    }
  }

  /// Snapshots, and restores elsewhere.
  void move() {
    const auto to = random_->below(2);
    // Between backends only the canonical form goes.
    const auto kind =
        to != backend_ || random_->below(2) == 0 ? snapshot_kind::canonical : snapshot_kind::native;
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
    static constexpr std::array<std::int32_t, 8> parallelisms = {2, 3, 2, 3, 1, 4, 5, 128};
    const auto chosen = random_->below(30) == 0 ? 7 : random_->below(7);
    start(to, parallelisms[chosen], redistribute(stored, parallelisms[chosen]));
  }

  subtask_states& of(std::size_t name) {
    return subtasks_[static_cast<std::size_t>(graph::subtask_of(
        groups_[name], max_parallelism, static_cast<std::int32_t>(subtasks_.size())))];
  }
  std::string some_text() {
    return std::string(random_->below(random_->below(20) == 0 ? 3000 : 30),
                       static_cast<char>('a' + random_->below(26)));
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
      at.value->put(model_.values[name] = text);
      break;
    case 1:
      at.reduced->put(model_.reduced[name] = text);
      break;
    case 2:
      at.aggregated->put(model_.aggregated[name] = text);
      break;
    case 3:
    case 4:
      at.list->add(model_.lists[name].emplace_back(text));
      break;
    case 5:
    case 6:
      at.map->put(entry, model_.maps[name][entry] = text);
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

  void clear_some(subtask_states& at, const key& name) {
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
          key name;
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
        out.values[names_[i]] = *value;
      if (const auto value = at.reduced->get())
        out.reduced[names_[i]] = *value;
      if (const auto value = at.aggregated->get())
        out.aggregated[names_[i]] = *value;
      for (std::size_t j = 0; j < at.list->size(); ++j)
        out.lists[names_[i]].emplace_back(at.list->at(j));
      if (!at.map->is_empty())
        at.map->for_each(
            [](void* into, byte_view entry, byte_view value) {
              (*static_cast<std::map<std::string, std::string>*>(into))[std::string(entry)] = value;
              return true;
            },
            &out.maps[names_[i]]);
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
  std::vector<key> names_;
  std::vector<std::uint16_t> groups_;
  std::vector<subtask_states> subtasks_;
  std::size_t backend_ = 0;
  int made_ = 0;
  int checkpoints_ = 0;
  contents model_;
};

} // namespace

TEST_SUITE("state/backend/state_sequence") {
TEST_CASE("all states stay the same over snapshots, backends and parallelisms") {
  for (int run = 0; run < runs(4); ++run) {
    const auto of_run = seed() + static_cast<std::uint64_t>(run);
    CAPTURE(of_run);
    state_sequence(of_run).run(6);
  }
}
} // TEST_SUITE("state/backend/state_sequence")

} // namespace headrace::state
