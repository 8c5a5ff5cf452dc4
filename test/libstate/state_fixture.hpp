#pragma once

#include "test/support/testing_file_system.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libstate/storage/file_state_output.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libactors/base/manual_clock.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace headrace::testing {

/// A snapshot target of one file.
class testing_target final : public state::snapshot_target {
public:
  testing_target(file_system& files, std::string path) : files_(&files), path_(std::move(path)) {}
  result<state::state_output*> output() override {
    if (!output_) {
      HEADRACE_TRY(output_, state::file_state_output::create(*files_, path_));
    }
    return output_.get();
  }
  result<std::unique_ptr<state::state_output>> create_shared() override {
    return error(errc::internal, "not shared");
  }
  status finish() { return output_->finish(); }

private:
  file_system* files_;
  std::string path_;
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

/// Backends over one file system and clock.
struct state_fixture {
  static constexpr std::int32_t max_parallelism = 128;
  testing_file_system files;
  manual_clock time;

  std::unique_ptr<state::keyed_backend> make(graph::row_type_ptr key,
                                             state::key_group_range groups = {0, max_parallelism},
                                             std::int32_t groups_max = max_parallelism) {
    state::keyed_backend_setup setup{
        state::key_schema(std::move(key)), groups_max, groups, &time, &files, nullptr, ""};
    return take(take(state::make_state_backend("hashmap"))->make(std::move(setup)));
  }
  state::keyed_state_handle store(state::snapshot_job& job, const std::string& path) {
    testing_target target(files, path);
    auto handle = take(job.run(target));
    check_ok(target.finish());
    return handle;
  }
  state::keyed_state_handle store(state::keyed_backend& backend, const std::string& path) {
    return store(*take(backend.snapshot(1)), path);
  }
};

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
