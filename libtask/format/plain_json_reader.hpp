#pragma once

#include "libtask/format/json_field_plan.hpp"
#include "libtask/format/scalar_text.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::task {

/// Reads the lines that programs write: one object of scalars and of objects of such, escapes in
/// values of one letter. Whatever is not quite so, wrong or only rare, it leaves to the whole
/// parser; what it reads, that one would read the same. Not thread-safe; the type must outlive it.
class plain_json_reader {
public:
  plain_json_reader(const graph::logical_type& type, bool fail_on_missing_field);

  /// Whether rows of the type can be read at all: they hold scalars and such rows, not too deep.
  static bool is_for(const graph::logical_type& type);

  /// Reads the line from `at` on, and appends its values. A line break must stand behind. `shares`:
  /// the input lies in the buffer that the columns, also those inside of rows, share.
  /// @returns the place of the line break; nothing when the line is left to the whole parser, with
  ///          perhaps some values appended
  std::optional<std::size_t> read(byte_view input, std::size_t at, bool shares,
                                  graph::batch_builder& out);

private:
  struct value_plan;
  struct row_plan {
    explicit row_plan(const graph::logical_type& type);
    json_field_plan fields;
    std::vector<value_plan> values;
  };
  struct value_plan {
    scalar_reader scalar;          ///< when the type is a scalar
    std::unique_ptr<row_plan> row; ///< when it is a row
  };

  template <class Builders>
  const char* read_object(const char* at, row_plan& plan, const Builders& builder_of);
  template <class Builders>
  const char* read_field(const char* at, row_plan& plan, const Builders& builder_of);
  const char* read_value(const char* at, value_plan& plan, graph::column_builder& out);
  template <class Builders>
  bool fill_missing(row_plan& plan, const Builders& builder_of);

  row_plan plan_;
  bool fail_on_missing_field_;
  std::string unescaped_;
  bool shares_ = false;       ///< what `read` was told
  const char* end_ = nullptr; ///< of the input
};

} // namespace headrace::task
