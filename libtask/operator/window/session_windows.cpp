#include "libtask/operator/window/session_windows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headrace::task {

status session_windows::open(state::keyed_backend& backend,
                             std::vector<graph::logical_type::field> parts) {
  state::state_description wanted;
  wanted.name = "sessions";
  wanted.value_type = state::bytes_of(std::move(parts));
  wanted.layout = state::value_layout::variable();
  HEADRACE_TRY(table_, backend.open_table(wanted));
  HEADRACE_TRY(timers_, state::open_timer_service(backend, spec_.is_processing_time
                                                               ? graph::time_domain::processing
                                                               : graph::time_domain::event));
  due_.emplace(timers_->make_due());
  return {};
}

status session_windows::add(const graph::record_batch& rows, const state::key_batch& keys,
                            user& by) {
  rows_.clear();
  places_.clear();
  times_ms_.clear();
  const auto now_ms = spec_.is_processing_time ? time_.local_ms(clock_.wall_ms()) : 0;
  late_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row_at(i);
    if (!spec_.is_processing_time && rows.at(time_column_).is_null(row)) {
      late_.push_back(row);
      continue;
    }
    rows_.push_back(row);
    places_.push_back(i);
    times_ms_.push_back(
        spec_.is_processing_time ? now_ms : time_.local_ms(millis_at(rows.at(time_column_), row)));
  }
  HEADRACE_CHECK(table_->locate(keys, rows_, 0, state::access::insert, found_));
  timer_rows_.clear();
  timer_times_ms_.clear();
  empty_.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    sessions_.assign(table_->get(found_, i).value_or(byte_view()));
    session_list sessions(sessions_, payload_bytes_);
    auto start = times_ms_[i];
    auto end = start + spec_.size_ms;
    const auto met = sessions.meeting(start, end);
    if (met.count > 0) {
      start = std::min(start, sessions.start_ms(met.first));
      end = std::max(end, sessions.end_ms(met.first + met.count - 1));
    }
    if (!spec_.is_processing_time && last_instant_ms(end) <= now_ms_) {
      late_.push_back(rows_[i]);
      if (sessions.size() == 0)
        empty_.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    if (met.count == 0) {
      sessions.insert(met.first, start, end);
      timer_rows_.push_back(rows_[i]);
      timer_times_ms_.push_back(last_instant_ms(end));
    }
    for (std::size_t k = 1; k < met.count; ++k)
      HEADRACE_CHECK(by.merge(sessions, met.first, met.first + k, i));
    if (met.count > 1)
      sessions.erase(met.first + 1, met.count - 1);
    sessions.set_bounds(met.first, start, end);
    HEADRACE_CHECK(by.take(sessions, met.first, i));
    HEADRACE_CHECK(table_->put(found_, i, sessions_));
  }
  if (!keeps_late_ && !late_.empty())
    metrics_.late_records.add(late_.size());
  // A late row's key may have got a session by a later row.
  std::erase_if(empty_, [&](std::uint32_t i) {
    return !table_->get(found_, i).value_or(byte_view()).empty();
  });
  HEADRACE_CHECK(table_->erase(found_, empty_));
  HEADRACE_CHECK(table_->write_back(found_));
  return timers_->register_timers(keys, timer_rows_, timer_times_ms_);
}

std::optional<std::int64_t> session_windows::next_processing_time_ms() {
  if (!spec_.is_processing_time || timers_ == nullptr)
    return std::nullopt;
  const auto next = timers_->next_time_ms();
  return next ? std::optional(*next + 1) : std::nullopt;
}

result<bool> session_windows::fire(std::size_t keys_max, user& by) {
  if (now_ms_ == graph::watermark::none)
    return true;
  HEADRACE_CHECK(timers_->advance(now_ms_, keys_max, *due_));
  const auto count = due_->size();
  rows_.resize(count);
  std::iota(rows_.begin(), rows_.end(), 0U);
  HEADRACE_CHECK(table_->locate(due_->keys, rows_, 0, state::access::update, found_));
  timer_rows_.clear();
  timer_times_ms_.clear();
  empty_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto kept = found_.is_absent(i) ? std::nullopt : table_->get(found_, i);
    if (!kept || kept->empty())
      continue;
    sessions_.assign(*kept);
    session_list sessions(sessions_, payload_bytes_);
    // They end in their order.
    std::size_t over = 0;
    for (; over < sessions.size() && last_instant_ms(sessions.end_ms(over)) <= now_ms_; ++over)
      HEADRACE_CHECK(by.fire(sessions, over, i));
    sessions.erase(0, over);
    // This timer may have been that of a session whose end has moved.
    for (std::size_t k = 0; k < sessions.size(); ++k) {
      timer_rows_.push_back(static_cast<std::uint32_t>(i));
      timer_times_ms_.push_back(last_instant_ms(sessions.end_ms(k)));
    }
    HEADRACE_CHECK(table_->put(found_, i, sessions_));
    if (sessions.size() == 0)
      empty_.push_back(static_cast<std::uint32_t>(i));
  }
  HEADRACE_CHECK(table_->erase(found_, empty_));
  HEADRACE_CHECK(table_->write_back(found_));
  HEADRACE_CHECK(timers_->register_timers(due_->keys, timer_rows_, timer_times_ms_));
  return count < keys_max;
}

} // namespace headrace::task
