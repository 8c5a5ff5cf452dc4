#include "libtask/operator/sink_operator.hpp"

#include "libtask/operator/collect_operator.hpp"
#include "libgraph/connector/abilities.hpp"
#include "libgraph/connector/option_set.hpp"
#include "libgraph/function/failure.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <utility>

namespace headrace::task {

namespace {
constexpr std::size_t queued_batches_max = 8;
constexpr std::size_t queued_bytes_max = std::size_t{8} << 20U;
constexpr double queued_us_max = 100'000; ///< that the writer may take for what waits
constexpr std::size_t first_rows = 64;    ///< as long as nothing is known of the writer
constexpr std::chrono::milliseconds commit_pause_min{100};
constexpr std::chrono::milliseconds commit_pause_max{10'000};
constexpr int doublings_max = 7; // beyond the longest pause

byte_string encode_committable(checkpoint_id checkpoint, const graph::committable& what) {
  byte_string out;
  byte_writer writer(out);
  writer.put(checkpoint);
  writer.put_bytes(what);
  return out;
}

result<graph::committable> decode_committable(byte_view stored) {
  byte_reader reader(stored);
  HEADRACE_TRY(const auto checkpoint, reader.get<checkpoint_id>());
  static_cast<void>(checkpoint); // whatever it was, it is complete now
  HEADRACE_TRY(const auto what, reader.get_bytes());
  return graph::committable(what);
}
} // namespace

namespace {

byte_string encode_job(const job_id& job) {
  byte_string out;
  byte_writer writer(out);
  writer.put(job.high);
  writer.put(job.low);
  return out;
}

result<job_id> decode_job(byte_view stored) {
  byte_reader in(stored);
  HEADRACE_TRY(const auto high, in.get<std::uint64_t>());
  HEADRACE_TRY(const auto low, in.get<std::uint64_t>());
  return job_id{high, low};
}

} // namespace

struct sink_operator::command {
  enum class kind : std::uint8_t { create_committer, commit, create_writer, write, prepare };
  kind what = kind::write;
  std::vector<graph::record_batch> rows;        // write
  std::vector<byte_string> writer_states;       // create_writer
  std::vector<graph::committable> committables; // commit
  bool is_restored = false;                     // commit
  int tries = 0;                                // commit
  checkpoint_id checkpoint = 0;                 // prepare
  std::int64_t watermark_ms = 0;                // prepare
  bool end_of_input = false;                    // prepare
  std::function<void(status)> done;             // prepare
};

struct sink_operator::outcome {
  std::optional<error> failure;
  std::vector<graph::committable> committables;
  byte_string writer_state;
  graph::commit_later later;
  std::int64_t took_us = 0;
};

/// The writer and the committer, as steps on the executor see them: one step at a time.
struct sink_operator::writer_cell {
  std::mutex one_at_a_time;
  std::shared_ptr<const graph::job_code> code; ///< outlives what may come from it
  std::unique_ptr<graph::sink> sink;
  std::unique_ptr<graph::sink_writer> writer;
  std::unique_ptr<graph::committer> committer;
  std::atomic<bool> closed{false};
  std::optional<graph::writer_context> context;
};

sink_operator::sink_operator(const graph::operator_node& node, const operator_context& context,
                             std::unique_ptr<graph::sink> sink)
    : name_(node.name), id_(node.id), context_(context), writer_(std::make_shared<writer_cell>()) {
  writer_->code = context.code;
  writer_->sink = std::move(sink);
}

sink_operator::~sink_operator() = default;

status sink_operator::take_former_jobs() {
  for (const auto& [key, value] : stored_jobs_->entries()) {
    HEADRACE_TRY(const auto job, decode_job(key));
    if (job != context_.job)
      former_jobs_.push_back(job);
  }
  stored_jobs_->put(encode_job(context_.job), {});
  return {};
}

graph::writer_context sink_operator::writer_context() const {
  return {context_.subtask,   context_.parallelism, context_.attempt,
          context_.task_name, context_.files,       context_.time,
          context_.log,       context_.job,         id_,
          context_.is_fresh,  former_jobs_};
}

status sink_operator::open(const operator_states& states) {
  HEADRACE_TRY(stored_jobs_, states.plain->broadcast("jobs"));
  HEADRACE_TRY(stored_writer_, states.plain->list("writer"));
  HEADRACE_TRY(stored_committables_, states.plain->list("committables"));
  HEADRACE_CHECK(take_former_jobs());
  writer_->context.emplace(writer_context());
  command begin;
  begin.what = command::kind::create_committer;
  enqueue(std::move(begin));
  command commit;
  commit.what = command::kind::commit;
  commit.is_restored = true;
  for (const auto& element : stored_committables_->elements()) {
    HEADRACE_TRY(auto what, decode_committable(element));
    commit.committables.push_back(std::move(what));
  }
  stored_committables_->clear();
  if (!commit.committables.empty())
    enqueue(std::move(commit));
  command create;
  create.what = command::kind::create_writer;
  create.writer_states = stored_writer_->elements();
  enqueue(std::move(create));
  return {};
}

status sink_operator::add(std::int32_t /*input*/, const graph::record_batch& rows) {
  ++queued_batches_;
  queued_rows_ += rows.size();
  queued_bytes_ += rows.retained_bytes();
  if (!commands_.empty() && commands_.back().what == command::kind::write) {
    commands_.back().rows.push_back(rows);
    return {};
  }
  command write;
  write.rows.push_back(rows);
  enqueue(std::move(write));
  return {};
}

bool sink_operator::is_blocked() const {
  return queued_batches_ >= queued_batches_max || queued_bytes_ >= queued_bytes_max ||
         static_cast<double>(queued_rows_) * row_us_.value_or(0) >= queued_us_max;
}

std::size_t sink_operator::rows_wanted() const {
  // What stands before it may keep all rows to itself, as an aggregation does: until the first rows
  // have come here they are no reason to take few at the head of the chain.
  if (!row_us_)
    return queued_rows_ == 0 ? std::numeric_limits<std::size_t>::max() : first_rows;
  constexpr double most = 1e9;
  const auto rows = std::min(most, queued_us_max / std::max(*row_us_, 1e-3));
  return std::max<std::size_t>(static_cast<std::size_t>(rows), queued_rows_ + 1) - queued_rows_;
}

void sink_operator::note_write(std::size_t rows, std::int64_t took_us) {
  const auto lately =
      static_cast<double>(took_us) / static_cast<double>(std::max<std::size_t>(rows, 1));
  // One write that had to flush says little.
  row_us_ = row_us_ ? (*row_us_ * 3 + lately) / 4 : lately;
}

status sink_operator::advance(graph::watermark mark) {
  watermark_ms_ = mark.time_ms;
  return {};
}

status sink_operator::end_input(std::int32_t /*input*/) {
  ended_ = true;
  if (context_.checkpointing)
    return {}; // the final checkpoint commits
  command last;
  last.what = command::kind::prepare;
  last.end_of_input = true;
  last.watermark_ms = watermark_ms_;
  last.checkpoint = std::numeric_limits<checkpoint_id>::max();
  last.done = [this](status prepared) {
    if (prepared)
      prepared = notify_completed(std::numeric_limits<checkpoint_id>::max());
  };
  enqueue(std::move(last));
  return {};
}

void sink_operator::snapshot(checkpoint_id checkpoint, std::function<void(status)> done) {
  command prepare;
  prepare.what = command::kind::prepare;
  prepare.checkpoint = checkpoint;
  prepare.end_of_input = ended_;
  prepare.watermark_ms = watermark_ms_;
  prepare.done = std::move(done);
  enqueue(std::move(prepare));
}

status sink_operator::notify_completed(checkpoint_id checkpoint) {
  command commit;
  commit.what = command::kind::commit;
  const auto end = uncommitted_.upper_bound(checkpoint);
  for (auto at = uncommitted_.begin(); at != end; ++at)
    for (auto& what : at->second)
      commit.committables.push_back(std::move(what));
  uncommitted_.erase(uncommitted_.begin(), end);
  if (!commit.committables.empty())
    enqueue(std::move(commit));
  return {};
}

void sink_operator::enqueue(command next) {
  commands_.push_back(std::move(next));
  run_next();
}

void sink_operator::run_next() {
  if (running_ || commands_.empty() || failed_ || is_pausing_)
    return;
  running_ = true;
  auto what = std::make_shared<command>(std::move(commands_.front()));
  commands_.pop_front();
  auto given = std::make_shared<outcome>();
  context_.services.run_blocking(
      [cell = writer_, what, given, &time = context_.time] {
        const std::lock_guard guard(cell->one_at_a_time);
        // What a complete checkpoint holds is committed even when the task has ended.
        if (cell->closed && what->what > command::kind::commit)
          return;
        const auto started_us = time.now_us();
        *given = try_to_carry_out(*cell, *what);
        given->took_us = time.now_us() - started_us;
      },
      [this, what, given] {
        running_ = false;
        finish(*what, std::move(*given));
        run_next();
      });
}

sink_operator::outcome sink_operator::try_to_carry_out(writer_cell& cell, const command& what) {
  try {
    return carry_out(cell, what);
  } catch (const graph::failure& failed) {
    return {failed.cause(), {}, {}, {}, 0};
  } catch (const std::exception& failed) {
    return {error(errc::output_failed, failed.what()), {}, {}, {}, 0};
  }
}

sink_operator::outcome sink_operator::carry_out(writer_cell& cell, const command& what) {
  outcome out;
  const auto keep = [&out](status done) {
    if (!done && !out.failure)
      out.failure = std::move(done).error();
    return !out.failure;
  };
  switch (what.what) {
  case command::kind::create_committer: {
    auto committer = cell.sink->create_committer(*cell.context);
    if (!committer)
      return {std::move(committer).error(), {}, {}, {}, 0};
    cell.committer = std::move(*committer);
    break;
  }
  case command::kind::create_writer: {
    auto writer = cell.sink->create_writer(*cell.context, what.writer_states);
    if (!writer)
      return {std::move(writer).error(), {}, {}, {}, 0};
    cell.writer = std::move(*writer);
    break;
  }
  case command::kind::write:
    for (const auto& rows : what.rows)
      if (!keep(cell.writer->write(rows)))
        break;
    break;
  case command::kind::prepare: {
    if (auto* following = dynamic_cast<graph::watermarked_writer*>(cell.writer.get()))
      following->advance(what.watermark_ms);
    auto committables = cell.writer->prepare_commit(what.end_of_input);
    if (!committables)
      return {std::move(committables).error(), {}, {}, {}, 0};
    auto state = cell.writer->snapshot(what.checkpoint);
    if (!state)
      return {std::move(state).error(), {}, {}, {}, 0};
    if (cell.committer != nullptr)
      out.committables = std::move(*committables);
    out.writer_state = std::move(*state);
    break;
  }
  case command::kind::commit: {
    if (cell.committer == nullptr)
      break;
    auto later = what.is_restored ? cell.committer->commit_restored(what.committables)
                                  : cell.committer->commit(what.committables);
    if (!later)
      return {std::move(later).error(), {}, {}, {}, 0};
    out.later = std::move(*later);
    break;
  }
  }
  return out;
}

void sink_operator::finish(const command& what, outcome given) {
  if (what.what == command::kind::write) {
    queued_batches_ -= what.rows.size();
    std::size_t written = 0;
    for (const auto& rows : what.rows) {
      written += rows.size();
      queued_bytes_ -= rows.retained_bytes();
      context_.metrics.records_out.add(rows.size());
    }
    queued_rows_ -= written;
    note_write(written, given.took_us);
  }
  if (given.failure) {
    failed_ = true;
    error cause(given.failure->code, "sink failed: " + name_, *given.failure);
    if (what.done)
      what.done(cause);
    context_.services.fail(std::move(cause));
    return;
  }
  if (!given.later.what.empty())
    commit_again(what, std::move(given.later));
  if (what.what != command::kind::prepare)
    return;
  if (!given.committables.empty()) {
    auto& kept = uncommitted_[what.checkpoint];
    for (auto& one : given.committables)
      kept.push_back(std::move(one));
  }
  store_state(std::move(given.writer_state));
  if (what.done)
    what.done({});
}

void sink_operator::commit_again(const command& failed, graph::commit_later later) {
  error cause = later.cause.value_or(error(errc::commit_failed, "no cause was given"));
  if (failed.tries >= context_.committer_retries) {
    failed_ = true;
    context_.services.fail({errc::commit_failed,
                            "sink could not commit, tried again as often as "
                            "sink.committer.retries says, " +
                                std::to_string(context_.committer_retries) + ": " + name_,
                            std::move(cause)});
    return;
  }
  const auto pause =
      std::min(commit_pause_max, commit_pause_min * (1 << std::min(failed.tries, doublings_max)));
  context_.log.warn(
      "sink cannot commit, and tries again",
      {{"sink", name_}, {"after_ms", std::to_string(pause.count())}, {"cause", to_string(cause)}});
  command again;
  again.what = command::kind::commit;
  again.committables = std::move(later.what);
  again.is_restored = failed.is_restored;
  again.tries = failed.tries + 1;
  commands_.push_front(std::move(again)); // what follows waits, so that nothing overtakes it
  is_pausing_ = true;
  context_.services.after(pause, [this] {
    is_pausing_ = false;
    run_next();
  });
}

void sink_operator::store_state(byte_string writer_state) {
  std::vector<byte_string> writer;
  if (!writer_state.empty())
    writer.push_back(std::move(writer_state));
  stored_writer_->replace(std::move(writer));
  std::vector<byte_string> committables;
  for (const auto& [checkpoint, all] : uncommitted_)
    for (const auto& one : all)
      committables.push_back(encode_committable(checkpoint, one));
  stored_committables_->replace(std::move(committables));
}

void sink_operator::close() {
  auto commits = std::make_shared<std::deque<command>>();
  for (auto& waiting : commands_)
    if (waiting.what == command::kind::commit)
      commits->push_back(std::move(waiting));
  commands_.clear();
  context_.services.run_blocking(
      [cell = writer_, commits] {
        const std::lock_guard guard(cell->one_at_a_time);
        for (const auto& commit : *commits) // what fails is committed by who restores it
          static_cast<void>(try_to_carry_out(*cell, commit));
        if (cell->closed.exchange(true) || cell->writer == nullptr)
          return;
        static_cast<void>(cell->writer->close());
      },
      [] {});
}

result<std::unique_ptr<stream_operator>> make_sink_operator(const graph::operator_node& node,
                                                            const operator_context& context) {
  const auto& spec = std::get<graph::sink_spec>(node.spec);
  if (spec.connector.provider.is_none() && spec.connector.name == "collect") {
    HEADRACE_CHECK(graph::option_set::parse("sink 'collect'", {}, spec.connector.options));
    return std::unique_ptr<stream_operator>(
        std::make_unique<collect_operator>(node, context, collect_limits(context.parallelism)));
  }
  std::unique_ptr<graph::sink> sink;
  if (spec.connector.provider.is_none()) {
    if (node.input_types.empty())
      return error(errc::invalid_graph, "sink without input: " + node.name);
    HEADRACE_TRY(sink, context.connectors.create_sink(
                           spec.connector.name, spec.connector.options,
                           std::make_shared<const graph::logical_type>(node.input_types[0])));
  } else {
    HEADRACE_TRY(sink, make_function<graph::sink>(context, spec.connector.provider));
  }
  return std::unique_ptr<stream_operator>(
      std::make_unique<sink_operator>(node, context, std::move(sink)));
}

} // namespace headrace::task
