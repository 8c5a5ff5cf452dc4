#include "libtask/operator/window/window_table_operator.hpp"

#include "libtask/operator/window/session_table_operator.hpp"
#include "libtask/operator/window/window_time.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::window_kind;

std::int64_t floor_mod(std::int64_t value, std::int64_t by) {
  const auto rest = value % by;
  return rest < 0 ? rest + by : rest;
}

class window_table_operator final : public stream_operator {
public:
  window_table_operator(const graph::operator_node& node, const operator_context& context,
                        window_time time)
      : spec_(std::get<graph::window_table_spec>(node.spec)), window_time_(std::move(time)),
        clock_(context.time), metrics_(context.metrics),
        type_(std::make_shared<const graph::logical_type>(node.output_type)),
        is_zoned_(node.output_type.child(node.output_type.child_count() - 1).root() ==
                  graph::type_root::timestamp_ltz) {
    const auto& window = spec_.window;
    const auto step = window.kind == window_kind::tumbling ? window.size_ms : window.slide_ms;
    windows_ = static_cast<std::size_t>(window.size_ms / step);
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    in_ = rows;
    next_ = 0;
    now_ms_ = spec_.window.is_processing_time ? window_time_.local_ms(clock_.wall_ms()) : 0;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& /*budget*/) override {
    if (in_.is_empty())
      return drain_result::done;
    auto made = with_windows(next_);
    if (!made.is_empty())
      out.emit(std::move(made));
    if (++next_ < windows_)
      return drain_result::more;
    in_ = {};
    return drain_result::done;
  }

private:
  struct bounds {
    std::int64_t start_ms = 0;
    std::int64_t end_ms = 0;
    bool is_there = true;
  };

  /// The window number `index` of a time of clocks.
  bounds window_of(std::int64_t time_ms, std::size_t index) const {
    const auto& window = spec_.window;
    const auto number = static_cast<std::int64_t>(index);
    if (window.kind == window_kind::cumulating) {
      // All begin where the largest does; those that end before the time are none of its.
      const auto start = time_ms - floor_mod(time_ms - window.offset_ms, window.size_ms);
      const auto end = start + (number + 1) * window.slide_ms;
      return {start, end, time_ms < end};
    }
    const auto step = window.kind == window_kind::tumbling ? window.size_ms : window.slide_ms;
    const auto start = time_ms - floor_mod(time_ms - window.offset_ms, step) - number * step;
    return {start, start + window.size_ms, true};
  }

  std::int64_t time_of(std::uint32_t row) const {
    if (spec_.window.is_processing_time)
      return now_ms_;
    return window_time_.local_ms(
        millis_at(in_.at(static_cast<std::size_t>(spec_.time_column)), row));
  }
  bool has_time(std::uint32_t row) const {
    return spec_.window.is_processing_time ||
           !in_.at(static_cast<std::size_t>(spec_.time_column)).is_null(row);
  }

  graph::record_batch with_windows(std::size_t index) {
    const auto count = in_.row_count();
    graph::buffer_ptr columns[3];
    std::int64_t* values[3];
    for (std::size_t i = 0; i < 3; ++i) {
      auto made = graph::buffer::allocate(count * sizeof(std::int64_t));
      values[i] = made->mutable_as<std::int64_t>();
      columns[i] = std::move(made);
    }
    picked_.clear();
    for (std::size_t i = 0; i < in_.size(); ++i) {
      const auto row = in_.row_at(i);
      if (!has_time(row)) {
        if (index == 0)
          metrics_.late_records.add(1);
        continue;
      }
      const auto window = window_of(time_of(row), index);
      values[0][row] = window.start_ms;
      values[1][row] = window.end_ms;
      values[2][row] = (is_zoned_ ? window_time_.instant_ms(window.end_ms) : window.end_ms) - 1;
      if (window.is_there)
        picked_.push_back(row);
    }
    auto all = in_.columns();
    for (auto& each : columns) {
      graph::column::parts parts;
      parts.size = count;
      parts.values = std::move(each);
      all.push_back(graph::column::make(type_->child(all.size()), std::move(parts)));
    }
    auto out = in_.with_columns(type_, std::move(all));
    if (picked_.size() == in_.size())
      return out;
    auto selection = graph::buffer::allocate(picked_.size() * sizeof(std::uint32_t));
    std::copy(picked_.begin(), picked_.end(), selection->mutable_as<std::uint32_t>());
    return out.with_selection(std::move(selection), picked_.size());
  }

  graph::window_table_spec spec_;
  window_time window_time_;
  const headrace::clock& clock_;
  task_metrics& metrics_;
  graph::row_type_ptr type_;
  bool is_zoned_; ///< window_time is an instant
  std::size_t windows_ = 1;
  graph::record_batch in_;
  std::size_t next_ = 0;
  std::int64_t now_ms_ = 0;
  std::vector<std::uint32_t> picked_;
};

} // namespace

result<std::unique_ptr<stream_operator>>
make_window_table_operator(const graph::operator_node& node, const operator_context& context) {
  const auto& spec = std::get<graph::window_table_spec>(node.spec);
  if (spec.window.kind == window_kind::session)
    return make_session_table_operator(node, context);
  HEADRACE_TRY(auto time, window_time::of(spec.window.time_zone));
  return std::unique_ptr<stream_operator>(
      std::make_unique<window_table_operator>(node, context, std::move(time)));
}

} // namespace headrace::task
