#include "libtask/connector/nexmark/nexmark_texts.hpp"

#include "libgraph/types/logical_type.hpp"
#include "libgraph/types/value_text.hpp"
#include "libactors/base/assert.hpp"
#include "libactors/base/ids.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

namespace headrace::task {
namespace {

constexpr std::size_t filler_bytes = std::size_t{1} << 20U;
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;
constexpr int letter_count = 26;
constexpr int special_one_of = 13;

std::uint32_t reversed_bits(std::uint32_t from) {
  std::uint32_t out = 0;
  for (int i = 0; i < 32; ++i)
    out |= (from >> static_cast<unsigned>(i) & 1U) << static_cast<unsigned>(31 - i);
  return out;
}

/// Blocks of six letters from one signed number, by divisions that cut: a negative one gives
/// letters before 'a', so that half of the blocks have none of the others.
graph::buffer_ptr make_filler(nexmark_dice dice) {
  auto out = graph::buffer::allocate(filler_bytes);
  auto* to = out->mutable_as<char>();
  std::int32_t value = 0;
  for (std::size_t i = 0; i < filler_bytes; ++i) {
    if (i % 6 == 0)
      value = static_cast<std::int32_t>(static_cast<std::uint32_t>(dice.next() >> 32U));
    to[i] = static_cast<char>('a' + value % letter_count);
    value /= letter_count;
  }
  return out;
}

void append_address(nexmark_dice& dice, std::string& out) {
  out += "https://www.nexmark.com/";
  for (int i = 0; i < 3; ++i) {
    nexmark_text word;
    append_random_letters(dice, 5, '_', word);
    out += word.view();
    out += '/';
  }
  out += "item.htm?query=1";
}

} // namespace

std::uint64_t nexmark_dice::next() {
  state_ += golden;
  return mix64(state_);
}

std::int64_t nexmark_dice::below(std::int64_t count) {
  return static_cast<std::int64_t>(static_cast<graph::int128>(next() >> 1U) * count >> 63U);
}

double nexmark_dice::unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

void nexmark_text::append(std::string_view text) {
  HEADRACE_ASSERT(size + text.size() <= bytes.size(), "a text longer than its place");
  std::memcpy(bytes.data() + size, text.data(), text.size());
  size += text.size();
}

void append_random_letters(nexmark_dice& dice, std::int64_t max, char special, nexmark_text& out) {
  constexpr std::uint64_t outcomes = special_one_of * letter_count;
  const auto begin = out.size;
  auto left = 3 + dice.below(max - 3);
  HEADRACE_ASSERT(out.size + static_cast<std::size_t>(left) <= out.bytes.size(),
                  "letters beyond the place of a text");
  while (left > 0) {
    auto bits = dice.next(); // enough for four letters
    for (int i = 0; i < 4 && left > 0; ++i, --left, bits >>= 16U) {
      const auto outcome = (bits & 0xffffU) * outcomes >> 16U;
      out.bytes[out.size++] =
          outcome < letter_count ? special : static_cast<char>('a' + outcome % letter_count);
    }
  }
  auto first = begin;
  while (out.size > begin && out.bytes[out.size - 1] == ' ')
    --out.size;
  while (first < out.size && out.bytes[first] == ' ')
    ++first;
  std::memmove(out.bytes.data() + begin, out.bytes.data() + first, out.size - first);
  out.size -= first - begin;
}

nexmark_texts::nexmark_texts(std::uint64_t seed)
    : filler_(make_filler(nexmark_dice(mix64(seed ^ 0x66696c6cU)))) {
  nexmark_dice dice(mix64(seed ^ 0x75726cU));
  std::string all;
  for (std::size_t i = 0; i < hot_channels.size(); ++i) {
    append_address(dice, all);
    ends_.push_back(static_cast<std::uint32_t>(all.size()));
  }
  for (std::int64_t channel = 0; channel < channel_count; ++channel) {
    append_address(dice, all);
    if (dice.below(10) > 0) {
      const auto reversed =
          static_cast<std::int32_t>(reversed_bits(static_cast<std::uint32_t>(channel)));
      all += "&channel_id=";
      graph::append_integer(std::abs(std::int64_t{reversed}), all);
    }
    ends_.push_back(static_cast<std::uint32_t>(all.size()));
  }
  auto kept = graph::buffer::allocate(all.size());
  std::memcpy(kept->mutable_data(), all.data(), all.size());
  addresses_ = std::move(kept);
}

std::string_view nexmark_texts::at(std::size_t index) const {
  const auto begin = index == 0 ? 0 : ends_[index - 1];
  return {addresses_->as<char>() + begin, ends_[index] - begin};
}

} // namespace headrace::task
