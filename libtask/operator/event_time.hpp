#pragma once

#include "libtask/operator/operator_context.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libgraph/function/function.hpp"
#include "libgraph/spec/operator_spec.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::task {

/// Gives rows their event time: by a function of the job, from a column, or leaves what they have.
/// Pure. Lives on the task's mailbox.
class event_time_stamper {
public:
  event_time_stamper() = default;
  /// @param assigner  null: by `spec.time_column`, or nothing
  event_time_stamper(const graph::watermark_spec& spec,
                     std::unique_ptr<graph::timestamp_assigner> assigner,
                     std::shared_ptr<graph::memory_budget> memory);
  /// @errors data_errc::row_time_missing  NULL in the time column
  result<graph::record_batch> stamp(const graph::record_batch& rows) const;

private:
  std::unique_ptr<graph::timestamp_assigner> assigner_;
  std::int32_t column_ = -1;
  std::shared_ptr<graph::memory_budget> memory_;
};

/// The largest event time of the selected rows; `watermark::none` when there is none.
std::int64_t largest_time(const graph::record_batch& rows);

/// Emits a batch and lets watermarks follow. With `on_event`, cuts the batch behind each row that
/// raises the largest time, so that what is late does not depend on where batches end.
/// @param reached  the largest time so far; raised
/// @param advance  called with the new largest time, behind the rows that reached it
void emit_with_watermarks(const graph::record_batch& rows, bool on_event, std::int64_t& reached,
                          const std::function<void(graph::record_batch)>& emit,
                          const std::function<void(std::int64_t)>& advance);

/// Measures for how long nothing came, counting only the time in which something could have come.
/// Pure: is told the time.
class idle_clock {
public:
  explicit idle_clock(std::int64_t timeout_ms) : timeout_us_(timeout_ms * 1000) {}
  void reset(std::int64_t now_us);
  /// Whether rows could be passed on from now on.
  void set_running(bool running, std::int64_t now_us);
  bool is_idle(std::int64_t now_us) const;
  /// How long until idle if nothing comes; nothing: never, or idle already.
  std::optional<std::int64_t> remaining_us(std::int64_t now_us) const;

private:
  std::int64_t elapsed_us(std::int64_t now_us) const;
  std::int64_t timeout_us_;
  std::int64_t ran_us_ = 0;
  std::int64_t since_us_ = 0;
  bool running_ = true;
};

/// Makes the generator of one more split.
using generator_factory = std::function<std::unique_ptr<graph::watermark_generator>()>;
/// That of a strategy; null where its watermarks are not generated.
/// @errors graph_mismatch  the job's code has no such function
result<generator_factory> make_generator_factory(const graph::watermark_spec& spec,
                                                 const operator_context& context);

/// Combines the watermarks of the splits of one source reader (or of one stream): the smallest over
/// all splits that are not idle, less the allowed disorder. Pure. Lives on the task's mailbox.
class split_watermarks {
public:
  /// How often generators look at the clock while no rows come; Flink's default.
  static constexpr std::int64_t look_interval_us = 200'000;

  explicit split_watermarks(const graph::watermark_spec& spec, generator_factory generators = {});

  struct update {
    std::optional<graph::watermark> advanced;
    std::optional<graph::watermark_status> status;
  };
  bool is_enabled() const { return spec_.kind != graph::watermark_kind::none; }

  /// From now on, having no split for the idle timeout is being idle too.
  void start(std::int64_t now_us) { empty_clock_.reset(now_us); }
  void add(const std::string& split, std::int64_t now_us);
  /// The split has ended, and holds nothing back.
  void remove(std::string_view split, std::int64_t now_us);
  /// Rows of the split came, with this largest time.
  void on_rows(std::string_view split, std::int64_t largest_ms, std::int64_t now_us);
  /// Emits a batch of a split, cut where watermarks are due within it.
  /// @param settle  called before the first row, which ends idleness, and whenever `settle` of this
  ///        may give something
  void pass(std::string_view split, const graph::record_batch& rows, std::int64_t now_us,
            const std::function<void(graph::record_batch)>& emit,
            const std::function<void()>& settle);
  void set_running(bool running, std::int64_t now_us);
  /// What has changed by now.
  update settle(std::int64_t now_us);
  /// When `settle` could find something new without rows, from now: a split idle that is not, or
  /// what generators make of the clock.
  std::optional<std::int64_t> due_in_us(std::int64_t now_us) const;

private:
  struct split_state {
    std::int64_t largest_ms = graph::watermark::none;
    idle_clock clock;
    bool idle = false;
    std::unique_ptr<graph::watermark_generator> generator = nullptr;
    graph::generated_watermark generated = {};
  };
  std::int64_t watermark_of(const split_state& split) const;
  static void generate(split_state& split, const graph::record_batch& rows,
                       const std::function<void(graph::record_batch)>& emit,
                       const std::function<void()>& settle);

  graph::watermark_spec spec_;
  generator_factory generators_; ///< null: none
  std::int64_t looked_us_ = 0;   ///< when generators looked at the clock
  std::map<std::string, split_state, std::less<>> splits_;
  idle_clock empty_clock_; ///< while there is no split
  std::int64_t given_ = graph::watermark::none;
  bool idle_given_ = false;
  bool running_ = true;
};

} // namespace headrace::task
