#include "libgraph/sql/optimize/upsert_key.hpp"

#include <numeric>

namespace headrace::sql {
namespace {

using maybe_key = std::optional<std::vector<std::size_t>>;

struct key_finder {
  const plan_node& plan;

  maybe_key operator()(const aggregate_node& node) const {
    std::vector<std::size_t> out(node.key_count);
    std::iota(out.begin(), out.end(), std::size_t{0});
    return out;
  }
  maybe_key operator()(const calc_node& node) const {
    auto out = find_upsert_key(plan.inputs[0]);
    if (!out)
      return out;
    for (auto& key : *out) {
      std::size_t i = 0;
      while (i < node.items.size() && !is_column(node.items[i], key))
        ++i;
      if (i == node.items.size())
        return std::nullopt;
      key = i;
    }
    return out;
  }
  maybe_key operator()(const join_node& node) const {
    auto out = find_upsert_key(plan.inputs[0]);
    if (!out || node.kind == join_type::semi || node.kind == join_type::anti)
      return out;
    const auto right = find_upsert_key(plan.inputs[1]);
    if (!right)
      return std::nullopt;
    for (const auto key : *right)
      out->push_back(plan.inputs[0].columns.size() + key);
    return out;
  }
  maybe_key operator()(const rank_node& node) const {
    if (node.outputs_rank || node.first == node.last) {
      auto out = node.partition;
      if (node.outputs_rank)
        out.push_back(plan.columns.size() - 1);
      return out;
    }
    return find_upsert_key(plan.inputs[0]);
  }
  maybe_key operator()(const version_join_node& /*at most one version a row*/) const {
    return find_upsert_key(plan.inputs[0]);
  }
  maybe_key operator()(const watermark_node& /*passes rows on*/) const {
    return find_upsert_key(plan.inputs[0]);
  }
  maybe_key operator()(const sort_node& /*likewise, some of them*/) const {
    return find_upsert_key(plan.inputs[0]);
  }
  template <class Other>
  maybe_key operator()(const Other& /*not known*/) const {
    return std::nullopt;
  }

  static bool is_column(const bound_expression& item, std::size_t index) {
    const auto* column = std::get_if<bound_column>(&item.node);
    return column != nullptr && column->index == index;
  }
};

} // namespace

maybe_key find_upsert_key(const plan_node& plan) { return std::visit(key_finder{plan}, plan.node); }

} // namespace headrace::sql
