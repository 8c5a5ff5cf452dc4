#include "libactors/rpc/address.hpp"

namespace headrace::actors {

std::string to_string(const address& where) {
  if (where.is_none()) {
    return "nowhere";
  }
  auto out = where.endpoint + '@' + to_string(where.node);
  if (where.instance != 0) {
    out += '#' + std::to_string(where.instance);
  }
  return out;
}

} // namespace headrace::actors
