#include "libtask/operator/aggregate/local_aggregate_operator.hpp"

#include "libtask/operator/aggregate/group_calls.hpp"
#include "libtask/operator/mini_batch/key_places.hpp"
#include "libtask/operator/mini_batch/piecewise_batch.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

class local_aggregate_operator final : public stream_operator {
public:
  local_aggregate_operator(const graph::operator_node& node, const operator_context& context)
      : spec_(std::get<graph::group_aggregate_spec>(node.spec)),
        keys_(state::key_schema(node.input_types.front(), spec_.key_columns),
              static_cast<std::int32_t>(context.max_parallelism)),
        calls_(spec_.calls, node.input_types.front(), spec_.other_end, spec_.key_columns.size(),
               spec_.input_retracts),
        out_(std::make_shared<const graph::logical_type>(node.output_type), context.memory) {}

  const group_calls& calls() const { return calls_; }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    rows_.resize(rows.size());
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i] = rows.row_at(i);
    keys_.assign(rows, spec_.key_columns);
    places_.assign(keys_, rows_);
    const auto size = calls_.fixed_bytes();
    groups_.assign(places_.size() * size, std::byte{0});
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      auto* group = groups_.data() + places_.at(i) * size;
      calls_.take(i, rows, rows_[i], group);
      std::int64_t count = 0;
      std::memcpy(&count, group, sizeof(count));
      count += is_retracted(rows, rows_[i]) ? -1 : 1;
      std::memcpy(group, &count, sizeof(count));
    }
    build(rows);
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (!out_.is_empty())
      made_.set(out_.finish());
    return made_.emit_some(out, budget);
  }

private:
  void build(const graph::record_batch& rows) {
    const auto size = calls_.fixed_bytes();
    const auto group_at = [&](std::size_t place) {
      return byte_view(reinterpret_cast<const char*>(groups_.data()) + place * size, size);
    };
    given_.clear();
    firsts_.clear();
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
      const auto group = group_at(i);
      if (std::all_of(group.begin(), group.end(), [](char byte) { return byte == 0; }))
        continue;
      given_.push_back(i);
      firsts_.push_back(rows_[places_.first(i)]);
    }
    const auto keys = spec_.key_columns.size();
    for (std::size_t k = 0; k < keys; ++k)
      out_.column(k).append_from(rows.at(static_cast<std::size_t>(spec_.key_columns[k])), firsts_);
    for (const auto place : given_)
      out_.column(keys).append_string(group_at(place));
    out_.end_rows(given_.size());
  }

  graph::group_aggregate_spec spec_;
  state::key_batch keys_;
  group_calls calls_;
  graph::batch_builder out_;
  piecewise_batch made_;
  // Of the batch at hand, kept from one to the next so that nothing is allocated per row.
  key_places places_;
  std::vector<std::byte> groups_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> given_;  ///< places
  std::vector<std::uint32_t> firsts_; ///< a row of each of these
};

} // namespace

result<std::unique_ptr<stream_operator>>
make_local_aggregate_operator(const graph::operator_node& node, const operator_context& context) {
  auto made = std::make_unique<local_aggregate_operator>(node, context);
  if (!made->calls().can_merge())
    return error(errc::invalid_graph, "aggregates that cannot be merged: " + node.name);
  return std::unique_ptr<stream_operator>(std::move(made));
}

} // namespace headrace::task
