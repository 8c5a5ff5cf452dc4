#pragma once

#include "test/support/scratch_directory.hpp"
#include "test/support/testing_file_system.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libstate/heap/heap_backend.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libstate/rocksdb/rocksdb_backend.hpp"
#include "libstate/storage/file_state_output.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libactors/base/manual_clock.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace headrace::testing {

/// A snapshot target of one file.
class testing_target final : public state::snapshot_target {
public:
  /// Shared files are named after `owner`, which is unique to the backend.
  testing_target(file_system& files, std::string path, std::string owner = {})
      : files_(&files), path_(std::move(path)), owner_(std::move(owner)) {}
  result<state::state_output*> output() override {
    if (!output_) {
      HEADRACE_TRY(output_, state::file_state_output::create(*files_, path_));
    }
    return output_.get();
  }
  result<std::unique_ptr<state::state_output>>
  create_shared(const std::string& name, const std::string& /*local_source*/) override {
    return state::file_state_output::create(*files_, "shared/" + owner_ + name);
  }
  bool shares(const std::string& path) const override { return path.starts_with("shared/"); }
  status finish() { return output_->finish(); }

private:
  file_system* files_;
  std::string path_;
  std::string owner_;
  std::unique_ptr<state::state_output> output_;
};

template <class T>
T take(result<T> from) {
  REQUIRE_MESSAGE(from.has_value(), (from ? std::string() : to_string(from.error())));
  return *std::move(from);
}
inline void check_ok(const status& from) {
  REQUIRE_MESSAGE(from.has_value(), (from ? std::string() : to_string(from.error())));
}

inline constexpr std::int32_t column_0[] = {0};

inline std::vector<std::uint32_t> all_rows(std::size_t count) {
  std::vector<std::uint32_t> out(count);
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

/// One BIGINT column `k` that may be NULL.
inline graph::row_type_ptr nullable_key_type() {
  return std::make_shared<const graph::logical_type>(
      graph::logical_type::row({{"k", graph::logical_type::bigint(), ""}}));
}
inline graph::record_batch nullable_keys(const std::vector<std::optional<std::int64_t>>& values) {
  graph::batch_builder rows(nullable_key_type());
  for (const auto& value : values) {
    if (value)
      rows.column(0).append(*value);
    else
      rows.column(0).append_null();
    rows.end_row();
  }
  return rows.finish();
}

/// Which backend a test is about, and in which form it stores.
struct backend_choice {
  std::string backend = "hashmap";
  state::snapshot_kind kind = state::snapshot_kind::native;
};
inline const backend_choice on_heap{"hashmap", state::snapshot_kind::native};
inline const backend_choice on_heap_canonically{"hashmap", state::snapshot_kind::canonical};
inline const backend_choice on_rocksdb{"rocksdb", state::snapshot_kind::native};
inline const backend_choice on_rocksdb_canonically{"rocksdb", state::snapshot_kind::canonical};

/// Batches are read by other threads too, in small pieces, whatever reads cost.
inline state::batch_reading shared_batch_reading() {
  return {std::make_shared<state::read_threads>(2), state::read_pace::limits::always(), 5};
}

/// A maker of backends, of those that write files which checkpoints share however little they hold.
/// @param shares_reads  of RocksDB: see shared_batch_reading
inline std::unique_ptr<state::state_backend>
make_maker(const std::string& backend, std::uint64_t memory_bytes = std::uint64_t{64} << 20U,
           bool shares_reads = false) {
  if (backend == "hashmap")
    return std::make_unique<state::heap_state_backend>(0);
  if (backend == "rocksdb")
    return std::make_unique<state::rocksdb_state_backend>(
        memory_bytes, 0, shares_reads ? shared_batch_reading() : state::batch_reading{});
  return take(state::make_state_backend(backend, memory_bytes));
}

/// Backends over one file system and clock.
struct state_fixture {
  static constexpr std::int32_t max_parallelism = 128;
  testing_file_system files;
  manual_clock time;
  backend_choice choice;
  scratch_directory scratch;
  std::unique_ptr<state::state_backend> maker;
  int backends_made = 0;

  explicit state_fixture(backend_choice of = on_heap) : choice(std::move(of)) {}

  std::unique_ptr<state::keyed_backend> make(graph::row_type_ptr key,
                                             state::key_group_range groups = {0, max_parallelism},
                                             std::int32_t groups_max = max_parallelism) {
    if (maker == nullptr)
      maker = make_maker(choice.backend, std::uint64_t{64} << 20U,
                         choice.kind == state::snapshot_kind::native);
    const auto name = "b" + std::to_string(backends_made++);
    state::keyed_backend_setup setup{
        state::key_schema(std::move(key)), groups_max, groups, &time, &files, nullptr,
        scratch.path() + "/" + name,       name};
    return take(maker->make(std::move(setup)));
  }
  std::unique_ptr<state::snapshot_job> snapshot(state::keyed_backend& backend,
                                                checkpoint_id checkpoint = 1) {
    return take(backend.snapshot(checkpoint, choice.kind));
  }
  state::keyed_state_handle store(state::snapshot_job& job, const std::string& path) {
    testing_target target(files, path);
    auto handle = take(job.run(target));
    check_ok(target.finish());
    return handle;
  }
  state::keyed_state_handle store(state::keyed_backend& backend, const std::string& path) {
    return store(*snapshot(backend), path);
  }
};

/// A test case that is run for each backend and form of a snapshot. The body is that of a member
/// function of a class derived from `fixture`.
#define STATE_TEST_CASE_OF(type, fixture, name)                                                    \
  namespace {                                                                                      \
  struct type : fixture {                                                                          \
    using fixture::fixture;                                                                        \
    void run();                                                                                    \
  };                                                                                               \
  }                                                                                                \
  TEST_CASE(name " (heap)") { type(headrace::testing::on_heap).run(); }                            \
  TEST_CASE(name " (heap, canonical)") { type(headrace::testing::on_heap_canonically).run(); }     \
  TEST_CASE(name " (rocksdb)") { type(headrace::testing::on_rocksdb).run(); }                      \
  TEST_CASE(name " (rocksdb, canonical)") {                                                        \
    type(headrace::testing::on_rocksdb_canonically).run();                                         \
  }                                                                                                \
  void type::run()
#define STATE_TEST_CASE(fixture, name)                                                             \
  STATE_TEST_CASE_OF(DOCTEST_ANONYMOUS(state_test_), fixture, name)

inline state::state_description sums(std::string name = "sums") {
  state::state_description out;
  out.name = std::move(name);
  out.value_type = graph::logical_type::bigint();
  out.entry_key_type = graph::logical_type::null();
  out.layout = state::value_layout::fixed(8);
  return out;
}
inline state::state_description texts(std::string name = "texts") {
  auto out = sums(std::move(name));
  out.value_type = graph::logical_type::bytes();
  out.layout = state::value_layout::variable();
  return out;
}

} // namespace headrace::testing
