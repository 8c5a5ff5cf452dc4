#pragma once

#include "libgraph/spec/operator_spec.hpp"
#include "libactors/base/result.hpp"
#include "schema/graph.capnp.h"

namespace headrace::graph {

/// Writes what an operator does. What `decode_spec` gives back is equal.
void encode(const operator_spec& spec, schema::OperatorNode::Spec::Builder out);
/// Reads it; `validate` is the caller's.
/// @errors malformed_message  an unknown number of an enumeration, a limit exceeded, a broken type
result<operator_spec> decode_spec(schema::OperatorNode::Spec::Reader in);

} // namespace headrace::graph
