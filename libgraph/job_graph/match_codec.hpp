#pragma once

#include "libgraph/spec/operator_spec.hpp"
#include "libactors/base/result.hpp"
#include "schema/graph.capnp.h"

namespace headrace::graph {

/// Writes the spec of SQL's MATCH_RECOGNIZE.
void put(const match_spec& spec, schema::MatchSpec::Builder out);
/// Reads one; whether it holds together is what `validate` checks.
/// @errors malformed_message  an unknown number, a limit exceeded, a broken type or expression
result<match_spec> match_of(schema::MatchSpec::Reader in);

} // namespace headrace::graph
