#pragma once

#include "libgraph/data/savepoint_order.hpp"
#include "libactors/base/result.hpp"
#include "schema/checkpoint.capnp.h"

#include <utility>

namespace headrace::graph {

inline void write(schema::SavepointOrder::Builder out, const savepoint_order& order) {
  out.setDirectory(order.directory);
  out.setNative(order.is_native);
  out.setStop(static_cast<schema::SavepointStop>(order.stop));
}

/// @errors malformed_message
inline result<savepoint_order> read_savepoint_order(schema::SavepointOrder::Reader in) {
  savepoint_order out;
  out.directory = in.getDirectory().cStr();
  out.is_native = in.getNative();
  if (in.getStop() > schema::SavepointStop::DRAIN || out.directory.empty())
    return error(errc::malformed_message, "savepoint without directory, or of an unknown kind");
  out.stop = static_cast<savepoint_stop>(in.getStop());
  return out;
}

} // namespace headrace::graph
