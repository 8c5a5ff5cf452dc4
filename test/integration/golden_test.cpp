#include "test/integration/testing_processes.hpp"
#include "test/support/seed.hpp"
#include "test/support/testing_file_system.hpp"
#include "libgraph/api/headrace.hpp"
#include "libgraph/api/job_object.hpp"
#include "libactors/base/random.hpp"
#include "libactors/base/text.hpp"
#include "libactors/rpc/node.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

// Savepoints that releases wrote, restored for ever. Each directory below test/golden/savepoints
// holds one of the job below, and the files that its sink had written by then. The job must stay as
// it is, uids and types of its states included: make another beside it instead.
//
//     tools/make_golden_savepoint NAME      writes test/golden/savepoints/NAME

namespace headrace::testing {

struct golden_row {
  std::int64_t time_ms = 0;
  std::int64_t key = 0;
  std::int64_t value = 0;
};
struct golden_finding {
  std::int64_t kind = 0;
  std::int64_t key = 0;
  std::int64_t time_ms = 0;
  std::int64_t number = 0;
};
struct golden_total {
  std::int64_t rows = 0;
  std::string text;
  std::optional<double> half;
};
HEADRACE_STRUCT(golden_row, time_ms, key, value)
HEADRACE_STRUCT(golden_finding, kind, key, time_ms, number)
HEADRACE_STRUCT(golden_total, rows, text, half)

namespace {

constexpr std::int64_t second = 1000;
constexpr int input_rows = 3'000;
const std::string golden_root = std::string(HEADRACE_SOURCE_ROOT) + "/test/golden/savepoints";

class golden_sum final
    : public api::aggregate_function<golden_row, std::vector<std::int64_t>, std::int64_t> {
public:
  void add(const golden_row& in, std::vector<std::int64_t>& values) {
    values.push_back(in.value);
    if (values.size() > 3)
      values.erase(values.begin());
  }
  void merge(std::vector<std::int64_t>& into, const std::vector<std::int64_t>& from) {
    into.insert(into.end(), from.begin(), from.end());
  }
  std::int64_t result(const std::vector<std::int64_t>& values) {
    std::int64_t out = 0;
    for (const auto value : values)
      out = out * 3 + value;
    return out;
  }
};

class golden_window_sum final
    : public api::aggregate_function<golden_row, std::int64_t, std::int64_t> {
public:
  void add(const golden_row& in, std::int64_t& sum) { sum += in.value; }
  void merge(std::int64_t& into, const std::int64_t& from) { into += from; }
  std::int64_t result(const std::int64_t& sum) { return sum; }
};

/// Uses a state of each kind, and timers; what it emits depends on all of them.
class golden_function final
    : public api::keyed_process_function<std::int64_t, golden_row, golden_finding> {
public:
  void open(api::open_context& context) override {
    total_ = context.value<golden_total>("total");
    times_ = context.list<std::int64_t>("times");
    parities_ = context.map<std::string, std::int64_t>("parities");
    largest_ = context.reducing<std::int64_t>(
        "largest", [](std::int64_t left, std::int64_t right) { return std::max(left, right); });
    last_ = context.aggregating<golden_sum>("last three");
    seconds_ = context.map<std::int64_t, std::int64_t>("seconds");
  }
  void process(const golden_row& in, context_type& context,
               api::collector<golden_finding>& out) override {
    auto total = total_.value_or({});
    total.rows += 1;
    total.text = std::string(static_cast<std::size_t>(total.rows % 20), 'x');
    if (in.value % 2 == 1)
      total.half = static_cast<double>(in.value) / 2;
    total_.set(total);
    times_.add(in.time_ms);
    const std::string parity = in.value % 2 == 0 ? "even" : "odd";
    parities_.put(parity, parities_.get(parity).value_or(0) + 1);
    largest_.add(in.value);
    last_.add(in);
    out.emit({0, in.key, in.time_ms, number_of(in.value)});
    const auto end = in.time_ms - in.time_ms % second + second - 1;
    seconds_.put(end, seconds_.get(end).value_or(0) + 1);
    context.register_event_timer(end);
  }
  void on_timer(std::int64_t time_ms, context_type& context,
                api::collector<golden_finding>& out) override {
    out.emit({1, context.key(), time_ms, seconds_.get(time_ms).value_or(-1)});
    seconds_.remove(time_ms);
  }

private:
  std::int64_t number_of(std::int64_t value) {
    const auto total = total_.value_or({});
    auto out = value + total.rows * 31 + static_cast<std::int64_t>(total.text.size()) * 7 +
               static_cast<std::int64_t>(total.half.value_or(0) * 2);
    out += static_cast<std::int64_t>(times_.size()) * 1'000;
    out += times_.at(0) % 977;
    parities_.for_each([&](const std::string& parity, std::int64_t count) {
      out += count * static_cast<std::int64_t>(parity.size());
    });
    return out + largest_.get().value_or(0) * 5 + last_.get().value_or(0);
  }

  api::value_state<golden_total> total_;
  api::list_state<std::int64_t> times_;
  api::map_state<std::string, std::int64_t> parities_;
  api::reducing_state<std::int64_t> largest_;
  api::aggregating_state<golden_sum> last_;
  api::map_state<std::int64_t, std::int64_t> seconds_;
};

result<api::built_job> describe(int parallelism) {
  api::environment env;
  env.set_job_name("golden");
  env.enable_checkpointing(std::chrono::milliseconds(100));
  const auto keyed =
      env.from_source(api::file_source::csv<golden_row>("/input").option("rows-per-second", "1000"),
                      api::watermark_strategy<golden_row>::monotonous().with_timestamp_assigner(
                          &golden_row::time_ms),
                      "rows")
          .uid("golden-rows")
          .set_parallelism(1) // so that the rows of a key keep their order
          .key_by(&golden_row::key);
  const auto kinds = keyed.process(golden_function()).uid("golden-kinds");
  const auto sums =
      keyed.window(api::tumbling_event_time(std::chrono::seconds(1)))
          .aggregate(golden_window_sum(),
                     [](api::window_context<std::int64_t>& window, const std::int64_t& sum,
                        api::collector<golden_finding>& out) {
                       out.emit({2, window.key(), window.window().start_ms, sum});
                     })
          .uid("golden-sums");
  kinds.union_with(sums).sink_to(api::file_sink::csv("/output")).uid("golden-sink");
  return api::build_job(env, parallelism);
}

std::vector<golden_row> make_rows() {
  std::vector<golden_row> out;
  const auto random = make_seeded_random(7);
  std::int64_t time = 1'000'000;
  for (int i = 0; i < input_rows; ++i) {
    time += static_cast<std::int64_t>(random->below(60));
    out.push_back({time, static_cast<std::int64_t>(random->below(50)),
                   static_cast<std::int64_t>(random->below(1000))});
  }
  return out;
}

std::string line(std::int64_t kind, std::int64_t key, std::int64_t time, std::int64_t number) {
  return std::to_string(kind) + ',' + std::to_string(key) + ',' + std::to_string(time) + ',' +
         std::to_string(number);
}

/// What the whole job emits, worked out without it.
std::multiset<std::string> expected(const std::vector<golden_row>& rows) {
  struct known {
    std::int64_t rows = 0;
    std::int64_t half_twice = 0;
    std::int64_t first_ms = 0;
    std::int64_t even = 0;
    std::int64_t odd = 0;
    std::int64_t largest = 0;
    std::vector<std::int64_t> last;
  };
  std::map<std::int64_t, known> of_key;
  std::map<std::tuple<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>> seconds;
  std::multiset<std::string> out;
  for (const auto& in : rows) {
    auto& now = of_key[in.key];
    if (now.rows++ == 0)
      now.first_ms = in.time_ms;
    if (in.value % 2 == 1)
      now.half_twice = in.value;
    (in.value % 2 == 0 ? now.even : now.odd) += 1;
    now.largest = std::max(now.largest, in.value);
    now.last.push_back(in.value);
    if (now.last.size() > 3)
      now.last.erase(now.last.begin());
    auto number = in.value + now.rows * 31 + now.rows % 20 * 7 + now.half_twice;
    number += now.rows * 1'000 + now.first_ms % 977 + now.even * 4 + now.odd * 3;
    number += now.largest * 5 + golden_sum().result(now.last);
    out.insert(line(0, in.key, in.time_ms, number));
    auto& [count, sum] = seconds[{in.key, in.time_ms - in.time_ms % second}];
    ++count;
    sum += in.value;
  }
  for (const auto& [where, numbers] : seconds) {
    const auto [key, start] = where;
    out.insert(line(1, key, start + second - 1, numbers.first));
    out.insert(line(2, key, start, numbers.second));
  }
  return out;
}

class one_job_loader final : public graph::job_code_loader {
public:
  explicit one_job_loader(std::shared_ptr<const graph::job_code> code) : code_(std::move(code)) {}
  result<std::shared_ptr<const graph::job_code>>
  load(const std::string&, const std::vector<std::string>&, const std::string&) override {
    return code_;
  }

private:
  std::shared_ptr<const graph::job_code> code_;
};

struct golden_run {
  std::string failure;
  std::string savepoint; ///< that it was stopped with
  std::multiset<std::string> rows;
};

/// Runs the job to its end, or stops it with a savepoint after so many checkpoints.
golden_run run_golden(testing_file_system& files, int parallelism, const std::string& restore_from,
                      checkpoint_id stop_after) {
  golden_run out;
  std::string lines;
  for (const auto& row : make_rows())
    lines += std::to_string(row.time_ms) + ',' + std::to_string(row.key) + ',' +
             std::to_string(row.value) + '\n';
  files.put("/input/rows.csv", lines);
  auto job = describe(parallelism);
  REQUIRE_MESSAGE(job.has_value(), (job ? "" : to_string(job.error())));
  one_job_loader loader(job->code);
  actors::node_options node_options;
  if (wants_log())
    node_options.log = logger::to("", log_level::debug);
  const auto node = actors::make_deterministic_node(1, node_options);
  testing_processes cluster(*node, files, loader, {2, 4});
  REQUIRE(cluster.start());
  job->graph.id = {5, static_cast<std::uint64_t>(parallelism)};
  job->graph.checkpoints.restore_from = restore_from;
  auto& client = cluster.client();
  const auto submitted = client.submit(job->graph);
  REQUIRE_MESSAGE(submitted.has_value(), (submitted ? "" : to_string(submitted.error())));
  while (node->steps() < 5'000'000) {
    for (int i = 0; i < 200; ++i)
      if (!node->run_once() && !node->advance_to_next_timer())
        break;
    const auto status = client.status(job->graph.id);
    REQUIRE(status);
    if (scheduler::is_terminal(status->state)) {
      if (status->state != scheduler::job_state::finished)
        out.failure = to_string(status->failure);
      break;
    }
    if (stop_after > 0 && status->last_checkpoint >= stop_after) {
      const auto taken =
          client.savepoint(job->graph.id, {"/savepoints", false, graph::savepoint_stop::suspend});
      if (taken)
        out.savepoint = taken->path;
      else
        out.failure = to_string(taken.error());
      break;
    }
  }
  for (const auto& path : files.paths()) {
    if (!path.starts_with("/output/part-"))
      continue;
    for (const auto one : split_text(files.at(path), '\n'))
      if (!one.empty())
        out.rows.emplace(one);
  }
  CHECK(node->shut_down());
  return out;
}

/// Copies a directory of the disk into a file system in memory.
void load(testing_file_system& files, headrace::file_system& disk, const std::string& from,
          const std::string& to) {
  const auto entries = disk.list(from);
  REQUIRE(entries);
  for (const auto& entry : *entries) {
    const auto content = disk.read_all(entry.path, 1U << 30U);
    REQUIRE(content);
    files.put(to + entry.path.substr(from.size()), *content);
  }
}

void write_golden(const std::string& name) {
  const auto disk = make_local_file_system();
  testing_file_system files;
  const auto stopped = run_golden(files, 3, {}, 12);
  REQUIRE_MESSAGE(stopped.failure.empty(), stopped.failure);
  const auto directory = golden_root + "/" + name;
  for (const auto& [from, to] :
       {std::pair(stopped.savepoint, "/savepoint"), std::pair(std::string("/output"), "/output")}) {
    REQUIRE(disk->create_directories(directory + to));
    for (const auto& path : files.paths())
      if (path.starts_with(from + "/"))
        REQUIRE(disk->write_atomically(directory + to + path.substr(from.size()), files.at(path)));
  }
}

TEST_SUITE_BEGIN("integration/golden");

TEST_CASE("savepoints of all releases are restored, at any parallelism") {
  if (const char* name = std::getenv("HEADRACE_GOLDEN_NAME")) // lint(environment): makes one
    write_golden(name);
  const auto disk = make_local_file_system();
  const auto wanted = expected(make_rows());
  const auto releases = disk->list(golden_root);
  REQUIRE(releases);
  CHECK(!releases->empty());

  for (const auto& release : *releases) {
    CAPTURE(release.path);
    for (const int parallelism : {1, 3, 4}) {
      CAPTURE(parallelism);
      testing_file_system files;
      load(files, *disk, release.path + "/savepoint", "/golden");
      load(files, *disk, release.path + "/output", "/output"); // whole parts, and begun ones

      const auto run = run_golden(files, parallelism, "/golden", 0);

      CHECK_MESSAGE(run.failure.empty(), run.failure);
      CHECK(run.rows == wanted);
    }
  }
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::testing
