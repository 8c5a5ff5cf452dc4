#include "libstate/timer/bucketed_timers.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace headrace::state {

namespace {

constexpr std::uint32_t width_bits_first = 10; ///< about a second
constexpr std::uint32_t width_bits_step = 3;
constexpr std::uint32_t width_bits_max = 43;
constexpr std::size_t buckets_max = 1024;   ///< before sparse ones are joined
constexpr std::uint64_t sparse_timers = 32; ///< a bucket with fewer on average is sparse
constexpr std::uint64_t sparse_check_every = 1024;
constexpr std::size_t piece_rows = 4096;
constexpr std::size_t time_bytes = sizeof(std::int64_t);

/// Calls `visit(time)` for each time of a value.
template <class Visit>
void for_each_time(byte_view times, Visit visit) {
  for (std::size_t at = 0; at + time_bytes <= times.size(); at += time_bytes) {
    std::int64_t time = 0;
    std::memcpy(&time, times.data() + at, time_bytes);
    visit(time);
  }
}

bool has_time(byte_view times, std::int64_t wanted) {
  bool found = false;
  for_each_time(times, [&](std::int64_t time) { found = found || time == wanted; });
  return found;
}

byte_view bytes_of(const std::int64_t& time) {
  return {reinterpret_cast<const char*>(&time), time_bytes};
}

} // namespace

bucketed_timers::bucketed_timers(keyed_table& table, const key_schema& schema,
                                 std::int32_t max_parallelism)
    : table_(&table), schema_(schema), max_parallelism_(max_parallelism),
      width_bits_(width_bits_first), loaded_keys_(schema, max_parallelism),
      one_key_(schema, max_parallelism), taken_keys_(schema, max_parallelism) {}

status bucketed_timers::rebuild() {
  unload();
  key_batch keys(schema_, max_parallelism_);
  std::vector<std::int64_t> times;
  auto piece = table_->make_piece();
  for (const auto bucket : table_->namespaces()) {
    for (scan_cursor cursor; !cursor.done;) {
      HEADRACE_CHECK(table_->scan(bucket, cursor, piece_rows, piece));
      for (std::size_t row = 0; row < piece.size(); ++row) {
        for_each_time(piece.variable[row], [&](std::int64_t time) {
          keys.append(piece.keys.at(row));
          times.push_back(time);
        });
      }
    }
    HEADRACE_CHECK(table_->drop_namespace(bucket));
  }
  size_ = 0;
  std::vector<std::uint32_t> rows(times.size());
  std::iota(rows.begin(), rows.end(), 0U);
  return register_timers(keys, rows, times);
}

status bucketed_timers::register_timer(const key_ref& key, std::int64_t time_ms) {
  one_key_.clear();
  one_key_.append(key);
  const std::uint32_t row = 0;
  return register_timers(one_key_, {&row, 1}, {&time_ms, 1});
}

status bucketed_timers::register_timers(const key_batch& keys, std::span<const std::uint32_t> rows,
                                        std::span<const std::int64_t> times_ms) {
  HEADRACE_ASSERT(rows.size() == times_ms.size(), "a time a row");
  spaces_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    spaces_[i] = bucket_of(times_ms[i]);
  HEADRACE_CHECK(table_->locate(keys, rows, spaces_, access::insert, at_));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (has_time(table_->get(at_, i).value_or(byte_view()), times_ms[i]))
      continue;
    HEADRACE_CHECK(table_->append(at_, i, bytes_of(times_ms[i])));
    ++size_;
    if (loaded_ == spaces_[i]) {
      heap_.push_back({times_ms[i], static_cast<std::uint32_t>(loaded_keys_.size())});
      loaded_keys_.append(keys.at(rows[i]));
      std::push_heap(heap_.begin(), heap_.end());
    }
  }
  HEADRACE_CHECK(table_->write_back(at_));
  const auto checks_before = registrations_ / sparse_check_every;
  registrations_ += rows.size();
  return registrations_ / sparse_check_every == checks_before ? status() : widen_if_sparse();
}

status bucketed_timers::widen_if_sparse() {
  if (width_bits_ >= width_bits_max)
    return {};
  const auto buckets = table_->namespaces().size();
  if (buckets <= buckets_max || size_ >= buckets * sparse_timers)
    return {};
  width_bits_ += width_bits_step;
  return rebuild();
}

status bucketed_timers::delete_timer(const key_ref& key, std::int64_t time_ms) {
  one_key_.clear();
  one_key_.append(key);
  const std::uint32_t row = 0;
  const auto bucket = bucket_of(time_ms);
  HEADRACE_CHECK(table_->locate(one_key_, {&row, 1}, bucket, access::update, at_));
  const auto held = table_->get(at_, 0);
  if (!held || !has_time(*held, time_ms))
    return {};
  byte_string left;
  for_each_time(*held, [&](std::int64_t time) {
    if (time != time_ms)
      left.append(bytes_of(time));
  });
  if (left.empty())
    HEADRACE_CHECK(table_->erase(at_, {&row, 1}));
  else
    HEADRACE_CHECK(table_->put(at_, 0, left));
  HEADRACE_CHECK(table_->write_back(at_));
  --size_;
  if (loaded_ == bucket)
    is_exact_ = false;
  if (table_->row_count(bucket) > 0)
    return {};
  if (loaded_ == bucket)
    unload();
  return table_->drop_namespace(bucket);
}

status bucketed_timers::load(state_namespace bucket) {
  unload();
  auto piece = table_->make_piece();
  for (scan_cursor cursor; !cursor.done;) {
    HEADRACE_CHECK(table_->scan(bucket, cursor, piece_rows, piece));
    for (std::size_t row = 0; row < piece.size(); ++row) {
      const auto key = static_cast<std::uint32_t>(loaded_keys_.size());
      loaded_keys_.append(piece.keys.at(row));
      for_each_time(piece.variable[row], [&](std::int64_t time) { heap_.push_back({time, key}); });
    }
  }
  std::make_heap(heap_.begin(), heap_.end());
  loaded_ = bucket;
  is_exact_ = true;
  return {};
}

void bucketed_timers::unload() {
  loaded_.reset();
  heap_.clear();
  loaded_keys_.clear();
}

/// Loads the first bucket that has timers; none is loaded when there are no timers.
status bucketed_timers::ensure_first_loaded() {
  for (;;) {
    const auto first = table_->first_namespace();
    if (!first) {
      unload();
      return {};
    }
    if (loaded_ != first)
      HEADRACE_CHECK(load(*first));
    if (!heap_.empty())
      return {};
    unload();
    HEADRACE_CHECK(table_->drop_namespace(*first));
  }
}

void bucketed_timers::emit(const queued& timer, due_timers& out) const {
  out.keys.append(loaded_keys_.at(timer.key));
  out.times_ms.push_back(timer.time_ms);
}

status bucketed_timers::advance(std::int64_t time_ms, std::size_t rows_max, due_timers& out) {
  out.keys.clear();
  out.times_ms.clear();
  while (out.size() < rows_max) {
    HEADRACE_CHECK(ensure_first_loaded());
    if (!loaded_ || heap_.front().time_ms > time_ms)
      return {};
    if (is_exact_ && *loaded_ < bucket_of(time_ms) && heap_.size() <= rows_max - out.size()) {
      HEADRACE_CHECK(take_whole_bucket(out));
      continue;
    }
    candidates_.clear();
    while (!heap_.empty() && heap_.front().time_ms <= time_ms &&
           candidates_.size() < rows_max - out.size()) {
      std::pop_heap(heap_.begin(), heap_.end());
      candidates_.push_back(heap_.back());
      heap_.pop_back();
    }
    HEADRACE_CHECK(take_from_table(candidates_, taken_));
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (taken_[i] != 0)
        emit(candidates_[i], out);
    }
  }
  return {};
}

/// Fires a bucket in bulk: nothing is looked up.
status bucketed_timers::take_whole_bucket(due_timers& out) {
  std::sort_heap(heap_.begin(), heap_.end());
  for (auto timer = heap_.rbegin(); timer != heap_.rend(); ++timer)
    emit(*timer, out);
  size_ -= heap_.size();
  const auto bucket = *loaded_;
  unload();
  return table_->drop_namespace(bucket);
}

status bucketed_timers::take_from_table(std::span<const queued> timers,
                                        std::vector<std::uint8_t>& taken) {
  taken.assign(timers.size(), 0);
  rows_.clear();
  for (const auto& timer : timers)
    rows_.push_back(timer.key);
  HEADRACE_CHECK(table_->locate(loaded_keys_, rows_, *loaded_, access::update, at_));
  byte_string left;
  std::vector<std::uint32_t> emptied;
  for (std::uint32_t i = 0; i < timers.size(); ++i) {
    const auto held = table_->get(at_, i);
    if (!held)
      continue;
    left.clear();
    for_each_time(*held, [&](std::int64_t time) {
      if (time != timers[i].time_ms)
        left.append(bytes_of(time));
    });
    if (left.size() == held->size())
      continue;
    taken[i] = 1;
    --size_;
    if (left.empty())
      emptied.push_back(i);
    HEADRACE_CHECK(table_->put(at_, i, left));
  }
  HEADRACE_CHECK(table_->erase(at_, emptied));
  return table_->write_back(at_);
}

std::optional<std::int64_t> bucketed_timers::next_time_ms() {
  for (;;) {
    if (!ensure_first_loaded() || !loaded_)
      return std::nullopt;
    const auto first = heap_.front();
    if (is_exact_)
      return first.time_ms;
    rows_.assign(1, first.key);
    if (!table_->locate(loaded_keys_, rows_, *loaded_, access::read, at_))
      return first.time_ms;
    const auto held = table_->get(at_, 0);
    if (held && has_time(*held, first.time_ms))
      return first.time_ms;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
}

} // namespace headrace::state
