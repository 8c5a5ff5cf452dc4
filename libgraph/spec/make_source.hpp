#pragma once

#include "libgraph/connector/registry.hpp"
#include "libgraph/spec/operator_spec.hpp"

#include <memory>
#include <string_view>

namespace headrace::graph {

/// Says that an operator gives a part of its connector's records: what `record` has, by an option
/// that connectors do not see.
void set_record(connector_spec& of, const logical_type& record);

/// Makes the source that a spec names by its connector.
/// @param output  what the operator gives: the connector's records, or the part of them that is
/// read
/// @errors those of the connector; type_mismatch  it cannot give a part alone
result<std::unique_ptr<source>> make_source(const connector_registry& connectors,
                                            const source_spec& spec, const logical_type& output);

} // namespace headrace::graph
