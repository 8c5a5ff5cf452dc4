#include "libtask/operator/aggregate/group_aggregate_operator.hpp"

#include "libtask/operator/aggregate/group_calls.hpp"
#include "libgraph/data/batch_builder.hpp"

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
      : spec_(std::get<graph::group_aggregate_spec>(node.spec)),
        schema_(node.input_types.front(), spec_.key_columns),
        keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)), time_(context.time),
        calls_(spec_.calls, node.input_types.front(), node.output_type, spec_.key_columns.size(),
               spec_.input_retracts),
        out_(std::make_shared<const graph::logical_type>(node.output_type), context.memory) {}

  std::size_t fixed_bytes() const { return calls_.fixed_bytes(); }
  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    backend_ = states.keyed;
    state::state_description wanted;
    wanted.name = "groups";
    wanted.value_type = graph::logical_type::bytes();
    wanted.layout = state::value_layout::fixed(calls_.fixed_bytes());
    HEADRACE_TRY(groups_, backend_->open_table(wanted));
    piece_.emplace(groups_->make_piece());
    calls_.open(*backend_, spec_.state_ttl_ms);
    return {};
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    in_ = rows;
    now_ms_ = time_.wall_ms();
    keys_.assign(rows, spec_.key_columns);
    rows_.resize(rows.size());
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i] = rows.row_at(i);
    calls_.take_into_states(in_, rows_, keys_);
    HEADRACE_CHECK(groups_->locate(keys_, rows_, 0, state::access::insert, found_));
    if (in_.kinds() == nullptr && spec_.state_ttl_ms == 0 && calls_.takes_all()) {
      take_inserts();
      return groups_->write_back(found_);
    }
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
  /// A row that leaves: the key of a row of the input, and the results before or after it.
  struct change {
    std::uint32_t index = 0; ///< of `rows_`
    row_kind kind = row_kind::insert;
    bool is_before = false;
    std::size_t copy = 0; ///< in `copies_`
  };

  /// Rows that only come, of groups that stay: a column at a time, and no bytes are copied.
  void take_inserts() {
    const auto count = static_cast<std::uint32_t>(rows_.size());
    is_new_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      auto* group = found_.values[i];
      const auto before = word_at(group, rows_at);
      is_new_[i] = before == 0 ? 1 : 0;
      set_word(group, rows_at, before + 1);
    }
    calls_.take_all(in_, rows_, found_.values);
    const auto changed = calls_.changed();
    key_rows_.clear();
    given_.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
      if (is_new_[i] == 0 && changed[i] == 0)
        continue;
      if (is_new_[i] == 0 && spec_.emits_update_before) {
        key_rows_.push_back(rows_[i]);
        given_.push_back(count + i);
        out_.end_row(row_kind::update_before);
      }
      key_rows_.push_back(rows_[i]);
      given_.push_back(i);
      out_.end_row(is_new_[i] != 0 ? row_kind::insert : row_kind::update_after);
    }
    append_keys();
    for (std::size_t k = 0; k < calls_.size(); ++k)
      calls_.append_all(k, given_, out_.column(spec_.key_columns.size() + k));
  }

  void append_keys() {
    for (std::size_t k = 0; k < spec_.key_columns.size(); ++k)
      out_.column(k).append_from(in_.at(static_cast<std::size_t>(spec_.key_columns[k])), key_rows_);
  }

  void take(std::size_t index) {
    auto* group = found_.values[index];
    auto count = word_at(group, rows_at);
    if (count > 0 && spec_.state_ttl_ms > 0 &&
        now_ms_ - word_at(group, written_at) >= spec_.state_ttl_ms) {
      std::memset(group, 0, calls_.fixed_bytes());
      count = 0;
    }
    const bool retracts = is_retracted(in_, rows_[index]);
    if (retracts && count == 0)
      return;
    const auto before = copy(group);
    calls_.take(index, in_, rows_[index], group);
    set_word(group, rows_at, retracts ? count - 1 : count + 1);
    set_word(group, written_at, spec_.state_ttl_ms > 0 ? now_ms_ : 0);
    const auto place = static_cast<std::uint32_t>(index);
    if (retracts && count == 1) {
      changes_.push_back({place, row_kind::delete_, true, before});
      std::memset(group, 0, calls_.fixed_bytes());
      return;
    }
    if (count == 0) {
      changes_.push_back({place, row_kind::insert, false, copy(group)});
      return;
    }
    if (spec_.state_ttl_ms == 0 && !calls_.has_changed(index, copies_.data() + before, group)) {
      copies_.resize(before);
      return;
    }
    if (spec_.emits_update_before)
      changes_.push_back({place, row_kind::update_before, true, before});
    changes_.push_back({place, row_kind::update_after, false, copy(group)});
  }

  std::size_t copy(const std::byte* group) {
    const auto at = copies_.size();
    copies_.insert(copies_.end(), group, group + calls_.fixed_bytes());
    return at;
  }

  /// Appends the changes to the output, a column at a time.
  void build() {
    key_rows_.clear();
    for (const auto& each : changes_)
      key_rows_.push_back(rows_[each.index]);
    append_keys();
    const auto keys = spec_.key_columns.size();
    for (std::size_t k = 0; k < calls_.size(); ++k)
      for (const auto& each : changes_)
        calls_.append(k, each.index, each.is_before, copies_.data() + each.copy,
                      out_.column(keys + k));
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
  state::key_schema schema_;
  state::key_batch keys_;
  const headrace::clock& time_;
  group_calls calls_;
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
  std::vector<std::uint8_t> is_new_;
  std::vector<std::uint32_t> given_; ///< results after rows, then those before them, by number
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
