#include "libtask/operator/mini_batch/key_places.hpp"

#include "libactors/base/ids.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace headrace::task {
namespace {

constexpr auto none = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t buckets_min = 16;

} // namespace

template <class Hash, class Equal>
void key_places::number(std::size_t count, Hash hash, Equal equal) {
  places_.resize(count);
  firsts_.clear();
  buckets_.assign(std::bit_ceil(std::max(2 * count, buckets_min)), none);
  const auto mask = buckets_.size() - 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    auto at = hash(i) & mask;
    while (buckets_[at] != none && !equal(firsts_[buckets_[at]], i))
      at = (at + 1) & mask;
    if (buckets_[at] == none) {
      buckets_[at] = static_cast<std::uint32_t>(firsts_.size());
      firsts_.push_back(i);
    }
    places_[i] = buckets_[at];
  }
}

void key_places::assign(const state::key_batch& keys, std::span<const std::uint32_t> rows) {
  if (keys.schema().is_fixed()) {
    const auto* fixed = keys.fixed();
    const auto* nulls = keys.nulls();
    const auto hash = [&](std::uint32_t i) {
      return nulls != nullptr && nulls[rows[i]] != 0 ? 0 : mix64(fixed[rows[i]]);
    };
    number(rows.size(), hash, [&](std::uint32_t left, std::uint32_t right) {
      const auto one = rows[left];
      const auto other = rows[right];
      if (nulls != nullptr && (nulls[one] != 0 || nulls[other] != 0))
        return nulls[one] == nulls[other];
      return fixed[one] == fixed[other];
    });
    return;
  }
  const auto* bytes = keys.bytes();
  const auto* hashes = keys.hashes();
  const auto hash = [&](std::uint32_t i) { return hashes[rows[i]]; };
  number(rows.size(), hash, [&](std::uint32_t left, std::uint32_t right) {
    return hashes[rows[left]] == hashes[rows[right]] && bytes[rows[left]] == bytes[rows[right]];
  });
}

void key_places::assign(std::span<const std::uint64_t> names) {
  number(
      names.size(), [&](std::uint32_t i) { return mix64(names[i]); },
      [&](std::uint32_t left, std::uint32_t right) { return names[left] == names[right]; });
}

} // namespace headrace::task
