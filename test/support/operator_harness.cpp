#include "test/support/operator_harness.hpp"

#include "libtask/operator/query_state.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libstate/rocksdb/rocksdb_backend.hpp"
#include "libstate/storage/file_state_output.hpp"
#include "libgraph/function/failure.hpp"
#include "libgraph/job_graph/query_parts.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace headrace::testing {
namespace {

constexpr std::int32_t groups = 128;

/// Takes a snapshot into one file, with shared ones beside it.
class one_file final : public state::snapshot_target {
public:
  one_file(file_system& files, std::string path) : files_(files), path_(std::move(path)) {}
  result<state::state_output*> output() override {
    if (!output_) {
      HEADRACE_TRY(output_, state::file_state_output::create(files_, path_));
    }
    return output_.get();
  }
  result<std::unique_ptr<state::state_output>> create_shared(const std::string& name,
                                                             const std::string&) override {
    return state::file_state_output::create(files_, "shared/" + path_ + name);
  }
  bool shares(const std::string& path) const override { return path.starts_with("shared/"); }
  status finish() { return output_ ? output_->finish() : status(); }

private:
  file_system& files_;
  std::string path_;
  std::unique_ptr<state::state_output> output_;
};

} // namespace

class operator_harness::output final : public task::operator_output {
public:
  explicit output(operator_harness& owner) : owner_(owner) {}
  void emit(graph::record_batch rows) override { owner_.main_.push_back(std::move(rows)); }
  void emit_side(std::int32_t side, graph::record_batch rows) override {
    owner_.sides_[side].push_back(std::move(rows));
  }
  void emit(graph::watermark) override {}
  void emit(graph::watermark_status) override {}

private:
  operator_harness& owner_;
};

class operator_harness::services final : public task::operator_services {
public:
  void run_blocking(std::function<void()> step, std::function<void()> then) override {
    step();
    then();
  }
  void after(std::chrono::milliseconds, std::function<void()>) override {}
  std::function<void()> waker() override {
    return [] {};
  }
  void send_to_coordinator(operator_id, byte_string) override {}
  void fail(error cause) override { HEADRACE_ASSERT(false, to_string(cause).c_str()); }
};

operator_harness::operator_harness(graph::operator_node node, const maker& make,
                                   graph::function_table functions, std::string_view backend)
    : node_(std::move(node)), make_(make), services_(std::make_unique<services>()) {
  auto code = std::make_shared<graph::job_code>();
  code->functions = std::move(functions);
  context_ = std::make_unique<task::operator_context>(task::operator_context{"harness",
                                                                             0,
                                                                             1,
                                                                             128,
                                                                             0,
                                                                             false,
                                                                             clock_,
                                                                             files_,
                                                                             connectors_,
                                                                             *services_,
                                                                             metrics_,
                                                                             std::move(code),
                                                                             nullptr,
                                                                             {}});
  HEADRACE_ASSERT(open(1, backend, {}).has_value(), "the operator did not open");
}

status operator_harness::open(std::int32_t parallelism, std::string_view backend,
                              const std::vector<state::keyed_state_handle>& stored) {
  if (backend == "rocksdb") // batches are read by other threads too, whatever reads cost
    backends_ = std::make_unique<state::rocksdb_state_backend>(
        0, state::rocksdb_state_backend::inline_bytes_usual,
        state::batch_reading{std::make_shared<state::read_threads>(2),
                             state::read_pace::limits::always(), 3});
  else
    backends_ = std::move(*state::make_state_backend(backend));
  for (std::int32_t i = 0; i < parallelism; ++i) {
    subtask opened;
    auto made = make_(node_, *context_);
    HEADRACE_ASSERT(made.has_value(), "the operator was not made");
    opened.made = std::move(*made);
    task::operator_states states;
    if (const auto schema = opened.made->key_schema()) {
      const auto name = "state-" + std::to_string(++opened_);
      state::keyed_backend_setup setup{*schema,
                                       groups,
                                       graph::key_groups_of(i, groups, parallelism),
                                       &clock_,
                                       &files_,
                                       nullptr,
                                       scratch_.path() + "/" + name,
                                       name};
      opened.keyed = std::move(*backends_->make(std::move(setup)));
      if (!stored.empty())
        HEADRACE_ASSERT(opened.keyed->restore(stored).has_value(), "the state was not restored");
      states.keyed = opened.keyed.get();
    }
    try {
      if (opened.keyed)
        HEADRACE_CHECK(task::declare_query(*opened.keyed, graph::query_parts(node_)));
      HEADRACE_CHECK(opened.made->open(states));
    } catch (const graph::failure& refused) {
      return refused.cause();
    }
    if (opened.keyed)
      HEADRACE_CHECK(opened.keyed->settle_restored(false));
    subtasks_.push_back(std::move(opened));
  }
  return {};
}

operator_harness::~operator_harness() {
  for (auto& each : subtasks_)
    each.made->close();
}

void operator_harness::restart(std::int32_t parallelism, std::string_view backend,
                               std::vector<std::int32_t> key_columns, state::snapshot_kind kind) {
  const auto stored = store(kind);
  key_columns_ = std::move(key_columns);
  HEADRACE_ASSERT(open(parallelism, backend, stored).has_value(), "the operator did not open");
  // As the first watermark that comes again does.
  if (watermark_ms_ != graph::watermark::none)
    HEADRACE_ASSERT(advance(watermark_ms_).has_value(), "the watermark was refused");
}

status operator_harness::restart_as(graph::operator_node node, std::string_view backend,
                                    state::snapshot_kind kind) {
  const auto stored = store(kind);
  node_ = std::move(node);
  return open(1, backend, stored);
}

std::vector<state::keyed_state_handle> operator_harness::store(state::snapshot_kind kind) {
  const checkpoint_id checkpoint = opened_ + 1;
  HEADRACE_ASSERT(barrier().has_value(), "the barrier was refused");
  std::vector<state::keyed_state_handle> stored;
  for (auto& each : subtasks_) {
    const auto name = "checkpoint-" + std::to_string(++opened_);
    one_file target(files_, name);
    auto job = each.keyed->snapshot(checkpoint, kind);
    HEADRACE_ASSERT(job.has_value(), "no snapshot was taken");
    auto handle = (*job)->run(target);
    HEADRACE_ASSERT(handle.has_value() && target.finish().has_value(), "no state was stored");
    stored.push_back(std::move(*handle));
    each.made->close();
  }
  subtasks_.clear();
  return stored;
}

std::uint64_t operator_harness::state_rows() const {
  std::uint64_t out = 0;
  for (const auto& each : subtasks_)
    out += each.keyed->row_count();
  return out;
}

status operator_harness::drain(subtask& of) {
  output out(*this);
  while (true) {
    ++drains_;
    HEADRACE_TRY(const auto left, of.made->drain(out, budget_));
    if (left == task::drain_result::done)
      return {};
  }
}

template <class Give>
status operator_harness::each(const Give& give) {
  for (auto& one : subtasks_) {
    HEADRACE_CHECK(give(*one.made));
    HEADRACE_CHECK(drain(one));
  }
  return {};
}

status operator_harness::push(const graph::record_batch& rows) {
  if (subtasks_.size() == 1)
    return each([&](task::stream_operator& to) { return to.add(0, rows); });
  state::key_batch keys(*subtasks_[0].made->key_schema(), groups);
  keys.assign(rows, key_columns_);
  HEADRACE_TRY(const auto of_rows, keys.key_groups());
  for (auto& one : subtasks_) {
    std::vector<std::uint32_t> own;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (one.keyed->groups().contains(of_rows[rows.row_at(i)]))
        own.push_back(rows.row_at(i));
    if (own.empty())
      continue;
    auto picked = graph::buffer::allocate(own.size() * sizeof(std::uint32_t));
    std::copy(own.begin(), own.end(), picked->mutable_as<std::uint32_t>());
    HEADRACE_CHECK(one.made->add(0, rows.with_selection(std::move(picked), own.size())));
    HEADRACE_CHECK(drain(one));
  }
  return {};
}

status operator_harness::advance(std::int64_t watermark_ms) {
  watermark_ms_ = watermark_ms;
  return each(
      [&](task::stream_operator& to) { return to.advance(graph::watermark{watermark_ms}); });
}

status operator_harness::barrier() {
  return each([&](task::stream_operator& to) { return to.prepare_barrier(opened_ + 1); });
}

status operator_harness::end_input() {
  return each([](task::stream_operator& to) { return to.end_input(0); });
}

status operator_harness::tick() {
  return each([&](task::stream_operator& to) {
    const auto wanted = to.next_processing_time_ms();
    return wanted && *wanted <= clock_.wall_ms() ? to.on_processing_time(clock_.wall_ms())
                                                 : status();
  });
}

std::vector<graph::record_batch> operator_harness::take_side(std::int32_t side) {
  return std::exchange(sides_[side], {});
}

} // namespace headrace::testing
