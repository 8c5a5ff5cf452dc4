#pragma once

#include "libgraph/spec/operator_spec.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <string>

namespace headrace::scheduler {

/// What a snapshot keeps of a split enumerator: its state behind the name of its connector, so that
/// no other kind of source takes it for its own. Operators without a uid are found by their place
/// in the job, where another source may stand by now.
byte_string mark_enumerator_state(const graph::connector_spec& connector, byte_view state);

/// The state alone; what has no mark is of a release before there was one, and comes as it is.
///
/// @param source  its name, for words
/// @errors incompatible_state  it is of another connector
///         corrupt_snapshot    a mark that ends early
result<byte_string> unmark_enumerator_state(const graph::connector_spec& connector,
                                            const std::string& source, byte_view stored);

} // namespace headrace::scheduler
