#include "libtask/operator/join/join_sides.hpp"
#include "libtask/operator/join/timed_sides.hpp"
#include "libtask/operator/join/version_rows.hpp"
#include "libtask/operator/waiting_rows.hpp"
#include "libtask/operator/window/window_time.hpp"
#include "libgraph/data/decode_rows.hpp"
#include "libgraph/data/key_codec.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::row_kind;

/// Keys whose rows leave at once.
constexpr std::size_t keys_a_time = 64;
/// Versions of a key are looked through for old ones when their bytes reach a power of two from
/// here.
constexpr std::size_t pruned_bytes_least = 4096;

/// In the order of time, of one time as they came.
void sort_by_time(std::vector<version_row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const version_row& one, const version_row& other) {
    return one.time_ms < other.time_ms;
  });
}

/// Left rows wait in buckets of a second or so; right rows are kept as a list a key.
class version_join final : public stream_operator {
public:
  version_join(const graph::operator_node& node, const operator_context& context, join_pairs pairs)
      : spec_(std::get<graph::timed_join_spec>(node.spec)), types_{node.input_types[0],
                                                                   node.input_types[1]},
        time_(context.time), memory_(context.memory), schema_(join_key_schema(spec_.join, node)),
        keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)),
        left_(std::make_shared<const graph::logical_type>(node.input_types[0]), context.memory),
        pairs_(std::move(pairs)) {
    for (std::size_t i = 0; i < 2; ++i) {
      all_columns_[i].resize(node.input_types[i].child_count());
      std::iota(all_columns_[i].begin(), all_columns_[i].end(), 0);
    }
  }

  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    state::state_description wanted;
    wanted.value_type = state::bytes_of(types_[1].fields());
    wanted.layout = state::value_layout::variable();
    wanted.name = "versions";
    HEADRACE_TRY(versions_, states.keyed->open_table(wanted));
    return waiting_.open(*states.keyed, types_[0]);
  }

  status add(std::int32_t input, const graph::record_batch& rows) override {
    const auto side = static_cast<std::size_t>(input);
    keys_.assign(rows, (side == 0 ? spec_.join.left : spec_.join.right).key_columns);
    graph::encode_keys(rows, all_columns_[side], encoded_);
    return side == 0 ? store_left(rows) : store_right(rows);
  }

  status advance(graph::watermark mark) override {
    watermark_ms_ = std::max(watermark_ms_, mark.time_ms);
    is_due_ = true;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& /*budget*/) override {
    if (!is_due_)
      return drain_result::done;
    HEADRACE_CHECK(fire_some(out));
    return is_due_ ? drain_result::more : drain_result::done;
  }

private:
  static row_kind kind_of(const graph::record_batch& rows, std::uint32_t row) {
    return rows.kinds() == nullptr ? row_kind::insert : rows.kinds()[row];
  }

  status store_left(const graph::record_batch& rows) {
    waiting_.pick(rows, static_cast<std::size_t>(spec_.left_time), std::nullopt);
    return waiting_.add(keys_, [&](std::size_t place, std::int64_t time_ms, byte_string& to) {
      put_version_row({time_ms, kind_of(rows, rows.row_at(place)), encoded_[place]}, to);
    });
  }

  status store_right(const graph::record_batch& rows) {
    const auto& times = rows.at(static_cast<std::size_t>(spec_.right_time));
    find_matchable(rows, spec_.join.right.key_columns, spec_.join.null_safe, rows_, places_);
    rows_.clear();
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = rows.row_at(i);
      if (places_[i] == join_pairs::none || times.is_null(row) ||
          kind_of(rows, row) == row_kind::update_before)
        continue; // the new version follows
      rows_.push_back(row);
      indices.push_back(i);
    }
    if (rows_.empty())
      return {};
    HEADRACE_CHECK(versions_->locate(keys_, rows_, 0, state::access::insert, found_));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      changed_.clear();
      put_version_row({millis_at(times, rows_[i]), kind_of(rows, rows_[i]), encoded_[indices[i]]},
                      changed_);
      const auto before = versions_->get(found_, i).value_or(byte_view()).size();
      HEADRACE_CHECK(versions_->append(found_, i, changed_));
      const auto after = before + changed_.size();
      if (after >= pruned_bytes_least && std::bit_width(before) != std::bit_width(after))
        HEADRACE_CHECK(prune(found_, i));
    }
    return versions_->write_back(found_);
  }

  /// Drops versions that no left row will ask for: of those before the watermark all but the last.
  status prune(state::located_rows& at, std::size_t index) {
    kept_.assign(versions_->get(at, index).value_or(byte_view()));
    HEADRACE_TRY(auto versions, read_version_rows(kept_));
    sort_by_time(versions);
    return keep_needed(versions, watermark_ms_, at, index);
  }
  /// @param until_ms  left rows up to this time have left
  status keep_needed(const std::vector<version_row>& versions, std::int64_t until_ms,
                     state::located_rows& at, std::size_t index) {
    auto first = std::size_t{0};
    for (std::size_t i = 0; i < versions.size() && versions[i].time_ms <= until_ms; ++i)
      first = i;
    if (first == 0)
      return {};
    changed_.clear();
    for (auto i = first; i < versions.size(); ++i)
      put_version_row(versions[i], changed_);
    return versions_->put(at, index, changed_);
  }

  /// Joins the rows of some keys of the oldest second that are due.
  status fire_some(operator_output& out) {
    HEADRACE_TRY(is_due_, waiting_.next(watermark_ms_));
    if (!is_due_)
      return {};
    due_.clear();
    ends_.clear();
    for (std::uint32_t i = 0; i < waiting_.size(); ++i) {
      byte_string left;
      HEADRACE_TRY(const auto waiting, read_version_rows(waiting_.bytes(i)));
      for (const auto& each : waiting) {
        if (each.time_ms <= watermark_ms_)
          due_.push_back(each);
        else
          put_version_row(each, left);
      }
      ends_.push_back(due_.size());
      waiting_.leave(i, std::move(left));
    }
    if (!due_.empty())
      HEADRACE_CHECK(join_due(out));
    HEADRACE_TRY(is_due_, waiting_.finish());
    return {};
  }

  status join_due(operator_output& out) {
    HEADRACE_TRY(auto left, decoded_due());
    pairs_.begin(std::move(left), 0);
    rows_.resize(waiting_.size());
    std::iota(rows_.begin(), rows_.end(), 0U);
    bytes_.clear();
    bytes_.reserve(rows_.size()); // views of them stay
    HEADRACE_CHECK(versions_->locate(waiting_.keys(), rows_, 0, state::access::update, found_));
    std::size_t at = 0;
    for (std::size_t key = 0; key < ends_.size(); ++key) {
      const auto stored = versions_->get(found_, key);
      if (at == ends_[key] || !stored) {
        at = ends_[key];
        continue;
      }
      bytes_.emplace_back(*stored);
      HEADRACE_TRY(auto versions, read_version_rows(bytes_.back()));
      sort_by_time(versions);
      for (; at < ends_[key]; ++at)
        if (const auto* version = version_at(versions, due_[at].time_ms); version != nullptr)
          pairs_.add(static_cast<std::uint32_t>(at), version->row);
      HEADRACE_CHECK(keep_needed(versions, waiting_.limit_ms(), found_, key));
    }
    HEADRACE_CHECK(versions_->write_back(found_));
    HEADRACE_CHECK(pairs_.check({time_.wall_ms(), watermark_ms_}));
    return emit(out);
  }

  static const version_row* version_at(const std::vector<version_row>& versions,
                                       std::int64_t time_ms) {
    const auto behind = std::upper_bound(
        versions.begin(), versions.end(), time_ms,
        [](std::int64_t wanted, const version_row& each) { return wanted < each.time_ms; });
    if (behind == versions.begin() || std::prev(behind)->kind == row_kind::delete_)
      return nullptr;
    return &*std::prev(behind);
  }

  status emit(operator_output& out) {
    times_ms_.clear();
    std::size_t pair = 0;
    const bool is_left = spec_.join.kind == graph::join_kind::left;
    for (std::uint32_t i = 0; i < due_.size(); ++i) {
      const bool has_version = pair < pairs_.size() && pairs_.row_of(pair) == i;
      const bool matches = has_version && pairs_.passes(pair);
      if (matches)
        pairs_.emit_pair(pair, due_[i].kind);
      else if (is_left)
        pairs_.emit_own(i, due_[i].kind);
      if (matches || is_left)
        times_ms_.push_back(due_[i].time_ms);
      pair += has_version ? 1 : 0;
    }
    HEADRACE_TRY(auto made, pairs_.take());
    pairs_.end();
    if (made.is_empty())
      return {};
    auto times = graph::buffer::allocate(times_ms_.size() * sizeof(std::int64_t), memory_);
    std::copy(times_ms_.begin(), times_ms_.end(), times->mutable_as<std::int64_t>());
    out.emit(made.with_timestamps(std::move(times)));
    return {};
  }

  result<graph::record_batch> decoded_due() {
    std::vector<byte_view> views;
    for (const auto& each : due_)
      views.push_back(each.row);
    HEADRACE_CHECK(graph::decode_rows(views, all_columns_[0].size(), left_));
    left_.end_rows(views.size());
    return left_.finish();
  }

  graph::timed_join_spec spec_;
  std::array<graph::logical_type, 2> types_;
  const headrace::clock& time_;
  std::shared_ptr<graph::memory_budget> memory_;
  state::key_schema schema_;
  state::key_batch keys_;
  graph::batch_builder left_;
  join_pairs pairs_;
  std::array<std::vector<int>, 2> all_columns_;
  waiting_rows waiting_{keys_a_time};
  state::keyed_table* versions_ = nullptr;
  std::int64_t watermark_ms_ = graph::watermark::none;
  bool is_due_ = false;
  // Of the rows at hand, kept for their memory.
  std::vector<byte_string> bytes_; ///< what versions lie in
  std::vector<version_row> due_;
  std::vector<std::size_t> ends_; ///< of each key's rows in `due_`
  state::located_rows found_;
  graph::encoded_keys encoded_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> places_;
  std::vector<std::int64_t> times_ms_;
  byte_string kept_;
  byte_string changed_;
};

} // namespace

result<std::unique_ptr<stream_operator>> make_version_join(const graph::operator_node& node,
                                                           const operator_context& context,
                                                           join_pairs pairs) {
  return std::unique_ptr<stream_operator>(
      std::make_unique<version_join>(node, context, std::move(pairs)));
}

} // namespace headrace::task
