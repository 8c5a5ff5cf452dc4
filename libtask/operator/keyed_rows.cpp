#include "libtask/operator/keyed_rows.hpp"

#include "libstate/keyed/user_state.hpp"
#include "libgraph/function/failure.hpp"

#include <utility>

namespace headrace::task {

namespace {

constexpr std::size_t timers_at_once = 512;
constexpr std::size_t keys_at_once = 512;

void check(status done) {
  if (!done)
    throw graph::failure(std::move(done).error());
}

} // namespace

status keyed_rows::open(state::keyed_backend& backend) {
  backend_ = &backend;
  keys_ = std::make_unique<state::key_batch>(schema_, backend.max_parallelism());
  HEADRACE_TRY(event_.service,
               state::open_timer_service(backend, graph::time_domain::event, "event-timers"));
  HEADRACE_TRY(
      processing_.service,
      state::open_timer_service(backend, graph::time_domain::processing, "processing-timers"));
  event_.due.emplace(event_.service->make_due());
  processing_.due.emplace(processing_.service->make_due());
  return {};
}

void keyed_rows::take(const graph::record_batch& rows, std::span<const std::int32_t> key_columns) {
  taken_ = rows;
  keys_->assign(rows, key_columns);
}

void keyed_rows::take_unkeyed() { clear_key(); }

void keyed_rows::set_key(const state::key_batch& keys, std::size_t row) {
  current_ = &keys;
  row_ = row;
  backend_->set_current_key(keys, row);
}

void keyed_rows::clear_key() {
  current_ = nullptr;
  backend_->clear_current_key();
}

void keyed_rows::advance(graph::watermark mark) {
  watermark_ms_ = mark.time_ms;
  event_.fire_until_ms = mark.time_ms;
}

std::optional<std::int64_t> keyed_rows::next_processing_time_ms() {
  if (processing_.service == nullptr)
    return std::nullopt;
  return processing_.service->next_time_ms();
}

result<bool> keyed_rows::fire(graph::timer_function& function, graph::function_output& out) {
  HEADRACE_TRY(const bool done, fire(event_, graph::time_domain::event, function, out));
  return done ? fire(processing_, graph::time_domain::processing, function, out) : done;
}

result<bool> keyed_rows::fire(timers& from, graph::time_domain domain,
                              graph::timer_function& function, graph::function_output& out) {
  while (from.fire_until_ms) {
    if (from.at >= from.due->size()) {
      from.at = 0;
      HEADRACE_CHECK(from.service->advance(*from.fire_until_ms, timers_at_once, *from.due));
      if (from.due->size() == 0) {
        from.fire_until_ms.reset();
        return true;
      }
      HEADRACE_TRY(from.keys, from.due->keys.to_batch());
    }
    while (from.at < from.due->size()) {
      if (out.is_full())
        return false;
      const auto row = from.at++;
      set_key(from.due->keys, row);
      function.on_timer(from.due->times_ms[row], domain, from.keys, row, *this, out);
    }
    if (out.is_full())
      return false;
  }
  return true;
}

std::int32_t keyed_rows::current_key_group() const {
  if (current_ == nullptr)
    throw graph::failure(state::no_current_key());
  const auto groups = current_->key_groups(); // of the whole batch, once
  if (!groups)
    throw graph::failure(groups.error());
  return (*groups)[row_];
}

void keyed_rows::register_event_timer(std::int64_t time_ms) {
  check(event_.service->register_timer(backend_->current_key(), time_ms));
}

void keyed_rows::register_processing_timer(std::int64_t time_ms) {
  check(processing_.service->register_timer(backend_->current_key(), time_ms));
}

void keyed_rows::delete_event_timer(std::int64_t time_ms) {
  check(event_.service->delete_timer(backend_->current_key(), time_ms));
}

void keyed_rows::delete_processing_timer(std::int64_t time_ms) {
  check(processing_.service->delete_timer(backend_->current_key(), time_ms));
}

void keyed_rows::for_each_key(const graph::state_access& state,
                              void (*visit)(void* context, const graph::record_batch& keys,
                                            std::size_t row),
                              void* context) {
  state::key_batch found(schema_, backend_->max_parallelism());
  const struct at_end {
    keyed_rows& rows;
    ~at_end() { rows.clear_key(); } // `found` goes, also when `visit` throws
  } cleared{*this};
  state::scan_cursor cursor;
  while (!cursor.done) {
    check(backend_->scan_keys(state, cursor, keys_at_once, found));
    auto keys = found.to_batch();
    if (!keys)
      throw graph::failure(std::move(keys).error());
    for (std::size_t row = 0; row < found.size(); ++row) {
      set_key(found, row);
      visit(context, *keys, row);
    }
  }
}

} // namespace headrace::task
