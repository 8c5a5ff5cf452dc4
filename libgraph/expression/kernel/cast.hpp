#pragma once

#include "libgraph/expression/kernel/kernel.hpp"

// Casts, a source each for what is cast. Each may be asked as CAST, where a refused value fails the
// job, or as TRY_CAST, where it is NULL. @errors type_mismatch  no such cast
namespace headrace::graph {

/// Among numbers and BOOLEAN: never fails; decimals that do not fit are NULL.
result<kernel> make_number_cast(const kernel_request& request);
/// Anything to a text: cut to its length, CHAR filled up.
result<kernel> make_cast_to_text(const kernel_request& request);
/// A text to a number, BOOLEAN or time. Spaces around it do not count.
result<kernel> make_cast_from_text(const kernel_request& request);
/// Among DATE, TIME and timestamps; instants by the session's zone.
result<kernel> make_time_cast(const kernel_request& request);
/// Among arrays, maps, multisets and rows of as many fields: each child by its own cast.
result<kernel> make_nested_cast(const kernel_request& request);

/// The argument as a column of another type that lies the same in memory.
column_ptr retyped(const kernel_frame& frame);

} // namespace headrace::graph
