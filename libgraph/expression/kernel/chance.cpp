#include "libgraph/expression/kernel/map.hpp"
#include "libactors/base/ids.hpp"

#include <memory>

// Values that are drawn, anew for each row. With a seed they are those of Java's Random, begun for
// each distinct seed that comes after another.
namespace headrace::graph {
namespace {

/// Java's linear congruential generator.
class java_random {
public:
  void start(std::int64_t seed) { state_ = (static_cast<std::uint64_t>(seed) ^ multiplier) & mask; }
  std::int32_t next(unsigned bits) {
    state_ = (state_ * multiplier + 11) & mask;
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(state_ >> (48U - bits)));
  }
  double next_double() {
    const auto high = static_cast<std::int64_t>(next(26)) << 27U;
    return static_cast<double>(high + next(27)) * 0x1.0p-53;
  }
  /// @param bound  above 0
  std::int32_t next_below(std::int32_t bound) {
    if ((bound & -bound) == bound)
      return static_cast<std::int32_t>((std::int64_t{bound} * next(31)) >> 31U);
    while (true) {
      const auto bits = next(31);
      const auto value = bits % bound;
      if (std::int64_t{bits} - value + (bound - 1) <= INT32_MAX)
        return value;
    }
  }

private:
  static constexpr std::uint64_t multiplier = 0x5DEECE66D;
  static constexpr std::uint64_t mask = (std::uint64_t{1} << 48U) - 1;
  std::uint64_t state_ = 0;
};

/// A generator that begins anew when another seed comes.
class seeded_random {
public:
  explicit seeded_random(std::uint64_t seed) { random_.start(static_cast<std::int64_t>(seed)); }
  java_random& with(std::int32_t seed) {
    if (seed_ != seed) {
      random_.start(seed);
      seed_ = seed;
    }
    return random_;
  }
  java_random& any() { return random_; }

private:
  java_random random_;
  std::optional<std::int32_t> seed_;
};

bool are_integers(const kernel_request& request, std::size_t least, std::size_t most) {
  if (request.arguments.size() < least || request.arguments.size() > most)
    return false;
  for (const auto& each : request.arguments)
    if (each.root() != type_root::integer)
      return false;
  return true;
}

result<kernel> make_rand(const kernel_request& request) {
  if (!are_integers(request, 0, 1) || request.type.root() != type_root::double_)
    return unfit(request);
  auto random = std::make_shared<seeded_random>(request.seed);
  if (request.arguments.empty())
    return kernel([random](kernel_frame& frame) {
      return map_rows<double>(frame, [&] { return random->any().next_double(); });
    });
  return kernel([random](kernel_frame& frame) {
    return map_rows<double, std::int32_t>(
        frame, [&](std::int32_t seed) { return random->with(seed).next_double(); });
  });
}

/// RAND_INTEGER([seed,] bound): 0 to below the bound.
result<kernel> make_rand_integer(const kernel_request& request) {
  if (!are_integers(request, 1, 2) || request.type.root() != type_root::integer)
    return unfit(request);
  const auto draw = [](kernel_frame& frame, java_random& from, std::int32_t bound) -> std::int32_t {
    if (bound > 0)
      return from.next_below(bound);
    frame.fail("bound is not above 0", std::to_string(bound));
    return 0;
  };
  auto random = std::make_shared<seeded_random>(request.seed);
  if (request.arguments.size() == 1)
    return kernel([random, draw](kernel_frame& frame) {
      return map_rows<std::int32_t, std::int32_t>(
          frame, [&](std::int32_t bound) { return draw(frame, random->any(), bound); });
    });
  return kernel([random, draw](kernel_frame& frame) {
    return map_rows<std::int32_t, std::int32_t, std::int32_t>(
        frame, [&](std::int32_t seed, std::int32_t bound) {
          return draw(frame, random->with(seed), bound);
        });
  });
}

/// Version 4 of RFC 9562.
result<kernel> make_uuid(const kernel_request& request) {
  if (!request.arguments.empty() || request.type.physical() != physical_type::string)
    return unfit(request);
  return kernel([state = std::make_shared<std::uint64_t>(request.seed)](kernel_frame& frame) {
    text_writer out(frame);
    std::string text;
    for_each_row(frame.rows, [&](std::size_t row) {
      const auto high = mix64(*state += 0x9e3779b97f4a7c15);
      const auto low = mix64(*state += 0x9e3779b97f4a7c15);
      text = to_hex((high & ~0xf000ULL) | 0x4000ULL, (low & ~(3ULL << 62U)) | 2ULL << 62U);
      for (const std::size_t at : {8U, 13U, 18U, 23U})
        text.insert(at, 1, '-');
      out.put(row, text);
    });
    return out.finish(frame.type, frame.rows.total, nullptr);
  });
}

constexpr kernel_entry entries[] = {
    {"RAND", "i", make_rand, true, false, true},
    {"RAND_INTEGER", "i", make_rand_integer, true, true, true},
    {"UUID", "", make_uuid, true, false, true},
};

} // namespace

std::span<const kernel_entry> chance_kernels() { return entries; }

} // namespace headrace::graph
