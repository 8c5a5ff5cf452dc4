#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libstate/checkpoint/snapshot_segments.hpp"
#include "libstate/operator_state/element_reader.hpp"
#include "libstate/snapshot/block_codec.hpp"

#include <doctest/doctest.h>

#include <map>
#include <numeric>

// A checkpoint is made and the one before it removed, while the storage fails at each of its
// operations in turn, those for the checkpoint's metadata among them: for once, or from then on
// until the power fails. Afterwards the newest complete checkpoint is the old one or the new one,
// and whole. Then the same while one is restored, which fails cleanly, or is whole.

namespace headrace::state {
namespace {

using namespace headrace::testing;

constexpr job_id job{1, 2};
constexpr operator_id summing{3, 4};
using sum_model = std::map<std::int64_t, std::int64_t>;

struct failing_fixture : state_fixture {
  using state_fixture::state_fixture;
  std::unique_ptr<checkpoint_storage> storage =
      make_file_checkpoint_storage(files, "/checkpoints", job);
  snapshot_segments segments{files, 1U << 20U};
  std::unique_ptr<keyed_backend> backend = make(number_type());

  void write(std::int64_t first, std::int64_t number, sum_model& model, std::size_t count = 2000) {
    auto& table = *take(backend->open_table(sums()));
    std::vector<std::int64_t> values(count);
    std::iota(values.begin(), values.end(), first);
    std::vector<std::uint32_t> rows(values.size());
    std::iota(rows.begin(), rows.end(), 0U);
    key_batch keys(backend->key(), max_parallelism);
    keys.assign(numbers(values), column_0);
    located_rows at;
    check_ok(table.locate(keys, rows, 0, access::insert, at));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::memcpy(at.values[i], &number, sizeof(number));
      model[values[i]] = number;
    }
    check_ok(table.write_back(at));
  }

  /// Makes a checkpoint as two subtasks of a task executor and their coordinator do: one has the
  /// backend, the other the checkpoint's number.
  result<completed_checkpoint> checkpoint(checkpoint_id id) {
    HEADRACE_CHECK(storage->begin(id));
    const auto target = segments.open(storage->directory(id), {{5, 6}, 0, 0, 0}, false);
    const auto other = segments.open(storage->directory(id), {{5, 6}, 1, 0, 0}, false);
    task_state_snapshot part;
    HEADRACE_TRY(const auto snapshot, backend->snapshot(id, choice.kind));
    HEADRACE_TRY(auto handle, snapshot->run(*target));
    part.operators[summing].keyed.push_back(std::move(handle));
    HEADRACE_CHECK(end(*target, part));
    task_state_snapshot other_part;
    HEADRACE_TRY(auto numbered, write_number(*other, id));
    other_part.operators[summing].managed.push_back(std::move(numbered));
    HEADRACE_CHECK(end(*other, other_part));
    HEADRACE_CHECK(target->settle());
    HEADRACE_CHECK(other->settle());
    completed_checkpoint made;
    made.job = job;
    made.id = id;
    auto& state = made.operators[summing];
    state.id = summing;
    state.parallelism = 2;
    state.subtasks[0] = part.operators.at(summing);
    state.subtasks[1] = other_part.operators.at(summing);
    HEADRACE_CHECK(storage->complete(made));
    return made;
  }
  static status end(subtask_target& target, task_state_snapshot& part) {
    HEADRACE_CHECK(target.finish());
    if (const auto lies = target.place())
      move_segments(part, lies->written_as, lies->path, lies->offset);
    return {};
  }
  static result<operator_state_handle> write_number(subtask_target& target, checkpoint_id id) {
    HEADRACE_TRY(auto* const out, target.output());
    const auto text = std::to_string(id);
    operator_state_handle handle{{out->path(), out->position(), text.size()}, {}};
    handle.lists.push_back(
        {"number", operator_state_handle::mode::split, {{0, text.size(), checksum_of(text)}}});
    HEADRACE_CHECK(out->append(text));
    return handle;
  }

  sum_model restore_newest() { return take(try_to_restore()); }

  result<sum_model> try_to_restore() {
    HEADRACE_TRY(const auto ids, storage->list());
    REQUIRE(!ids.empty());
    HEADRACE_TRY(const auto newest, storage->read(ids.back()));
    const auto& numbered = newest.operators.at(summing).subtasks.at(1).managed.at(0);
    element_reader number(files, numbered.segment);
    HEADRACE_TRY(const auto read, number.read(numbered.lists.at(0).elements));
    CHECK(read.at(0) == std::to_string(newest.id));
    const auto restored = make(number_type());
    HEADRACE_CHECK(restored->restore(newest.operators.at(summing).subtasks.at(0).keyed));
    sum_model out;
    auto& table = *take(restored->open_table(sums()));
    auto piece = table.make_piece();
    for (scan_cursor cursor; !cursor.done;) {
      check_ok(table.scan(0, cursor, 1000, piece));
      const auto keys = numbers_of(take(piece.keys.to_batch()));
      for (std::size_t i = 0; i < keys.size(); ++i)
        std::memcpy(&out[keys[i]], piece.fixed[i], 8);
    }
    return out;
  }
};

/// Fails the storage's operation number `failing`. @returns false: there is none of that number
bool run_failing_at(const backend_choice& choice, std::uint64_t failing, bool is_power_failure) {
  failing_fixture at(choice);
  sum_model old_model;
  at.write(0, 1, old_model);
  const auto first = take(at.checkpoint(1));
  at.backend->notify_completed(1);
  auto new_model = old_model;
  at.write(1900, 2, new_model, 200); // few enough for an increment

  std::uint64_t operations = 0;
  at.files.intercept([&](const std::string& call, const std::string& path) -> std::optional<error> {
    ++operations;
    if (operations == failing || (is_power_failure && operations > failing))
      return error(errc::storage_failed, "made to fail: " + call + " " + path);
    return std::nullopt;
  });
  const auto second = at.checkpoint(2);
  status removed;
  if (second)
    removed = at.storage->remove(first, {*second});
  at.files.intercept({});
  const bool has_failed = operations >= failing;

  if (is_power_failure) {
    at.backend.reset();
    at.files.crash();
  } else if (!second) {
    check_ok(at.storage->abort(2));
    at.backend->notify_aborted(2);
  }
  const auto found = at.restore_newest();
  if (second)
    CHECK(found == new_model);
  else
    CHECK((found == old_model || found == new_model));
  if (!is_power_failure) { // the job goes on, and the next one is whole
    take(at.checkpoint(3));
    CHECK(at.restore_newest() == new_model);
  }
  return has_failed;
}

/// Fails the storage's operation number `failing` while a checkpoint is restored.
/// @returns false: there is none of that number
bool restore_failing_at(failing_fixture& at, std::uint64_t failing, const sum_model& wanted) {
  std::uint64_t operations = 0;
  at.files.intercept([&](const std::string& call, const std::string& path) -> std::optional<error> {
    if (++operations == failing)
      return error(errc::storage_failed, "made to fail: " + call + " " + path);
    return std::nullopt;
  });
  const auto found = at.try_to_restore();
  at.files.intercept({});
  if (found)
    CHECK(*found == wanted);
  else
    CHECK(found.error().has(errc::storage_failed));
  CHECK((found || operations >= failing));
  CHECK(at.restore_newest() == wanted);
  return operations >= failing;
}

} // namespace

TEST_SUITE("state/checkpoint/failing_storage") {
TEST_CASE("whatever operation of the storage fails, a checkpoint is whole") {
  for (const auto& choice : {on_heap, on_heap_canonically, on_rocksdb, on_rocksdb_canonically}) {
    for (const bool is_power_failure : {false, true}) {
      CAPTURE(choice.backend);
      CAPTURE(is_power_failure);
      std::uint64_t failing = 1;
      while (run_failing_at(choice, failing, is_power_failure))
        ++failing;
      CHECK(failing > 10);
    }
  }
}

TEST_CASE("whatever operation fails while a checkpoint is restored, the next attempt is whole") {
  for (const auto& choice : {on_heap, on_heap_canonically, on_rocksdb, on_rocksdb_canonically}) {
    CAPTURE(choice.backend);
    failing_fixture at(choice);
    sum_model model;
    at.write(0, 1, model);
    take(at.checkpoint(1));
    at.backend->notify_completed(1);
    std::uint64_t failing = 1;
    while (restore_failing_at(at, failing, model))
      ++failing;
    CHECK(failing > 3);
  }
}
} // TEST_SUITE("state/checkpoint/failing_storage")

} // namespace headrace::state
