#pragma once

#include "libtask/operator/stream_operator.hpp"
#include "libstate/operator_state/operator_state_backend.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libgraph/api/stream_base.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/key_group.hpp"
#include "libactors/base/ids.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What the benchmarks of operators have in common: rows of two columns, and an operator that runs
// alone in one subtask with state on the heap.

namespace headrace::task {

using graph::logical_type;

constexpr std::size_t batch_rows = 4096;
constexpr std::int32_t groups = 128;

inline std::string_view wanted_name; ///< how names that are wanted begin

/// CPU time of this thread: what others do on the machine does not count.
inline double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

[[noreturn]] inline void fail(const error& cause) {
  std::fprintf(stderr, "bench: %s\n", to_string(cause).c_str());
  std::exit(1);
}

/// One operator in one subtask, and what it emits.
class host final : private operator_output, private operator_services {
public:
  /// The operator that gives a stream of the API.
  explicit host(const api::stream_base& out)
      : host(call_of(out).spec, inputs_of(out), node_of(out).output_type,
             out.environment().program().functions, call_of(out).side_types) {}
  host(graph::operator_spec spec, std::vector<logical_type> inputs, logical_type output,
       graph::function_table functions = {}, std::vector<logical_type> sides = {})
      : files_(make_local_file_system()),
        backends_(std::move(*state::make_state_backend("hashmap"))) {
    graph::operator_node node;
    node.id = {1, 2};
    node.name = "bench";
    node.spec = std::move(spec);
    node.input_types = std::move(inputs);
    node.output_type = std::move(output);
    node.side_types = std::move(sides);
    auto code = std::make_shared<graph::job_code>();
    code->functions = std::move(functions);
    const operator_context context{"bench", 0,           1,     groups,   0,    false, clock_,
                                   *files_, connectors_, *this, metrics_, code, {},    {}};
    auto made = make_operator_factories().make(node, context);
    if (!made)
      task::fail(made.error());
    operator_ = std::move(*made);
    operator_states states;
    states.plain = &plain_;
    if (const auto schema = operator_->key_schema()) {
      state::keyed_backend_setup setup{.key = *schema,
                                       .max_parallelism = groups,
                                       .groups = graph::key_groups_of(0, groups, 1),
                                       .time = &clock_,
                                       .files = files_.get(),
                                       .budget = nullptr,
                                       .local_directory = {},
                                       .name = "bench"};
      keyed_ = std::move(*backends_->make(std::move(setup)));
      states.keyed = keyed_.get();
    }
    check(operator_->open(states));
  }
  ~host() { operator_->close(); }

  void add(const graph::record_batch& rows, std::int32_t input = 0) {
    check(operator_->add(input, rows));
    drain();
  }
  void advance(std::int64_t time_ms) {
    check(operator_->advance({time_ms}));
    drain();
  }
  std::size_t rows_out() const { return rows_out_; }

private:
  static const graph::transformation& node_of(const api::stream_base& out) {
    return out.environment().program().at(out.index());
  }
  static const graph::operator_call& call_of(const api::stream_base& out) {
    return std::get<graph::operator_call>(node_of(out).call);
  }
  static std::vector<logical_type> inputs_of(const api::stream_base& out) {
    std::vector<logical_type> types;
    for (const auto input : node_of(out).inputs)
      types.push_back(out.environment().program().at(input).output_type);
    return types;
  }
  static void check(const status& outcome) {
    if (!outcome)
      task::fail(outcome.error());
  }
  void drain() {
    while (true) {
      const auto left = operator_->drain(*this, {});
      if (!left)
        task::fail(left.error());
      if (*left == drain_result::done)
        return;
    }
  }
  void emit(graph::record_batch rows) override {
    rows_out_ += rows.size();
    keep(rows);
  }
  void emit_side(std::int32_t, graph::record_batch rows) override { keep(rows); }
  void emit(graph::watermark) override {}
  void emit(graph::watermark_status) override {}
  void run_blocking(std::function<void()> step, std::function<void()> then) override {
    step();
    then();
  }
  void after(std::chrono::milliseconds, std::function<void()>) override {}
  std::function<void()> waker() override {
    return [] {};
  }
  void send_to_coordinator(operator_id, byte_string) override {}
  void fail(error cause) override { task::fail(cause); }

  system_clock clock_;
  std::unique_ptr<file_system> files_;
  graph::connector_registry connectors_;
  task_metrics metrics_;
  std::unique_ptr<state::state_backend> backends_;
  std::unique_ptr<state::keyed_backend> keyed_;
  state::operator_state_backend plain_;
  std::unique_ptr<stream_operator> operator_;
  std::size_t rows_out_ = 0;
};

inline logical_type big() { return logical_type::bigint().not_null(); }
inline logical_type text() { return logical_type::string().not_null(); }
inline logical_type row_of(std::vector<logical_type> types) {
  std::vector<logical_type::field> fields;
  for (auto& type : types)
    fields.push_back({"f" + std::to_string(fields.size()), std::move(type), {}});
  return logical_type::row(std::move(fields));
}

/// What the rows are made of: row `i` has a key below `keys` that is drawn from `i`.
struct keys_of {
  std::size_t keys = 0;
  bool are_texts = false;
  std::uint64_t draw(std::uint64_t i) const { return mix64(i) % keys; }
};
inline std::string text_of(std::uint64_t key) {
  return "customer-" + std::to_string(100'000'000 + key);
}

/// Key and value, and as time a millisecond for each `rows_a_ms` rows.
inline graph::record_batch make_rows(const keys_of& of, std::uint64_t first, bool draws = true,
                                     std::uint64_t rows_a_ms = 0) {
  static const auto numbers = std::make_shared<const logical_type>(row_of({big(), big()}));
  static const auto texts = std::make_shared<const logical_type>(row_of({text(), big()}));
  graph::batch_builder out(of.are_texts ? texts : numbers);
  for (auto i = first; i < first + batch_rows; ++i) {
    const auto key = draws ? of.draw(i) : i % of.keys;
    if (of.are_texts)
      out.column(0).append_string(text_of(key));
    else
      out.column(0).append(static_cast<std::int64_t>(key));
    out.column(1).append(static_cast<std::int64_t>(mix64(i + 7) % 1000));
    if (rows_a_ms > 0)
      out.end_row(static_cast<std::int64_t>(i / rows_a_ms));
    else
      out.end_row();
  }
  return out.finish();
}
inline std::vector<graph::record_batch> make_batches(const keys_of& of, std::size_t count,
                                                     std::uint64_t rows_a_ms = 0) {
  std::vector<graph::record_batch> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(make_rows(of, i * batch_rows, true, rows_a_ms));
  return out;
}

/// Columns of numbers that a loop writes: a batch of them, over and over.
struct result_columns {
  explicit result_columns(std::size_t columns)
      : values(columns, std::vector<std::int64_t>(2 * batch_rows)) {}
  std::vector<std::vector<std::int64_t>> values;
};

/// Best of three rounds over all batches.
template <class Body>
double best_ns(const std::vector<graph::record_batch>& batches, Body body) {
  double best = 1e300;
  for (int round = 0; round < 3; ++round) {
    const auto start = cpu_ns();
    for (const auto& each : batches)
      body(each);
    best = std::min(best, cpu_ns() - start);
  }
  return best / static_cast<double>(batches.size() * batch_rows);
}

inline void print(const std::string& name, double operator_ns, double loop_ns) {
  std::printf(
      "{\"bench\":\"operator\",\"name\":\"%s\",\"ns_per_row\":%.1f,\"loop_ns_per_row\":%.1f,"
      "\"times\":%.2f}\n",
      name.c_str(), operator_ns, loop_ns, operator_ns / loop_ns);
  std::fflush(stdout);
}

inline bool is_wanted(const std::string& name) { return name.starts_with(wanted_name); }

} // namespace headrace::task
