#include "libtask/operator/match/match_operator.hpp"

#include "libtask/operator/match/match_bytes.hpp"
#include "libtask/operator/match/match_rounds.hpp"
#include "libtask/operator/waiting_rows.hpp"
#include "libgraph/data/decode_rows.hpp"
#include "libgraph/data/key_codec.hpp"
#include "libgraph/data/order_key.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;

/// Keys that fire at once.
constexpr std::size_t keys_a_time = 1024;

/// A number that differs between patterns and rows whose matches are not each other's.
std::uint64_t digest_of(const graph::match_spec& spec, const logical_type& input) {
  byte_string bytes;
  byte_writer out(bytes);
  input.encode(out);
  for (const auto& each : spec.variables) {
    out.put(each.repeat_min);
    out.put(each.repeat_max);
    out.put(static_cast<std::uint8_t>(each.is_greedy));
  }
  std::uint64_t digest = bytes.size();
  for (const auto each : bytes)
    digest = mix64(digest ^ static_cast<unsigned char>(each));
  return digest;
}

class match_operator final : public stream_operator {
public:
  match_operator(const graph::operator_node& node, const operator_context& context,
                 match_values values)
      : spec_(std::get<graph::match_spec>(node.spec)),
        input_(std::make_shared<const logical_type>(node.input_types.front())),
        digest_(digest_of(spec_, *input_)), schema_(*input_, spec_.key_columns),
        keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)),
        fired_keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)),
        time_(context.time), metrics_(context.metrics), automaton_(spec_),
        values_(std::move(values)), rounds_(automaton_, values_),
        all_columns_(input_->child_count()), decoded_(input_, context.memory) {
    std::iota(all_columns_.begin(), all_columns_.end(), 0);
  }

  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    state::state_description wanted;
    wanted.name = "begun";
    wanted.value_type = logical_type::bytes();
    wanted.layout = state::value_layout::variable();
    HEADRACE_TRY(begun_, states.keyed->open_table(wanted));
    return waiting_.open(*states.keyed, *input_);
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    keys_.assign(rows, spec_.key_columns);
    graph::encode_keys(rows, all_columns_, encoded_);
    graph::encode_order_keys(rows, spec_.order, order_);
    return is_of_rows() ? store(rows) : take_at_once(rows);
  }

  status advance(graph::watermark mark) override {
    watermark_ms_ = mark.time_ms;
    if (is_of_rows()) {
      passed_ms_ = mark.time_ms;
      is_due_ = true;
    }
    return {};
  }

  /// Matches that have begun become too long, when no row comes.
  std::optional<std::int64_t> next_processing_time_ms() override {
    if (is_of_rows() || spec_.within_ms == 0 || is_due_)
      return std::nullopt;
    return waiting_.first_over_ms();
  }
  status on_processing_time(std::int64_t now_ms) override {
    passed_ms_ = now_ms;
    is_due_ = true;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& /*budget*/) override {
    if (is_due_ && fired_.empty())
      HEADRACE_CHECK(fire_some());
    if (!fired_.empty())
      HEADRACE_CHECK(match_fired());
    if (values_.match_count() > 0) {
      HEADRACE_TRY(auto matched, values_.finish());
      out.emit(std::move(matched));
    }
    return is_due_ ? drain_result::more : drain_result::done;
  }

private:
  /// Rows of one key whose turn it is, in their order.
  struct fired_key {
    std::uint32_t key = 0; ///< of `fired_keys_`
    std::vector<waiting_match_row> rows;
  };

  bool is_of_rows() const { return spec_.time_column >= 0; }

  status store(const graph::record_batch& rows) {
    const auto late =
        waiting_.pick(rows, static_cast<std::size_t>(spec_.time_column), watermark_ms_);
    if (late > 0)
      metrics_.late_records.add(late);
    return waiting_.add(keys_, [&](std::size_t place, std::int64_t time_ms, byte_string& to) {
      put_match_row({time_ms, order_of(place), encoded_[place]}, to);
    });
  }

  byte_view order_of(std::size_t place) const {
    return spec_.order.empty() ? byte_view() : order_[place];
  }

  /// By processing time: rows of one key together, as they came, or by what they are ordered by.
  status take_at_once(const graph::record_batch& rows) {
    passed_ms_ = time_.wall_ms();
    rows_.clear();
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows_.push_back(rows.row_at(i));
    places_.resize(rows_.size());
    std::iota(places_.begin(), places_.end(), std::size_t{0});
    const auto is_before = [&](std::size_t left, std::size_t right) {
      const auto one = keys_.at(rows_[left]);
      const auto other = keys_.at(rows_[right]);
      return std::tie(one.hash, one.fixed, one.is_null, one.bytes) <
             std::tie(other.hash, other.fixed, other.is_null, other.bytes);
    };
    std::stable_sort(places_.begin(), places_.end(), is_before);
    fired_keys_.clear();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto place = places_[i];
      if (i == 0 || is_before(places_[i - 1], place)) {
        fired_.push_back({static_cast<std::uint32_t>(fired_keys_.size()), {}});
        fired_keys_.append(keys_.at(rows_[place]));
      }
      fired_.back().rows.push_back({passed_ms_, order_of(place), encoded_[place]});
    }
    for (auto& each : fired_)
      sort(each.rows);
    return {};
  }

  static void sort(std::vector<waiting_match_row>& rows) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const waiting_match_row& one, const waiting_match_row& other) {
                       return one.time_ms != other.time_ms ? one.time_ms < other.time_ms
                                                           : one.order < other.order;
                     });
  }

  /// Takes the rows of some keys of the oldest second that are due.
  status fire_some() {
    HEADRACE_TRY(is_due_, waiting_.next(passed_ms_));
    if (!is_due_)
      return {};
    // Rows of the seconds behind are not taken yet, so time has only come to the end of this one.
    limit_ms_ = waiting_.limit_ms();
    fired_keys_.clear();
    for (std::uint32_t i = 0; i < waiting_.size(); ++i) {
      fired_key due;
      byte_string left;
      bool is_due = false;
      HEADRACE_CHECK(split(waiting_.bytes(i), due.rows, left, is_due));
      if (!is_due)
        continue;
      due.key = static_cast<std::uint32_t>(fired_keys_.size());
      fired_keys_.append(waiting_.keys().at(i));
      fired_.push_back(std::move(due));
      waiting_.leave(i, std::move(left));
    }
    HEADRACE_TRY(is_due_, waiting_.finish());
    return {};
  }

  /// Rows whose time has come, in their order, and the others.
  status split(byte_view from, std::vector<waiting_match_row>& due, byte_string& left,
               bool& is_due) const {
    byte_reader in(from);
    while (!in.at_end()) {
      HEADRACE_TRY(const auto each, read_match_row(in));
      if (each.time_ms > limit_ms_) {
        put_match_row(each, left);
        continue;
      }
      is_due = true;
      if (!each.row.empty())
        due.push_back(each);
    }
    sort(due);
    return {};
  }

  /// Lets the rows that were fired go through the pattern, and stores what has begun.
  status match_fired() {
    HEADRACE_CHECK(load_begun());
    HEADRACE_CHECK(graph::decode_rows(all_rows_, all_columns_.size(), decoded_));
    decoded_.end_rows(all_rows_.size());
    values_.begin(decoded_.finish(), {time_.wall_ms(), watermark_ms_});
    HEADRACE_CHECK(rounds_.run(segments_, times_ms_, is_of_rows() ? limit_ms_ : passed_ms_));
    HEADRACE_CHECK(save_begun());
    fired_.clear();
    return {};
  }

  /// Puts the rows of the matches that have begun before the new ones, key after key.
  status load_begun() {
    rows_.resize(fired_.size());
    std::iota(rows_.begin(), rows_.end(), 0U);
    HEADRACE_CHECK(begun_->locate(fired_keys_, rows_, 0, state::access::update, found_));
    all_rows_.clear();
    times_ms_.clear();
    segments_.clear();
    deadlines_ms_.assign(fired_.size(), graph::watermark::none);
    stored_.clear();
    stored_.reserve(fired_.size()); // views of them stay
    while (matches_.size() < fired_.size())
      matches_.push_back(std::make_unique<summed_matches>(automaton_));
    for (std::size_t i = 0; i < fired_.size(); ++i) {
      auto& matches = *matches_[i];
      matches.sums.clear();
      if (found_.is_absent(i)) {
        matches.matches.clear();
      } else {
        stored_.emplace_back(begun_->get(found_, i).value_or(byte_view()));
        HEADRACE_CHECK(load(stored_.back(), matches.matches, deadlines_ms_[i]));
      }
      match_rounds::segment segment{&matches, static_cast<std::uint32_t>(all_rows_.size()), 0};
      for (const auto& each : fired_[i].rows) {
        all_rows_.push_back(each.row);
        times_ms_.push_back(each.time_ms);
      }
      segment.end = static_cast<std::uint32_t>(all_rows_.size());
      segments_.push_back(segment);
    }
    return begun_->write_back(found_);
  }

  status load(byte_view from, pattern_matches& to, std::int64_t& deadline_ms) {
    auto& begun = loaded_;
    HEADRACE_CHECK(read_begun(from, begun));
    if (begun.digest != digest_)
      return error(errc::incompatible_state,
                   "matches that have begun are those of another pattern, or of other rows");
    deadline_ms = begun.deadline_ms;
    const auto first = static_cast<std::uint32_t>(all_rows_.size());
    times_ms_.insert(times_ms_.end(), begun.times_ms.begin(), begun.times_ms.end());
    all_rows_.insert(all_rows_.end(), begun.rows.begin(), begun.rows.end());
    byte_reader in(begun.matches);
    return to.load(in, first, static_cast<std::uint32_t>(begun.rows.size()));
  }

  status save_begun() {
    HEADRACE_CHECK(begun_->locate(fired_keys_, rows_, 0, state::access::update, found_));
    erase_.clear();
    absent_.clear();
    std::size_t kept = 0;
    for (std::uint32_t i = 0; i < fired_.size(); ++i) {
      auto& matches = matches_[i]->matches;
      if (matches.is_idle()) {
        if (!found_.is_absent(i))
          erase_.push_back(i);
        continue;
      }
      absent_.push_back(i);
      ++kept;
    }
    HEADRACE_CHECK(begun_->erase(found_, erase_));
    HEADRACE_CHECK(begun_->write_back(found_));
    if (kept == 0)
      return {};
    HEADRACE_CHECK(begun_->locate(fired_keys_, absent_, 0, state::access::insert, found_));
    due_rows_.clear();
    due_times_ms_.clear();
    for (std::uint32_t i = 0; i < absent_.size(); ++i) {
      const auto key = absent_[i];
      const auto deadline = matches_[key]->matches.deadline_ms(times_ms_);
      if (deadline && *deadline != deadlines_ms_[key]) {
        due_rows_.push_back(key);
        due_times_ms_.push_back(*deadline);
        deadlines_ms_[key] = *deadline;
      }
      put(matches_[key]->matches, deadlines_ms_[key]);
      HEADRACE_CHECK(begun_->put(found_, i, changed_));
    }
    HEADRACE_CHECK(begun_->write_back(found_));
    return note_deadlines();
  }

  void put(pattern_matches& from, std::int64_t deadline_ms) {
    matched_.clear();
    from.save(matched_, kept_rows_);
    changed_.clear();
    put_begun_head(digest_, deadline_ms, kept_rows_.size(), changed_);
    for (const auto row : kept_rows_)
      put_begun_row(times_ms_[row], all_rows_[row], changed_);
    changed_ += matched_;
  }

  /// Lets a key fire when a match becomes too long, also without rows.
  status note_deadlines() {
    return waiting_.add(fired_keys_, due_rows_, due_times_ms_, [&](std::size_t i, byte_string& to) {
      put_match_row({due_times_ms_[i], {}, {}}, to);
    });
  }

  graph::match_spec spec_;
  graph::row_type_ptr input_;
  std::uint64_t digest_;
  state::key_schema schema_;
  state::key_batch keys_;
  state::key_batch fired_keys_;
  const headrace::clock& time_;
  task_metrics& metrics_;
  pattern_automaton automaton_;
  match_values values_;
  match_rounds rounds_;
  std::vector<int> all_columns_;
  graph::batch_builder decoded_;
  waiting_rows waiting_{keys_a_time};
  state::keyed_table* begun_ = nullptr;
  std::int64_t watermark_ms_ = graph::watermark::none;
  std::int64_t passed_ms_ = graph::watermark::none; ///< rows up to it have come
  std::int64_t limit_ms_ = graph::watermark::none;  ///< rows up to it are taken
  bool is_due_ = false;
  std::vector<fired_key> fired_;
  // Of the keys that fired, in their order; kept for their memory.
  std::vector<std::unique_ptr<summed_matches>> matches_;
  std::vector<match_rounds::segment> segments_;
  std::vector<std::int64_t> deadlines_ms_; ///< that are noted
  std::vector<byte_string> stored_;
  begun_matches loaded_; ///< of one of `stored_`
  std::vector<byte_view> all_rows_;
  std::vector<std::int64_t> times_ms_; ///< of all rows
  state::located_rows found_;
  graph::encoded_keys encoded_;
  graph::encoded_keys order_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> absent_;
  std::vector<std::uint32_t> due_rows_;
  std::vector<std::uint32_t> kept_rows_;
  std::vector<std::size_t> places_;
  std::vector<std::int64_t> due_times_ms_; ///< of `due_rows_`
  std::vector<std::uint32_t> erase_;
  byte_string matched_;
  byte_string changed_;
};

} // namespace

result<std::unique_ptr<stream_operator>> make_match_operator(const graph::operator_node& node,
                                                             const operator_context& context) {
  const auto& spec = std::get<graph::match_spec>(node.spec);
  HEADRACE_TRY(auto values,
               match_values::make(spec, node.input_types.front(),
                                  std::make_shared<const logical_type>(node.output_type),
                                  {spec.time_zone, context.memory, random_seed(context)}));
  return std::unique_ptr<stream_operator>(
      std::make_unique<match_operator>(node, context, std::move(values)));
}

} // namespace headrace::task
