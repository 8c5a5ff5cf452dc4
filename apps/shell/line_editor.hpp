#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::shell {

/// Reads lines from a terminal, with editing, history and completion (libedit). One a process: the
/// library keeps its state in globals.
class line_editor {
public:
  /// What may follow: whole words for the word that begins at the end of the given text.
  using completer = std::function<std::vector<std::string>(std::string_view before)>;

  /// @param history_path  where history is kept; empty: nowhere
  line_editor(std::string history_path, completer complete);
  ~line_editor();
  line_editor(const line_editor&) = delete;
  line_editor& operator=(const line_editor&) = delete;

  /// Nothing: the end of input.
  std::optional<std::string> read(const char* prompt);

private:
  std::string history_path_;
};

} // namespace headrace::shell
