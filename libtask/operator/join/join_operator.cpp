#include "libtask/operator/join/join_operator.hpp"

#include "libtask/operator/join/join_pairs.hpp"
#include "libtask/operator/join/join_rows.hpp"
#include "libtask/operator/join/join_sides.hpp"
#include "libtask/operator/mini_batch/folds.hpp"

#include <array>
#include <numeric>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::join_kind;
using graph::row_kind;

constexpr auto none = join_pairs::none;

join_rows::setup setup_of(const graph::operator_node& node, std::size_t side) {
  const auto& spec = std::get<graph::join_spec>(node.spec);
  const auto& from = side == 0 ? spec.left : spec.right;
  return {side == 0 ? "left-rows" : "right-rows",
          std::make_shared<const graph::logical_type>(node.input_types[side]),
          counts_matches(spec.kind, side),
          from.retracts,
          from.state_ttl_ms,
          false};
}

class join_operator final : public stream_operator {
public:
  join_operator(const graph::operator_node& node, const operator_context& context, join_pairs pairs)
      : spec_(std::get<graph::join_spec>(node.spec)), schema_(join_key_schema(spec_, node)),
        keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)),
        time_(context.time), sides_{join_rows(setup_of(node, 0)), join_rows(setup_of(node, 1))},
        pairs_(std::move(pairs)) {
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      all_columns_[side].resize(node.input_types[side].child_count());
      std::iota(all_columns_[side].begin(), all_columns_[side].end(), 0);
    }
  }

  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    for (auto& each : sides_)
      HEADRACE_CHECK(each.open(*states.keyed));
    return {};
  }

  status add(std::int32_t input, const graph::record_batch& rows) override {
    side_ = static_cast<std::size_t>(input);
    pairs_.begin(rows, side_);
    now_ms_ = time_.wall_ms();
    const auto& key_columns = (side_ == 0 ? spec_.left : spec_.right).key_columns;
    keys_.assign(rows, key_columns);
    find_matchable(rows, key_columns, spec_.null_safe, lookups_, places_);
    row_matches_.assign(rows.size(), 0);
    at_ = 0;
    offset_ = 0;
    matches_ = 0;
    is_busy_ = true;
    return other().find(keys_, lookups_, {}, now_ms_);
  }

  status advance(graph::watermark mark) override {
    watermark_ms_ = mark.time_ms;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (!is_busy_)
      return drain_result::done;
    collect(budget);
    HEADRACE_CHECK(pairs_.check({now_ms_, watermark_ms_}));
    decide();
    HEADRACE_TRY(auto batch, pairs_.take());
    if (!batch.is_empty())
      out.emit(std::move(batch));
    if (at_ < in().size())
      return drain_result::more;
    is_busy_ = false;
    HEADRACE_CHECK(store());
    pairs_.end();
    return drain_result::done;
  }

private:
  join_rows& own() { return sides_[side_]; }
  join_rows& other() { return sides_[1 - side_]; }
  const graph::record_batch& in() const { return pairs_.own(); }

  row_kind kind_of(std::size_t index) const {
    return in().kinds() == nullptr ? row_kind::insert : in().kinds()[in().row_at(index)];
  }
  bool is_retracted(std::size_t index) const {
    const auto kind = kind_of(index);
    return kind == row_kind::update_before || kind == row_kind::delete_;
  }

  /// Pairs the next rows of the batch with those of the other side that have the key.
  void collect(const drain_budget& budget) {
    pairs_.clear();
    other().begin_piece();
    pair_indices_.clear();
    pair_offsets_.clear();
    ends_.clear();
    first_ = at_;
    joined_entry entry;
    for (; at_ < in().size(); ++at_, offset_ = 0) {
      const auto row = in().row_at(at_);
      while (places_[at_] != none && other().next(places_[at_], offset_, entry)) {
        pairs_.add(row, entry.row);
        pair_indices_.push_back(at_);
        pair_offsets_.push_back(entry.at);
        if (pairs_.is_full(budget))
          return;
      }
      ends_.push_back(pairs_.size());
    }
  }

  /// Goes over the pairs in order, and says what is emitted.
  void decide() {
    std::size_t pair = 0;
    const auto take = [&](std::size_t end) {
      for (; pair < end; ++pair)
        if (pairs_.passes(pair))
          take_pair(pair);
    };
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      take(ends_[i]);
      end_row(first_ + i);
    }
    take(pairs_.size());
  }

  void take_pair(std::size_t pair) {
    ++matches_;
    const auto index = pair_indices_[pair];
    const auto kind = kind_of(index);
    if (!counts_matches(spec_.kind, 1 - side_)) {
      if (!is_left_alone(spec_.kind))
        pairs_.emit_pair(pair, kind);
      return;
    }
    const bool retracts = is_retracted(index);
    const auto before = other().matches(places_[index], pair_offsets_[pair]);
    if (retracts && before == 0) // what it matched then is not told any more: it expired
      return;
    const auto after = retracts ? before - 1 : before + 1;
    other().set_matches(places_[index], pair_offsets_[pair], after);
    const bool is_first = !retracts && before == 0;
    const bool was_last = retracts && after == 0;
    if (is_left_alone(spec_.kind)) {
      if (is_first || was_last)
        pairs_.emit_other(pair, is_first == (spec_.kind == join_kind::semi) ? row_kind::insert
                                                                            : row_kind::delete_);
      return;
    }
    if (is_first)
      pairs_.emit_other(pair, row_kind::delete_);
    pairs_.emit_pair(pair, is_first ? row_kind::insert : was_last ? row_kind::delete_ : kind);
    if (was_last)
      pairs_.emit_other(pair, row_kind::insert);
  }

  void end_row(std::size_t index) {
    const auto matches = std::exchange(matches_, 0);
    row_matches_[index] = matches;
    const bool stands_alone = is_left_alone(spec_.kind)
                                  ? side_ == 0 && (matches > 0) == (spec_.kind == join_kind::semi)
                                  : is_outer(spec_.kind, side_) && matches == 0;
    if (stands_alone)
      pairs_.emit_own(in().row_at(index), kind_of(index));
  }

  /// The batch becomes part of its side, with the matches that its rows have.
  status store() {
    HEADRACE_CHECK(other().finish());
    graph::encode_keys(in(), all_columns_[side_], encoded_);
    changes_.clear();
    for (std::size_t i = 0; i < in().size(); ++i)
      if (places_[i] != none)
        changes_.push_back({in().row_at(i), encoded_[i], row_matches_[i], is_retracted(i)});
    HEADRACE_CHECK(own().apply(keys_, changes_, now_ms_));
    for (auto& each : sides_)
      HEADRACE_CHECK(each.sweep(now_ms_));
    return {};
  }

  graph::join_spec spec_;
  state::key_schema schema_;
  state::key_batch keys_;
  const headrace::clock& time_;
  std::array<join_rows, 2> sides_;
  join_pairs pairs_;
  std::array<std::vector<int>, 2> all_columns_;
  std::int64_t watermark_ms_ = graph::watermark::none;

  // The batch at hand, and how far it is; kept from one to the next so that nothing is allocated
  // per row.
  std::size_t side_ = 0;
  std::int64_t now_ms_ = 0;
  bool is_busy_ = false;
  std::size_t at_ = 0;        ///< row of the batch …
  std::size_t offset_ = 0;    ///< … and where among the rows that have its key
  std::uint32_t matches_ = 0; ///< of that row, so far
  std::vector<std::uint32_t> lookups_;
  std::vector<std::uint32_t> places_; ///< by row of the batch: in `lookups_`; none: matches nothing
  std::vector<std::uint32_t> row_matches_;
  std::size_t first_ = 0;                 ///< row of the batch that the piece begins with
  std::vector<std::size_t> pair_indices_; ///< rows of the batch
  std::vector<std::size_t> pair_offsets_;
  std::vector<std::size_t> ends_; ///< of the rows that are through: how many pairs before it
  graph::encoded_keys encoded_;
  std::vector<join_rows::change> changes_;
};

} // namespace

result<std::unique_ptr<stream_operator>> make_join_operator(const graph::operator_node& node,
                                                            const operator_context& context) {
  const auto& spec = std::get<graph::join_spec>(node.spec);
  HEADRACE_TRY(auto pairs, join_pairs::make(spec, node.input_types, node.output_type, context));
  std::unique_ptr<stream_operator> made =
      std::make_unique<join_operator>(node, context, std::move(pairs));
  if (!spec.mini_batch.is_on())
    return made;
  // The side that rows need not wait for a match of comes first, so that few are told as unmatched.
  mini_batch_setup with{spec.mini_batch, {1, 0}, {}};
  if (spec.kind == join_kind::right)
    with.inputs = {0, 1};
  if (spec.left.retracts || spec.right.retracts)
    with.fold = fold_pairs(node.input_types, static_cast<std::int32_t>(context.max_parallelism));
  return gather_rows(std::move(made), std::move(with), context.time);
}

} // namespace headrace::task
