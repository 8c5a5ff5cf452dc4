#pragma once

#include "libgraph/api/row_adaptors.hpp"
#include "libgraph/function/function.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace headrace::api {

/// Takes the watermarks of a generator.
class watermark_output {
public:
  explicit watermark_output(graph::generated_watermark& at) : at_(&at) {}
  /// Rows of up to this time, milliseconds, are not expected any more. Watermarks never fall: a
  /// lower one changes nothing. Ends idleness.
  void emit_watermark(std::int64_t time_ms) {
    at_->time_ms = std::max(at_->time_ms, time_ms);
    at_->is_idle = false;
  }
  /// Holds no other split back, until a watermark comes or `mark_active` is called.
  void mark_idle() { at_->is_idle = true; }
  void mark_active() { at_->is_idle = false; }

private:
  graph::generated_watermark* at_;
};

/// Says how far event time is, of the rows of T that it sees: those of one split of a source, or of
/// one subtask. A copy is made for each. Keeps nothing over a restart.
template <class T>
class watermark_generator {
public:
  using input_type = T;

  virtual ~watermark_generator() = default;
  /// @param timestamp_ms  the row's event time; `no_timestamp`: it has none. What is emitted comes
  ///        right behind the row
  virtual void on_event(const T& row, std::int64_t timestamp_ms, watermark_output& out) = 0;
  /// Behind each batch of rows, and every 200 ms while none comes.
  virtual void on_periodic_emit(watermark_output& /*out*/) {}
};

template <class G>
class watermark_generator_adaptor final : public graph::watermark_generator {
public:
  explicit watermark_generator_adaptor(G generator) : generator_(std::move(generator)) {}

  std::size_t look(const graph::record_batch& in, std::size_t first,
                   graph::generated_watermark& at) override {
    const row_reader<typename G::input_type> read(in);
    const auto* times = in.timestamps();
    const auto before = at;
    watermark_output out(at);
    for (auto i = first; i < in.size(); ++i) {
      const auto row = in.row_at(i);
      generator_.on_event(read(row), timestamp_at(times, row), out);
      if (!(at == before))
        return i + 1;
    }
    return in.size();
  }
  void look_at_clock(graph::generated_watermark& at) override {
    watermark_output out(at);
    generator_.on_periodic_emit(out);
  }

private:
  G generator_;
};

} // namespace headrace::api
