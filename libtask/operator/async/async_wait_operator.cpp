#include "libtask/operator/async/async_wait_operator.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

async_wait_operator::async_wait_operator(const graph::operator_node& node,
                                         const operator_context& context,
                                         std::unique_ptr<graph::async_function> function)
    : context_(context), spec_(std::get<graph::async_wait_spec>(node.spec)),
      capacity_(static_cast<std::size_t>(spec_.capacity)), function_(std::move(function)),
      outputs_(node, context.memory), wake_(context.services.waker()),
      queue_(spec_.is_ordered ? async_order::ordered : async_order::unordered), calls_(spec_) {}

status async_wait_operator::open(const operator_states& states) {
  function_->open(context_.for_function(nullptr, nullptr, states.plain, this), wake_);
  restored_ = function_->restore();
  if (restored_->behind_ms.empty())
    restored_.reset();
  return {};
}

status async_wait_operator::add(std::int32_t /*input*/, const graph::record_batch& rows) {
  begin_restored(graph::watermark::none);
  pending_.add(rows, received_ms_);
  return {};
}

status async_wait_operator::advance(graph::watermark mark) {
  begin_restored(mark.time_ms); // where there are such rows, what had been reached comes first
  if (mark.time_ms > std::exchange(received_ms_, mark.time_ms))
    add_control(mark);
  return {};
}

status async_wait_operator::change_status(graph::watermark_status state) {
  begin_restored(graph::watermark::none);
  add_control(state);
  return {};
}

status async_wait_operator::end_input(std::int32_t /*input*/) {
  has_ended_ = true;
  return {};
}

void async_wait_operator::begin_restored(std::int64_t reached_ms) {
  if (const auto restored = std::exchange(restored_, std::nullopt))
    received_ms_ = pending_.add_restored(*restored, reached_ms);
}

void async_wait_operator::add_control(async_queue::control what) {
  if (pending_.is_empty())
    queue_.add(what);
  else
    pending_.add(what);
}

result<drain_result> async_wait_operator::drain(operator_output& out, const drain_budget& budget) {
  begin_restored(graph::watermark::none);
  std::size_t begun = 0;
  while (true) {
    HEADRACE_CHECK(take_ended());
    if (!emit(out, budget) || begun >= budget.rows_max) {
      outputs_.flush(out);
      return drain_result::more;
    }
    const auto count = invoke(budget.rows_max - begun);
    begun += count;
    if (count == 0 && !function_->has_ended() && !queue_.has_next())
      break;
  }
  outputs_.flush(out);
  const bool is_through = queue_.is_empty() && pending_.is_empty();
  return has_ended_ && !is_through ? drain_result::waiting : drain_result::done;
}

bool async_wait_operator::has_output_due() const {
  return restored_ || function_->has_ended() || queue_.has_next() ||
         (!pending_.is_empty() && has_room());
}

std::size_t async_wait_operator::invoke(std::size_t rows_max) {
  std::size_t begun = 0;
  while (!pending_.is_empty() && begun < rows_max) {
    auto* const next = pending_.front_rows();
    if (next == nullptr) {
      queue_.add(pending_.take_control());
      continue;
    }
    if (!has_room())
      break;
    const auto count = std::min({rows_max - begun, capacity_ - queue_.size(), next->size()});
    const auto now_ms = context_.time.wall_ms();
    begun_.resize(count);
    rows_.assign(next->rows.begin() + static_cast<std::ptrdiff_t>(next->at),
                 next->rows.begin() + static_cast<std::ptrdiff_t>(next->at + count));
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = queue_.add();
      if (at >= held_.size())
        held_.resize(at + std::size_t{1});
      held_[at] = {next->in, rows_[i], next->behind_ms, 0};
      begun_[i] = calls_.begin(at, now_ms);
    }
    const auto in = next->in;
    pending_.drop_rows(count);
    function_->invoke(*in, rows_, begun_);
    begun += count;
  }
  return begun;
}

void async_wait_operator::invoke_again(async_queue::place at) {
  const auto& row = held_[at];
  rows_.assign(1, row.row);
  begun_.assign(1, calls_.call_again(at));
  function_->invoke(*row.in, rows_, begun_);
}

status async_wait_operator::take_ended() {
  if (!function_->has_ended())
    return {};
  ended_.clear();
  function_->take_ended(ended_);
  for (auto& one : ended_)
    HEADRACE_CHECK(end(one));
  return {};
}

status async_wait_operator::end(graph::ended_async_call& one) {
  const auto at = calls_.find(one.call);
  if (!at) { // too late
    function_->drop(one.results);
    return {};
  }
  if (one.wants_retry && calls_.try_again(*at, context_.time.wall_ms())) {
    function_->drop(one.results);
    return {};
  }
  const auto calls = [&] { return " of " + std::to_string(calls_.call_count(*at)) + " calls"; };
  if (one.outcome == graph::async_outcome::timed_out)
    return error(errc::user_function_failed,
                 "no result of a row within its timeout: " + std::to_string(spec_.timeout_ms) +
                     " ms" + calls());
  if (one.outcome == graph::async_outcome::failed)
    return error(errc::user_function_failed, "a row has failed" + calls() + ": " + one.failure);
  held_[*at].results = one.results;
  calls_.finish(*at);
  queue_.finish(*at);
  return {};
}

bool async_wait_operator::emit(operator_output& out, const drain_budget& budget) {
  auto into = outputs_.bounded(budget);
  while (true) {
    if (left_ < leaving_.size())
      left_ = function_->emit(leaving_, left_, into);
    if (left_ < leaving_.size() || into.is_full())
      return false;
    if (after_leaving_) {
      outputs_.flush(out);
      std::visit([&](const auto& what) { out.emit(what); },
                 *std::exchange(after_leaving_, std::nullopt));
    }
    leaving_.clear();
    left_ = 0;
    after_leaving_ = take_leaving(budget.rows_max);
    if (leaving_.empty() && !after_leaving_)
      return true;
  }
}

std::optional<async_queue::control> async_wait_operator::take_leaving(std::size_t rows_max) {
  while (leaving_.size() < rows_max) {
    const auto next = queue_.take();
    if (!next)
      break;
    if (const auto* what = std::get_if<async_queue::control>(&*next))
      return *what;
    auto& row = held_[std::get<async_queue::place>(*next)];
    const auto* times = row.in->timestamps();
    const auto time_ms = times == nullptr ? graph::watermark::none : times[row.row];
    leaving_.push_back({row.results, time_ms != graph::watermark::none, time_ms});
    row.in.reset();
  }
  return std::nullopt;
}

std::optional<std::int64_t> async_wait_operator::next_processing_time_ms() {
  return calls_.next_ms();
}

status async_wait_operator::on_processing_time(std::int64_t now_ms) {
  HEADRACE_CHECK(take_ended()); // what has come is in time
  std::vector<async_queue::place> timed_out;
  std::vector<async_queue::place> again;
  calls_.pass(now_ms, timed_out, again);
  for (const auto at : timed_out) {
    auto call = calls_.awaited(at);
    if (!call)
      call = calls_.call_again(at); // it waits to be called for: this is instead
    function_->time_out(*held_[at].in, held_[at].row, *call);
  }
  for (const auto at : again)
    invoke_again(at);
  return {};
}

void async_wait_operator::snapshot(checkpoint_id /*checkpoint*/, std::function<void(status)> done) {
  std::vector<graph::async_row> rows;
  for (const auto at : queue_.in_order())
    rows.push_back({held_[at].in.get(), held_[at].row, held_[at].behind_ms});
  pending_.append_rows(rows);
  function_->store(rows);
  done({});
}

void async_wait_operator::run(std::function<void()> step) {
  context_.services.run_blocking(
      [step = std::move(step), closed = closed_, function = function_] {
        if (closed->load())
          return; // nobody waits for it any more
        try {
          step();
        } catch (...) { // its call is left to the timeout
        }
      },
      [] {});
}

void async_wait_operator::close() {
  closed_->store(true);
  function_->close();
}

result<std::unique_ptr<stream_operator>> make_async_wait_operator(const graph::operator_node& node,
                                                                  const operator_context& context) {
  const auto& spec = std::get<graph::async_wait_spec>(node.spec);
  HEADRACE_TRY(auto function, make_function<graph::async_function>(context, spec.function));
  return std::unique_ptr<stream_operator>(
      std::make_unique<async_wait_operator>(node, context, std::move(function)));
}

} // namespace headrace::task
