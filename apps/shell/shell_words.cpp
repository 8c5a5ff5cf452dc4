#include "apps/shell/shell_words.hpp"

#include "apps/client/job_text.hpp"
#include "apps/client/text_table.hpp"
#include "apps/shell/shell_sql.hpp"

#include <algorithm>
#include <utility>

namespace headrace::shell {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

} // namespace

result<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool has_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      has_word = true;
    } else if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      has_word = true;
    } else if (c == '#' && !has_word) {
      break;
    } else if (is_blank(c)) {
      if (std::exchange(has_word, false))
        words.push_back(std::exchange(word, {}));
    } else {
      word += c;
      has_word = true;
    }
  }
  if (quote != '\0')
    return error(errc::bad_usage, std::string("quote is not closed: ") + quote);
  if (has_word)
    words.push_back(std::move(word));
  return words;
}

std::vector<script_line> split_commands(std::string_view text) {
  std::vector<script_line> out;
  script_line next;
  char quote = '\0';
  bool is_comment = false;
  int line = 1;
  const auto end_command = [&] {
    const auto first = std::find_if_not(next.text.begin(), next.text.end(), is_blank);
    if (first != next.text.end() && *first != '#')
      out.push_back(next);
    next = {line, {}};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool begins = !is_comment && !is_blank(c) && c != '\n' &&
                        std::all_of(next.text.begin(), next.text.end(), is_blank);
    if (begins && text.substr(i).starts_with("--")) {
      is_comment = true;
      continue;
    }
    if (begins && is_sql(text.substr(i))) {
      const auto statement = text.substr(i, end_of_sql(text.substr(i)));
      out.push_back({line, std::string(statement)});
      line += static_cast<int>(std::count(statement.begin(), statement.end(), '\n'));
      next = {line, {}};
      i += statement.size(); // the ';'
      continue;
    }
    if (c == '\n') {
      ++line;
      quote = '\0';
      is_comment = false;
      end_command();
      continue;
    }
    if (is_comment)
      continue;
    if (quote == '\0' && c == ';') {
      end_command();
      continue;
    }
    if (quote == '\0' && c == '#' && (next.text.empty() || is_blank(next.text.back()))) {
      is_comment = true;
      continue;
    }
    if (c == '\\' && quote != '\'' && i + 1 < text.size() && text[i + 1] != '\n') {
      next.text += c;
      next.text += text[++i];
      continue;
    }
    if (quote == '\0' && (c == '\'' || c == '"'))
      quote = c;
    else if (c == quote)
      quote = '\0';
    next.text += c;
  }
  end_command();
  return out;
}

std::string in_short(std::string_view text) {
  constexpr std::size_t bytes_max = 120;
  auto kept = std::min(text.size(), bytes_max);
  while (kept < text.size() && kept > 0 &&
         (static_cast<unsigned char>(text[kept]) & 0xC0U) == 0x80U)
    --kept; // between two characters
  std::string out;
  for (const char c : text.substr(0, kept)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20U && byte != 0x7FU) {
      out += c;
      continue;
    }
    static constexpr std::string_view digits = "0123456789abcdef";
    out += "\\x";
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
  return kept < text.size() ? out + "… (" + std::to_string(text.size()) + " bytes)" : out;
}

std::string describe_job(const scheduler::job_status& job, std::int64_t now_ms) {
  std::string out = to_string(job.id) + "  " + job.name + ": " +
                    std::string(scheduler::name_of(job.state)) + ", " +
                    client::describe_duration(client::runtime_ms(job, now_ms)) + ", " +
                    client::describe_count(scheduler::records_read(job), "record") + " read, " +
                    client::describe_count(job.completed_checkpoints, "checkpoint") + ", " +
                    client::describe_count(job.restarts, "restart");
  if (!job.waiting_for.empty())
    out += ", waiting for " + job.waiting_for;
  return out;
}

} // namespace headrace::shell
