#pragma once

#include "libgraph/function/function.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// What stands between streams and tables: functions over whole columns.
namespace headrace::api {

/// Copies columns, and refuses NULL where a field takes none.
/// @param names        of the fields, for errors
/// @param are_required  one a field: 1 where it is no std::optional
std::unique_ptr<graph::row_function> make_null_check(std::vector<std::string> names,
                                                     std::vector<std::uint8_t> are_required);

/// Appends a column, TIMESTAMP(3), of the rows' event time.
std::unique_ptr<graph::row_function> make_event_time_column();

/// Makes rows of what they do, a TINYINT, and the row itself: of several fields a ROW, else its one
/// column. They come as inserts.
std::unique_ptr<graph::row_function> make_changelog_rows(bool has_fields);

/// The rows of such, which then do what they say.
std::unique_ptr<graph::row_function> make_changes(bool has_fields);

} // namespace headrace::api
