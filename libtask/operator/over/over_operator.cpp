#include "libtask/operator/over/over_operator.hpp"

#include "libtask/operator/over/over_calls.hpp"
#include "libtask/operator/over/timed_rows.hpp"
#include "libtask/operator/over/whole_over_operator.hpp"
#include "libtask/operator/waiting_rows.hpp"
#include "libgraph/data/decode_rows.hpp"
#include "libgraph/data/key_codec.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

/// Keys that fire at once.
constexpr std::size_t keys_a_time = 64;
constexpr std::size_t sweep_keys = 256;

class over_operator final : public stream_operator {
public:
  over_operator(const graph::operator_node& node, const operator_context& context)
      : spec_(std::get<graph::over_spec>(node.spec)),
        input_(std::make_shared<const graph::logical_type>(node.input_types.front())),
        output_(std::make_shared<const graph::logical_type>(node.output_type)),
        schema_(*input_, spec_.key_columns),
        keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)),
        fired_keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)),
        time_(context.time), metrics_(context.metrics),
        calls_(spec_, node.input_types.front(), node.output_type),
        all_columns_(input_->child_count()), decoded_(input_, context.memory) {
    std::iota(all_columns_.begin(), all_columns_.end(), 0);
  }

  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    state::state_description wanted;
    wanted.name = "carried";
    auto parts = input_->fields();
    const auto& calls = calls_.parts();
    parts.insert(parts.end(), calls.begin(), calls.end());
    if (expires())
      parts.push_back({"$written", graph::logical_type::bigint(), {}});
    wanted.value_type = state::bytes_of(std::move(parts));
    wanted.layout = state::value_layout::variable();
    HEADRACE_TRY(carried_, states.keyed->open_table(wanted));
    expiring_.emplace(carried_->make_piece());
    return waiting_.open(*states.keyed, *input_);
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    keys_.assign(rows, spec_.key_columns);
    graph::encode_keys(rows, all_columns_, encoded_);
    return is_of_rows() ? store(rows) : take_at_once(rows);
  }

  status advance(graph::watermark mark) override {
    watermark_ms_ = mark.time_ms;
    is_due_ = is_of_rows();
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& /*budget*/) override {
    if (is_due_)
      HEADRACE_CHECK(fire_some());
    if (!fired_.empty())
      HEADRACE_CHECK(emit(out));
    if (is_due_)
      return drain_result::more;
    if (expires())
      HEADRACE_CHECK(sweep());
    return drain_result::done;
  }

private:
  /// Rows of one key that get their results, in the order of time.
  struct fired_key {
    std::uint32_t key = 0; ///< of `fired_keys_`
    std::vector<timed_row> rows;
  };

  bool is_of_rows() const { return spec_.time_column >= 0; }
  bool expires() const { return spec_.state_ttl_ms > 0; }
  /// Of what is carried, with when it was written before it where it expires.
  std::size_t header_bytes() const { return expires() ? sizeof(std::int64_t) : 0; }
  bool is_expired(byte_view carried, std::int64_t now_ms) const {
    std::int64_t written_ms = 0;
    std::memcpy(&written_ms, carried.data(), std::min(sizeof(written_ms), carried.size()));
    return now_ms - written_ms >= spec_.state_ttl_ms;
  }

  status store(const graph::record_batch& rows) {
    const auto late =
        waiting_.pick(rows, static_cast<std::size_t>(spec_.time_column), watermark_ms_);
    if (late > 0)
      metrics_.late_records.add(late);
    return waiting_.add(keys_, [&](std::size_t place, std::int64_t time_ms, byte_string& to) {
      put_timed_row({time_ms, encoded_[place]}, to);
    });
  }

  /// By processing time: rows of one key together, as they came.
  status take_at_once(const graph::record_batch& rows) {
    const auto now_ms = time_.wall_ms();
    rows_.clear();
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows_.push_back(rows.row_at(i));
    HEADRACE_CHECK(carried_->locate(keys_, rows_, 0, state::access::insert, found_));
    places_.resize(rows_.size());
    std::iota(places_.begin(), places_.end(), std::size_t{0});
    std::stable_sort(places_.begin(), places_.end(), [&](std::size_t left, std::size_t right) {
      return found_.tokens[left] < found_.tokens[right];
    });
    fired_keys_.clear();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto place = places_[i];
      if (i == 0 || found_.tokens[place] != found_.tokens[places_[i - 1]]) {
        fired_.push_back({static_cast<std::uint32_t>(fired_keys_.size()), {}});
        fired_keys_.append(keys_.at(rows_[place]));
      }
      fired_.back().rows.push_back({now_ms, encoded_[place]});
    }
    return carried_->write_back(found_);
  }

  /// Takes the rows of some keys of the oldest second that are due.
  status fire_some() {
    HEADRACE_TRY(is_due_, waiting_.next(watermark_ms_));
    if (!is_due_)
      return {};
    fired_keys_.clear();
    for (std::uint32_t i = 0; i < waiting_.size(); ++i) {
      fired_key due;
      byte_string left;
      HEADRACE_CHECK(split(waiting_.bytes(i), due.rows, left));
      if (due.rows.empty())
        continue;
      due.key = static_cast<std::uint32_t>(fired_keys_.size());
      fired_keys_.append(waiting_.keys().at(i));
      fired_.push_back(std::move(due));
      waiting_.leave(i, std::move(left));
    }
    HEADRACE_TRY(is_due_, waiting_.finish());
    return {};
  }

  /// Rows that the watermark has passed, in the order of time, and the others.
  status split(byte_view from, std::vector<timed_row>& due, byte_string& left) const {
    byte_reader in(from);
    while (!in.at_end()) {
      HEADRACE_TRY(const auto each, read_timed_row(in));
      if (each.time_ms <= watermark_ms_)
        due.push_back(each);
      else
        put_timed_row(each, left);
    }
    std::stable_sort(due.begin(), due.end(), [](const timed_row& one, const timed_row& other) {
      return one.time_ms < other.time_ms;
    });
    return {};
  }

  /// Gives the results of the rows that were fired, and stores what later ones need.
  status emit(operator_output& out) {
    const auto fixed = calls_.carried_bytes();
    rows_.resize(fired_.size());
    std::iota(rows_.begin(), rows_.end(), 0U);
    HEADRACE_CHECK(carried_->locate(fired_keys_, rows_, 0, state::access::insert, found_));
    std::vector<byte_string> before;
    std::vector<timed_row> all;
    std::vector<over_segment> segments;
    const auto now_ms = expires() ? time_.wall_ms() : 0;
    for (std::size_t i = 0; i < fired_.size(); ++i) {
      const auto kept = carried_->get(found_, i).value_or(byte_view());
      const bool is_gone = kept.empty() || (expires() && is_expired(kept, now_ms));
      before.emplace_back(is_gone ? byte_view() : kept.substr(header_bytes()));
    }
    new_rows_.clear();
    for (std::size_t i = 0; i < fired_.size(); ++i) {
      over_segment segment;
      segment.begin = all.size();
      if (before[i].empty())
        before[i].assign(fixed, '\0');
      byte_reader in(byte_view(before[i]).substr(fixed));
      while (!in.at_end()) {
        HEADRACE_TRY(const auto each, read_timed_row(in));
        all.push_back(each);
      }
      segment.first_new = all.size();
      for (const auto& each : fired_[i].rows) {
        new_rows_.push_back(static_cast<std::uint32_t>(all.size()));
        all.push_back(each);
      }
      segment.end = all.size();
      segments.push_back(segment);
    }
    HEADRACE_TRY(const auto rows, decoded(all));
    for (std::size_t i = 0; i < segments.size(); ++i) {
      changed_.clear();
      if (expires())
        byte_writer(changed_).put(now_ms);
      changed_.append(before[i], 0, fixed);
      calls_.compute(rows, times_ms_, segments[i],
                     reinterpret_cast<std::byte*>(changed_.data()) + header_bytes(), keep_);
      for (const auto row : keep_)
        put_timed_row(all[row], changed_);
      HEADRACE_CHECK(carried_->put(found_, i, changed_));
    }
    HEADRACE_CHECK(carried_->write_back(found_));
    give(rows, out);
    fired_.clear();
    return {};
  }

  /// Drops what is carried of some keys that expired: each is come by about twice in its time to
  /// live.
  status sweep() {
    const auto now_ms = time_.wall_ms();
    if (sweep_cursor_.done) {
      if (now_ms < next_sweep_ms_)
        return {};
      sweep_cursor_ = {};
    }
    HEADRACE_CHECK(carried_->scan(0, sweep_cursor_, sweep_keys, *expiring_));
    if (sweep_cursor_.done)
      next_sweep_ms_ = now_ms + spec_.state_ttl_ms / 2;
    rows_.clear();
    for (std::uint32_t i = 0; i < expiring_->size(); ++i)
      if (is_expired(expiring_->variable[i], now_ms))
        rows_.push_back(i);
    if (rows_.empty())
      return {};
    HEADRACE_CHECK(carried_->locate(expiring_->keys, rows_, 0, state::access::update, found_));
    std::iota(rows_.begin(), rows_.end(), 0U);
    HEADRACE_CHECK(carried_->erase(found_, rows_));
    return carried_->write_back(found_);
  }

  result<graph::record_batch> decoded(const std::vector<timed_row>& all) {
    std::vector<byte_view> views;
    times_ms_.clear();
    for (const auto& each : all) {
      views.push_back(each.row);
      times_ms_.push_back(each.time_ms);
    }
    HEADRACE_CHECK(graph::decode_rows(views, all_columns_.size(), decoded_));
    decoded_.end_rows(all.size());
    return decoded_.finish();
  }

  void give(const graph::record_batch& rows, operator_output& out) {
    std::vector<graph::column_ptr> columns;
    for (std::size_t i = 0; i < all_columns_.size(); ++i) {
      graph::column_builder picked(input_->child(i));
      picked.append_from(rows.at(i), new_rows_);
      columns.push_back(picked.finish());
    }
    for (std::size_t i = 0; i < calls_.size(); ++i)
      columns.push_back(calls_.finish(i, rows));
    auto times = graph::buffer::allocate(new_rows_.size() * sizeof(std::int64_t));
    for (std::size_t i = 0; i < new_rows_.size(); ++i)
      times->mutable_as<std::int64_t>()[i] = times_ms_[new_rows_[i]];
    out.emit(graph::record_batch(output_, new_rows_.size(), std::move(columns))
                 .with_timestamps(std::move(times)));
  }

  graph::over_spec spec_;
  graph::row_type_ptr input_;
  graph::row_type_ptr output_;
  state::key_schema schema_;
  state::key_batch keys_;
  state::key_batch fired_keys_;
  const headrace::clock& time_;
  task_metrics& metrics_;
  over_calls calls_;
  std::vector<int> all_columns_;
  graph::batch_builder decoded_;
  waiting_rows waiting_{keys_a_time};
  state::keyed_table* carried_ = nullptr;
  std::int64_t watermark_ms_ = graph::watermark::none;
  bool is_due_ = false;
  std::optional<state::scanned_rows> expiring_;
  state::scan_cursor sweep_cursor_;
  std::int64_t next_sweep_ms_ = 0;
  std::vector<fired_key> fired_;
  // Kept for their memory.
  state::located_rows found_;
  graph::encoded_keys encoded_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::size_t> places_;
  std::vector<std::int64_t> times_ms_;
  std::vector<std::uint32_t> new_rows_;
  std::vector<std::uint32_t> keep_;
  byte_string changed_;
};

} // namespace

result<std::unique_ptr<stream_operator>> make_over_operator(const graph::operator_node& node,
                                                            const operator_context& context) {
  if (std::get<graph::over_spec>(node.spec).frame)
    return make_whole_over_operator(node, context);
  return std::unique_ptr<stream_operator>(std::make_unique<over_operator>(node, context));
}

} // namespace headrace::task
