#include "libtask/operator/window/session_group_operator.hpp"

#include "libtask/operator/aggregate/group_calls.hpp"
#include "libtask/operator/window/late_rows.hpp"
#include "libtask/operator/window/session_windows.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

class session_group_operator final : public stream_operator, private session_windows::user {
public:
  session_group_operator(const graph::operator_node& node, const operator_context& context,
                         window_time time)
      : spec_(std::get<graph::session_group_spec>(node.spec)),
        schema_(node.input_types.front(), spec_.key_columns),
        keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)),
        calls_(spec_.calls, node.input_types.front(), node.output_type, spec_.key_columns.size(),
               false),
        windows_(spec_.window, spec_.time_column, std::move(time), calls_.fixed_bytes(), context),
        out_(std::make_shared<const graph::logical_type>(node.output_type), context.memory),
        is_zoned_(node.output_type.child(node.output_type.child_count() - 1).root() ==
                  graph::type_root::timestamp_ltz),
        gives_late_(!node.side_types.empty()) {
    if (gives_late_)
      windows_.keep_late();
  }

  const group_calls& calls() const { return calls_; }
  std::optional<state::key_schema> key_schema() const override { return schema_; }
  status open(const operator_states& states) override {
    return windows_.open(*states.keyed, calls_.parts());
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    in_ = rows;
    keys_.assign(rows, spec_.key_columns);
    auto taken = windows_.add(rows, keys_, *this);
    if (gives_late_)
      late_.add_all(windows_.late());
    late_.take_from(rows);
    in_ = {};
    return taken;
  }

  status advance(graph::watermark mark) override {
    if (!spec_.window.is_processing_time)
      come_to(mark.time_ms);
    return {};
  }
  std::optional<std::int64_t> next_processing_time_ms() override {
    return windows_.next_processing_time_ms();
  }
  status on_processing_time(std::int64_t now_ms) override {
    if (spec_.window.is_processing_time)
      come_to(now_ms - 1);
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    late_.give(out);
    if (!is_due_)
      return drain_result::done;
    HEADRACE_TRY(const bool is_done, windows_.fire(budget.rows_max, *this));
    is_due_ = !is_done;
    if (!fired_rows_.empty())
      HEADRACE_CHECK(emit(out));
    return is_due_ ? drain_result::more : drain_result::done;
  }

private:
  void come_to(std::int64_t time_ms) {
    windows_.set_time(time_ms);
    is_due_ = true;
  }

  status merge(session_list& sessions, std::size_t into, std::size_t from,
               std::size_t /*index*/) override {
    calls_.merge(sessions.payload(from), sessions.payload(into));
    return {};
  }
  status take(session_list& sessions, std::size_t session, std::size_t index) override {
    calls_.take(index, in_, windows_.rows()[index], sessions.payload(session));
    return {};
  }
  status fire(session_list& sessions, std::size_t session, std::size_t row) override {
    const auto key_count = spec_.key_columns.size();
    for (std::size_t k = 0; k < calls_.size(); ++k)
      calls_.append_cell(k, sessions.payload(session), out_.column(key_count + k));
    const auto end = sessions.end_ms(session);
    const auto bounds = key_count + calls_.size();
    const auto last = windows_.time().instant_ms(end) - 1;
    out_.column(bounds).append(sessions.start_ms(session));
    out_.column(bounds + 1).append(end);
    out_.column(bounds + 2).append(is_zoned_ ? last : end - 1);
    fired_rows_.push_back(static_cast<std::uint32_t>(row));
    last_ms_.push_back(last);
    return {};
  }

  status emit(operator_output& out) {
    HEADRACE_TRY(const auto keys, windows_.due().keys.to_batch());
    for (std::size_t k = 0; k < spec_.key_columns.size(); ++k)
      out_.column(k).append_from(keys.at(k), fired_rows_);
    for (const auto last : last_ms_)
      out_.end_row(last);
    out.emit(out_.finish());
    fired_rows_.clear();
    last_ms_.clear();
    return {};
  }

  graph::session_group_spec spec_;
  state::key_schema schema_;
  state::key_batch keys_;
  group_calls calls_;
  session_windows windows_;
  graph::batch_builder out_;
  bool is_zoned_;   ///< window_time is an instant
  bool gives_late_; ///< as side output 0
  late_rows late_;
  bool is_due_ = false;
  graph::record_batch in_;
  std::vector<std::uint32_t> fired_rows_; ///< of the due keys, one a session that was told
  std::vector<std::int64_t> last_ms_;
};

} // namespace

result<std::unique_ptr<stream_operator>>
make_session_group_operator(const graph::operator_node& node, const operator_context& context) {
  const auto& spec = std::get<graph::session_group_spec>(node.spec);
  HEADRACE_TRY(auto time, window_time::of(spec.window.time_zone));
  auto made = std::make_unique<session_group_operator>(node, context, std::move(time));
  for (std::size_t i = 0; i < spec.calls.size(); ++i)
    if (!made->calls().is_cell(i) || spec.calls[i].is_distinct)
      return error(errc::invalid_graph,
                   "aggregate of sessions that cannot be merged: " + spec.calls[i].function);
  return std::unique_ptr<stream_operator>(std::move(made));
}

} // namespace headrace::task
