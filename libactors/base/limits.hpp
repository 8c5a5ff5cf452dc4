#pragma once

#include <cstddef>
#include <cstdint>

/// The bounds of what comes from outside or piles up, in one place.
namespace headrace::limits {

/// The most bytes of one control message; a larger one is refused before it is allocated.
inline constexpr std::size_t message_bytes_max = std::size_t{64} << 20U;
/// How deep the pointers of a message may go.
inline constexpr int message_nesting_max = 64;
/// A message may be traversed for this many times its own words, and some more for tiny ones.
inline constexpr std::uint64_t message_traversal_factor = 8;
inline constexpr std::uint64_t message_traversal_extra_words = 1024;

/// What an executor's queue may hold; a step beyond it is a bug of the one who submits unbounded.
inline constexpr std::size_t executor_steps_max = 1U << 20U;
/// Children of one endpoint.
inline constexpr std::size_t children_max = 100'000;
/// Asks of one endpoint that wait for an answer; further ones fail at once.
inline constexpr std::size_t pending_asks_max = 1U << 20U;
/// The most bytes of an endpoint's name.
inline constexpr std::size_t endpoint_name_bytes_max = 512;
/// The most bytes of a configuration file.
inline constexpr std::uint64_t configuration_bytes_max = 1U << 20U;

} // namespace headrace::limits
