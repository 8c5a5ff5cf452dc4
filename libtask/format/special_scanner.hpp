#pragma once

#include "libactors/base/bytes.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace headrace::task {

/// Finds the next of a few special characters in a text, 64 bytes at a time. Reads nothing outside
/// the text. A value; the text must outlive it.
template <std::size_t Count>
class special_scanner {
public:
  special_scanner(byte_view text, const std::array<char, Count>& specials)
      : text_(text), specials_(specials) {}

  /// Returns the place of the next special character, or the text's size when there is none.
  std::size_t next() {
    while (mask_ == 0) {
      if (next_block_ >= text_.size())
        return text_.size();
      load();
    }
    const auto bit = static_cast<std::size_t>(std::countr_zero(mask_));
    mask_ &= mask_ - 1;
    return block_ + bit;
  }

private:
  static constexpr std::size_t block_bytes = 64;

  void load() {
    block_ = next_block_;
    next_block_ += block_bytes;
    if (next_block_ <= text_.size()) {
      mask_ = match(text_.data() + block_);
      return;
    }
    char tail[block_bytes] = {};
    const auto rest = text_.size() - block_;
    std::memcpy(&tail[0], text_.data() + block_, rest);
    mask_ = match(&tail[0]) & ((std::uint64_t{1} << rest) - 1);
  }

  std::uint64_t match(const char* bytes) const {
    std::uint64_t mask = 0;
#if defined(__SSE2__)
    for (unsigned quarter = 0; quarter < 4; ++quarter) {
      const auto chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + quarter * 16U));
      auto hits = _mm_setzero_si128();
      for (const char special : specials_)
        hits = _mm_or_si128(hits, _mm_cmpeq_epi8(chunk, _mm_set1_epi8(special)));
      mask |= std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(hits))} << (quarter * 16U);
    }
#else
    for (unsigned at = 0; at < block_bytes; ++at) {
      bool hit = false;
      for (const char special : specials_)
        hit |= bytes[at] == special;
      mask |= std::uint64_t{hit} << at;
    }
#endif
    return mask;
  }

  byte_view text_;
  std::array<char, Count> specials_;
  std::uint64_t mask_ = 0;
  std::size_t block_ = 0;
  std::size_t next_block_ = 0;
};

} // namespace headrace::task
