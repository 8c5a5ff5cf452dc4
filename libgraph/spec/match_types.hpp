#pragma once

#include "libgraph/spec/operator_spec.hpp"

namespace headrace::graph {

/// What the conditions and measures of a pattern are over: the input's columns, then the values.
logical_type match_row_type(const match_spec& spec, const logical_type& input);
/// What the arguments of an aggregate are, as a row.
logical_type argument_row_type(const pattern_value& value);
/// An aggregate as a call over `argument_row_type`.
group_aggregate_call aggregate_call_of(const pattern_value& value);

} // namespace headrace::graph
