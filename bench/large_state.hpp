#pragma once

#include "bench/state_load.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libgraph/data/hash.hpp"
#include "libgraph/data/key_group.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace headrace::bench {

/// One subtask's state in RocksDB that outgrows memory: rows of a fixed size under numbers, which
/// compression does not make smaller.
class large_state {
public:
  static constexpr std::size_t value_bytes = 1000;
  static constexpr std::size_t update_rows = 512; ///< of a batch

  /// Keys 0 … `keys` - 1, as far as they are of the key groups.
  large_state(state::state_backend& maker, const std::string& directory,
              state::key_group_range groups, std::uint64_t keys)
      : groups_(groups), keys_(keys),
        key_batch_(state::key_schema(*pair_type(), column_0), max_parallelism) {
    state::keyed_backend_setup setup{key_batch_.schema(), max_parallelism, groups,    &time_,
                                     files_.get(),        nullptr,         directory, "bench"};
    backend_ = take(maker.make(std::move(setup)));
    check(backend_->restore({}));
    state::state_description rows;
    rows.name = "rows";
    rows.value_type = graph::logical_type::bytes();
    rows.entry_key_type = graph::logical_type::null();
    rows.layout = state::value_layout::fixed(value_bytes);
    table_ = take(backend_->open_table(rows));
  }

  /// Writes all keys, key group by key group, so that compactions have little to do; a few groups
  /// at a time, so that this takes little memory itself.
  /// @param on_batch  is called after each batch with the bytes written so far
  template <class OnBatch>
  void fill(OnBatch on_batch) {
    std::uint64_t written = 0;
    std::vector<std::vector<std::int64_t>> by_group(groups_a_pass);
    for (auto first = groups_.first; first < groups_.end; first += groups_a_pass) {
      for (auto& keys : by_group)
        keys.clear();
      for (std::int64_t key = 0; key < static_cast<std::int64_t>(keys_); ++key) {
        const auto group = group_of(key);
        if (group >= first && group < std::min(first + groups_a_pass, groups_.end))
          by_group[static_cast<std::size_t>(group - first)].push_back(key);
      }
      for (const auto& keys : by_group) {
        for (std::size_t from = 0; from < keys.size(); from += update_rows) {
          const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(from);
          const auto count = std::min(update_rows, keys.size() - from);
          chosen_.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
          update();
          written += count;
          on_batch(written * value_bytes);
        }
      }
    }
  }

  /// Changes a batch of rows at random. @returns how many
  std::size_t update_some(std::size_t rows = update_rows) {
    chosen_.clear();
    while (chosen_.size() < rows) {
      const auto key = static_cast<std::int64_t>(next_random() % keys_);
      if (groups_.contains(group_of(key)))
        chosen_.push_back(key);
    }
    update();
    return rows;
  }
  /// Changes every `step`-th key.
  void update_each(std::uint64_t step) {
    chosen_.clear();
    for (auto key = next_random() % step; key < keys_; key += step) {
      if (!groups_.contains(group_of(static_cast<std::int64_t>(key))))
        continue;
      chosen_.push_back(static_cast<std::int64_t>(key));
      if (chosen_.size() == update_rows) {
        update();
        chosen_.clear();
      }
    }
    update();
  }

  state::keyed_backend& backend() { return *backend_; }
  std::uint64_t rows() const { return table_->row_count(); }

private:
  static constexpr std::int32_t column_0[] = {0};
  static constexpr std::int32_t max_parallelism = 128;
  static constexpr std::int32_t groups_a_pass = 4;

  std::uint64_t next_random() { return mix64(random_ += 0x9e3779b97f4a7c15ULL); }

  static std::int32_t group_of(std::int64_t key) {
    return graph::key_group_of(graph::hash_of(key), max_parallelism);
  }

  /// Writes new values under the chosen keys.
  void update() {
    if (chosen_.empty())
      return;
    key_batch_.clear();
    for (const auto key : chosen_) {
      const auto fixed = static_cast<std::uint64_t>(key);
      check(key_batch_.append_stored({reinterpret_cast<const char*>(&fixed), sizeof(fixed)}));
    }
    rows_.resize(chosen_.size());
    std::iota(rows_.begin(), rows_.end(), 0U);
    check(table_->locate(key_batch_, rows_, 0, state::access::insert, at_));
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      for (std::size_t word = 0; word < value_bytes; word += sizeof(std::uint64_t)) {
        const auto noise = next_random();
        std::memcpy(at_.values[i] + word, &noise, sizeof(noise));
      }
    }
    check(table_->write_back(at_));
  }

  system_clock time_;
  std::unique_ptr<file_system> files_ = make_local_file_system();
  state::key_group_range groups_;
  std::uint64_t keys_;
  state::key_batch key_batch_;
  std::unique_ptr<state::keyed_backend> backend_;
  state::keyed_table* table_ = nullptr;
  state::located_rows at_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::int64_t> chosen_;
  std::uint64_t random_ = 7;
};

} // namespace headrace::bench
