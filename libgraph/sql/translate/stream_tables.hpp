#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace headrace::sql {

/// Tables that are streams of the program around a query, by what their option 'stream' says:
/// scans read an operator's rows, and a query's rows become those of an operator.
///
/// Options: 'connector' = 'stream', 'stream'; of rows that may be changes 'format' =
/// 'changelog-stream'; of those that have event times and watermarks 'watermarks' = 'given'.
struct stream_tables {
  static constexpr const char* connector = "stream";
  static constexpr const char* changes_format = "changelog-stream";
  static constexpr const char* given = "given";

  std::map<std::string, std::int32_t> sources; ///< places in the program
  /// Whether a table that is written takes changes, or rows that only come.
  std::map<std::string, bool> sinks;
  std::map<std::string, std::int32_t> results; ///< of those: what gives the rows
};

} // namespace headrace::sql
