#include "libactors/base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace headrace {
namespace {

spdlog::level::level_enum to_spdlog(log_level level) {
  switch (level) {
  case log_level::trace:
    return spdlog::level::trace;
  case log_level::debug:
    return spdlog::level::debug;
  case log_level::info:
    return spdlog::level::info;
  case log_level::warn:
    return spdlog::level::warn;
  case log_level::error:
    return spdlog::level::err;
  case log_level::off:
    return spdlog::level::off;
  }
  return spdlog::level::off;
}

/// Keeps a value from looking like two fields or two lines.
void append_value(std::string_view value, std::string& out) {
  const auto is_plain = [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '"' && c != '=' && c != '\\' && c != 0x7f;
  };
  bool plain = !value.empty();
  for (const char c : value) {
    plain = plain && is_plain(c);
  }
  if (plain) {
    out += value;
    return;
  }
  out += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < ' ' || byte == 0x7f) {
      out += "\\x";
      out += "0123456789abcdef"[byte >> 4U];
      out += "0123456789abcdef"[byte & 0xfU];
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_fields(std::initializer_list<log_field> fields, std::string& out) {
  for (const auto& field : fields) {
    out += ' ';
    out += field.name;
    out += '=';
    append_value(field.value, out);
  }
}

} // namespace

struct logger::sink {
  log_level lowest = log_level::off;
  std::shared_ptr<spdlog::logger> lines;
  line_receiver receiver;
};

logger logger::to(const std::string& path, log_level lowest) {
  std::shared_ptr<spdlog::sinks::sink> out;
  std::string refused;
  if (!path.empty()) {
    try {
      out = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    } catch (const spdlog::spdlog_ex& failure) {
      refused = failure.what();
    }
  }
  if (!out) {
    out = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  logger made;
  made.sink_ = std::make_shared<sink>();
  made.sink_->lowest = lowest;
  made.sink_->lines = std::make_shared<spdlog::logger>("headrace", std::move(out));
  made.sink_->lines->set_level(to_spdlog(lowest));
  made.sink_->lines->flush_on(spdlog::level::info);
  made.sink_->lines->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      "%Y-%m-%dT%H:%M:%S.%eZ %-5l %v", spdlog::pattern_time_type::utc));
  if (!refused.empty()) {
    made.warn("cannot write the log file, logging to standard error",
              {{"path", path}, {"reason", refused}});
  }
  return made;
}

logger logger::to(line_receiver receiver, log_level lowest) {
  logger made;
  made.sink_ = std::make_shared<sink>();
  made.sink_->lowest = lowest;
  made.sink_->receiver = std::move(receiver);
  return made;
}

logger logger::with(std::initializer_list<log_field> fields) const {
  logger made = *this;
  if (sink_) {
    std::string context = context_ ? *context_ : std::string();
    append_fields(fields, context);
    made.context_ = std::make_shared<const std::string>(std::move(context));
  }
  return made;
}

bool logger::is_enabled(log_level level) const { return sink_ && level >= sink_->lowest; }

void logger::write(log_level level, std::string_view words,
                   std::initializer_list<log_field> fields) const {
  if (!is_enabled(level)) {
    return;
  }
  std::string line(words);
  if (context_) {
    line += *context_;
  }
  append_fields(fields, line);
  if (sink_->receiver) {
    sink_->receiver(level, line);
  } else {
    sink_->lines->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
  }
}

} // namespace headrace
