// Counts the words of a file, or of the files of a directory.
//
//     headrace run libword_count.so -- --input PATH --output DIRECTORY [--rows-per-second N]
//
// A word is a maximal run of ASCII letters, lower-cased. Writes lines "word,count", one a word.
// Each reader takes at most N lines a second, which makes time to watch the job.

#include "libgraph/api/headrace.hpp"

#include <string>
#include <string_view>

namespace api = headrace::api;

struct word_count {
  std::string_view word;
  std::int64_t count = 0;
};
HEADRACE_STRUCT(word_count, word, count)

/// Splits a line into lower-cased words; the buffer is kept from word to word.
class splitter {
public:
  void operator()(std::string_view line, api::collector<word_count>& out) {
    for (std::size_t at = 0; at < line.size();) {
      const auto begin = at;
      while (at < line.size() && is_letter(line[at]))
        ++at;
      if (at == begin) {
        ++at;
        continue;
      }
      word_.assign(line, begin, at - begin);
      for (char& c : word_)
        c = lower(c);
      out.emit({word_, 1});
    }
  }

private:
  static char lower(char c) { return static_cast<char>(c | 0x20); }
  static bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
  std::string word_;
};

HEADRACE_JOB(env) {
  const auto input = env.arguments().get("input");
  const auto output = env.arguments().get("output");

  env.set_job_name("word count");
  env.from_source(api::file_source::lines(input).option(
                      "rows-per-second", env.arguments().get("rows-per-second", "0")))
      .flat_map(splitter())
      .name("split")
      .key_by(&word_count::word)
      .window(api::end_of_stream())
      .sum(&word_count::count)
      .name("count")
      .sink_to(api::file_sink::csv(output));
}
