#pragma once

#include "libtask/operator/match/match_values.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace headrace::task {

/// Takes the rows of many keys at once: in each round one of every key, so that conditions about
/// earlier rows are computed for all keys together. Pure.
class match_rounds {
public:
  match_rounds(const pattern_automaton& automaton, match_values& values)
      : automaton_(automaton), values_(values) {}

  /// What of the batch is a key's: rows [first, end), of which those before `first_new` belong to
  /// matches that have begun.
  struct segment {
    summed_matches* matches = nullptr;
    std::uint32_t first_new = 0;
    std::uint32_t end = 0;
  };
  /// @param times_ms  of all rows of the batch of `match_values`
  /// @param now_ms    no row before it comes any more
  /// @errors data_errc::…  a condition or an argument fails, or the next match has no place
  status run(std::span<const segment> keys, std::span<const std::int64_t> times_ms,
             std::int64_t now_ms);

private:
  static constexpr std::uint32_t unasked = ~std::uint32_t{0};

  struct active_key {
    std::size_t index = 0;
    std::uint32_t row = 0;
    std::size_t first_answer = 0; ///< of `answers_`
  };
  /// Whether a match may begin with the row, by conditions that are about it alone.
  result<bool> may_begin(std::uint32_t row) const;
  /// Passes over rows that begin nothing. @returns false: none is left
  result<bool> find_row(const segment& of, active_key& key) const;
  status ask(const segment& of, active_key& key);
  status take(const segment& of, const active_key& key, std::span<const std::int64_t> times_ms);
  status give(const segment& of);

  const pattern_automaton& automaton_;
  match_values& values_;
  std::vector<active_key> active_;
  std::vector<std::uint32_t> answers_; ///< numbers, by partial match and variable
  std::vector<found_match> found_;
};

} // namespace headrace::task
