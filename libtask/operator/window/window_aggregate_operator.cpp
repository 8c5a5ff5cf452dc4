#include "libtask/operator/window/window_aggregate_operator.hpp"

#include "libtask/operator/aggregate/accumulator_table.hpp"
#include "libtask/operator/aggregate/make_aggregate.hpp"
#include "libtask/operator/window/window_assigner.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::window_kind;
using state::state_namespace;

/// Results that are made at once for a window function.
constexpr std::size_t result_bytes_max = std::size_t{1} << 20U;
/// Keys between two looks at how much a window function gave.
constexpr std::size_t keys_a_call = 16;

/// Makes a buffer of one repeated timestamp.
graph::buffer_ptr repeated(std::int64_t value, std::size_t count) {
  auto made = graph::buffer::allocate(count * sizeof(value));
  std::fill_n(made->mutable_as<std::int64_t>(), count, value);
  return made;
}

graph::buffer_ptr copied(const std::vector<std::uint32_t>& rows) {
  auto made = graph::buffer::allocate(rows.size() * sizeof(std::uint32_t));
  std::memcpy(made->mutable_data(), rows.data(), rows.size() * sizeof(std::uint32_t));
  return made;
}

class window_aggregate_operator final : public stream_operator {
public:
  window_aggregate_operator(const graph::operator_node& node, const operator_context& context,
                            std::unique_ptr<graph::aggregate_function> function,
                            std::unique_ptr<graph::window_function> then,
                            const graph::logical_type& result_type)
      : spec_(std::get<graph::window_aggregate_spec>(node.spec)), assigner_(spec_.window),
        schema_(node.input_types.front(), spec_.key_columns), opened_with_(context.for_function()),
        metrics_(context.metrics),
        keys_(schema_, static_cast<std::uint32_t>(context.max_parallelism)),
        function_(std::move(function)), then_(std::move(then)),
        results_(std::make_shared<const graph::logical_type>(result_type), context.memory),
        output_type_(std::make_shared<const graph::logical_type>(node.output_type)),
        tells_window_(then_ == nullptr && !(result_type == node.output_type)),
        main_(tells_window_ ? std::make_shared<const graph::logical_type>(result_type)
                            : output_type_,
              context.memory) {
    for (const auto& type : node.side_types)
      sides_.emplace_back(std::make_shared<const graph::logical_type>(type), context.memory);
  }

  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    function_->open(opened_with_);
    if (then_)
      then_->open(opened_with_);
    HEADRACE_TRY(windows_, accumulator_table::open(*states.keyed, "windows", *function_));
    piece_.emplace(windows_->rows().make_piece());
    if (spec_.window.allowed_lateness_ms > 0) {
      HEADRACE_TRY(fired_, accumulator_table::open(*states.keyed, "fired-windows", *function_));
    }
    return {};
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    keys_.assign(rows, spec_.key_columns);
    if (spec_.window.kind == window_kind::end_of_stream) {
      all_rows_.resize(rows.size());
      for (std::size_t i = 0; i < all_rows_.size(); ++i)
        all_rows_[i] = rows.row_at(i);
      return windows_->fold(rows, keys_, all_rows_, state_namespace{0});
    }
    if (rows.timestamps() == nullptr)
      return error(errc::type_mismatch, "event-time window over rows without timestamps: assign "
                                        "timestamps and watermarks before it");
    assigner_.assign(rows, watermark_ms_, assigned_);
    if (!assigned_.late_rows.empty())
      take_late(rows);
    if (!assigned_.fired_rows.empty()) {
      HEADRACE_CHECK(fired_->fold(rows, keys_, assigned_.fired_rows, assigned_.fired_starts_ms));
      begin_refiring();
    }
    return windows_->fold(rows, keys_, assigned_.rows, assigned_.starts_ms);
  }

  using stream_operator::advance;
  status advance(graph::watermark mark) override {
    watermark_ms_ = std::max(watermark_ms_, mark.time_ms);
    return {};
  }

  status end_input(std::int32_t /*input*/) override {
    ended_ = true;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (!late_.is_empty())
      out.emit_side(spec_.late_side, std::exchange(late_, {}));
    if (refire_at_ < refire_.size()) {
      HEADRACE_CHECK(refire_window(out));
      return drain_result::more;
    }
    if (!firing_ && !begin_firing()) {
      HEADRACE_CHECK(clean_up());
      return drain_result::done;
    }
    HEADRACE_CHECK(fire_piece(out, budget));
    return drain_result::more;
  }

  void close() override {
    function_->close();
    if (then_)
      then_->close();
  }

private:
  void take_late(const graph::record_batch& rows) {
    if (spec_.late_side < 0)
      metrics_.late_records.add(assigned_.late_rows.size());
    else
      late_ =
          rows.with_selection(copied(assigned_.late_rows), assigned_.late_rows.size()).compact();
  }

  bool is_end_of_stream() const { return spec_.window.kind == window_kind::end_of_stream; }

  /// Finds the oldest window that is due.
  bool begin_firing() {
    const auto first = windows_->rows().first_namespace();
    if (!first)
      return false;
    const bool due = is_end_of_stream() ? ended_ || watermark_ms_ == graph::watermark::end
                                        : ended_ || assigner_.last_ms(*first) <= watermark_ms_;
    if (due) {
      firing_ = first;
      cursor_ = {};
    }
    return due;
  }

  /// Emits about a budget of the firing window's results: the rest of the piece that was scanned
  /// last, or of the next one.
  status fire_piece(operator_output& out, const drain_budget& budget) {
    const auto space = *firing_;
    if (piece_at_ == piece_->size()) {
      HEADRACE_CHECK(windows_->scan(space, cursor_, budget.rows_max, *piece_));
      HEADRACE_CHECK(begin_piece());
    }
    emit_piece(*windows_, space, out, budget);
    if (piece_at_ < piece_->size())
      return {};
    if (piece_at_ > 0 && fired_ && assigner_.cleanup_ms(space) > watermark_ms_)
      HEADRACE_CHECK(fired_->adopt(*piece_, space));
    if (cursor_.done) {
      HEADRACE_CHECK(windows_->rows().drop_namespace(space));
      firing_.reset();
      end_piece();
    }
    return {};
  }

  status begin_piece() {
    HEADRACE_TRY(piece_keys_, piece_->keys.to_batch());
    piece_at_ = 0;
    return {};
  }
  void end_piece() {
    piece_->keys.clear();
    piece_->fixed.clear();
    piece_->variable.clear();
    piece_keys_ = {};
    piece_at_ = 0;
    given_ = {};
    given_at_ = 0;
  }

  /// Emits the results of `piece_` from `piece_at_` on: all of them, or by way of the window
  /// function, which gives as many rows as it likes, until the budget is used up.
  void emit_piece(accumulator_table& table, state_namespace space, operator_output& out,
                  const drain_budget& budget) {
    const bool timeless = is_end_of_stream();
    const auto start = timeless ? std::numeric_limits<std::int64_t>::min() : space;
    const auto end = timeless ? std::numeric_limits<std::int64_t>::max() : assigner_.end_ms(space);
    if (!then_) {
      if (piece_->size() > 0)
        table.emit(*piece_, piece_keys_, main_);
      piece_at_ = piece_->size();
    } else {
      graph::function_output into(main_, sides_, budget.rows_max, budget.bytes_max);
      while (piece_at_ < piece_->size() && !into.is_full()) {
        if (given_at_ == given_.size()) {
          table.emit_some(*piece_, piece_at_, piece_keys_, result_bytes_max, results_);
          given_ = results_.finish();
          given_at_ = 0;
        }
        const auto count = std::min(keys_a_call, given_.size() - given_at_);
        then_->process(piece_keys_, piece_at_, start, end, given_.slice(given_at_, count), into);
        given_at_ += count;
        piece_at_ += count;
      }
    }
    emit_builder(main_, timeless, end, [&](auto rows) {
      out.emit(tells_window_ ? with_window(rows, start, end) : std::move(rows));
    });
    for (std::size_t i = 0; i < sides_.size(); ++i)
      emit_builder(sides_[i], timeless, end, [&](auto rows) {
        out.emit_side(static_cast<std::int32_t>(i), std::move(rows));
      });
  }

  /// Puts the window's start, end and last millisecond behind its results.
  graph::record_batch with_window(const graph::record_batch& rows, std::int64_t start_ms,
                                  std::int64_t end_ms) const {
    auto columns = rows.columns();
    for (const auto value : {start_ms, end_ms, end_ms - 1}) {
      graph::column::parts parts;
      parts.size = rows.row_count();
      parts.values = repeated(value, parts.size);
      columns.push_back(graph::column::make(output_type_->child(columns.size()), std::move(parts)));
    }
    return rows.with_columns(output_type_, std::move(columns));
  }

  template <class Emit>
  static void emit_builder(graph::batch_builder& from, bool timeless, std::int64_t end_ms,
                           Emit&& emit) {
    if (from.is_empty())
      return;
    auto rows = from.finish();
    if (!timeless)
      rows = rows.with_timestamps(repeated(end_ms - 1, rows.row_count()));
    emit(std::move(rows));
  }

  /// Notes which rows changed which fired window, the oldest window first.
  void begin_refiring() {
    refire_at_ = 0;
    refire_.clear();
    for (std::size_t i = 0; i < assigned_.fired_rows.size(); ++i)
      refire_.emplace_back(assigned_.fired_starts_ms[i], assigned_.fired_rows[i]);
    std::stable_sort(refire_.begin(), refire_.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
  }

  /// Emits anew the keys of one fired window that late rows changed, each once a batch.
  status refire_window(operator_output& out) {
    const auto space = refire_[refire_at_].first;
    all_rows_.clear();
    for (; refire_at_ < refire_.size() && refire_[refire_at_].first == space; ++refire_at_)
      all_rows_.push_back(refire_[refire_at_].second);
    HEADRACE_CHECK(fired_->look_up(keys_, all_rows_, space, *piece_));
    HEADRACE_CHECK(begin_piece());
    while (piece_at_ < piece_->size())
      emit_piece(*fired_, space, out, {});
    end_piece();
    return {};
  }

  /// Drops fired windows whose lateness is over.
  status clean_up() {
    if (!fired_)
      return {};
    while (const auto first = fired_->rows().first_namespace()) {
      if (assigner_.cleanup_ms(*first) > watermark_ms_)
        return {};
      HEADRACE_CHECK(fired_->rows().drop_namespace(*first));
    }
    return {};
  }

  graph::window_aggregate_spec spec_;
  window_assigner assigner_;
  state::key_schema schema_;
  graph::function_context opened_with_;
  task_metrics& metrics_;
  state::key_batch keys_;
  std::unique_ptr<graph::aggregate_function> function_;
  std::unique_ptr<graph::window_function> then_;
  std::optional<accumulator_table> windows_;
  std::optional<accumulator_table> fired_;
  std::optional<state::scanned_rows> piece_;
  graph::record_batch piece_keys_; ///< row for row
  std::size_t piece_at_ = 0;       ///< what of it comes next
  graph::record_batch given_;      ///< results of the piece, for the window function
  std::size_t given_at_ = 0;       ///< what of them it sees next
  graph::batch_builder results_;   ///< for the window function
  graph::row_type_ptr output_type_;
  bool tells_window_;         ///< its columns are the last three of the output
  graph::batch_builder main_; ///< of the results alone, then
  std::vector<graph::batch_builder> sides_;

  std::int64_t watermark_ms_ = graph::watermark::none;
  bool ended_ = false;
  std::optional<state_namespace> firing_;
  state::scan_cursor cursor_;
  window_assignment assigned_;
  std::vector<std::uint32_t> all_rows_;                           ///< to fold or look up
  std::vector<std::pair<state_namespace, std::uint32_t>> refire_; ///< window and row, by window
  std::size_t refire_at_ = 0;
  graph::record_batch late_;
};

} // namespace

result<std::unique_ptr<stream_operator>>
make_window_aggregate_operator(const graph::operator_node& node, const operator_context& context) {
  const auto& spec = std::get<graph::window_aggregate_spec>(node.spec);
  HEADRACE_CHECK(check_window(spec.window));
  const auto& result_type = spec.aggregates.result_type.root() == graph::type_root::null
                                ? node.output_type
                                : spec.aggregates.result_type;
  HEADRACE_TRY(auto function, make_aggregate(spec.aggregates, node.input_types.front(), result_type,
                                             spec.key_columns, context));
  std::unique_ptr<graph::window_function> then;
  if (!spec.window_function.is_none()) {
    HEADRACE_TRY(then, make_function<graph::window_function>(context, spec.window_function));
  }
  return std::unique_ptr<stream_operator>(std::make_unique<window_aggregate_operator>(
      node, context, std::move(function), std::move(then), result_type));
}

} // namespace headrace::task
