#include "libtask/network/partitioner.hpp"

#include "libgraph/data/hash.hpp"
#include "libgraph/data/key_group.hpp"
#include "libgraph/data/partition.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace headrace::task {
namespace {

using graph::record_batch;

/// Gives all rows to one target.
class single_target final : public partitioner {
public:
  explicit single_target(std::uint32_t target) : target_(target) {}
  void split(const record_batch& in, std::vector<target_piece>& out) override {
    out.push_back({target_, in});
  }

private:
  std::uint32_t target_;
};

class broadcast_partitioner final : public partitioner {
public:
  explicit broadcast_partitioner(std::uint32_t targets) : targets_(targets) {}
  void split(const record_batch& in, std::vector<target_piece>& out) override {
    for (std::uint32_t target = 0; target < targets_; ++target)
      out.push_back({target, in});
  }

private:
  std::uint32_t targets_;
};

/// Deals rows out in turn: a large batch as a whole, a small one in even slices, so that few rows
/// reach all targets too.
class round_robin final : public partitioner {
public:
  round_robin(std::uint32_t targets, std::uint32_t first) : targets_(targets), next_(first) {}
  void split(const record_batch& in, std::vector<target_piece>& out) override {
    if (in.size() >= whole_rows_ || targets_ == 1) {
      out.push_back({next_, in});
      next_ = (next_ + 1) % targets_;
      return;
    }
    const auto pieces = std::min<std::size_t>(targets_, in.size());
    for (std::size_t i = 0; i < pieces; ++i) {
      const auto from = in.size() * i / pieces;
      const auto end = in.size() * (i + 1) / pieces;
      out.push_back({next_, in.slice(from, end - from)});
      next_ = (next_ + 1) % targets_;
    }
  }

private:
  static constexpr std::size_t whole_rows_ = 1024;
  std::uint32_t targets_;
  std::uint32_t next_;
};

void append_split(const record_batch& in, std::span<const std::uint32_t> targets,
                  std::uint32_t target_count, std::vector<target_piece>& out) {
  auto pieces = graph::split_batch(in, targets, target_count);
  for (std::uint32_t target = 0; target < target_count; ++target)
    if (pieces[target])
      out.push_back({target, std::move(*pieces[target])});
}

class hash_partitioner final : public partitioner {
public:
  hash_partitioner(std::vector<int> columns, std::uint32_t targets, std::uint32_t max_parallelism)
      : columns_(std::move(columns)), targets_(targets), max_parallelism_(max_parallelism) {}

  void split(const record_batch& in, std::vector<target_piece>& out) override {
    if (targets_ == 1) {
      out.push_back({0, in});
      return;
    }
    hashes_.resize(in.size());
    chosen_.resize(in.size());
    graph::hash_columns(in, columns_, hashes_);
    graph::subtasks_of(hashes_, static_cast<std::int32_t>(max_parallelism_),
                       static_cast<std::int32_t>(targets_), chosen_);
    append_split(in, chosen_, targets_, out);
  }

private:
  std::vector<int> columns_;
  std::uint32_t targets_;
  std::uint32_t max_parallelism_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> chosen_;
};

class shuffle_partitioner final : public partitioner {
public:
  shuffle_partitioner(std::uint32_t targets, std::uint64_t seed)
      : targets_(targets), random_(make_seeded_random(seed)) {}
  void split(const record_batch& in, std::vector<target_piece>& out) override {
    chosen_.resize(in.size());
    for (auto& target : chosen_)
      target = static_cast<std::uint32_t>(random_->below(targets_));
    append_split(in, chosen_, targets_, out);
  }

private:
  std::uint32_t targets_;
  std::unique_ptr<random_source> random_;
  std::vector<std::uint32_t> chosen_;
};

class custom_target final : public partitioner {
public:
  custom_target(std::unique_ptr<graph::custom_partitioner> choose, std::uint32_t targets)
      : choose_(std::move(choose)), targets_(targets) {}
  void split(const record_batch& in, std::vector<target_piece>& out) override {
    chosen_.resize(in.size());
    choose_->partition(in, targets_, chosen_.data());
    for (const auto target : chosen_)
      if (target >= targets_)
        throw std::out_of_range("custom partitioner chose a target out of range: " +
                                std::to_string(target) + " of " + std::to_string(targets_));
    append_split(in, chosen_, targets_, out);
  }

private:
  std::unique_ptr<graph::custom_partitioner> choose_;
  std::uint32_t targets_;
  std::vector<std::uint32_t> chosen_;
};

} // namespace

result<std::unique_ptr<partitioner>> make_partitioner(partitioner_setup setup) {
  using kind = graph::partitioner_kind;
  const auto targets = std::max(setup.targets, 1U);
  switch (setup.spec.kind) {
  case kind::forward:
    return std::unique_ptr<partitioner>(std::make_unique<single_target>(setup.subtask % targets));
  case kind::global:
    return std::unique_ptr<partitioner>(std::make_unique<single_target>(0));
  case kind::broadcast:
    return std::unique_ptr<partitioner>(std::make_unique<broadcast_partitioner>(targets));
  case kind::rebalance:
  case kind::rescale:
    return std::unique_ptr<partitioner>(
        std::make_unique<round_robin>(targets, setup.subtask % targets));
  case kind::shuffle:
    return std::unique_ptr<partitioner>(std::make_unique<shuffle_partitioner>(targets, setup.seed));
  case kind::hash:
    if (setup.spec.key_columns.empty())
      return error(errc::invalid_graph, "hash partitioner without key columns");
    return std::unique_ptr<partitioner>(std::make_unique<hash_partitioner>(
        std::vector<int>(setup.spec.key_columns.begin(), setup.spec.key_columns.end()), targets,
        setup.max_parallelism));
  case kind::custom:
    if (setup.custom == nullptr)
      return error(errc::invalid_graph, "custom partitioner without its function");
    return std::unique_ptr<partitioner>(
        std::make_unique<custom_target>(std::move(setup.custom), targets));
  }
  return error(errc::internal, "unknown kind of partitioner");
}

} // namespace headrace::task
