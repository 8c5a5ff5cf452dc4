#pragma once

#include "libgraph/data/buffer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace headrace::task {

/// A sequence of random numbers, by a seed. A value.
class nexmark_dice {
public:
  explicit nexmark_dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// One of [0, count), for a count of at least 1.
  std::int64_t below(std::int64_t count);
  /// One of [0, 1).
  double unit();

private:
  std::uint64_t state_;
};

/// A text that is made in place.
struct nexmark_text {
  std::array<char, 128> bytes;
  std::size_t size = 0;

  std::string_view view() const { return {bytes.data(), size}; }
  void append(std::string_view text);
};

/// Appends 3 to max - 1 letters, each the special one once in 13 times; without spaces at its ends.
void append_random_letters(nexmark_dice& dice, std::int64_t max, char special, nexmark_text& out);

/// The texts that all events of a seed draw from: what `extra` is cut out of, and the channels'
/// addresses. Immutable.
class nexmark_texts {
public:
  static constexpr std::int64_t channel_count = 10'000;
  static constexpr std::array<std::string_view, 4> hot_channels{"Google", "Facebook", "Baidu",
                                                                "Apple"};

  explicit nexmark_texts(std::uint64_t seed);

  /// 1 MiB of letters.
  const graph::buffer_ptr& filler() const { return filler_; }
  /// What holds the addresses.
  const graph::buffer_ptr& addresses() const { return addresses_; }
  /// In `addresses`.
  std::string_view hot_address(std::size_t hot) const { return at(hot); }
  std::string_view address(std::int64_t channel) const {
    return at(hot_channels.size() + static_cast<std::size_t>(channel));
  }

private:
  std::string_view at(std::size_t index) const;

  graph::buffer_ptr filler_;
  graph::buffer_ptr addresses_;
  std::vector<std::uint32_t> ends_; ///< of the addresses, one behind the other
};

} // namespace headrace::task
