#include "libtask/operator/event_time.hpp"

#include "libgraph/data/row_format.hpp"
#include "libactors/base/data_errc.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

using graph::record_batch;
using graph::watermark;

namespace {

status refuse_nulls(const record_batch& rows, std::size_t time_column) {
  const auto& times = rows.at(time_column);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!times.is_null(rows.row_at(i)))
      continue;
    return error(data_errc::row_time_missing,
                 "RowTime field should not be null, please convert it to a non-null long value: "
                 "column `" +
                     rows.type()->fields()[time_column].name + "` of row " +
                     graph::to_string(graph::row_view(rows, i)) +
                     "; in SQL declare WATERMARK FOR a computed column, as t AS COALESCE(ts, …)");
  }
  return {};
}

} // namespace

event_time_stamper::event_time_stamper(const graph::watermark_spec& spec,
                                       std::unique_ptr<graph::timestamp_assigner> assigner,
                                       std::shared_ptr<graph::memory_budget> memory)
    : assigner_(std::move(assigner)), column_(spec.time_column), memory_(std::move(memory)) {}

result<record_batch> event_time_stamper::stamp(const record_batch& rows) const {
  if (rows.is_empty() || (assigner_ == nullptr && column_ < 0))
    return rows;
  auto times = graph::buffer::allocate(rows.row_count() * sizeof(std::int64_t), memory_);
  auto* out = times->mutable_as<std::int64_t>();
  if (assigner_ != nullptr) {
    assigner_->assign(rows, out);
    return rows.with_timestamps(std::move(times));
  }
  const auto& source = rows.at(static_cast<std::size_t>(column_));
  if (source.has_nulls())
    HEADRACE_CHECK(refuse_nulls(rows, static_cast<std::size_t>(column_)));
  if (source.type().physical() == graph::physical_type::timestamp_nanos) {
    constexpr graph::int128 nanos = 1'000'000;
    const auto* values = source.values<graph::int128>();
    for (std::size_t i = 0; i < rows.row_count(); ++i) {
      const auto floor = values[i] / nanos - (values[i] % nanos < 0 ? 1 : 0);
      out[i] = static_cast<std::int64_t>(floor);
    }
  } else if (!source.has_nulls()) {
    return rows.with_timestamps(source.content().values); // the column itself, shared
  } else {
    std::copy_n(source.values<std::int64_t>(), rows.row_count(), out);
  }
  return rows.with_timestamps(std::move(times));
}

std::int64_t largest_time(const record_batch& rows) {
  auto largest = watermark::none;
  const auto* times = rows.timestamps();
  if (times == nullptr)
    return largest;
  if (!rows.has_selection()) {
    for (std::size_t i = 0; i < rows.row_count(); ++i)
      largest = std::max(largest, times[i]);
    return largest;
  }
  for (const auto row : rows.selection())
    largest = std::max(largest, times[row]);
  return largest;
}

void emit_with_watermarks(const record_batch& rows, bool on_event, std::int64_t& reached,
                          const std::function<void(record_batch)>& emit,
                          const std::function<void(std::int64_t)>& advance) {
  const auto before = reached;
  if (!on_event || rows.timestamps() == nullptr) {
    reached = std::max(reached, largest_time(rows));
    if (!rows.is_empty())
      emit(rows);
    if (reached > before)
      advance(reached);
    return;
  }
  std::size_t from = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto time = rows.timestamps()[rows.row_at(i)];
    if (time <= reached)
      continue;
    reached = time;
    emit(rows.slice(from, i + 1 - from));
    advance(reached);
    from = i + 1;
  }
  if (from < rows.size())
    emit(rows.slice(from, rows.size() - from));
}

void idle_clock::reset(std::int64_t now_us) {
  ran_us_ = 0;
  since_us_ = now_us;
}

void idle_clock::set_running(bool running, std::int64_t now_us) {
  if (running == running_)
    return;
  if (running)
    since_us_ = now_us;
  else
    ran_us_ += now_us - since_us_;
  running_ = running;
}

std::int64_t idle_clock::elapsed_us(std::int64_t now_us) const {
  return ran_us_ + (running_ ? now_us - since_us_ : 0);
}

bool idle_clock::is_idle(std::int64_t now_us) const {
  return timeout_us_ > 0 && elapsed_us(now_us) >= timeout_us_;
}

std::optional<std::int64_t> idle_clock::remaining_us(std::int64_t now_us) const {
  if (timeout_us_ <= 0 || !running_ || is_idle(now_us))
    return std::nullopt;
  return timeout_us_ - elapsed_us(now_us);
}

result<generator_factory> make_generator_factory(const graph::watermark_spec& spec,
                                                 const operator_context& context) {
  if (spec.generator.is_none())
    return generator_factory();
  const auto make = [code = context.code, at = static_cast<std::size_t>(spec.generator.index)] {
    return std::get<std::unique_ptr<graph::watermark_generator>>(code->functions[at]());
  };
  HEADRACE_TRY(const auto first,
               make_function<graph::watermark_generator>(context, spec.generator));
  return generator_factory(make);
}

split_watermarks::split_watermarks(const graph::watermark_spec& spec, generator_factory generators)
    : spec_(spec), generators_(std::move(generators)), empty_clock_(spec.idle_timeout_ms) {}

void split_watermarks::add(const std::string& split, std::int64_t now_us) {
  const auto timeout_ms = is_enabled() ? spec_.idle_timeout_ms : 0;
  auto [at, made] =
      splits_.try_emplace(split, split_state{watermark::none, idle_clock(timeout_ms), false});
  if (made && generators_)
    at->second.generator = generators_();
  at->second.clock.reset(now_us);
  at->second.clock.set_running(running_, now_us);
}

void split_watermarks::remove(std::string_view split, std::int64_t now_us) {
  const auto at = splits_.find(split);
  if (at != splits_.end())
    splits_.erase(at);
  if (splits_.empty())
    empty_clock_.reset(now_us);
}

void split_watermarks::on_rows(std::string_view split, std::int64_t largest_ms,
                               std::int64_t now_us) {
  const auto at = splits_.find(split);
  if (at == splits_.end())
    return;
  at->second.largest_ms = std::max(at->second.largest_ms, largest_ms);
  at->second.idle = false;
  at->second.clock.reset(now_us);
}

void split_watermarks::pass(std::string_view split, const record_batch& rows, std::int64_t now_us,
                            const std::function<void(record_batch)>& emit,
                            const std::function<void()>& settle) {
  on_rows(split, watermark::none, now_us);
  settle();
  const auto at = splits_.find(split);
  if (at != splits_.end() && at->second.generator != nullptr)
    return generate(at->second, rows, emit, settle);
  auto reached = at == splits_.end() ? watermark::none : at->second.largest_ms;
  emit_with_watermarks(rows, spec_.on_event && is_enabled(), reached, emit,
                       [&](std::int64_t largest_ms) {
                         on_rows(split, largest_ms, now_us);
                         settle();
                       });
}

void split_watermarks::generate(split_state& split, const record_batch& rows,
                                const std::function<void(record_batch)>& emit,
                                const std::function<void()>& settle) {
  std::size_t from = 0;
  for (std::size_t next = 0; next < rows.size();) {
    const auto before = split.generated;
    next = split.generator->look(rows, next, split.generated);
    if (split.generated == before)
      continue;
    emit(rows.slice(from, next - from));
    from = next;
    settle();
  }
  if (from < rows.size())
    emit(rows.slice(from, rows.size() - from));
  split.generator->look_at_clock(split.generated);
  settle();
}

void split_watermarks::set_running(bool running, std::int64_t now_us) {
  if (running_ == running)
    return;
  running_ = running;
  empty_clock_.set_running(running, now_us);
  for (auto& [name, split] : splits_)
    split.clock.set_running(running, now_us);
}

std::int64_t split_watermarks::watermark_of(const split_state& split) const {
  if (split.generator != nullptr)
    return split.generated.time_ms;
  const auto largest_ms = split.largest_ms;
  if (largest_ms == watermark::none)
    return watermark::none;
  const auto bound =
      spec_.kind == graph::watermark_kind::bounded_out_of_orderness ? spec_.bound_ms : 0;
  // Subtracts without wrapping round below the smallest time.
  return largest_ms < watermark::none + bound + 1 ? watermark::none : largest_ms - bound - 1;
}

split_watermarks::update split_watermarks::settle(std::int64_t now_us) {
  update out;
  if (!is_enabled() || (splits_.empty() && !empty_clock_.is_idle(now_us)))
    return out;
  if (generators_ && now_us - looked_us_ >= look_interval_us) {
    looked_us_ = now_us;
    for (auto& [name, split] : splits_)
      split.generator->look_at_clock(split.generated);
  }
  auto smallest = watermark::end;
  auto largest_idle = watermark::none;
  std::size_t active = 0;
  for (auto& [name, split] : splits_) {
    split.idle = split.idle || split.clock.is_idle(now_us);
    const auto mark = watermark_of(split);
    if (split.idle || split.generated.is_idle) {
      largest_idle = std::max(largest_idle, mark);
    } else {
      smallest = std::min(smallest, mark);
      ++active;
    }
  }
  const auto reached = active > 0 ? smallest : largest_idle;
  if (reached > given_) {
    given_ = reached;
    out.advanced = watermark{reached};
  }
  if ((active == 0) != idle_given_) {
    idle_given_ = active == 0;
    out.status = graph::watermark_status{idle_given_};
  }
  return out;
}

std::optional<std::int64_t> split_watermarks::due_in_us(std::int64_t now_us) const {
  std::optional<std::int64_t> next;
  if (generators_ && !splits_.empty() && running_)
    next = std::max<std::int64_t>(0, looked_us_ + look_interval_us - now_us);
  if (splits_.empty() && !idle_given_)
    next = empty_clock_.is_idle(now_us) ? std::optional<std::int64_t>(0)
                                        : empty_clock_.remaining_us(now_us);
  for (const auto& [name, split] : splits_) {
    if (split.idle)
      continue;
    const auto remaining = split.clock.is_idle(now_us) ? std::optional<std::int64_t>(0)
                                                       : split.clock.remaining_us(now_us);
    if (remaining && (!next || *remaining < *next))
      next = remaining;
  }
  return next;
}

} // namespace headrace::task
