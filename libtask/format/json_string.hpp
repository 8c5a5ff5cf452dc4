#pragma once

#include <simdjson.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Strings of JSON that programs write: their ends are looked for 32 letters at a time, and escapes
// are of one letter. What else there is, is left to the whole parser.
namespace headrace::task {

/// What a letter behind a backslash means; 0 when the whole parser is to tell.
constexpr std::array<char, 256> make_escaped_letters() {
  std::array<char, 256> out{};
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
  for (std::size_t i = 0; i < letters.size(); ++i)
    out[static_cast<unsigned char>(letters[i])] = meant[i];
  return out;
}
inline constexpr auto escaped_letters = make_escaped_letters();

/// A string behind its opening quote.
struct string_token {
  const char* end = nullptr; ///< its closing quote; null: it is left to the whole parser
  bool has_escapes = false;
};

#if defined(__SSE2__)
/// 32 letters of a text, a bit a letter.
struct letter_masks {
  static constexpr std::ptrdiff_t letters = 32;

  explicit letter_masks(const char* at)
      : low_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))),
        high_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16))) {}

  /// Quotes, backslashes and control characters.
  std::uint32_t specials() const { return join(special(low_), special(high_)); }
  std::uint32_t backslashes() const {
    const auto backslash = _mm_set1_epi8('\\');
    return join(_mm_cmpeq_epi8(low_, backslash), _mm_cmpeq_epi8(high_, backslash));
  }
  bool has_wide() const { return _mm_movemask_epi8(_mm_or_si128(low_, high_)) != 0; }
  /// Those that are not ASCII.
  std::uint32_t wide() const { return join(low_, high_); }

private:
  static __m128i special(__m128i from) {
    return _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(from, _mm_set1_epi8('"')),
                                     _mm_cmpeq_epi8(from, _mm_set1_epi8('\\'))),
                        _mm_cmpeq_epi8(_mm_min_epu8(from, _mm_set1_epi8(0x1f)), from));
  }
  static std::uint32_t join(__m128i low, __m128i high) {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(low)) |
           static_cast<std::uint32_t>(_mm_movemask_epi8(high)) << 16U;
  }
  __m128i low_;
  __m128i high_;
};
#endif

/// Scans the string that opens at `at`, in a text that goes on to `end` and holds a control
/// character behind the string. Control characters, bad UTF-8 and escapes of more than one letter
/// are left to the whole parser.
inline string_token scan_string(const char* at, [[maybe_unused]] const char* end) {
  const auto* const begin = ++at;
  bool is_ascii = true;
  string_token out;
  const auto close = [&](const char* found) {
    const bool is_whole =
        *found == '"' &&
        (is_ascii || simdjson::validate_utf8(begin, static_cast<std::size_t>(found - begin)));
    out.end = is_whole ? found : nullptr;
    return out;
  };
#if defined(__SSE2__)
  while (end - at > letter_masks::letters) { // a backslash at the end has a letter behind it
    const letter_masks masks(at);
    auto specials = masks.specials();
    std::ptrdiff_t bytes = letter_masks::letters;
    if (specials != 0) {
      const auto backslashes = masks.backslashes();
      do {
        const auto place = std::countr_zero(specials);
        if ((backslashes >> static_cast<unsigned>(place) & 1U) == 0) {
          is_ascii = is_ascii && (masks.wide() & ((std::uint32_t{1} << place) - 1)) == 0;
          return close(at + place);
        }
        if (escaped_letters[static_cast<unsigned char>(at[place + 1])] == 0)
          return {};
        out.has_escapes = true;
        bytes += place == letter_masks::letters - 1 ? 1 : 0;
        specials &= static_cast<std::uint32_t>(~(std::uint64_t{3} << place));
      } while (specials != 0);
    }
    is_ascii = is_ascii && !masks.has_wide();
    at += bytes;
  }
#endif
  for (; *at != '"' && static_cast<unsigned char>(*at) >= 0x20; ++at) {
    is_ascii = is_ascii && static_cast<unsigned char>(*at) < 0x80;
    if (*at != '\\')
      continue;
    if (escaped_letters[static_cast<unsigned char>(at[1])] == 0)
      return {};
    out.has_escapes = true;
    ++at;
  }
  return close(at);
}

/// Writes the text that a scanned string means over `scratch`, which only grows. @returns the text
inline std::string_view unescape(std::string_view text, std::string& scratch) {
  constexpr std::size_t step = 16;
  if (scratch.size() < text.size() + step)
    scratch.resize(text.size() + step);
  char* const begin = scratch.data();
  char* to = begin;
  const char* at = text.data();
  const char* const end = at + text.size();
#if defined(__SSE2__)
  const auto backslash = _mm_set1_epi8('\\');
  while (end - at > static_cast<std::ptrdiff_t>(step)) {
    const auto letters = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), letters);
    const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(letters, backslash)));
    if (found == 0) {
      at += step;
      to += step;
      continue;
    }
    const auto place = std::countr_zero(found);
    to[place] = escaped_letters[static_cast<unsigned char>(at[place + 1])];
    at += place + 2;
    to += place + 1;
  }
#endif
  while (at < end) {
    const bool is_escape = *at == '\\';
    *to++ = is_escape ? escaped_letters[static_cast<unsigned char>(at[1])] : *at;
    at += is_escape ? 2 : 1;
  }
  return {begin, static_cast<std::size_t>(to - begin)};
}

} // namespace headrace::task
