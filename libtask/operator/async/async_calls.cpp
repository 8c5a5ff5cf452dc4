#include "libtask/operator/async/async_calls.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::task {
namespace {

/// A call's number holds the place of its row.
constexpr unsigned place_bits = 20;
static_assert(graph::async_wait_spec::capacity_limit <= std::int64_t{1} << place_bits);

} // namespace

graph::async_call async_calls::begin(place at, std::int64_t now_ms) {
  if (at >= rows_.size())
    rows_.resize(at + std::size_t{1});
  rows_[at] = {next_number_++, 0, 0, false};
  ++there_;
  if (timeout_ms_ > 0) {
    forget_deadlines();
    // A clock that is set back makes a row wait longer, and the ones behind it.
    const auto last_ms = deadlines_.empty() ? now_ms : deadlines_.back().time_ms;
    deadlines_.push_back({std::max(now_ms + timeout_ms_, last_ms), rows_[at].number, at});
  }
  return call_again(at);
}

graph::async_call async_calls::call_again(place at) {
  auto& of = rows_[at];
  ++of.calls;
  return of.call = (next_call_++ << place_bits) | at;
}

std::optional<graph::async_call> async_calls::awaited(place at) const {
  return rows_[at].call == 0 ? std::nullopt : std::optional(rows_[at].call);
}

std::optional<async_calls::place> async_calls::find(graph::async_call call) const {
  const auto at = static_cast<place>(call & ((graph::async_call{1} << place_bits) - 1));
  return at < rows_.size() && rows_[at].call == call ? std::optional(at) : std::nullopt;
}

bool async_calls::try_again(place at, std::int64_t now_ms) {
  auto& of = rows_[at];
  if (of.is_timed_out || of.calls > retry_.attempts_max)
    return false;
  of.call = 0;
  retries_.push({now_ms + delay_ms(of.calls), of.number, at});
  return true;
}

void async_calls::finish(place at) {
  rows_[at] = {};
  --there_;
}

std::optional<std::int64_t> async_calls::next_ms() {
  while (!deadlines_.empty() && !is_there(deadlines_.front()))
    deadlines_.pop_front();
  while (!retries_.empty() && !is_there(retries_.top()))
    retries_.pop();
  // What was wanted before stays so while rows come and leave: one alarm a timeout, not one a row.
  if (deadlines_.empty())
    armed_ms_.reset();
  else if (!armed_ms_)
    armed_ms_ = deadlines_.front().time_ms;
  if (retries_.empty())
    return armed_ms_;
  return armed_ms_ ? std::min(*armed_ms_, retries_.top().time_ms) : retries_.top().time_ms;
}

void async_calls::pass(std::int64_t now_ms, std::vector<place>& timed_out,
                       std::vector<place>& again) {
  armed_ms_.reset();
  for (; !deadlines_.empty() && deadlines_.front().time_ms <= now_ms; deadlines_.pop_front()) {
    const auto& front = deadlines_.front();
    if (!is_there(front))
      continue;
    rows_[front.at].is_timed_out = true;
    timed_out.push_back(front.at);
  }
  for (; !retries_.empty() && retries_.top().time_ms <= now_ms; retries_.pop()) {
    const auto& top = retries_.top();
    if (is_there(top) && rows_[top.at].call == 0 && !rows_[top.at].is_timed_out)
      again.push_back(top.at);
  }
}

std::int64_t async_calls::delay_ms(std::int32_t attempt) const {
  const auto delay =
      static_cast<double>(retry_.delay_ms) * std::pow(retry_.multiplier, attempt - 1);
  const auto most = static_cast<double>(std::max(retry_.delay_ms_max, retry_.delay_ms));
  return static_cast<std::int64_t>(std::min(delay, most));
}

void async_calls::forget_deadlines() {
  // Behind a row that takes long lie those that came and left since.
  constexpr std::size_t least = 1024;
  if (deadlines_.size() < std::max(least, 2 * there_))
    return;
  std::erase_if(deadlines_, [&](const due& one) { return !is_there(one); });
}

} // namespace headrace::task
