#include "libtask/operator/join/join_pairs.hpp"

#include "libtask/operator/join/append_rows.hpp"
#include "libgraph/data/gather.hpp"
#include "libgraph/data/key_codec.hpp"
#include "libgraph/job_graph/join_check.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace headrace::task {
namespace {

using graph::column_builder;
using graph::row_kind;

/// One builder a column.
struct row_builders {
  std::vector<column_builder> columns;
  std::vector<column_builder*> places;

  row_builders(std::span<const graph::logical_type::field> of,
               const std::shared_ptr<graph::memory_budget>& memory) {
    columns.reserve(of.size());
    for (const auto& each : of)
      places.push_back(&columns.emplace_back(each.type, memory));
  }
  void finish(std::vector<graph::column_ptr>& to) {
    for (auto& each : columns)
      to.push_back(each.finish());
  }
};

} // namespace

result<join_pairs> join_pairs::make(const graph::join_spec& spec,
                                    std::span<const graph::logical_type> inputs,
                                    const graph::logical_type& output,
                                    const operator_context& context) {
  join_pairs out;
  out.memory_ = context.memory;
  const auto joined = graph::joined_type(inputs[0], inputs[1]);
  if (!spec.condition.is_empty()) {
    HEADRACE_TRY(out.condition_, graph::expression_program::compile(
                                     joined, spec.condition, {},
                                     {spec.time_zone, context.memory, random_seed(context)}));
  }
  for (std::size_t side = 0; side < 2; ++side)
    out.types_[side] = std::make_shared<const graph::logical_type>(inputs[side]);
  out.output_type_ = std::make_shared<const graph::logical_type>(output);
  out.joined_type_ = std::make_shared<const graph::logical_type>(joined);
  out.no_columns_ =
      std::make_shared<const graph::logical_type>(graph::logical_type::row({}).not_null());
  out.has_both_ = spec.kind != graph::join_kind::semi && spec.kind != graph::join_kind::anti;
  return out;
}

void join_pairs::begin(graph::record_batch own, std::size_t side) {
  own_ = std::move(own);
  side_ = side;
  clear();
}

void join_pairs::clear() {
  rows_.clear();
  others_.clear();
  bytes_ = 0;
  emitted_.clear();
  checked_ = {};
  passed_ = {};
}

status join_pairs::check(const graph::program_time& time) {
  passes_.assign(rows_.size(), condition_ ? 0 : 1);
  if (!condition_ || rows_.empty())
    return {};
  HEADRACE_TRY(auto decoded, decode(others_, types_[1 - side_]->fields()));
  std::vector<graph::column_ptr> columns;
  for (const auto& each : own_.columns())
    columns.push_back(graph::gather_column(*each, rows_));
  columns.insert(side_ == 0 ? columns.end() : columns.begin(), decoded.begin(), decoded.end());
  checked_ = graph::record_batch(joined_type_, rows_.size(), std::move(columns));
  HEADRACE_TRY(passed_, condition_->run(checked_, no_columns_, time));
  for (std::size_t i = 0; i < passed_.size(); ++i)
    passes_[passed_.row_at(i)] = 1;
  return {};
}

result<std::vector<graph::column_ptr>> join_pairs::decode(std::span<const byte_view> rows,
                                                          fields of) const {
  row_builders builders(of, memory_);
  HEADRACE_CHECK(graph::decode_keys(rows, builders.places));
  std::vector<graph::column_ptr> out;
  builders.finish(out);
  return out;
}

result<graph::record_batch> join_pairs::take() {
  if (emitted_.empty())
    return graph::record_batch();
  if (are_all_pairs())
    return with_kinds(take_passed());
  own_rows_.clear();
  other_pairs_.clear();
  for (const auto& each : emitted_) {
    own_rows_.push_back(each.own);
    other_pairs_.push_back(each.pair);
  }
  std::vector<graph::column_ptr> columns;
  for (std::size_t side = 0; side < (has_both_ ? 2U : 1U); ++side) {
    const auto first = side == 0 ? 0 : types_[0]->child_count();
    const auto of = fields(output_type_->fields()).subspan(first, types_[side]->child_count());
    if (side == side_)
      add_own(of, columns);
    else
      HEADRACE_CHECK(add_other(of, columns));
  }
  return with_kinds(graph::record_batch(output_type_, emitted_.size(), std::move(columns)));
}

/// What the condition was computed over is what leaves, as it is.
bool join_pairs::are_all_pairs() const {
  if (!has_both_ || checked_.row_count() == 0 || emitted_.size() != passed_.size())
    return false;
  for (std::size_t i = 0; i < emitted_.size(); ++i)
    if (emitted_[i].own == none || emitted_[i].pair != passed_.row_at(i))
      return false;
  return true;
}

graph::record_batch join_pairs::take_passed() const {
  auto batch = checked_.with_columns(output_type_, checked_.columns());
  if (!passed_.has_selection())
    return batch;
  const auto rows = passed_.selection();
  auto selection = graph::buffer::allocate(rows.size_bytes(), memory_);
  std::memcpy(selection->mutable_data(), rows.data(), rows.size_bytes());
  return batch.with_selection(std::move(selection), rows.size());
}

graph::record_batch join_pairs::with_kinds(graph::record_batch batch) const {
  const bool are_inserts = std::all_of(emitted_.begin(), emitted_.end(), [](const emitted& each) {
    return each.kind == row_kind::insert;
  });
  if (are_inserts)
    return batch;
  auto kinds = graph::buffer::allocate(batch.row_count(), memory_);
  auto* to = kinds->mutable_as<row_kind>();
  std::fill_n(to, batch.row_count(), row_kind::insert);
  for (std::size_t i = 0; i < emitted_.size(); ++i)
    to[batch.row_at(i)] = emitted_[i].kind;
  return batch.with_kinds(std::move(kinds));
}

void join_pairs::add_own(fields of, std::vector<graph::column_ptr>& to) const {
  const bool is_whole = std::find(own_rows_.begin(), own_rows_.end(), none) == own_rows_.end();
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (is_whole) {
      to.push_back(graph::gather_column(own_.at(i), own_rows_));
      continue;
    }
    column_builder builder(of[i].type, memory_);
    append_rows(own_.at(i), own_rows_, builder);
    to.push_back(builder.finish());
  }
}

/// The other side's columns: copied where the condition has needed them, else decoded now.
status join_pairs::add_other(fields of, std::vector<graph::column_ptr>& to) const {
  row_builders builders(of, memory_);
  if (checked_.row_count() > 0) {
    const std::size_t first = side_ == 0 ? types_[0]->child_count() : 0;
    for (std::size_t i = 0; i < of.size(); ++i)
      append_rows(checked_.at(first + i), other_pairs_, builders.columns[i]);
  } else {
    std::vector<byte_view> rows;
    status out;
    for_each_run(other_pairs_, [&](std::span<const std::uint32_t> run, bool is_missing) {
      if (is_missing) {
        for (auto& each : builders.columns)
          append_nulls(run.size(), each);
      } else if (out) {
        rows.clear();
        for (const auto pair : run)
          rows.push_back(others_[pair]);
        out = graph::decode_keys(rows, builders.places);
      }
    });
    HEADRACE_CHECK(std::move(out));
  }
  builders.finish(to);
  return {};
}

} // namespace headrace::task
