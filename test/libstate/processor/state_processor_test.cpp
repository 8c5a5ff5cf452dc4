#include "libstate/processor/state_processor.hpp"

#include "test/libstate/state_fixture.hpp"
#include "test/support/seed.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libstate/checkpoint/redistribution.hpp"
#include "libgraph/api/state_handle.hpp"
#include "libgraph/job_graph/structure_hash.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

namespace headrace::processor {
namespace {

using namespace headrace::testing;

struct profile {
  std::string name;
  std::int32_t visits = 0;
};
HEADRACE_STRUCT(profile, name, visits)

struct place {
  std::string country;
  std::int64_t zip = 0;
  friend auto operator<=>(const place&, const place&) = default;
};
HEADRACE_STRUCT(place, country, zip)

template <class T>
graph::state_descriptor descriptor_of(const std::string& name, graph::state_kind kind) {
  graph::state_descriptor out;
  out.name = name;
  out.kind = kind;
  out.value_type = api::info_of<T>::type();
  return out;
}

template <class Key>
class backend_of {
public:
  backend_of(state_fixture& fixture, const state::operator_state& stored,
             state::key_group_range groups = {0, 128})
      : backend_(fixture.make(
            std::make_shared<const graph::logical_type>(api::row_info<Key>::type()), groups)),
        keys_(backend_->key(), 128) {
    std::vector<state::keyed_state_handle> handles;
    for (const auto& [subtask, part] : stored.subtasks)
      handles.insert(handles.end(), part.keyed.begin(), part.keyed.end());
    check_ok(backend_->restore(handles));
  }
  state::keyed_backend& operator*() { return *backend_; }
  void set(const Key& key) {
    graph::batch_builder rows(
        std::make_shared<const graph::logical_type>(api::row_info<Key>::type()));
    api::row_info<Key>::append(rows, key);
    rows.end_row();
    rows_ = rows.finish();
    std::vector<std::int32_t> columns;
    for (std::size_t i = 0; i < api::row_info<Key>::columns; ++i)
      columns.push_back(static_cast<std::int32_t>(i));
    keys_.assign(*rows_, columns);
    backend_->set_current_key(keys_, 0);
  }

private:
  std::unique_ptr<state::keyed_backend> backend_;
  state::key_batch keys_;
  std::optional<graph::record_batch> rows_;
};

} // namespace

TEST_SUITE("state/processor/state_processor") {

TEST_CASE_FIXTURE(state_fixture, "what was written is restored by a backend, and read again") {
  auto savepoint = take(savepoint_writer::create(files, "/s"));
  auto users = take(keyed_operator_writer<std::int64_t>::add(savepoint, "users"));
  std::map<std::int64_t, std::int32_t> visits;
  CAPTURE(testing::seed());
  const auto random = make_seeded_random(testing::seed());
  for (int i = 0; i < 10'000; ++i) {
    const auto user = static_cast<std::int64_t>(random->below(3'000));
    ++visits[user];
    check_ok(users.value("profile", user, profile{"u" + std::to_string(user), visits[user]}));
    check_ok(users.add("seen", user, std::int64_t{i}));
    check_ok(users.entry("by page", user, std::string(i % 2 == 0 ? "even" : "odd"), i));
  }
  check_ok(savepoint.finish(77));

  const auto content = take(state::read_checkpoint(files, "/s"));
  CHECK(content.kind == state::checkpoint_kind::savepoint);
  const auto& stored = content.operators.at(graph::id_of_uid("users"));
  CHECK(stored.max_parallelism == 128);
  backend_of<std::int64_t> restored(*this, stored);
  const api::value_state<profile> profiles(
      (*restored).value(descriptor_of<profile>("profile", graph::state_kind::value)));
  const api::list_state<std::int64_t> seen(
      (*restored).list(descriptor_of<std::int64_t>("seen", graph::state_kind::list)));
  auto pages_of = descriptor_of<int>("by page", graph::state_kind::map);
  pages_of.key_type = api::info_of<std::string>::type();
  const api::map_state<std::string, int> pages((*restored).map(pages_of));
  for (const auto& [user, count] : visits) {
    restored.set(user);
    CHECK(profiles.get()->visits == count);
    CHECK(profiles.get()->name == "u" + std::to_string(user));
    CHECK(seen.size() == static_cast<std::size_t>(count));
    CHECK((pages.contains("even") || pages.contains("odd")));
  }

  const auto reader = take(savepoint_reader::open(files, "/s"));
  const auto read = take(keyed_operator_reader<std::int64_t>::find(reader, "users"));
  std::map<std::int64_t, std::int32_t> read_visits;
  check_ok(read.values<profile>(
      "profile", [&](std::int64_t user, const profile& one) { read_visits[user] = one.visits; }));
  CHECK(read_visits == visits);
  std::size_t elements = 0;
  check_ok(read.lists<std::int64_t>(
      "seen", [&](std::int64_t, const std::vector<std::int64_t>& all) { elements += all.size(); }));
  CHECK(elements == 10'000);
  std::size_t entries = 0;
  check_ok(read.entries<std::string, int>(
      "by page", [&](std::int64_t, const std::string&, int) { ++entries; }));
  const auto summary = take(reader.summarize(take(reader.find("users"))));
  REQUIRE(summary.states.size() == 3);
  CHECK(summary.states[0].name == "by page");
  CHECK(summary.states[0].rows == entries);
  for (const auto& state : summary.states)
    CHECK(state.keys == visits.size());
  CHECK(summary.states[1].rows == visits.size());
}

TEST_CASE_FIXTURE(state_fixture, "keys of several columns, over several subtasks") {
  auto savepoint = take(savepoint_writer::create(files, "/s"));
  auto places = take(keyed_operator_writer<place>::add(savepoint, "places"));
  std::map<place, double> wanted;
  for (std::int64_t zip = 0; zip < 500; ++zip)
    wanted[{zip % 3 == 0 ? "DE" : "a country of a long name", zip}] = static_cast<double>(zip) / 2;
  for (const auto& [key, value] : wanted)
    check_ok(places.reducing("most", key, value));
  check_ok(savepoint.finish());
  const auto content = take(state::read_checkpoint(files, "/s"));
  const auto& stored = content.operators.at(graph::id_of_uid("places"));

  std::size_t found = 0;
  for (std::int32_t subtask = 0; subtask < 3; ++subtask) {
    backend_of<place> restored(*this, stored, graph::key_groups_of(subtask, 128, 3));
    const api::value_state<double> most(
        (*restored).value(descriptor_of<double>("most", graph::state_kind::reducing)));
    for (const auto& [key, value] : wanted) {
      restored.set(key);
      if (const auto held = most.get()) {
        ++found;
        CHECK(*held == value);
      }
    }
  }
  CHECK(found == wanted.size());

  std::map<place, double> read;
  const auto reader = take(savepoint_reader::open(files, "/s"));
  check_ok(take(keyed_operator_reader<place>::find(reader, "places"))
               .values<double>("most", [&](const place& key, double value) { read[key] = value; }));
  CHECK(read == wanted);
}

TEST_CASE_FIXTURE(state_fixture, "what is not there, or of another type, is refused in words") {
  auto savepoint = take(savepoint_writer::create(files, "/s"));
  CHECK(savepoint_writer::create(files, "/t", 0).error().code == errc::bad_usage);
  auto users = take(keyed_operator_writer<std::int64_t>::add(savepoint, "users"));
  CHECK(keyed_operator_writer<std::int64_t>::add(savepoint, "users").error().code ==
        errc::duplicate_uid);
  check_ok(users.value("n", std::int64_t{1}, std::int32_t{2}));
  CHECK(users.value("n", std::int64_t{1}, 2.0).error().code == errc::incompatible_state);
  check_ok(savepoint.finish());
  CHECK(savepoint_writer::create(files, "/s").error().code == errc::storage_failed);

  const auto reader = take(savepoint_reader::open(files, "/s"));
  CHECK(savepoint_reader::open(files, "/t").error().code == errc::file_not_found);
  const auto no_operator = reader.find("nobody");
  CHECK(no_operator.error().code == errc::state_not_found);
  CHECK(no_operator.error().message.find("uid `users`") != std::string::npos);
  const auto read = take(keyed_operator_reader<std::int64_t>::find(reader, "users"));
  const auto nothing = [](std::int64_t, auto) {};
  CHECK(read.values<double>("n", nothing).error().message.find("was INT NOT NULL, is DOUBLE") !=
        std::string::npos);
  CHECK(read.values<std::int32_t>("m", nothing).error().message.find("there are `n`") !=
        std::string::npos);
  const auto by_text = take(keyed_operator_reader<std::string>::find(reader, "users"));
  CHECK(by_text.values<std::int32_t>("n", [](const std::string&, std::int32_t) {}).error().code ==
        errc::incompatible_state);
  bool is_first = true;
  CHECK(reader.find(to_string(graph::id_of_uid("users")).substr(0, 6)));
  check_ok(reader.read(take(reader.find("users")), "n", [&](const keyed_piece& piece) {
    CHECK(is_first);
    is_first = false;
    CHECK(piece.entries.size() == 1);
    return result<bool>(false);
  }));
}

TEST_CASE_FIXTURE(state_fixture, "a savepoint is whole after finish, and none before") {
  bool has_succeeded = false;
  for (std::uint64_t failing = 0; !has_succeeded; ++failing) {
    std::uint64_t seen = 0;
    files.intercept([&](const std::string&, const std::string& path) -> std::optional<error> {
      return seen++ == failing ? std::optional(error(errc::storage_failed, "ordered: " + path))
                               : std::nullopt;
    });
    const auto directory = "/s" + std::to_string(failing);
    const auto write = [&]() -> status {
      HEADRACE_TRY(auto savepoint, savepoint_writer::create(files, directory));
      HEADRACE_TRY(auto users, keyed_operator_writer<std::int64_t>::add(savepoint, "users"));
      HEADRACE_CHECK(users.value("n", std::int64_t{1}, std::int64_t{2}));
      return savepoint.finish();
    };
    has_succeeded = write().has_value();
    files.intercept({});
    CHECK(savepoint_reader::open(files, directory).has_value() == has_succeeded);
  }
}

} // TEST_SUITE("state/processor/state_processor")

} // namespace headrace::processor
