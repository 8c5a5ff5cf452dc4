// Feeds bytes to the frames between task executors: the first few name a row type, then come the
// header of a frame and its body. The batches of what is taken are read whole; the frame is written
// again, and must come back as it was.

#include "libtask/network/data_frame.hpp"

#include "test/fuzz/read_batch.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

using namespace headrace;
using namespace headrace::task;

struct body {
  explicit body(std::size_t size) : bytes(graph::buffer::allocate(size)) {}
  byte_view view() const { return {bytes->as<char>(), bytes->size_bytes()}; }
  std::shared_ptr<graph::buffer> bytes;
};

body body_of(const encoded_frame& frame) {
  body out(frame.body_bytes);
  std::size_t at = 0;
  for (const auto& part : frame.body) {
    HEADRACE_ASSERT(at + part.view.size() <= frame.body_bytes, "a body of the size that it says");
    std::memcpy(out.bytes->mutable_data() + at, part.view.data(), part.view.size());
    at += part.view.size();
  }
  HEADRACE_ASSERT(at == frame.body_bytes, "a body of the size that it says");
  return out;
}

/// A hash a row of each batch; none where the elements are not rows of the type.
std::vector<std::vector<std::uint64_t>> read_piece(const route_piece& piece,
                                                   const graph::row_type_ptr& type) {
  std::vector<std::vector<std::uint64_t>> out;
  for (const auto& element : piece.elements) {
    const auto decoded = decode_elements({element}, type, nullptr);
    if (!decoded)
      continue;
    const auto* rows = std::get_if<graph::record_batch>(&decoded->elements[0]);
    if (rows != nullptr && rows->column_count() > 0 && rows->size() < 10'000)
      out.push_back(fuzzing::read_batch(*rows));
  }
  return out;
}

void check_equal(const data_frame& one, const data_frame& other, const graph::row_type_ptr& type) {
  HEADRACE_ASSERT(one.requests.size() == other.requests.size() &&
                      one.refusals.size() == other.refusals.size() &&
                      one.credits.size() == other.credits.size() &&
                      one.abandoned == other.abandoned && one.leaves == other.leaves,
                  "the same words about channels");
  HEADRACE_ASSERT(one.pieces.size() == other.pieces.size(), "as many pieces");
  for (std::size_t i = 0; i < one.pieces.size(); ++i) {
    const auto& left = one.pieces[i];
    const auto& right = other.pieces[i];
    HEADRACE_ASSERT(left.route == right.route && left.closes == right.closes &&
                        left.elements.size() == right.elements.size(),
                    "the same pieces");
    HEADRACE_ASSERT(read_piece(left, type) == read_piece(right, type), "the same rows");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t header_bytes = 4;
  const byte_view bytes(reinterpret_cast<const char*>(data), size);
  byte_reader in(bytes);
  auto type = graph::logical_type::decode(in);
  if (!type || type->root() != graph::type_root::row)
    return 0;
  const auto row_type = std::make_shared<const graph::logical_type>(std::move(*type));
  const auto header = in.get_raw(std::min(header_bytes, in.remaining()));
  const auto rest = in.get_raw(in.remaining());
  const body received(rest->size());
  if (!rest->empty())
    std::memcpy(received.bytes->mutable_data(), rest->data(), rest->size());

  const auto frame = decode_frame(*header, received.view(), received.bytes);
  if (!frame)
    return 0;
  const auto written = encode_frame(*frame);
  const auto again_body = body_of(written);
  const auto again = decode_frame(written.header, again_body.view(), again_body.bytes);
  HEADRACE_ASSERT(again, "what was read can be written");
  check_equal(*frame, *again, row_type);
  return 0;
}
