// Counts the words of a file, or of the files of a directory.
//
//     headrace run libword_count.so -- --input PATH --output DIRECTORY
//
// A word is a maximal run of ASCII letters, lower-cased. Writes lines "word,count", one a word.

#include "libgraph/api/headrace.hpp"

#include <string>
#include <string_view>

namespace api = headrace::api;

struct word_count {
  std::string_view word;
  std::int64_t count = 0;
};
HEADRACE_STRUCT(word_count, word, count)

/// Splits a line; the buffer is kept from line to line.
class splitter {
public:
  void operator()(std::string_view line, api::collector<word_count>& out) {
    word_.clear();
    for (const char c : line) {
      const char lower = static_cast<char>(c | 0x20);
      if (lower >= 'a' && lower <= 'z')
        word_.push_back(lower);
      else
        flush(out);
    }
    flush(out);
  }

private:
  void flush(api::collector<word_count>& out) {
    if (!word_.empty())
      out.emit({word_, 1});
    word_.clear();
  }
  std::string word_;
};

HEADRACE_JOB(env) {
  const auto input = env.arguments().get("input");
  const auto output = env.arguments().get("output");

  env.set_job_name("word count");
  env.from_source(api::file_source::lines(input))
      .flat_map(splitter())
      .name("split")
      .key_by(&word_count::word)
      .window(api::end_of_stream())
      .sum(&word_count::count)
      .name("count")
      .sink_to(api::file_sink::csv(output));
}
