#include "libstate/handle/subtask_state_codec.hpp"

#include "libactors/base/bytes.hpp"

#include <algorithm>

namespace headrace::state {

void write_subtask_state(capnp::AnyPointer::Builder out, const task_state_snapshot& state) {
  byte_string encoded;
  byte_writer writer(encoded);
  encode(state, writer);
  auto data = out.initAs<capnp::Data>(static_cast<unsigned>(encoded.size()));
  std::copy(encoded.begin(), encoded.end(), data.asChars().begin());
}

result<task_state_snapshot> read_subtask_state(capnp::AnyPointer::Reader in) {
  if (in.isNull())
    return task_state_snapshot{};
  const auto data = in.getAs<capnp::Data>().asChars();
  byte_reader reader(byte_view(data.begin(), data.size()));
  return decode_task_state_snapshot(reader);
}

} // namespace headrace::state
