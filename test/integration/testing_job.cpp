#include "test/integration/testing_job.hpp"

#include "test/integration/testing_processes.hpp"
#include "test/integration/testing_stop.hpp"
#include "test/support/async_job.hpp"
#include "test/support/connected_job.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/seed.hpp"
#include "test/support/testing_file_system.hpp"
#include "test/support/windowed_job.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libgraph/api/job_object.hpp"
#include "libgraph/api/table_environment.hpp"
#include "libgraph/data/batch_codec.hpp"
#include "libactors/base/manual_clock.hpp"
#include "libactors/base/random.hpp"
#include "libactors/base/text.hpp"
#include "libactors/registry/actor_registry.hpp"
#include "libactors/rpc/node.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace headrace::testing {

namespace {

constexpr std::int64_t second = 1000;
constexpr std::uint64_t steps_max = 1'000'000; // the longest takes some 60,000
constexpr const char* split_size = "100 b";    // some rows
constexpr std::uint64_t two_days_ms = 2 * 24 * 3'600'000ULL;

/// A deterministic node's clock, for who may set it.
manual_clock& clock_of(actors::deterministic_node& node) {
  return const_cast<manual_clock&>(dynamic_cast<const manual_clock&>(node.environment().time));
}

/// What user functions and the test share: the next row that is mapped throws.
struct faults {
  bool throw_next = false;
  std::function<void()> at_row;
};

/// A ledger outside the job, which counts its checkpoints.
class ledger final : public api::master_hook {
public:
  explicit ledger(std::shared_ptr<hook_log> log) : log_(std::move(log)) {}
  byte_string trigger_checkpoint(checkpoint_id checkpoint, std::int64_t /*timestamp_ms*/) override {
    auto& given = log_->given[checkpoint];
    given = "entry " + std::to_string(log_->given.size()) + " of " + std::to_string(checkpoint);
    return byte_string(given);
  }
  void restore_checkpoint(checkpoint_id checkpoint, byte_view state) override {
    log_->restored.emplace_back(checkpoint, state);
  }
  void reset() override { ++log_->resets; }
  void close() override { ++log_->closes; }

private:
  std::shared_ptr<hook_log> log_;
};

result<api::built_job> describe(const std::shared_ptr<faults>& shared, const run_options& options,
                                int parallelism) {
  graph::connector_registry connectors;
  cluster::register_all_connectors(connectors, {});
  api::environment env({}, {&connectors, {}});
  env.set_job_name("windowed");
  env.enable_checkpointing(std::chrono::milliseconds(options.deals_splits ? 10 : 100),
                           options.at_least_once ? graph::barrier_alignment::at_least_once
                                                 : graph::barrier_alignment::exactly_once);
  env.checkpoints().keep_on_cancel = options.from_checkpoint;
  if (options.hook != nullptr)
    env.add_master_hook("ledger", [log = options.hook] { return std::make_unique<ledger>(log); });
  if (options.unaligned)
    env.enable_unaligned_checkpoints(std::chrono::milliseconds(options.aligned_timeout_ms));
  if (!options.state_backend.empty())
    env.set_state_backend(options.state_backend);
  env.set_restart_strategy(api::restart::fixed_delay(1000, std::chrono::milliseconds(10)));
  const auto disturbed = [shared](const click& in) {
    if (std::exchange(shared->throw_next, false))
      throw std::runtime_error("disturbed");
    return in;
  };
  if (!options.sql.empty()) {
    api::table_environment(env).execute_sql(options.sql);
    return api::build_job(env, parallelism);
  }
  if (options.deals_splits) {
    env.from_source(api::file_source::csv<click>("/input")
                        .option("source.split-size", split_size)
                        .option("rows-per-second", "1000"))
        .map(disturbed)
        .sink_to(api::file_sink::csv("/output"));
    return api::build_job(env, parallelism);
  }
  auto clicks = read_clicks(env, "/input", "1000").map(disturbed);
  if (options.asks != asking::none)
    clicks = ask_for(clicks, options.asks == asking::ordered).map(disturbed);
  std::function<void()> at_row;
  if (options.row_us > 0)
    at_row = [shared] { shared->at_row(); };
  const auto findings = options.connects ? find_connected(env, clicks) : find_in(clicks, at_row);
  if (options.collect)
    findings.collect();
  else
    findings.sink_to(api::file_sink::csv("/output"));
  return api::build_job(env, parallelism);
}

/// Gives the code of the one job that the test describes.
class testing_loader final : public graph::job_code_loader {
public:
  explicit testing_loader(std::shared_ptr<const graph::job_code> code) : code_(std::move(code)) {}
  result<std::shared_ptr<const graph::job_code>>
  load(const std::string&, const std::vector<std::string>&, const std::string&) override {
    return code_;
  }

  void set(std::shared_ptr<const graph::job_code> code) { code_ = std::move(code); }

private:
  std::shared_ptr<const graph::job_code> code_;
};

/// Whether a file is a local copy of state.
bool is_copy(const std::string& path) { return path.find("/local_state/") != std::string::npos; }

/// Disturbs a running cluster.
class disturber {
public:
  disturber(actors::deterministic_node& node, testing_processes& cluster,
            testing_file_system& files, faults& shared, random_source& random,
            const run_options& options)
      : node_(node), cluster_(cluster), files_(files), faults_(shared), random_(random),
        options_(options) {}

  int job_manager_restarts() const { return job_manager_restarts_; }
  void fill_disk() {
    files_.set_capacity(0);
    full_until_ = node_.steps() + 1000 + random_.below(5000);
  }
  /// Makes room again when it is time.
  void relieve() {
    if (full_until_ == 0 || node_.steps() < full_until_)
      return;
    files_.set_capacity(std::numeric_limits<std::uint64_t>::max());
    full_until_ = 0;
  }

  void disturb() {
    if (options_.kills_task_executors) {
      restart_task_executor();
      return;
    }
    // There is no function of ours in SQL that could throw.
    const auto first = options_.sql.empty() ? 0U : 1U;
    switch (first + random_.below((options_.restarts_job_manager ? 4 : 3) - first)) {
    case 0:
      faults_.throw_next = true;
      return;
    case 1:
      kill("subtask");
      return;
    case 2:
      restart_task_executor();
      return;
    default:
      ++job_manager_restarts_;
      cluster_.restart_job_manager(options_.suspends_job_manager);
      return;
    }
  }

private:
  void restart_task_executor() {
    const auto killed = kill("task_executor");
    if (!killed)
      return;
    if (options_.damages_copies)
      damage_copies();
    cluster_.restart_task_executor(*killed);
  }

  /// Changes a byte of each.
  void damage_copies() {
    for (const auto& path : files_.paths()) {
      auto content = is_copy(path) ? files_.at(path) : byte_string();
      if (content.empty())
        continue;
      content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
      files_.put(path, std::move(content));
    }
  }

  /// @returns the name of the actor that was killed
  std::optional<std::string> kill(std::string_view kind) {
    std::vector<std::string> names;
    for (const auto& each : node_.actors().snapshot(node_.environment().time.now_us()))
      if (each.kind == kind && each.state == actors::actor_state::running)
        names.push_back(each.name);
    if (names.empty())
      return std::nullopt;
    std::sort(names.begin(), names.end());
    auto chosen = names[random_.below(names.size())];
    if (!node_.kill({node_.environment().node, chosen, 0}))
      return std::nullopt;
    return chosen;
  }

  actors::deterministic_node& node_;
  testing_processes& cluster_;
  testing_file_system& files_;
  faults& faults_;
  random_source& random_;
  const run_options& options_;
  int job_manager_restarts_ = 0;
  std::uint64_t full_until_ = 0; ///< steps
};

void read_output(testing_file_system& files, const windowed_input& input, run_outcome& out) {
  const auto last = "," + std::to_string(input.last_window_ms) + ",";
  std::set<std::string> windows;
  for (const auto& path : files.paths()) {
    if (!path.starts_with("/output/") || path.find("/part-") == path.npos)
      continue;
    const auto& content = files.at(path);
    const bool is_final = content.find(last) != std::string::npos;
    for (const auto line : split_text(content, '\n')) {
      if (line.empty())
        continue;
      out.rows.emplace(line);
      if (!is_final && !input.files.empty())
        windows.insert(std::string(split_text(line, ',').at(2)));
    }
  }
  out.windows_before_end = static_cast<int>(windows.size());
}

int count_unfinal(testing_file_system& files) {
  const auto paths = files.paths();
  return static_cast<int>(std::count_if(paths.begin(), paths.end(), [](const auto& path) {
    return path.starts_with("/output/") && path.find("/.part-") != path.npos;
  }));
}

/// Bytes of in-flight data that a checkpoint has stored; of one that is gone none.
std::uint64_t in_flight_bytes_of(testing_file_system& files, const std::string& directory) {
  if (directory.empty())
    return 0;
  std::uint64_t bytes = 0;
  const auto read = state::read_checkpoint(files, directory);
  if (!read)
    return 0;
  for (const auto& [id, stored] : read->operators)
    for (const auto& [subtask, part] : stored.subtasks)
      for (const auto& handle : part.channels)
        bytes += handle.segment.size_bytes;
  return bytes;
}

std::size_t files_in(testing_file_system& files, const std::string& directory) {
  const auto paths = files.paths();
  return static_cast<std::size_t>(std::count_if(paths.begin(), paths.end(), [&](const auto& path) {
    return !directory.empty() && path.starts_with(directory + "/");
  }));
}

/// A client that fetches the rows of the job's collecting sink.
class row_fetcher {
public:
  row_fetcher(scheduler::job_client& client, const graph::job_graph& job)
      : client_(client), job_(job.id) {
    for (const auto& vertex : job.vertices)
      for (const auto& node : vertex.operators)
        if (std::holds_alternative<graph::sink_spec>(node.spec)) {
          sink_ = node.id;
          type_ = std::make_shared<const graph::logical_type>(node.input_types.front());
        }
  }

  /// Adds what there is to the rows, as the file sink would have written them.
  /// @returns whether it was the last
  bool fetch(run_outcome& into) {
    const auto got = client_.fetch(job_, sink_, offset_);
    if (!got) {
      into.failure = to_string(got.error());
      return true;
    }
    offset_ = got->next_offset;
    for (const auto& bytes : got->batches) {
      const auto rows = graph::decode_batch(type_, bytes);
      for (std::size_t row = 0; rows && row < rows->size(); ++row) {
        std::string line;
        for (const auto& column : rows->columns())
          line += (line.empty() ? "" : ",") + std::to_string(column->values<std::int64_t>()[row]);
        windows_.insert(std::string(split_text(line, ',').at(2)));
        into.rows.insert(std::move(line));
      }
    }
    return got->is_last;
  }
  int windows() const { return static_cast<int>(windows_.size()); }

private:
  scheduler::job_client& client_;
  job_id job_;
  operator_id sink_;
  graph::row_type_ptr type_;
  std::uint64_t offset_ = 0;
  std::set<std::string> windows_;
};

} // namespace

namespace {

/// Submits the job anew, to run on from a savepoint. @returns what failed; empty: nothing
std::string run_on(scheduler::job_client& client, testing_loader& loader,
                   const std::shared_ptr<faults>& shared, const run_options& options,
                   random_source& random, const std::string& savepoint, api::built_job& job) {
  auto changed = options;
  if (options.loses_hook)
    changed.hook = nullptr;
  auto next = describe(shared, changed, options.restored_parallelism);
  if (!next)
    return to_string(next.error());
  loader.set(next->code);
  next->graph.id = random.next_id<job_id>();
  next->graph.checkpoints.restore_from = savepoint;
  const auto submitted = client.submit(next->graph);
  if (!submitted)
    return to_string(submitted.error());
  job = std::move(*next);
  return {};
}

} // namespace

namespace {

/// Of the restart that has read the most so far.
void note_restored_bytes(const scheduler::job_status& status, run_outcome& out) {
  std::uint64_t bytes = 0;
  std::uint64_t local_bytes = 0;
  for (const auto& vertex : status.vertices) {
    bytes += vertex.restored_bytes;
    local_bytes += vertex.restored_local_bytes;
  }
  if (bytes < out.restored_bytes)
    return;
  out.restored_bytes = bytes;
  out.restored_local_bytes = local_bytes;
}

} // namespace

windowed_input make_windowed_input(int files, int rows) {
  windowed_input out;
  const auto random = make_seeded_random(42);
  for (int file = 0; file < files; ++file) {
    std::string lines;
    std::int64_t time = 1'000'000;
    for (int row = 0; row < rows; ++row) {
      time += static_cast<std::int64_t>(random->below(100));
      const windowed_input::event event{time, static_cast<std::int64_t>(random->below(10)),
                                        static_cast<std::int64_t>(random->below(1000))};
      out.events.push_back(event);
      out.last_window_ms = std::max(out.last_window_ms, time - time % second);
      lines += std::to_string(event.time_ms) + ',' + std::to_string(event.key) + ',' +
               std::to_string(event.value) + '\n';
    }
    out.files.push_back(std::move(lines));
  }
  return out;
}

std::multiset<std::string> expected_rows(const windowed_input& input) {
  std::map<std::tuple<int, std::int64_t, std::int64_t>, std::int64_t> numbers;
  for (const auto& event : input.events) {
    const auto start = event.time_ms - event.time_ms % second;
    numbers[{0, event.key, start}] += event.value;
    numbers[{1, event.key, start}] += 1;
  }
  std::multiset<std::string> out;
  for (const auto& [where, number] : numbers)
    out.insert(std::to_string(std::get<0>(where)) + ',' + std::to_string(std::get<1>(where)) + ',' +
               std::to_string(std::get<2>(where)) + ',' + std::to_string(number));
  return out;
}

std::multiset<std::string> input_rows(const windowed_input& input) {
  std::multiset<std::string> out;
  for (const auto& file : input.files)
    for (const auto line : split_text(file, '\n'))
      if (!line.empty())
        out.emplace(line);
  return out;
}

run_outcome run_windowed_job(const windowed_input& input, const run_options& options) {
  run_outcome out;
  testing_file_system files;
  for (std::size_t i = 0; i < input.files.size(); ++i)
    files.put("/input/events-" + std::to_string(i) + ".csv", input.files[i]);
  for (const auto& [path, content] : options.files)
    files.put(path, content);

  const auto shared = std::make_shared<faults>();
  auto job = describe(shared, options, options.parallelism);
  if (!job) {
    out.failure = to_string(job.error());
    return out;
  }
  testing_loader loader(job->code);
  const auto random = make_seeded_random(options.seed);
  actors::node_options node_options;
  const auto refused = std::make_shared<std::atomic<bool>>(false);
  node_options.log = logger::to(
      [refused, is_wanted = wants_log()](log_level, std::string_view line) {
        if (line.find("local copy of state is refused") != std::string_view::npos)
          *refused = true;
        if (is_wanted)
          std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
      },
      wants_log() ? log_level::debug : log_level::warn);
  const auto node = actors::make_deterministic_node(options.seed, node_options);
  shared->at_row = [&clock = clock_of(*node), row_us = options.row_us] {
    clock.advance_us(row_us);
  };
  const scratch_directory scratch; // databases do not lie in memory
  testing_processes cluster(*node, files, loader, {options.task_executors, 2, scratch.path()});
  if (const auto started = cluster.start(); !started) {
    out.failure = to_string(started.error());
    return out;
  }
  disturber disturb(*node, cluster, files, *shared, *random, options);

  job->graph.id = random->next_id<job_id>();
  const auto submitted = cluster.client().submit(job->graph);
  if (!submitted) {
    out.failure = to_string(submitted.error());
    return out;
  }

  row_fetcher rows(cluster.client(), job->graph);
  int disturbed = 0;
  std::int64_t checkpoint_needed = 1;
  std::set<std::int64_t> restored;
  std::map<checkpoint_id, std::uint64_t> stored_in_flight;
  std::uint64_t next_disturbance = 0;
  std::optional<testing_stop> stop;
  const auto stop_after = static_cast<checkpoint_id>(2 + random->below(9));
  bool is_stopped = options.restored_parallelism == 0;
  bool is_canceled = false;
  while (node->steps() < steps_max) {
    for (int i = 0; i < 500; ++i) {
      if (!node->run_once() && !node->advance_to_next_timer())
        break;
      if (options.row_us > 0) // the node is never idle then
        node->fire_due_timer();
      if (next_disturbance != 0 && node->steps() >= next_disturbance) {
        next_disturbance = 0;
        if (options.clock_jumps)
          clock_of(*node).jump_wall_ms((++out.jumps % 2 == 0 ? -1 : 1) *
                                       static_cast<std::int64_t>(random->below(two_days_ms)));
        else if (options.full_disk)
          disturb.fill_disk();
        else
          disturb.disturb();
      }
      disturb.relieve();
    }
    const auto status = cluster.client().status(job->graph.id);
    if (!status) {
      out.failure = to_string(status.error());
      break;
    }
    if (!stored_in_flight.contains(status->last_checkpoint)) {
      out.checkpoint_files =
          std::max(out.checkpoint_files, files_in(files, status->last_checkpoint_path));
      stored_in_flight[status->last_checkpoint] =
          in_flight_bytes_of(files, status->last_checkpoint_path);
    }
    if (status->restored_checkpoint > 0)
      restored.insert(status->restored_checkpoint);
    note_restored_bytes(*status, out);
    if (options.from_checkpoint && !is_stopped) {
      if (!is_canceled && stored_in_flight.at(status->last_checkpoint) > 0) {
        is_canceled = true;
        if (const auto told = cluster.client().cancel(job->graph.id); !told) {
          out.failure = to_string(told.error());
          break;
        }
      }
      if (!scheduler::is_terminal(status->state))
        continue;
      is_stopped = true;
      out.failure = status->state == scheduler::job_state::canceled
                        ? run_on(cluster.client(), loader, shared, options, *random,
                                 status->last_checkpoint_path, *job)
                        : ended_early;
      if (!out.failure.empty())
        break;
      continue;
    }
    if (!is_stopped && !stop && status->last_checkpoint >= stop_after)
      stop.emplace(job->graph.id, *random, options.is_native, options.drains);
    if (stop) {
      if (const auto path = stop->look(cluster.client(), *status)) {
        stop.reset();
        is_stopped = true;
        read_output(files, input, out);
        out.rows_at_stop = out.rows.size();
        out.unfinal_at_stop = count_unfinal(files);
        out.rows.clear();
        out.failure = run_on(cluster.client(), loader, shared, options, *random, *path, *job);
        if (!out.failure.empty())
          break;
        checkpoint_needed = 1;
        continue;
      }
      if (scheduler::is_terminal(status->state) && stop->is_waiting())
        continue; // it is about to say so
    }
    if (options.collect && !scheduler::is_terminal(status->state)) {
      out.windows_before_end = rows.windows();
      rows.fetch(out);
    }
    if (scheduler::is_terminal(status->state)) {
      while (options.collect && !rows.fetch(out)) {
      }
      if (status->state != scheduler::job_state::finished)
        out.failure =
            std::string(scheduler::name_of(status->state)) + ": " + to_string(status->failure);
      out.restarts = status->restarts;
      for (const auto& vertex : status->vertices)
        out.late_rows += vertex.late_records;
      break;
    }
    if (disturbed < options.disturbances && next_disturbance == 0 &&
        status->last_checkpoint >= checkpoint_needed) {
      ++disturbed;
      checkpoint_needed = status->last_checkpoint + 2;
      next_disturbance = node->steps() + 1 + random->below(3000);
    }
  }
  if (node->steps() >= steps_max)
    out.failure = "the job did not end within its steps";
  out.restored_checkpoints = static_cast<int>(restored.size());
  for (const auto& [checkpoint, bytes] : stored_in_flight) {
    out.in_flight_bytes = std::max(out.in_flight_bytes, bytes);
    if (restored.contains(checkpoint))
      out.restored_in_flight_bytes = std::max(out.restored_in_flight_bytes, bytes);
  }
  out.steps = node->steps();
  out.has_refused_copies = *refused;
  for (int i = 0; i < 20'000; ++i)
    if (!node->run_once() && !node->advance_to_next_timer())
      break;
  for (const auto& path : files.paths())
    out.copies_left += is_copy(path) ? 1 : 0;
  out.job_manager_restarts = disturb.job_manager_restarts();
  if (!options.collect)
    read_output(files, input, out);
  if (!node->shut_down() && out.failure.empty())
    out.failure = "the node did not shut down";
  return out;
}

} // namespace headrace::testing
