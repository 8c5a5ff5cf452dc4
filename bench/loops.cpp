#include "bench/loops.hpp"

#include "libactors/base/ids.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <array>
#include <cstdio>
#include <memory>
#include <string_view>
#include <sys/resource.h>

namespace headrace::bench {
namespace {

double cpu_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct text_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

/// Maps a byte to its lower-case letter, or to 0 when it is none.
constexpr std::array<char, 256> letters = [] {
  std::array<char, 256> table{};
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    table[static_cast<unsigned char>(letter)] = letter;
    table[static_cast<unsigned char>(letter - 'a' + 'A')] = letter;
  }
  return table;
}();

} // namespace

loop_result count_words_by_hand(const std::string& path) {
  loop_result out;
  const double began = cpu_now();
  boost::unordered_flat_map<std::string, std::uint64_t, text_hash, std::equal_to<>> counts;
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr)
    return out;
  std::vector<char> block(std::size_t{1} << 20U);
  std::string word;
  const auto end_word = [&] {
    ++out.rows;
    if (auto found = counts.find(std::string_view(word)); found != counts.end())
      ++found->second;
    else
      counts.emplace(word, 1);
    word.clear();
  };
  while (const std::size_t size = std::fread(block.data(), 1, block.size(), file.get())) {
    for (std::size_t at = 0; at < size; ++at) {
      const char letter = letters[static_cast<unsigned char>(block[at])];
      if (letter != 0)
        word.push_back(letter);
      else if (!word.empty())
        end_word();
    }
  }
  if (!word.empty())
    end_word();
  for (const auto& [key, count] : counts)
    out.checksum += count * key.size();
  out.keys = counts.size();
  out.cpu_seconds = cpu_now() - began;
  return out;
}

loop_result sum_pairs_by_hand(std::uint64_t pairs, std::uint64_t keys) {
  loop_result out;
  const double began = cpu_now();
  boost::unordered_flat_map<std::int64_t, std::int64_t> sums;
  for (std::uint64_t i = 0; i < pairs; ++i)
    sums[static_cast<std::int64_t>(mix64(i) % keys)] += static_cast<std::int64_t>(i);
  for (const auto& [key, sum] : sums)
    out.checksum += static_cast<std::uint64_t>(key ^ sum);
  out.rows = pairs;
  out.keys = sums.size();
  out.cpu_seconds = cpu_now() - began;
  return out;
}

} // namespace headrace::bench
