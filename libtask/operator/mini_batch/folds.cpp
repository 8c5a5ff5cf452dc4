#include "libtask/operator/mini_batch/folds.hpp"

#include "libtask/operator/aggregate/group_calls.hpp"
#include "libtask/operator/mini_batch/key_places.hpp"
#include "libgraph/data/order_key.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

namespace headrace::task {
namespace {

constexpr auto none = std::numeric_limits<std::uint32_t>::max();

graph::record_batch picked(const graph::record_batch& from,
                           const std::vector<std::uint32_t>& rows) {
  if (rows.size() == from.size())
    return from;
  auto indices = graph::buffer::allocate(rows.size() * sizeof(std::uint32_t));
  std::copy(rows.begin(), rows.end(), indices->mutable_as<std::uint32_t>());
  return from.with_selection(std::move(indices), rows.size());
}

std::vector<std::int32_t> all_columns(const graph::logical_type& type) {
  std::vector<std::int32_t> out(type.child_count());
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// The keys of a bundle, by place.
class keyed_bundle {
public:
  keyed_bundle(const graph::logical_type& input, std::vector<std::int32_t> key_columns,
               std::int32_t max_parallelism)
      : columns_(std::move(key_columns)),
        keys_(state::key_schema(input, columns_), max_parallelism) {}

  void assign(const graph::record_batch& rows) {
    rows_.resize(rows.size());
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i] = rows.row_at(i);
    keys_.assign(rows, columns_);
    places_.assign(keys_, rows_);
  }
  const key_places& places() const { return places_; }
  const std::vector<std::uint32_t>& rows() const { return rows_; }

private:
  std::vector<std::int32_t> columns_;
  state::key_batch keys_;
  key_places places_;
  std::vector<std::uint32_t> rows_;
};

/// Of equal rows those that were not answered stand on a stack a key.
class pair_fold {
public:
  pair_fold(const graph::logical_type& input, std::int32_t max_parallelism)
      : bundle_(input, all_columns(input), max_parallelism) {}

  graph::record_batch operator()(const graph::record_batch& rows) {
    if (rows.kinds() == nullptr)
      return rows;
    bundle_.assign(rows);
    tops_.assign(bundle_.places().size(), none);
    below_.assign(rows.size(), none);
    stays_.assign(rows.size(), 1);
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      auto& top = tops_[bundle_.places().at(i)];
      const auto is_gone = [&](std::uint32_t at) { return is_retracted(rows, rows.row_at(at)); };
      if (top != none && is_gone(top) != is_gone(i)) {
        stays_[i] = 0;
        stays_[top] = 0;
        top = below_[top];
      } else {
        below_[i] = std::exchange(top, i);
      }
    }
    kept_.clear();
    for (std::uint32_t i = 0; i < rows.size(); ++i)
      if (stays_[i] != 0)
        kept_.push_back(bundle_.rows()[i]);
    return picked(rows, kept_);
  }

private:
  keyed_bundle bundle_;
  std::vector<std::uint32_t> tops_;  ///< by key
  std::vector<std::uint32_t> below_; ///< by row
  std::vector<std::uint8_t> stays_;
  std::vector<std::uint32_t> kept_;
};

class first_fold {
public:
  first_fold(const graph::rank_spec& spec, const graph::logical_type& input,
             std::int32_t max_parallelism)
      : order_(spec.order), prefers_latest_(spec.prefers_latest),
        bundle_(input, spec.key_columns, max_parallelism) {}

  graph::record_batch operator()(const graph::record_batch& rows) {
    bundle_.assign(rows);
    graph::encode_order_keys(rows, order_, order_keys_);
    const auto& places = bundle_.places();
    best_.resize(places.size());
    for (std::size_t i = 0; i < best_.size(); ++i)
      best_[i] = places.first(i);
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      auto& best = best_[places.at(i)];
      const auto order = order_keys_[i].compare(order_keys_[best]);
      if (order < 0 || (order == 0 && prefers_latest_))
        best = i;
    }
    std::sort(best_.begin(), best_.end());
    for (auto& each : best_)
      each = bundle_.rows()[each];
    return picked(rows, best_);
  }

private:
  std::vector<graph::order_column> order_;
  bool prefers_latest_;
  keyed_bundle bundle_;
  graph::encoded_keys order_keys_;
  std::vector<std::uint32_t> best_;
};

} // namespace

bundle_fold fold_pairs(const std::vector<graph::logical_type>& inputs,
                       std::int32_t max_parallelism) {
  auto folds = std::make_shared<std::vector<pair_fold>>();
  for (const auto& each : inputs)
    folds->emplace_back(each, max_parallelism);
  return [folds](std::int32_t input, const graph::record_batch& rows) {
    return (*folds)[static_cast<std::size_t>(input)](rows);
  };
}

bundle_fold fold_to_first(const graph::rank_spec& spec, const graph::logical_type& input,
                          std::int32_t max_parallelism) {
  auto fold = std::make_shared<first_fold>(spec, input, max_parallelism);
  return [fold](std::int32_t /*input*/, const graph::record_batch& rows) { return (*fold)(rows); };
}

} // namespace headrace::task
