#include "libtask/operator/window/window_group_operator.hpp"

#include "libtask/operator/aggregate/group_calls.hpp"
#include "libtask/operator/window/ended_windows.hpp"
#include "libtask/operator/window/late_rows.hpp"
#include "libstate/backend/wide_table.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

std::int64_t word_at(const std::byte* from) {
  std::int64_t out = 0;
  std::memcpy(&out, from, sizeof(out));
  return out;
}

class window_group_operator final : public stream_operator {
public:
  window_group_operator(const graph::operator_node& node, const operator_context& context,
                        window_time time)
      : spec_(std::get<graph::window_group_spec>(node.spec)),
        windows_(std::move(time), spec_.end_column),
        schema_(node.input_types.front(), spec_.key_columns),
        keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)),
        metrics_(context.metrics), calls_(spec_.calls, node.input_types.front(), node.output_type,
                                          spec_.key_columns.size(), false),
        out_(std::make_shared<const graph::logical_type>(node.output_type), context.memory),
        is_zoned_(node.output_type.child(node.output_type.child_count() - 1).root() ==
                  graph::type_root::timestamp_ltz),
        gives_late_(!node.side_types.empty()) {}

  /// Behind what the calls keep is the window's start.
  std::size_t fixed_bytes() const { return calls_.fixed_bytes() + sizeof(std::int64_t); }
  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    backend_ = states.keyed;
    state::state_description wanted;
    wanted.name = "groups";
    wanted.value_type = state::bytes_of(calls_.parts());
    wanted.layout = state::value_layout::fixed(fixed_bytes());
    HEADRACE_TRY(groups_, state::open_wide_table(*backend_, wanted, wide_groups_));
    piece_.emplace(groups_->make_piece());
    HEADRACE_CHECK(calls_.open(*backend_));
    return {};
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    windows_.pick(rows, spec_.is_processing_time);
    if (gives_late_)
      late_.add_all(windows_.late());
    else
      metrics_.late_records.add(windows_.late().size());
    late_.take_from(rows);
    const auto& taken = windows_.rows();
    if (taken.empty())
      return {};
    keys_.assign(rows, spec_.key_columns);
    HEADRACE_CHECK(calls_.take_into_states(rows, taken, keys_));
    HEADRACE_CHECK(groups_->locate(keys_, taken, windows_.spaces(), state::access::insert, found_));
    const auto* starts =
        rows.at(static_cast<std::size_t>(spec_.start_column)).values<std::int64_t>();
    for (std::size_t i = 0; i < taken.size(); ++i) {
      auto* group = found_.values[i];
      calls_.take(i, rows, taken[i], group);
      std::memcpy(group + calls_.fixed_bytes(), starts + taken[i], sizeof(std::int64_t));
    }
    return groups_->write_back(found_);
  }

  status advance(graph::watermark mark) override {
    if (!spec_.is_processing_time)
      windows_.set_time(mark.time_ms);
    return {};
  }
  std::optional<std::int64_t> next_processing_time_ms() override {
    if (!spec_.is_processing_time || groups_ == nullptr)
      return std::nullopt;
    return windows_.first_over_ms(*groups_);
  }
  status on_processing_time(std::int64_t now_ms) override {
    if (spec_.is_processing_time)
      windows_.set_time(now_ms - 1);
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    late_.give(out);
    if (!windows_.begin(*groups_))
      return drain_result::done;
    HEADRACE_CHECK(windows_.scan(*groups_, budget.rows_max, *piece_));
    HEADRACE_CHECK(fire(out));
    if (windows_.is_read())
      HEADRACE_CHECK(windows_.drop(*groups_));
    return drain_result::more;
  }

private:
  /// Emits what the piece has.
  status fire(operator_output& out) {
    const auto count = piece_->size();
    if (count == 0)
      return {};
    const auto key_count = spec_.key_columns.size();
    HEADRACE_TRY(const auto keys, piece_->keys.to_batch());
    all_.resize(count);
    std::iota(all_.begin(), all_.end(), 0U);
    for (std::size_t k = 0; k < key_count; ++k)
      out_.column(k).append_from(keys.at(k), all_);
    for (std::size_t k = 0; k < calls_.size(); ++k)
      if (calls_.is_cell(k))
        for (std::size_t i = 0; i < count; ++i)
          calls_.append_cell(k, piece_->fixed[i], out_.column(key_count + k));
    const auto last_ms = windows_.last_ms();
    const auto bounds = key_count + calls_.size();
    for (std::size_t i = 0; i < count; ++i) {
      out_.column(bounds).append(word_at(piece_->fixed[i] + calls_.fixed_bytes()));
      out_.column(bounds + 1).append(windows_.end());
      out_.column(bounds + 2).append(is_zoned_ ? last_ms : windows_.end() - 1);
    }
    // No pointer into the piece is needed from here on.
    if (calls_.has_states())
      give_values(count, key_count);
    out_.end_rows(count);
    auto made = out_.finish();
    auto times = graph::buffer::allocate(count * sizeof(std::int64_t));
    std::fill_n(times->mutable_as<std::int64_t>(), count, last_ms);
    out.emit(made.with_timestamps(std::move(times)));
    return {};
  }

  /// The results that lie in states, and the end of these.
  void give_values(std::size_t count, std::size_t key_count) {
    for (std::size_t i = 0; i < count; ++i) {
      backend_->set_current_key(piece_->keys, i);
      for (std::size_t k = 0; k < calls_.size(); ++k)
        if (!calls_.is_cell(k))
          calls_.append_value(k, out_.column(key_count + k));
      calls_.clear_states();
    }
  }

  graph::window_group_spec spec_;
  ended_windows windows_;
  state::key_schema schema_;
  state::key_batch keys_;
  task_metrics& metrics_;
  group_calls calls_;
  graph::batch_builder out_;
  bool is_zoned_;   ///< window_time is an instant
  bool gives_late_; ///< as side output 0
  late_rows late_;
  state::keyed_backend* backend_ = nullptr;
  std::unique_ptr<state::keyed_table> wide_groups_; ///< of many aggregates
  state::keyed_table* groups_ = nullptr;
  std::optional<state::scanned_rows> piece_;
  // Of the batch at hand, kept from one to the next so that nothing is allocated per row.
  state::located_rows found_;
  std::vector<std::uint32_t> all_; ///< rows of the piece
};

} // namespace

result<std::unique_ptr<stream_operator>>
make_window_group_operator(const graph::operator_node& node, const operator_context& context) {
  const auto& spec = std::get<graph::window_group_spec>(node.spec);
  HEADRACE_TRY(auto time, window_time::of(spec.time_zone));
  auto made = std::make_unique<window_group_operator>(node, context, std::move(time));
  if (made->fixed_bytes() > state::wide_bytes_max)
    return error(errc::invalid_graph, "too many aggregates in one operator: " + node.name);
  return std::unique_ptr<stream_operator>(std::move(made));
}

} // namespace headrace::task
