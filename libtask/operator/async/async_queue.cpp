#include "libtask/operator/async/async_queue.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>

namespace headrace::task {

async_queue::place async_queue::add() {
  place at = 0;
  if (free_.empty()) {
    at = static_cast<place>(rows_.size());
    rows_.emplace_back();
  } else {
    at = free_.back();
    free_.pop_back();
  }
  if (order_ == async_order::ordered || segments_.empty() || segments_.back().end)
    segments_.emplace_back();
  ++segments_.back().awaited;
  rows_[at] = {next_number_++, first_segment_ + segments_.size() - 1, none, true};
  ++size_;
  return at;
}

void async_queue::add(control what) {
  if (segments_.empty() || segments_.back().end)
    segments_.emplace_back();
  segments_.back().end = what;
  ++controls_;
}

void async_queue::finish(place which) {
  auto& of = segments_[static_cast<std::size_t>(rows_[which].segment - first_segment_)];
  HEADRACE_ASSERT(rows_[which].is_there && of.awaited > 0, "row finished that is not awaited");
  --of.awaited;
  if (of.first == none)
    of.first = which;
  else
    rows_[of.last].next = which;
  of.last = which;
}

std::optional<std::variant<async_queue::place, async_queue::control>> async_queue::take() {
  if (!has_next())
    return std::nullopt;
  auto& front = segments_.front();
  std::variant<place, control> out;
  if (front.first != none) {
    const auto at = front.first;
    front.first = rows_[at].next;
    rows_[at].is_there = false;
    free_.push_back(at);
    --size_;
    out = at;
  } else {
    out = *front.end;
    front.end.reset();
    --controls_;
  }
  while (!segments_.empty() && is_over(segments_.front())) {
    segments_.pop_front();
    ++first_segment_;
  }
  return out;
}

bool async_queue::has_next() const {
  return !segments_.empty() &&
         (segments_.front().first != none ||
          (segments_.front().awaited == 0 && segments_.front().end.has_value()));
}

std::vector<async_queue::place> async_queue::in_order() const {
  std::vector<place> out;
  out.reserve(size_);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].is_there)
      out.push_back(static_cast<place>(i));
  std::sort(out.begin(), out.end(),
            [&](place a, place b) { return rows_[a].number < rows_[b].number; });
  return out;
}

} // namespace headrace::task
