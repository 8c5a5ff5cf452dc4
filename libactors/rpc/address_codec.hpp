#pragma once

#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address.hpp"

namespace headrace::actors {

inline void write(schema::Address::Builder out, const address& where) {
  headrace::write(out.initNode(), where.node);
  out.setEndpoint(where.endpoint);
  out.setInstance(where.instance);
}
inline address read_address(schema::Address::Reader in) {
  return {read_id<node_id>(in.getNode()), in.getEndpoint().cStr(), in.getInstance()};
}

} // namespace headrace::actors
