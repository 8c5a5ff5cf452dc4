#include "libtask/operator/operator_chain.hpp"

#include "libtask/operator/query_state.hpp"
#include "libgraph/data/key_group.hpp"
#include "libgraph/function/failure.hpp"
#include "libgraph/job_graph/query_parts.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace headrace::task {

namespace {
struct chain_target {
  std::size_t node = 0;
  std::int32_t input = 0;
};
struct outlet {
  std::int32_t side = -1;
  std::vector<chain_target> nodes;
  std::vector<std::size_t> results;
};
struct waiting_element {
  std::int32_t input = 0;
  graph::stream_element element;
};
/// The input of the watermark with which an operator goes on from a checkpoint.
constexpr std::int32_t from_checkpoint = -1;

/// Whether the job is drained: event time and the input end ahead of the barrier.
bool drains(const graph::barrier& split) {
  return split.savepoint != nullptr && split.savepoint->stop == graph::savepoint_stop::drain;
}
} // namespace

struct operator_chain::node {
  std::unique_ptr<stream_operator> op;
  operator_id id;
  std::string name;
  std::string uid;                               ///< empty: none
  std::vector<graph::logical_type::field> query; ///< what its keyed state is of, if it is of SQL
  std::vector<outlet> outlets;
  std::unique_ptr<state::keyed_backend> keyed;
  std::unique_ptr<state::operator_state_backend> plain;
  graph::restored_raw_state raw; ///< until it is open
  std::deque<waiting_element> waiting;
  std::optional<graph::stream_element> passing; ///< goes on once drained
  std::int32_t open_inputs = 1;
  bool draining = false;
  /// Event time so far, not counting that it has ended: what the operator was advanced to, or what
  /// it gave where event time begins. It only rises, also over restarts.
  std::int64_t reached_ms = graph::watermark::none;
  std::int64_t restored_ms = graph::watermark::none; ///< until it is open
  bool is_source = false;
  bool begins_event_time = false;
  bool is_ending = false; ///< all inputs have ended, and it has more to give
  bool ended = false;
  std::optional<std::int64_t> timers_due_ms;

  /// Whether the watermark that it goes on with is still to be taken: before all else.
  bool awaits_restored() const {
    return !waiting.empty() && waiting.front().input == from_checkpoint;
  }
  /// Whether it has something to do ahead of what waits.
  bool has_work() const { return draining || (timers_due_ms && !awaits_restored()); }
  outlet& outlet_of(std::int32_t side) {
    for (auto& one : outlets)
      if (one.side == side)
        return one;
    return outlets.emplace_back(outlet{side, {}, {}});
  }
};

/// Deals what one operator emits to those behind it.
class operator_chain::node_output final : public operator_output {
public:
  node_output(operator_chain& chain, std::size_t index) : chain_(chain), index_(index) {}
  void emit(graph::record_batch rows) override { emit_side(-1, std::move(rows)); }
  void emit_side(std::int32_t side, graph::record_batch rows) override {
    if (rows.is_empty())
      return;
    auto& from = *chain_.nodes_[index_];
    if (from.is_source && side < 0)
      chain_.context_.metrics.records_in.add(rows.size());
    for (auto& to : from.outlets) {
      if (to.side != side)
        continue;
      for (const auto& next : to.nodes)
        chain_.push(next.node, next.input, rows);
      for (const auto result : to.results) {
        chain_.context_.metrics.records_out.add(rows.size());
        chain_.results_.emit(result, rows);
      }
    }
  }
  void emit(graph::watermark mark) override {
    if (!chain_.nodes_[index_]->begins_event_time || chain_.reach(index_, mark))
      chain_.forward(index_, mark);
  }
  void emit(graph::watermark_status state) override { chain_.forward(index_, state); }

private:
  operator_chain& chain_;
  std::size_t index_;
};

struct operator_chain::pending_snapshot {
  std::unique_ptr<chain_snapshot> content;
  std::optional<error> failure;
  std::size_t awaited = 0; ///< operators that the barrier has not passed, or that are not done
  std::int64_t synchronous_us = 0;
};

operator_chain::operator_chain(const operator_context& context, chain_results& results)
    : context_(context), results_(results) {}
operator_chain::~operator_chain() = default;

result<std::unique_ptr<operator_chain>> operator_chain::make(const graph::job_vertex& vertex,
                                                             const operator_factories& factories,
                                                             const operator_context& context,
                                                             chain_results& results) {
  if (vertex.operators.empty())
    return error(errc::invalid_graph, "vertex without operators: " + vertex.name);
  std::unique_ptr<operator_chain> chain(new operator_chain(context, results));
  for (const auto& described : vertex.operators) {
    auto made = std::make_unique<node>();
    made->id = described.id;
    made->name = described.name;
    made->uid = described.uid;
    made->query = graph::query_parts(described);
    made->is_source = std::holds_alternative<graph::source_spec>(described.spec);
    try {
      auto own = chain->context_;
      own.operator_name = described.name;
      HEADRACE_TRY(made->op, factories.make(described, own));
    } catch (const std::exception& failure) {
      return error(errc::user_function_failed,
                   "operator could not be made: " + described.name + ", because " + failure.what());
    }
    made->begins_event_time = made->op->begins_event_time();
    chain->nodes_.push_back(std::move(made));
  }
  for (const auto& edge : vertex.chain)
    if (edge.from < 0 || edge.to <= edge.from ||
        static_cast<std::size_t>(edge.to) >= vertex.operators.size())
      return error(errc::invalid_graph, "chain edge out of order: " + vertex.name);
  for (const auto& output : vertex.outputs)
    if (output.from < 0 || static_cast<std::size_t>(output.from) >= vertex.operators.size())
      return error(errc::invalid_graph, "result of an unknown operator: " + vertex.name);
  chain->link(vertex);
  return chain;
}

void operator_chain::link(const graph::job_vertex& vertex) {
  for (const auto& edge : vertex.chain)
    nodes_[static_cast<std::size_t>(edge.from)]->outlet_of(edge.side).nodes.push_back(
        {static_cast<std::size_t>(edge.to), edge.input});
  for (std::size_t i = 0; i < vertex.outputs.size(); ++i)
    nodes_[static_cast<std::size_t>(vertex.outputs[i].from)]
        ->outlet_of(vertex.outputs[i].side)
        .results.push_back(i);
  std::int32_t inputs = 1;
  for (const auto& input : vertex.inputs)
    inputs = std::max(inputs, input.input + 1);
  nodes_.front()->open_inputs = inputs;
  has_source_ = nodes_.front()->is_source;
}

status operator_chain::restore(state::state_backend& backend,
                               const state::task_state_snapshot& from,
                               const std::string& local_directory,
                               state::local_first_files& local_first) {
  static const state::operator_subtask_state nothing;
  for (auto& one : nodes_) {
    const auto stored = from.operators.find(one->id);
    const auto& state = stored == from.operators.end() ? nothing : stored->second;
    one->restored_ms = state.watermark_ms.value_or(graph::watermark::none);
    auto restored = restore(*one, backend, state, local_directory, local_first);
    // What was read of a copy that turns out to be wrong is forgotten, all of it.
    while (!restored && !restored.error().has(errc::incompatible_state) &&
           local_first.refuse_opened(restored.error()))
      restored = restore(*one, backend, state, local_directory, local_first);
    HEADRACE_CHECK(std::move(restored));
  }
  return {};
}

status operator_chain::restore(node& one, state::state_backend& backend,
                               const state::operator_subtask_state& from,
                               const std::string& local_directory,
                               state::local_first_files& local_first) {
  one.keyed.reset();
  one.plain = std::make_unique<state::operator_state_backend>();
  if (!from.managed.empty())
    HEADRACE_CHECK(one.plain->restore(from.managed, local_first));
  const auto groups =
      graph::key_groups_of(context_.subtask, context_.max_parallelism, context_.parallelism);
  HEADRACE_TRY(one.raw, state::read_raw_state(local_first, from, groups));
  const auto key = one.op->key_schema();
  if (!key)
    return {};
  state::keyed_backend_setup setup{
      *key,
      context_.max_parallelism,
      groups,
      &context_.time,
      &context_.files,
      context_.memory,
      local_directory.empty() ? std::string() : local_directory + "/" + to_string(one.id),
      to_string(one.id),
      &local_first};
  HEADRACE_TRY(one.keyed, backend.make(std::move(setup)));
  return one.keyed->restore(from.keyed);
}

bool operator_chain::is_keyed() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const auto& one) { return one->keyed != nullptr; });
}

status operator_chain::open(bool may_drop_state) {
  for (auto& one : nodes_) {
    if (one->plain == nullptr)
      one->plain = std::make_unique<state::operator_state_backend>();
    HEADRACE_CHECK(guarded(*one, [&]() -> status {
      if (!one->raw.is_empty() && one->op->raw_state() == nullptr && !may_drop_state)
        return error(errc::incompatible_state,
                     "checkpoint has raw state, and the operator no longer writes any; allow "
                     "non-restored state to drop it");
      if (one->keyed)
        if (auto declared = declare_query(*one->keyed, one->query); !declared)
          return declared;
      if (auto opened = one->op->open({one->keyed.get(), one->plain.get(), &one->raw}); !opened)
        return opened;
      one->raw = {};
      if (auto settled = one->plain->settle_restored(may_drop_state); !settled)
        return settled;
      if (one->keyed == nullptr)
        return {};
      // Without a part of its state an operator of a query would count wrongly.
      auto settled = one->keyed->settle_restored(may_drop_state && one->query.empty());
      context_.metrics.state.add(one->keyed->figures());
      return settled;
    }));
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i]->restored_ms != graph::watermark::none)
      push(i, from_checkpoint,
           graph::watermark{std::exchange(nodes_[i]->restored_ms, graph::watermark::none)});
  return {};
}

void operator_chain::add(std::int32_t input, graph::record_batch rows) {
  context_.metrics.records_in.add(rows.size());
  push(0, input, std::move(rows));
}

void operator_chain::add(graph::stream_element control) { push(0, 0, std::move(control)); }

void operator_chain::end_input(std::int32_t input) { push(0, input, graph::end_of_input{}); }

void operator_chain::push(std::size_t to, std::int32_t input, graph::stream_element element) {
  nodes_[to]->waiting.push_back({input, std::move(element)});
  ++work_;
}

bool operator_chain::is_blocked() const {
  if (work_ == 0)
    return false;
  for (auto index = nodes_.size(); index-- > 0;) { // as `step` looks for work
    const auto& at = *nodes_[index];
    if (at.has_work())
      return false;
    if (!at.waiting.empty())
      return !takes_next(at);
  }
  return false;
}

bool operator_chain::takes_next(const node& at) {
  const auto* const split = std::get_if<graph::barrier>(&at.waiting.front().element);
  if (split == nullptr)
    return !at.op->is_blocked();
  return !at.op->blocks_barriers() && !(at.is_ending && drains(*split));
}

bool operator_chain::takes_rows() const {
  return std::none_of(nodes_.begin(), nodes_.end(),
                      [](const auto& one) { return one->op->is_blocked(); });
}

std::size_t operator_chain::rows_wanted() const {
  auto rows = std::numeric_limits<std::size_t>::max();
  for (const auto& one : nodes_)
    rows = std::min(rows, one->op->rows_wanted());
  return rows;
}

void operator_chain::take_due() {
  for (auto& one : nodes_)
    if (!one->draining && !one->awaits_restored() && one->op->has_output_due())
      set_draining(*one, true);
}

status operator_chain::step(const drain_budget& budget) {
  for (auto index = nodes_.size(); index-- > 0;) {
    auto& at = *nodes_[index];
    if (at.draining)
      return drain(index, budget);
    if (at.timers_due_ms && !at.awaits_restored()) {
      const auto now = *std::exchange(at.timers_due_ms, std::nullopt);
      --work_;
      HEADRACE_CHECK(guarded(at, [&] { return at.op->on_processing_time(now); }));
      set_draining(at, true);
      return drain(index, budget);
    }
    if (at.waiting.empty())
      continue;
    if (!takes_next(at))
      return {};
    HEADRACE_CHECK(take_next(index));
    return at.draining ? drain(index, budget) : status();
  }
  return {};
}

status operator_chain::take_next(std::size_t index) {
  auto& at = *nodes_[index];
  auto next = std::move(at.waiting.front());
  at.waiting.pop_front();
  --work_;
  set_draining(at, true);
  if (const auto* mark = std::get_if<graph::watermark>(&next.element))
    return advance(index, next.input, *mark);
  return guarded(at, [&] { return begin(at, next.input, next.element); });
}

status operator_chain::advance(std::size_t index, std::int32_t input, graph::watermark mark) {
  auto& at = *nodes_[index];
  if (at.begins_event_time && input == from_checkpoint) {
    if (reach(index, mark))
      forward(index, mark);
    set_draining(at, false); // no row before it, nor with it
    return {};
  }
  if (!at.begins_event_time && !reach(index, mark))
    return {};
  if (at.op->forwards_watermarks())
    at.passing = mark;
  return guarded(at, [&] { return at.op->advance(mark); });
}

bool operator_chain::reach(std::size_t index, graph::watermark mark) {
  auto& at = *nodes_[index];
  const bool is_end = mark.time_ms == graph::watermark::end;
  if (!is_end && mark.time_ms <= at.reached_ms)
    return false;
  if (!is_end)
    at.reached_ms = mark.time_ms;
  if (index == 0)
    context_.metrics.watermark_ms.set(mark.time_ms);
  return true;
}

status operator_chain::begin(node& at, std::int32_t input, graph::stream_element& element) {
  if (const auto* rows = std::get_if<graph::record_batch>(&element))
    return at.op->add(input, *rows);
  if (const auto* state = std::get_if<graph::watermark_status>(&element)) {
    if (at.op->forwards_watermarks())
      at.passing = *state;
    return at.op->change_status(*state);
  }
  if (const auto* split = std::get_if<graph::barrier>(&element)) {
    at.passing = *split;
    return at.op->prepare_barrier(split->checkpoint);
  }
  if (std::holds_alternative<graph::end_of_input>(element)) {
    if (--at.open_inputs == 0)
      at.passing = graph::end_of_input{};
    return at.op->end_input(input);
  }
  at.passing = std::move(element);
  return {};
}

status operator_chain::drain(std::size_t index, const drain_budget& budget) {
  auto& at = *nodes_[index];
  node_output out(*this, index);
  HEADRACE_TRY(const auto rest, guarded(at, [&] { return at.op->drain(out, budget); }));
  if (rest == drain_result::more)
    return {};
  set_draining(at, false);
  const auto passing = std::exchange(at.passing, std::nullopt);
  if (passing && std::holds_alternative<graph::end_of_input>(*passing)) {
    at.is_ending = true;
  } else if (passing) {
    forward(index, *passing);
    if (const auto* split = std::get_if<graph::barrier>(&*passing))
      HEADRACE_CHECK(snapshot(index, *split));
  }
  if (at.is_ending && rest == drain_result::done)
    end(index);
  return {};
}

void operator_chain::end(std::size_t index) {
  auto& at = *nodes_[index];
  at.is_ending = false;
  forward(index, graph::end_of_input{});
  if (!std::exchange(at.ended, true))
    ++ended_nodes_;
}

void operator_chain::forward(std::size_t index, const graph::stream_element& element) {
  for (const auto& to : nodes_[index]->outlets) {
    for (const auto& next : to.nodes)
      push(next.node, next.input, element);
    for (const auto result : to.results)
      results_.broadcast(result, element);
  }
}

status operator_chain::snapshot(std::size_t index, const graph::barrier& passing) {
  auto& at = *nodes_[index];
  if (index == 0) {
    auto begun = std::make_shared<pending_snapshot>();
    begun->content = std::make_unique<chain_snapshot>(passing.checkpoint);
    begun->awaited = nodes_.size();
    snapshots_.push_back(std::move(begun));
  }
  const auto started_us = context_.time.now_us();
  const auto into = snapshots_.back();
  // While a job is drained an input that has ended lets the others go ahead of it: how far is no
  // event time to go on from.
  if (at.reached_ms != graph::watermark::none && (!drains(passing) || at.begins_event_time))
    into->content->add_watermark(at.id, at.reached_ms);
  std::unique_ptr<state::snapshot_job> keyed;
  if (at.keyed != nullptr) {
    const bool is_canonical = passing.savepoint != nullptr && !passing.savepoint->is_native;
    HEADRACE_TRY(keyed, at.keyed->snapshot(passing.checkpoint, is_canonical
                                                                   ? state::snapshot_kind::canonical
                                                                   : state::snapshot_kind::native));
  }
  auto raw = take_raw_state(at);
  // `done` may come in a later turn; the jobs are copied by pointer so that they can be kept.
  auto kept = std::make_shared<std::unique_ptr<state::snapshot_job>>(std::move(keyed));
  auto kept_raw = std::make_shared<std::unique_ptr<state::raw_snapshot>>(
      raw ? std::move(*raw) : std::unique_ptr<state::raw_snapshot>());
  const auto done = [into, kept, kept_raw, &at, this](status outcome) {
    --into->awaited;
    if (!outcome) {
      if (!into->failure)
        into->failure = named(at, std::move(outcome).error());
      return;
    }
    std::unique_ptr<state::operator_snapshot_job> plain;
    if (at.plain != nullptr && !at.plain->is_empty())
      plain = at.plain->snapshot();
    if (*kept != nullptr || plain != nullptr || *kept_raw != nullptr)
      into->content->add(at.id, std::move(*kept), std::move(plain), std::move(*kept_raw));
  };
  try {
    if (raw)
      at.op->snapshot(passing.checkpoint, done);
    else
      done(std::move(raw).error());
  } catch (const std::exception& failure) {
    done(error(errc::user_function_failed, failure.what()));
  }
  into->synchronous_us += context_.time.now_us() - started_us;
  return {};
}

/// What the operator's function writes by itself; null: nothing.
result<std::unique_ptr<state::raw_snapshot>> operator_chain::take_raw_state(node& at) const {
  auto* const writer = at.op->raw_state();
  if (writer == nullptr)
    return std::unique_ptr<state::raw_snapshot>();
  auto out = std::make_unique<state::raw_snapshot>(
      at.keyed != nullptr ? std::optional(at.keyed->groups()) : std::nullopt,
      context_.max_parallelism);
  try {
    writer->write_raw_state(*out);
  } catch (const graph::failure& failure) {
    return failure.cause();
  } catch (const std::exception& failure) {
    return error(errc::user_function_failed, failure.what());
  }
  return out->is_empty() ? nullptr : std::move(out);
}

std::optional<operator_chain::finished_snapshot> operator_chain::take_snapshot() {
  if (snapshots_.empty() || snapshots_.front()->awaited > 0)
    return std::nullopt;
  const auto first = std::move(snapshots_.front());
  snapshots_.pop_front();
  return finished_snapshot{std::move(first->content), std::move(first->failure),
                           first->synchronous_us};
}

source_readiness operator_chain::readiness() const {
  const auto& head = *nodes_.front();
  if (!has_source_ || head.ended || head.passing)
    return source_readiness::waiting;
  return head.op->readiness();
}

bool operator_chain::is_source(operator_id which) const {
  return has_source_ && nodes_.front()->id == which;
}

bool operator_chain::has_barrier_at_source() const {
  if (!has_source_)
    return false;
  const auto& head = *nodes_.front();
  return (head.passing && std::holds_alternative<graph::barrier>(*head.passing)) ||
         std::any_of(head.waiting.begin(), head.waiting.end(), [](const auto& one) {
           return std::holds_alternative<graph::barrier>(one.element);
         });
}

void operator_chain::poll_source() {
  auto& head = *nodes_.front();
  HEADRACE_ASSERT(has_source_ && is_drained(), "source polled while the chain works");
  if (readiness() != source_readiness::finished) {
    set_draining(head, true);
    return;
  }
  end_source();
}

void operator_chain::end_source() {
  forward(0, graph::watermark{graph::watermark::end});
  push(0, 0, graph::end_of_input{});
}

void operator_chain::set_output_available(bool available) {
  if (has_source_)
    nodes_.front()->op->set_output_available(available);
}

void operator_chain::set_rows_max(std::size_t rows) {
  if (has_source_)
    nodes_.front()->op->set_rows_max(rows);
}

bool operator_chain::has_unfinished_work() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const auto& one) { return one->op->has_unfinished_work(); });
}

std::optional<std::int64_t> operator_chain::next_processing_time_ms() {
  std::optional<std::int64_t> next;
  for (auto& one : nodes_) {
    if (one->timers_due_ms)
      continue;
    const auto wanted = one->op->next_processing_time_ms();
    if (wanted && (!next || *wanted < *next))
      next = wanted;
  }
  return next;
}

void operator_chain::fire_processing_time(std::int64_t now_ms) {
  for (auto& one : nodes_) {
    const auto wanted = one->op->next_processing_time_ms();
    if (one->timers_due_ms || !wanted || *wanted > now_ms)
      continue;
    one->timers_due_ms = now_ms;
    ++work_;
  }
}

status operator_chain::on_event(operator_id to, byte_view event) {
  for (auto& one : nodes_)
    if (one->id == to)
      return guarded(*one, [&] { return one->op->on_event(event); });
  return error(errc::unknown_operator, "event for an operator that is not here: " + to_string(to));
}

status operator_chain::notify_completed(checkpoint_id checkpoint) {
  for (auto& one : nodes_) {
    if (one->keyed != nullptr)
      one->keyed->notify_completed(checkpoint);
    HEADRACE_CHECK(guarded(*one, [&] { return one->op->notify_completed(checkpoint); }));
  }
  return {};
}

status operator_chain::notify_aborted(checkpoint_id checkpoint) {
  for (auto& one : nodes_) {
    if (one->keyed != nullptr)
      one->keyed->notify_aborted(checkpoint);
    HEADRACE_CHECK(guarded(*one, [&] { return one->op->notify_aborted(checkpoint); }));
  }
  return {};
}

void operator_chain::close() {
  if (std::exchange(closed_, true))
    return;
  for (auto& one : nodes_) {
    try {
      one->op->close();
    } catch (const std::exception& failure) {
      context_.log.warn("operator failed to close",
                        {{"operator", one->name}, {"reason", failure.what()}});
    }
  }
}

stream_operator& operator_chain::at(std::size_t index) { return *nodes_[index]->op; }

template <class Call>
auto operator_chain::guarded(const node& at, Call&& call) const -> decltype(call()) {
  try {
    auto out = call();
    if (!out)
      return named(at, std::move(out).error());
    return out;
  } catch (const graph::failure& failed) {
    return named(at, failed.cause());
  } catch (const std::bad_alloc&) {
    return named(at, error(errc::out_of_memory, "no memory left"));
  } catch (const std::exception& failed) {
    return named(at, error(errc::user_function_failed, failed.what()));
  } catch (...) {
    return named(at, error(errc::user_function_failed, "threw what is no std::exception"));
  }
}

error operator_chain::named(const node& at, error cause) const {
  const auto code = cause.code;
  return {code,
          "operator failed: " + at.name +
              (at.uid.empty() ? std::string() : " (uid `" + at.uid + "`)") + ", subtask " +
              std::to_string(context_.subtask + 1) + " of " + std::to_string(context_.parallelism),
          std::move(cause)};
}

void operator_chain::set_draining(node& at, bool draining) {
  if (at.draining == draining)
    return;
  at.draining = draining;
  work_ = draining ? work_ + 1 : work_ - 1;
}

} // namespace headrace::task
