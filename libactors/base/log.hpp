#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

enum class log_level : std::uint8_t { trace, debug, info, warn, error, off };

struct log_field {
  std::string_view name;
  std::string value;
};

/// Writes structured lines: time, level, fixed words, then name=value pairs, the context's first
/// (job, vertex, subtask, attempt, endpoint). Cheap to copy; any thread.
class logger {
public:
  /// Writes nothing.
  logger() = default;
  /// To standard error, or a file when `path` is not empty. A file that cannot be written is
  /// reported on standard error, and the lines go there.
  static logger to(const std::string& path, log_level lowest);
  /// To a function (of a test, a ring of recent lines), which any thread calls: words and fields.
  using line_receiver = std::function<void(log_level, std::string_view line)>;
  static logger to(line_receiver receiver, log_level lowest);

  /// Adds fields to every line written by the returned logger.
  logger with(std::initializer_list<log_field> fields) const;

  bool is_enabled(log_level level) const;
  void write(log_level level, std::string_view words,
             std::initializer_list<log_field> fields = {}) const;
  void debug(std::string_view words, std::initializer_list<log_field> fields = {}) const {
    if (is_enabled(log_level::debug))
      write(log_level::debug, words, fields);
  }
  void info(std::string_view words, std::initializer_list<log_field> fields = {}) const {
    write(log_level::info, words, fields);
  }
  void warn(std::string_view words, std::initializer_list<log_field> fields = {}) const {
    write(log_level::warn, words, fields);
  }
  void error(std::string_view words, std::initializer_list<log_field> fields = {}) const {
    write(log_level::error, words, fields);
  }

private:
  struct sink;
  std::shared_ptr<sink> sink_;
  std::shared_ptr<const std::string> context_;
};

} // namespace headrace
