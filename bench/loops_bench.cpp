// The hand-written loops by themselves, one JSON line each.
//
//     loops_bench FILE PAIRS KEYS

#include "bench/loops.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void print(const char* name, const headrace::bench::loop_result& got) {
  std::printf("{\"bench\":\"%s\",\"rows\":%llu,\"keys\":%llu,\"checksum\":%llu,"
              "\"cpu_seconds\":%.4f,\"rows_per_core_second\":%.0f}\n",
              name, static_cast<unsigned long long>(got.rows),
              static_cast<unsigned long long>(got.keys),
              static_cast<unsigned long long>(got.checksum), got.cpu_seconds,
              static_cast<double>(got.rows) / got.cpu_seconds);
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: loops_bench FILE PAIRS KEYS\n");
    return 2;
  }
  print("word_count_by_hand", headrace::bench::count_words_by_hand(argv[1]));
  print("keyed_sum_by_hand",
        headrace::bench::sum_pairs_by_hand(std::strtoull(argv[2], nullptr, 10),
                                           std::strtoull(argv[3], nullptr, 10)));
  return 0;
}
