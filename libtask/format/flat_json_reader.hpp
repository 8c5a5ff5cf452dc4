#pragma once

#include "libtask/format/json_field_plan.hpp"
#include "libtask/format/scalar_text.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace headrace::task {

/// Reads the lines that programs write: one object of scalars, strings without escapes. Whatever is
/// not quite so, wrong or only rare, it leaves to the whole parser; what it reads, that one would
/// read the same. Not thread-safe; the type must outlive it.
class flat_json_reader {
public:
  flat_json_reader(const graph::logical_type& type, bool fail_on_missing_field);

  /// Whether rows of the type can be read at all.
  static bool is_for(const graph::logical_type& type);

  /// Reads the line from `at` on, and appends its values. A line break must stand behind. `shares`:
  /// the input lies in the buffer that the columns share.
  /// @returns the place of the line break; nothing when the line is left to the whole parser, with
  ///          perhaps some values appended
  std::optional<std::size_t> read(byte_view input, std::size_t at, bool shares,
                                  graph::batch_builder& out);

private:
  const char* read_field(const char* at, bool shares, graph::batch_builder& out);
  const char* read_value(const char* at, std::size_t index, bool shares, graph::batch_builder& out);
  const char* skip_value(const char* at) const;
  const char* end_of_string(const char* at) const;
  bool fill_missing(graph::batch_builder& out);

  json_field_plan fields_;
  std::vector<scalar_reader> values_;
  bool fail_on_missing_field_;
  const char* end_ = nullptr; ///< of the input
};

} // namespace headrace::task
