#pragma once

#include "libstate/key/key_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::task {

/// Numbers the different keys of some rows in the order in which they come first. Kept from batch
/// to batch, so that nothing is allocated per row. Pure; one thread.
class key_places {
public:
  /// @param rows  of `keys`
  void assign(const state::key_batch& keys, std::span<const std::uint32_t> rows);
  /// Keys by names that are the same for the same key, as `located_rows::tokens` are.
  void assign(std::span<const std::uint64_t> names);

  /// Different keys.
  std::size_t size() const { return firsts_.size(); }
  /// The number of the i-th row's key.
  std::uint32_t at(std::size_t row) const { return places_[row]; }
  /// The first of the rows that have a key.
  std::uint32_t first(std::size_t place) const { return firsts_[place]; }

private:
  template <class Hash, class Equal>
  void number(std::size_t count, Hash hash, Equal equal);

  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> firsts_;
  std::vector<std::uint32_t> buckets_; ///< open addressing
};

} // namespace headrace::task
