// Feeds bytes to the batch codec: the first few name a row type, the rest is the batch. What it
// takes for a batch is walked whole, hashed and written again.

#include "libgraph/data/batch_codec.hpp"

#include "test/fuzz/read_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

using namespace headrace;
using namespace headrace::graph;

void check_batch(const row_type_ptr& type, const record_batch& batch) {
  const auto again = decode_batch(type, encode_batch(batch));
  if (!again || fuzzing::read_batch(batch) != fuzzing::read_batch(*again))
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const byte_view bytes(reinterpret_cast<const char*>(data), size);
  byte_reader in(bytes);
  auto type = logical_type::decode(in);
  if (!type || type->root() != type_root::row)
    return 0;
  const auto row_type = std::make_shared<const logical_type>(std::move(*type));
  const auto batch = decode_batch(row_type, bytes.substr(size - in.remaining()));
  // Rows without columns are free to write but not to walk.
  if (batch && batch->column_count() > 0 && batch->size() < 10000)
    check_batch(row_type, *batch);
  return 0;
}
