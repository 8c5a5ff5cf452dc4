#include "libtask/operator/aggregate/group_aggregate_operator.hpp"

#include "libtask/operator/aggregate/group_cells.hpp"
#include "libtask/operator/aggregate/group_values.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/kernel/compare.hpp"

#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::row_kind;

constexpr std::size_t sweep_rows = 256;

std::int64_t word_at(const std::byte* group, std::size_t offset) {
  std::int64_t out = 0;
  std::memcpy(&out, group + offset, sizeof(out));
  return out;
}
void set_word(std::byte* group, std::size_t offset, std::int64_t value) {
  std::memcpy(group + offset, &value, sizeof(value));
}
constexpr std::size_t rows_at = 0;
constexpr std::size_t written_at = 8;

class group_aggregate_operator final : public stream_operator {
public:
  group_aggregate_operator(const graph::operator_node& node, const operator_context& context)
      : spec_(std::get<graph::group_aggregate_spec>(node.spec)), input_(node.input_types.front()),
        schema_(input_, spec_.key_columns),
        keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)), time_(context.time),
        out_(std::make_shared<const graph::logical_type>(node.output_type), context.memory) {
    for (std::size_t i = 0; i < spec_.calls.size(); ++i) {
      const auto& call = spec_.calls[i];
      const auto& result = node.output_type.child(spec_.key_columns.size() + i);
      results_.push_back({});
      if (group_cells::holds(call, input_, spec_.input_retracts))
        results_.back().cell = static_cast<std::int32_t>(cells_.add(call, input_, result));
      else
        results_.back().value_type = result;
    }
  }

  std::size_t fixed_bytes() const { return cells_.fixed_bytes(); }
  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    backend_ = states.keyed;
    state::state_description wanted;
    wanted.name = "groups";
    wanted.value_type = graph::logical_type::bytes();
    wanted.layout = state::value_layout::fixed(cells_.fixed_bytes());
    HEADRACE_TRY(groups_, backend_->open_table(wanted));
    piece_.emplace(groups_->make_piece());
    for (std::size_t i = 0; i < spec_.calls.size(); ++i)
      open_states(i);
    return {};
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    in_ = rows;
    now_ms_ = time_.wall_ms();
    keys_.assign(rows, spec_.key_columns);
    rows_.resize(rows.size());
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i] = rows.row_at(i);
    if (has_states_)
      take_into_states();
    HEADRACE_CHECK(groups_->locate(keys_, rows_, 0, state::access::insert, found_));
    for (std::size_t i = 0; i < rows_.size(); ++i)
      take(i);
    erase_.clear();
    for (std::uint32_t i = 0; i < rows_.size(); ++i)
      if (word_at(found_.values[i], rows_at) == 0)
        erase_.push_back(i);
    build();
    HEADRACE_CHECK(groups_->erase(found_, erase_));
    HEADRACE_CHECK(groups_->write_back(found_));
    return spec_.state_ttl_ms > 0 ? sweep() : status();
  }

  result<drain_result> drain(operator_output& out, const drain_budget& /*budget*/) override {
    if (!out_.is_empty())
      out.emit(out_.finish());
    in_ = {};
    return drain_result::done;
  }

private:
  /// Where the results of a call come from: a cell of the group, or a state of its own.
  struct call_result {
    std::int32_t cell = -1;
    graph::logical_type value_type = graph::logical_type::null();
    std::optional<distinct_counter> distinct;
    std::unique_ptr<group_value> value;
    std::vector<std::uint8_t> counts; ///< by row: whether the call takes it
    graph::column_ptr before;         ///< by row, of a value
    graph::column_ptr after;
  };
  /// A row that leaves: the key of a row of the input, and the results before or after it.
  struct change {
    std::uint32_t index = 0; ///< of `rows_`
    row_kind kind = row_kind::insert;
    bool is_before = false;
    std::size_t copy = 0; ///< in `copies_`
  };

  bool is_retracted(std::size_t index) const {
    if (in_.kinds() == nullptr)
      return false;
    const auto kind = in_.kinds()[rows_[index]];
    return kind == row_kind::update_before || kind == row_kind::delete_;
  }
  bool passes_filter(const graph::group_aggregate_call& call, std::uint32_t row) const {
    if (call.filter < 0)
      return true;
    const auto& flags = in_.at(static_cast<std::size_t>(call.filter));
    return !flags.is_null(row) && flags.values<std::uint8_t>()[row] != 0;
  }

  void open_states(std::size_t index) {
    const auto& call = spec_.calls[index];
    auto& to = results_[index];
    auto name = std::to_string(index) + "-" + call.function;
    for (const auto column : call.arguments)
      name += "-" + input_.child(static_cast<std::size_t>(column)).nullable().to_sql();
    name.resize(std::min<std::size_t>(name.size(), 200));
    if (call.is_distinct && !call.arguments.empty())
      to.distinct.emplace(*backend_, name + "-distinct", call.arguments[0], spec_.state_ttl_ms,
                          takes_nulls(call));
    if (to.cell < 0)
      to.value =
          make_group_value(call, input_, spec_.input_retracts, *backend_, name, spec_.state_ttl_ms);
    has_states_ |= to.distinct.has_value() || to.value != nullptr;
  }

  /// What needs states of the current key, row by row; pointers into the groups do not outlive it.
  void take_into_states() {
    std::vector<std::pair<graph::column_builder, graph::column_builder>> built;
    for (auto& each : results_) {
      each.counts.assign(rows_.size(), 1);
      built.emplace_back(graph::column_builder(each.value_type.nullable()),
                         graph::column_builder(each.value_type.nullable()));
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto row = rows_[i];
      const bool retracts = is_retracted(i);
      backend_->set_current_key(keys_, row);
      for (std::size_t k = 0; k < results_.size(); ++k) {
        auto& to = results_[k];
        bool counts = passes_filter(spec_.calls[k], row);
        if (counts && to.distinct)
          counts = to.distinct->take(in_, row, retracts);
        to.counts[i] = counts ? 1 : 0;
        if (to.value == nullptr)
          continue;
        auto& [before, after] = built[k];
        if (counts)
          to.value->take(in_, row, retracts, before, after);
        else
          to.value->pass(before, after);
      }
    }
    for (std::size_t k = 0; k < results_.size(); ++k)
      if (results_[k].value != nullptr) {
        results_[k].before = built[k].first.finish();
        results_[k].after = built[k].second.finish();
      }
  }

  void take(std::size_t index) {
    auto* group = found_.values[index];
    auto count = word_at(group, rows_at);
    if (count > 0 && spec_.state_ttl_ms > 0 &&
        now_ms_ - word_at(group, written_at) >= spec_.state_ttl_ms) {
      std::memset(group, 0, cells_.fixed_bytes());
      count = 0;
    }
    const bool retracts = is_retracted(index);
    if (retracts && count == 0)
      return;
    const auto before = copy(group);
    const auto row = rows_[index];
    for (std::size_t k = 0; k < results_.size(); ++k) {
      const auto& to = results_[k];
      if (to.cell >= 0 &&
          (has_states_ ? to.counts[index] != 0 : passes_filter(spec_.calls[k], row)))
        cells_.take(static_cast<std::size_t>(to.cell), in_, row, retracts, group);
    }
    set_word(group, rows_at, retracts ? count - 1 : count + 1);
    set_word(group, written_at, spec_.state_ttl_ms > 0 ? now_ms_ : 0);
    const auto place = static_cast<std::uint32_t>(index);
    if (retracts && count == 1) {
      changes_.push_back({place, row_kind::delete_, true, before});
      std::memset(group, 0, cells_.fixed_bytes());
      return;
    }
    if (count == 0) {
      changes_.push_back({place, row_kind::insert, false, copy(group)});
      return;
    }
    if (spec_.state_ttl_ms == 0 && !has_changed(index, copies_.data() + before, group)) {
      copies_.resize(before);
      return;
    }
    if (spec_.emits_update_before)
      changes_.push_back({place, row_kind::update_before, true, before});
    changes_.push_back({place, row_kind::update_after, false, copy(group)});
  }

  std::size_t copy(const std::byte* group) {
    const auto at = copies_.size();
    copies_.insert(copies_.end(), group, group + cells_.fixed_bytes());
    return at;
  }

  bool has_changed(std::size_t index, const std::byte* before, const std::byte* after) const {
    for (const auto& each : results_) {
      if (each.cell >= 0) {
        const auto cell = static_cast<std::size_t>(each.cell);
        if (!(cells_.result(cell, before) == cells_.result(cell, after)))
          return true;
      } else if (!graph::are_equal_keys(*each.before, index, *each.after, index)) {
        return true;
      }
    }
    return false;
  }

  /// Appends the changes to the output, a column at a time.
  void build() {
    key_rows_.clear();
    for (const auto& each : changes_)
      key_rows_.push_back(rows_[each.index]);
    const auto keys = spec_.key_columns.size();
    for (std::size_t k = 0; k < keys; ++k)
      out_.column(k).append_from(in_.at(static_cast<std::size_t>(spec_.key_columns[k])), key_rows_);
    for (std::size_t k = 0; k < results_.size(); ++k) {
      const auto& from = results_[k];
      auto& to = out_.column(keys + k);
      for (const auto& each : changes_) {
        if (from.cell >= 0) {
          const auto cell = static_cast<std::size_t>(from.cell);
          cells_.append(cell, cells_.result(cell, copies_.data() + each.copy), to);
          continue;
        }
        const auto& source = each.is_before ? *from.before : *from.after;
        if (source.is_null(each.index))
          to.append_null();
        else
          to.append_from(source, each.index);
      }
    }
    for (const auto& each : changes_)
      out_.end_row(each.kind);
    changes_.clear();
    copies_.clear();
  }

  /// Drops some groups that expired: each is come by about twice in its time to live.
  status sweep() {
    if (cursor_.done) {
      if (now_ms_ < next_sweep_ms_)
        return {};
      cursor_ = {};
    }
    HEADRACE_CHECK(groups_->scan(0, cursor_, sweep_rows, *piece_));
    if (cursor_.done)
      next_sweep_ms_ = now_ms_ + spec_.state_ttl_ms / 2;
    erase_.clear();
    for (std::uint32_t i = 0; i < piece_->size(); ++i)
      if (now_ms_ - word_at(piece_->fixed[i], written_at) >= spec_.state_ttl_ms)
        erase_.push_back(i);
    if (erase_.empty())
      return {};
    HEADRACE_CHECK(groups_->locate(piece_->keys, erase_, 0, state::access::update, found_));
    std::iota(erase_.begin(), erase_.end(), 0U);
    HEADRACE_CHECK(groups_->erase(found_, erase_));
    return groups_->write_back(found_);
  }

  graph::group_aggregate_spec spec_;
  graph::logical_type input_;
  state::key_schema schema_;
  state::key_batch keys_;
  const headrace::clock& time_;
  group_cells cells_;
  std::vector<call_result> results_;
  bool has_states_ = false;
  state::keyed_backend* backend_ = nullptr;
  state::keyed_table* groups_ = nullptr;
  graph::batch_builder out_;
  std::int64_t now_ms_ = 0;
  std::int64_t next_sweep_ms_ = 0;
  state::scan_cursor cursor_;
  std::optional<state::scanned_rows> piece_;
  // Of the batch at hand, kept from one to the next so that nothing is allocated per row.
  graph::record_batch in_;
  state::located_rows found_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> key_rows_;
  std::vector<std::uint32_t> erase_;
  std::vector<change> changes_;
  std::vector<std::byte> copies_;
};

} // namespace

result<std::unique_ptr<stream_operator>>
make_group_aggregate_operator(const graph::operator_node& node, const operator_context& context) {
  auto made = std::make_unique<group_aggregate_operator>(node, context);
  if (made->fixed_bytes() > state::value_layout::fixed_bytes_max)
    return error(errc::invalid_graph,
                 "too many aggregates in one operator, about 40 fit: " + node.name);
  return std::unique_ptr<stream_operator>(std::move(made));
}

} // namespace headrace::task
