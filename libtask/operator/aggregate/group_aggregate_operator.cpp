#include "libtask/operator/aggregate/group_aggregate_operator.hpp"

#include "libtask/operator/aggregate/group_calls.hpp"
#include "libtask/operator/aggregate/local_aggregate_operator.hpp"
#include "libtask/operator/mini_batch/key_places.hpp"
#include "libtask/operator/mini_batch/mini_batch_operator.hpp"
#include "libtask/operator/mini_batch/piecewise_batch.hpp"
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

/// What the calls count columns of.
const graph::logical_type& row_type(const graph::operator_node& node) {
  const auto& spec = std::get<graph::group_aggregate_spec>(node.spec);
  return spec.phase == graph::aggregate_phase::global ? spec.other_end : node.input_types.front();
}

class group_aggregate_operator final : public stream_operator {
public:
  group_aggregate_operator(const graph::operator_node& node, const operator_context& context)
      : spec_(std::get<graph::group_aggregate_spec>(node.spec)),
        schema_(node.input_types.front(), spec_.key_columns),
        keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)), time_(context.time),
        calls_(spec_.calls, row_type(node), node.output_type, spec_.key_columns.size(),
               spec_.input_retracts),
        is_global_(spec_.phase == graph::aggregate_phase::global),
        out_(std::make_shared<const graph::logical_type>(node.output_type), context.memory) {}

  const group_calls& calls() const { return calls_; }
  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    backend_ = states.keyed;
    state::state_description wanted;
    wanted.name = "groups";
    wanted.value_type = state::bytes_of(calls_.parts());
    wanted.layout = state::value_layout::fixed(calls_.fixed_bytes());
    HEADRACE_TRY(groups_, state::open_wide_table(*backend_, wanted, wide_groups_));
    piece_.emplace(groups_->make_piece());
    return calls_.open(*backend_, spec_.key_columns, *groups_, spec_.state_ttl_ms);
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    in_ = rows;
    now_ms_ = time_.wall_ms();
    keys_.assign(rows, spec_.key_columns);
    rows_.resize(rows.size());
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i] = rows.row_at(i);
    if (is_global_)
      HEADRACE_CHECK(check_sums());
    HEADRACE_CHECK(calls_.take_into_states(in_, rows_, keys_));
    HEADRACE_CHECK(groups_->locate(keys_, rows_, 0, state::access::insert, found_));
    if (has_plain_rows()) {
      take_inserts();
      return groups_->write_back(found_);
    }
    if (spec_.mini_batch.is_on())
      fold();
    else
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

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (!out_.is_empty())
      made_.set(out_.finish());
    in_ = {};
    return made_.emit_some(out, budget);
  }

private:
  /// A row that leaves: the key of a row of the input, and the results before or after it.
  struct change {
    std::uint32_t index = 0; ///< of `rows_`
    row_kind kind = row_kind::insert;
    bool is_before = false;
    std::size_t copy = 0; ///< in `copies_`
  };

  /// Rows that only come, told one by one, of groups that stay.
  bool has_plain_rows() const {
    return in_.kinds() == nullptr && spec_.state_ttl_ms == 0 && !is_global_ &&
           !spec_.mini_batch.is_on();
  }

  /// A column at a time, and no bytes are copied.
  void take_inserts() {
    const auto count = static_cast<std::uint32_t>(rows_.size());
    is_new_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      auto* group = found_.values[i];
      const auto before = word_at(group, rows_at);
      is_new_[i] = before == 0 ? 1 : 0;
      set_word(group, rows_at, before + 1);
      set_word(group, written_at, 0); // of a time when groups expired
    }
    calls_.take_all(in_, rows_, found_.values, spec_.emits_update_before);
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

  /// Sums come as bytes, from another process, too.
  status check_sums() const {
    const auto& sums = in_.at(in_.column_count() - 1);
    for (const auto row : rows_)
      if (sums.string_at(row).size() != calls_.fixed_bytes())
        return error(errc::malformed_message, "sums of a local phase of another size");
    return {};
  }

  void take(std::size_t index) {
    auto* group = found_.values[index];
    const auto count = live_rows(group);
    const auto before = copy(group);
    const auto rows = apply(index, group, count);
    const auto place = static_cast<std::uint32_t>(index);
    tell(place, place, before, count, rows, group);
    if (rows == 0 && count > 0)
      std::memset(group, 0, calls_.fixed_bytes());
  }

  /// Groups of a time without a time to live have no stamp: `sweep` gives them one.
  bool is_expired(const std::byte* group) const {
    const auto written_ms = word_at(group, written_at);
    return written_ms > 0 && now_ms_ - written_ms >= spec_.state_ttl_ms;
  }

  /// How many rows a group has; one that expired is emptied.
  std::int64_t live_rows(std::byte* group) const {
    const auto count = word_at(group, rows_at);
    if (count == 0 || spec_.state_ttl_ms == 0 || !is_expired(group))
      return count;
    std::memset(group, 0, calls_.fixed_bytes());
    return 0;
  }

  /// Takes a row, or what a local phase has summed up, into a group of `count` rows.
  /// @returns how many it has then; what is taken back from a group without rows is dropped
  std::int64_t apply(std::size_t index, std::byte* group, std::int64_t count) {
    auto rows = count;
    if (is_global_) {
      const auto& partials = in_.at(in_.column_count() - 1);
      const auto* partial =
          reinterpret_cast<const std::byte*>(partials.string_at(rows_[index]).data());
      const auto by = word_at(partial, rows_at);
      if (count == 0 && by <= 0)
        return 0;
      calls_.merge(partial, group);
      rows = std::max<std::int64_t>(count + by, 0);
    } else {
      const bool retracts = is_retracted(in_, rows_[index]);
      if (retracts && count == 0)
        return 0;
      calls_.take(index, in_, rows_[index], group);
      rows = retracts ? count - 1 : count + 1;
    }
    set_word(group, rows_at, rows);
    set_word(group, written_at, spec_.state_ttl_ms > 0 ? now_ms_ : 0);
    return rows;
  }

  /// Notes what leaves of a group that had `count` rows and now has `rows`.
  /// @param first   of the rows that changed it, as `last` of `rows_`
  /// @param before  the group as it was, in `copies_`, at their end where they are one row
  void tell(std::uint32_t first, std::uint32_t last, std::size_t before, std::int64_t count,
            std::int64_t rows, const std::byte* group) {
    if (count == 0 && rows == 0)
      return;
    if (rows == 0) {
      changes_.push_back({first, row_kind::delete_, true, before});
      return;
    }
    if (count == 0) {
      changes_.push_back({last, row_kind::insert, false, copy(group)});
      return;
    }
    if (spec_.state_ttl_ms == 0 &&
        !calls_.has_changed(first, last, copies_.data() + before, group)) {
      if (copies_.size() == before + calls_.fixed_bytes()) // of a bundle others may lie behind it
        copies_.resize(before);
      return;
    }
    if (spec_.emits_update_before)
      changes_.push_back({first, row_kind::update_before, true, before});
    changes_.push_back({last, row_kind::update_after, false, copy(group)});
  }

  /// What a bundle does to a group.
  struct folded {
    std::size_t before = 0; ///< in `copies_`
    std::int64_t count = 0;
    std::int64_t rows = 0;
    std::uint32_t last = 0;
  };

  /// Takes all rows, and tells of each group what they come to.
  void fold() {
    places_.assign(found_.tokens);
    folded_.clear();
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
      auto* group = found_.values[i];
      const auto place = places_.at(i);
      if (place == folded_.size()) {
        const auto count = live_rows(group);
        folded_.push_back({copy(group), count, count, i});
      }
      auto& of = folded_[place];
      const auto rows = apply(i, group, of.rows);
      if (rows == 0 && of.rows > 0)
        std::memset(group, 0, calls_.fixed_bytes());
      of.rows = rows;
      of.last = i;
    }
    for (std::size_t i = 0; i < folded_.size(); ++i) {
      const auto& of = folded_[i];
      tell(places_.first(i), of.last, of.before, of.count, of.rows, found_.values[of.last]);
    }
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

  /// Drops some groups that expired, and lets those begin to age that have no stamp: each is come
  /// by about twice in its time to live.
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
    unstamped_.clear();
    for (std::uint32_t i = 0; i < piece_->size(); ++i) {
      if (word_at(piece_->fixed[i], written_at) == 0)
        unstamped_.push_back(i);
      else if (is_expired(piece_->fixed[i]))
        erase_.push_back(i);
    }
    HEADRACE_CHECK(stamp());
    if (erase_.empty())
      return {};
    HEADRACE_CHECK(groups_->locate(piece_->keys, erase_, 0, state::access::update, found_));
    std::iota(erase_.begin(), erase_.end(), 0U);
    HEADRACE_CHECK(groups_->erase(found_, erase_));
    return groups_->write_back(found_);
  }

  status stamp() {
    if (unstamped_.empty())
      return {};
    HEADRACE_CHECK(groups_->locate(piece_->keys, unstamped_, 0, state::access::update, found_));
    for (auto* group : found_.values)
      if (group != nullptr)
        set_word(group, written_at, now_ms_);
    return groups_->write_back(found_);
  }

  graph::group_aggregate_spec spec_;
  state::key_schema schema_;
  state::key_batch keys_;
  const headrace::clock& time_;
  group_calls calls_;
  bool is_global_;
  state::keyed_backend* backend_ = nullptr;
  std::unique_ptr<state::keyed_table> wide_groups_; ///< of many aggregates
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
  std::vector<std::uint32_t> unstamped_; ///< of `piece_`
  std::vector<change> changes_;
  std::vector<std::byte> copies_;
  std::vector<std::uint8_t> is_new_;
  std::vector<std::uint32_t> given_; ///< results after rows, then those before them, by number
  piecewise_batch made_;
  key_places places_; ///< of the groups of a bundle
  std::vector<folded> folded_;
};

} // namespace

result<std::unique_ptr<stream_operator>>
make_group_aggregate_operator(const graph::operator_node& node, const operator_context& context) {
  const auto& spec = std::get<graph::group_aggregate_spec>(node.spec);
  std::unique_ptr<stream_operator> out;
  if (spec.phase == graph::aggregate_phase::local) {
    HEADRACE_TRY(out, make_local_aggregate_operator(node, context));
  } else {
    auto made = std::make_unique<group_aggregate_operator>(node, context);
    if (made->calls().fixed_bytes() > state::wide_bytes_max)
      return error(errc::invalid_graph, "too many aggregates in one operator: " + node.name);
    if (spec.phase == graph::aggregate_phase::global && !made->calls().can_merge())
      return error(errc::invalid_graph, "aggregates that cannot be merged: " + node.name);
    out = std::move(made);
  }
  return spec.mini_batch.is_on()
             ? gather_rows(std::move(out), {spec.mini_batch, {0}, {}}, context.time)
             : std::move(out);
}

} // namespace headrace::task
