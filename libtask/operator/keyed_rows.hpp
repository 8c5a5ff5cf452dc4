#pragma once

#include "libtask/operator/operator_context.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libstate/timer/timer_service.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libgraph/function/function.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace headrace::task {

/// What a keyed function of the job may ask while it runs: the key of the row that it is at, timers
/// of that key, the time. Timers that are due fire in bounded pieces, in order of time. Failures of
/// state go through the function as exceptions. Lives on the subtask's mailbox.
class keyed_rows final : public graph::keyed_context {
public:
  keyed_rows(state::key_schema schema, const operator_context& context)
      : schema_(std::move(schema)), time_(context.time) {}

  const state::key_schema& schema() const { return schema_; }
  /// Opens the timers, behind a restore and before anything else.
  status open(state::keyed_backend& backend);

  /// Rows whose keys are in these columns of them: `set_row` means one of them until `drop`.
  void take(const graph::record_batch& rows, std::span<const std::int32_t> key_columns);
  /// Rows without keys: none is current.
  void take_unkeyed();
  void drop() { taken_ = {}; }

  void advance(graph::watermark mark);
  std::optional<std::int64_t> next_processing_time_ms();
  void on_processing_time(std::int64_t now_ms) { processing_.fire_until_ms = now_ms; }
  /// Calls the function for each timer that is due, until the output is full.
  /// @returns whether all have fired
  result<bool> fire(graph::timer_function& function, graph::function_output& out);

  // --- for the function
  void set_row(std::size_t row) override { set_key(*keys_, taken_.row_at(row)); }
  std::int32_t current_key_group() const override;
  std::int64_t current_watermark() const override { return watermark_ms_; }
  std::int64_t current_processing_time() const override { return time_.wall_ms(); }
  void register_event_timer(std::int64_t time_ms) override;
  void register_processing_timer(std::int64_t time_ms) override;
  void delete_event_timer(std::int64_t time_ms) override;
  void delete_processing_timer(std::int64_t time_ms) override;
  void for_each_key(const graph::state_access& state,
                    void (*visit)(void* context, const graph::record_batch& keys, std::size_t row),
                    void* context) override;

private:
  struct timers {
    std::unique_ptr<state::timer_service> service;
    std::optional<state::due_timers> due;
    graph::record_batch keys; ///< of `due`
    std::size_t at = 0;
    std::optional<std::int64_t> fire_until_ms;
  };
  void set_key(const state::key_batch& keys, std::size_t row);
  void clear_key();
  result<bool> fire(timers& from, graph::time_domain domain, graph::timer_function& function,
                    graph::function_output& out);

  state::key_schema schema_;
  const headrace::clock& time_;
  state::keyed_backend* backend_ = nullptr;
  std::int64_t watermark_ms_ = graph::watermark::none;
  timers event_;
  timers processing_;
  graph::record_batch taken_;
  std::unique_ptr<state::key_batch> keys_;    ///< of what was taken
  const state::key_batch* current_ = nullptr; ///< the current key is one of them; null: none is
  std::size_t row_ = 0;
};

} // namespace headrace::task
