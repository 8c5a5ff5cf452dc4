#include "libtask/input/input_gate.hpp"

#include "libtask/network/exchange_mail.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

namespace {

constexpr std::size_t remote_window_bytes = std::size_t{4} << 20U; ///< at most
constexpr std::size_t usual_window_bytes = std::size_t{1} << 20U;
constexpr std::size_t least_window_bytes = std::size_t{128} << 10U;
/// Of all windows together, as long as each has its least.
constexpr std::size_t gate_bytes = std::size_t{16} << 20U;

} // namespace

input_gate_limits input_gate_limits::for_channels(std::size_t channels) {
  input_gate_limits limits;
  limits.window_bytes_most = std::clamp(gate_bytes / std::max<std::size_t>(channels, 1),
                                        least_window_bytes, remote_window_bytes);
  limits.window_bytes = std::min(limits.window_bytes_most, usual_window_bytes);
  return limits;
}

input_gate::input_gate(std::vector<std::int32_t> inputs, input_gate_limits limits)
    : channels_(inputs.size()), limits_(limits), valve_(inputs.size()), aligner_(inputs.size()),
      recorder_(inputs.size()) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    channels_[i].input = inputs[i];
    channels_[i].window_bytes = limits_.window_bytes;
    const auto input = static_cast<std::size_t>(inputs[i]);
    if (open_by_input_.size() <= input)
      open_by_input_.resize(input + 1, 0);
    ++open_by_input_[input];
  }
}

void input_gate::enqueue(std::size_t index, std::vector<graph::stream_element> elements,
                         bool closes, std::span<const std::size_t> costs) {
  HEADRACE_ASSERT(index < channels_.size(), "data of an unknown channel");
  HEADRACE_ASSERT(costs.empty() || costs.size() == elements.size(), "each element has its cost");
  auto& to = channels_[index];
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto cost = costs.empty() ? exchange_cost(elements[i]) : costs[i];
    if (const auto* split = std::get_if<graph::barrier>(&elements[i])) {
      if (recorder_.is_awaited(index) && recorder_.recorded() == split->checkpoint) {
        recorder_.arrived(index);
        give_back(index, cost);
        continue;
      }
      announce(index, *split);
    }
    recorder_.record(index, elements[i]);
    queued_bytes_ += cost;
    to.queued_bytes += cost;
    auto& added = to.queue.emplace_back();
    added.element = std::move(elements[i]);
    added.cost = cost;
  }
  to.is_remote = to.is_remote || !costs.empty();
  to.closing = to.closing || closes;
  if (closes)
    recorder_.arrived(index);
  make_ready(index);
}

void input_gate::restore(std::size_t index, std::vector<graph::stream_element> elements) {
  HEADRACE_ASSERT(index < channels_.size(), "data of an unknown channel");
  for (auto& element : elements) {
    auto& added = channels_[index].queue.emplace_back();
    added.element = std::move(element);
    added.is_restored = true;
    ++restored_left_;
  }
  make_ready(index);
}

void input_gate::announce(std::size_t index, const graph::barrier& split) {
  if (const auto recorded = recorder_.recorded();
      recorded && *recorded < split.checkpoint && recorder_.is_awaited(index)) {
    events_.emplace_back(*recorded); // its barrier does not come any more
    recorder_.abort(*recorded);
  }
  if (!split.may_overtake() || split.checkpoint <= aligner_.over())
    return;
  const bool is_newer = !announced_ || split.checkpoint > announced_->checkpoint;
  const bool overtakes_now = split.alignment == graph::barrier_alignment::unaligned && announced_ &&
                             split.checkpoint == announced_->checkpoint;
  if (is_newer || overtakes_now)
    announced_ = split;
}

void input_gate::overtake(const graph::barrier& split) {
  HEADRACE_ASSERT(events_.empty(), "what was taken out goes before an unaligned checkpoint");
  if (const auto given_up = recorder_.begin(split.checkpoint))
    events_.emplace_back(*given_up);
  if (const auto pending = aligner_.pending(); pending && *pending < split.checkpoint)
    events_.emplace_back(*pending);
  overtaken_from_ = taken_bytes_;
  const bool is_pending = aligner_.pending() == split.checkpoint;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (is_pending && aligner_.has_arrived(i))
      recorder_.arrived(i);
    else
      record_waiting(i, split.checkpoint);
  }
  drop_barriers(split.checkpoint);
}

void input_gate::record_waiting(std::size_t index, checkpoint_id checkpoint) {
  auto& from = channels_[index];
  for (auto at = from.queue.begin(); at != from.queue.end(); ++at) {
    const auto* split = std::get_if<graph::barrier>(&at->element);
    if (split != nullptr && split->checkpoint == checkpoint) {
      const auto cost = at->cost;
      from.queue.erase(at);
      queued_bytes_ -= cost;
      from.queued_bytes -= cost;
      recorder_.arrived(index);
      give_back(index, cost);
      return;
    }
    const auto* rows = std::get_if<graph::record_batch>(&at->element);
    if (rows != nullptr && at->taken_rows > 0)
      recorder_.record(
          index, graph::stream_element(rows->slice(at->taken_rows, rows->size() - at->taken_rows)));
    else
      recorder_.record(index, at->element);
  }
  if (from.closing || aligner_.is_closed(index))
    recorder_.arrived(index);
}

std::optional<input_gate::recording> input_gate::take_recording() {
  auto content = recorder_.take();
  if (!content)
    return std::nullopt;
  return recording{*std::move(content), taken_bytes_ - overtaken_from_};
}

void input_gate::make_ready(std::size_t index) {
  auto& one = channels_[index];
  if (one.is_ready || aligner_.is_blocked(index) || (one.queue.empty() && !one.closing) ||
      waits_for_restored(one))
    return;
  one.is_ready = true;
  ready_.push_back(index);
}

void input_gate::make_all_ready() {
  for (std::size_t i = 0; i < channels_.size(); ++i)
    make_ready(i);
}

std::optional<input_event> input_gate::poll(std::int64_t now_us) {
  while (events_.empty() && !ready_.empty())
    take_turn(now_us);
  std::optional<input_event> next;
  if (!events_.empty()) {
    next.emplace(std::move(events_.front()));
    events_.pop_front();
  }
  return next;
}

void input_gate::take_turn(std::int64_t now_us) {
  const auto index = ready_.front();
  ready_.pop_front();
  auto& from = channels_[index];
  from.is_ready = false;
  if (aligner_.is_blocked(index) || waits_for_restored(from))
    return; // comes back when the alignment ends, or the last one that was restored is out
  if (!from.queue.empty()) {
    if (std::holds_alternative<graph::record_batch>(from.queue.front().element))
      take_batch(index);
    else
      take_control(index, take_front(index), now_us);
  }
  after_take(index, now_us);
}

void input_gate::take_batch(std::size_t index) {
  auto rows = take_rows(index);
  const auto input = channels_[index].input;
  if (rows.size() < rows_target() / 2)
    rows = coalesce(std::move(rows), input, index);
  events_.emplace_back(input_batch{input, std::move(rows)});
}

graph::record_batch input_gate::take_rows(std::size_t index) {
  auto& front = channels_[index].queue.front();
  const auto& all = std::get<graph::record_batch>(front.element);
  const auto left = all.size() - front.taken_rows;
  if (left > rows_target()) {
    const auto first = std::exchange(front.taken_rows, front.taken_rows + rows_target());
    return all.slice(first, rows_target());
  }
  const auto taken = front.taken_rows;
  auto rows = std::get<graph::record_batch>(take_front(index));
  return taken == 0 ? rows : rows.slice(taken, left);
}

graph::record_batch input_gate::coalesce(graph::record_batch first, std::int32_t input,
                                         std::size_t from) {
  join_progress so_far{first.size(), 0, first.timestamps() != nullptr};
  joining_.clear();
  joining_.push_back(std::move(first));
  join_small(from, so_far);
  join_others(input, so_far);
  // The one copy of what was joined.
  auto joined = joining_.size() == 1 ? std::move(joining_.front()) : graph::concatenate(joining_);
  joining_.clear();
  return joined;
}

void input_gate::join_small(std::size_t index, join_progress& so_far) {
  auto& queue = channels_[index].queue;
  while (!queue.empty() && !is_full(so_far)) {
    const auto* more = std::get_if<graph::record_batch>(&queue.front().element);
    if (more == nullptr || more->size() >= rows_target() / 2 ||
        (more->timestamps() != nullptr) != so_far.has_times || queue.front().taken_rows > 0 ||
        waits_for_restored(channels_[index]))
      return;
    so_far.rows += more->size();
    so_far.bytes += queue.front().cost;
    joining_.push_back(std::get<graph::record_batch>(take_front(index)));
  }
}

/// Others that wait may add theirs: there is no order among channels. They keep their turn, unless
/// nothing is left of them; the walk ends after a few that have something else in front, so that it
/// costs no more than what it takes.
void input_gate::join_others(std::int32_t input, join_progress& so_far) {
  std::size_t kept = 0;
  std::size_t at = 0;
  std::size_t useless = 0;
  for (; at < ready_.size() && !is_full(so_far) && useless < limits_.useless_looks; ++at) {
    const auto other = ready_[at];
    auto& one = channels_[other];
    const auto before = joining_.size();
    if (one.input == input && !aligner_.is_blocked(other))
      join_small(other, so_far);
    useless += joining_.size() == before ? 1U : 0U;
    if (one.queue.empty() && !one.closing)
      one.is_ready = false;
    else
      ready_[kept++] = other;
  }
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(kept),
               ready_.begin() + static_cast<std::ptrdiff_t>(at));
}

graph::stream_element input_gate::take_front(std::size_t index) {
  auto& from = channels_[index];
  auto front = std::move(from.queue.front());
  from.queue.pop_front();
  queued_bytes_ -= front.cost;
  from.queued_bytes -= front.cost;
  taken_bytes_ += front.cost;
  give_back(index, front.cost);
  if (front.is_restored && --restored_left_ == 0)
    make_all_ready();
  return std::move(front.element);
}

void input_gate::give_back(std::size_t index, std::size_t cost) {
  auto& from = channels_[index];
  from.taken_bytes += cost;
  if (from.taken_bytes >= from.window_bytes / 2 && !from.closing)
    grant_credit(index);
}

void input_gate::grant_credit(std::size_t index) {
  auto& to = channels_[index];
  auto bytes = std::exchange(to.taken_bytes, 0);
  if (to.is_remote && to.queue.empty()) {
    const auto most = std::max(limits_.window_bytes_most, to.window_bytes);
    const auto more = std::min(to.window_bytes, most - to.window_bytes);
    to.window_bytes += more;
    bytes += more;
  } else if (to.window_bytes > limits_.window_bytes && to.queued_bytes >= to.window_bytes / 2) {
    const auto less = std::min(to.window_bytes / 4, to.window_bytes - limits_.window_bytes);
    to.window_bytes -= less;
    bytes -= less;
  }
  grants_.push_back({static_cast<std::uint32_t>(index), bytes});
}

void input_gate::take_control(std::size_t index, graph::stream_element element,
                              std::int64_t now_us) {
  if (const auto* mark = std::get_if<graph::watermark>(&element)) {
    apply(valve_.on_watermark(index, *mark));
  } else if (const auto* state = std::get_if<graph::watermark_status>(&element)) {
    apply(valve_.on_status(index, *state));
  } else if (const auto* split = std::get_if<graph::barrier>(&element)) {
    const auto before = aligner_.pending();
    const auto change = aligner_.on_barrier(index, *split, now_us);
    if (before != split->checkpoint && (change.aligned || aligner_.pending() == split->checkpoint))
      processed_from_ = taken_bytes_; // it has begun
    apply(change);
  } else if (std::holds_alternative<graph::end_of_input>(element)) {
    end_channel(index);
  } else if (const auto* marker = std::get_if<graph::latency_marker>(&element)) {
    events_.emplace_back(*marker);
  }
}

void input_gate::end_channel(std::size_t index) {
  auto& one = channels_[index];
  if (one.ended)
    return;
  one.ended = true;
  ++ended_channels_;
  apply(valve_.on_ended(index));
  const auto input = static_cast<std::size_t>(one.input);
  if (--open_by_input_[input] == 0)
    events_.emplace_back(input_ended{one.input});
}

void input_gate::after_take(std::size_t index, std::int64_t now_us) {
  auto& from = channels_[index];
  if (from.queue.empty() && from.closing) {
    from.closing = false;
    end_channel(index); // a producer that finished without saying so has ended too
    apply(aligner_.on_closed(index, now_us));
    return;
  }
  make_ready(index);
}

void input_gate::abort_checkpoint(checkpoint_id checkpoint) {
  recorder_.abort(checkpoint);
  drop_barriers(checkpoint);
}

void input_gate::drop_barriers(checkpoint_id checkpoint) {
  if (announced_ && announced_->checkpoint <= checkpoint)
    announced_.reset();
  apply(aligner_.abort(checkpoint));
}

void input_gate::apply(const watermark_valve::update& change) {
  if (change.advanced)
    events_.emplace_back(*change.advanced);
  if (change.status)
    events_.emplace_back(*change.status);
}

void input_gate::apply(const barrier_aligner::outcome& change) {
  if (change.subsumed)
    events_.emplace_back(*change.subsumed);
  if (change.aligned) {
    auto aligned = *change.aligned;
    if (aligned.barrier.alignment != graph::barrier_alignment::at_least_once)
      aligned.processed_bytes = taken_bytes_ - processed_from_;
    if (announced_ && announced_->checkpoint <= aligned.barrier.checkpoint)
      announced_.reset();
    events_.emplace_back(std::move(aligned));
  }
  if (change.unblocked)
    make_all_ready();
}

} // namespace headrace::task
