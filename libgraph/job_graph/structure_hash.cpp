#include "libgraph/job_graph/structure_hash.hpp"

#include <xxhash.h>

namespace headrace::graph {

std::pair<std::uint64_t, std::uint64_t> structure_hash(byte_view bytes) {
  const auto hash = XXH3_128bits(bytes.data(), bytes.size());
  if (hash.high64 == 0 && hash.low64 == 0)
    return {0, 1};
  return {hash.high64, hash.low64};
}

operator_id id_of_uid(std::string_view uid) {
  byte_string bytes;
  byte_writer out(bytes);
  out.put_bytes("uid");
  out.put_bytes(uid);
  const auto [high, low] = structure_hash(bytes);
  return {high, low};
}

} // namespace headrace::graph
