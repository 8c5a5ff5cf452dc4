// A source of words, map to (word, 1), key by word, running sum, print.
//
//     headrace run libwords_print.so [-- --count N --rate ROWS_PER_SECOND]

#include "libgraph/api/headrace.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace api = headrace::api;

HEADRACE_JOB(env) {
  static constexpr std::array words{"to", "be", "or", "not", "to", "be"};
  const auto count = static_cast<std::uint64_t>(env.arguments().get_int("count", words.size()));
  const auto rate = env.arguments().get_real("rate", 0);

  env.set_job_name("words");
  env.from_source(
         api::generator_source<std::string>(
             [](std::uint64_t i) { return std::string(words[i % words.size()]); }, count, rate),
         "words")
      .map([](std::string_view word) { return std::pair(std::string(word), std::int64_t{1}); })
      .key_by<0>()
      .sum<1>()
      .print();
}
