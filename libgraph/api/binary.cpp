#include "libgraph/api/binary.hpp"

#include "libgraph/function/failure.hpp"

namespace headrace::api {

void binary_reader::throw_corrupt() {
  throw graph::failure({errc::corrupt_snapshot, "bytes of a state value end early"});
}

} // namespace headrace::api
