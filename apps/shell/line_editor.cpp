#include "apps/shell/line_editor.hpp"

#include <editline/readline.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace headrace::shell {
namespace {

constexpr int history_lines_max = 1'000;

line_editor::completer wanted_completer;
std::vector<std::string> candidates;
std::size_t next_candidate = 0;

/// Called again and again for one word, until null; the library frees what it gets.
char* next_match(const char* word, int state) {
  if (state == 0)
    next_candidate = 0;
  while (next_candidate < candidates.size()) {
    const auto& each = candidates[next_candidate++];
    if (each.starts_with(word))
      return ::strdup(each.c_str());
  }
  return nullptr;
}

char** complete_word(const char* word, int start, int /*end*/) {
  candidates = wanted_completer(
      std::string_view(rl_line_buffer, static_cast<std::size_t>(start < 0 ? 0 : start)));
  rl_attempted_completion_over = 1; // no file names
  return rl_completion_matches(word, next_match);
}

} // namespace

line_editor::line_editor(std::string history_path, completer complete)
    : history_path_(std::move(history_path)) {
  wanted_completer = std::move(complete);
  rl_attempted_completion_function = complete_word;
  using_history();
  stifle_history(history_lines_max);
  if (!history_path_.empty())
    read_history(history_path_.c_str());
}

line_editor::~line_editor() {
  if (!history_path_.empty())
    write_history(history_path_.c_str());
  wanted_completer = nullptr;
}

std::optional<std::string> line_editor::read(const char* prompt) {
  char* line = readline(prompt);
  if (line == nullptr)
    return std::nullopt;
  std::string out = line;
  std::free(line);
  if (!out.empty())
    add_history(out.c_str());
  return out;
}

} // namespace headrace::shell
