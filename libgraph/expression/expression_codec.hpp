#pragma once

#include "libgraph/expression/expression.hpp"
#include "schema/expression.capnp.h"

namespace headrace::graph {

/// Writes an expression. What `decode_expression` gives back is equal.
void encode(const expression& from, schema::Expression::Builder out);
/// Reads an expression; empty when there is none. `check_expression` is the caller's.
/// @errors malformed_message  a limit exceeded, a broken type or constant
result<expression> decode_expression(schema::Expression::Reader in);

/// Appends bytes that differ where expressions do: for hashes.
void put_expression(byte_writer& out, const expression& from);

} // namespace headrace::graph
