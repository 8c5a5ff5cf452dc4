#include "libstate/snapshot/block_codec.hpp"

#include "libstate/snapshot/snapshot_format.hpp"
#include "libactors/base/assert.hpp"

#include <memory>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

namespace headrace::state {

namespace {

std::uint64_t block_checksum(byte_view stored, block_sizes sizes) {
  return checksum_of(stored, std::uint64_t{sizes.stored_bytes} << 32U | sizes.raw_bytes);
}

struct context_deleter {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

} // namespace

std::uint64_t checksum_of(byte_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

void encode_block(byte_view raw, byte_string& stored) {
  thread_local const std::unique_ptr<ZSTD_CCtx, context_deleter> context(ZSTD_createCCtx());
  HEADRACE_ASSERT(raw.size() <= snapshot_format::raw_bytes_max, "a block has its size");
  stored.resize(snapshot_format::block_header_bytes + ZSTD_compressBound(raw.size()));
  const auto written =
      ZSTD_compressCCtx(context.get(), stored.data() + snapshot_format::block_header_bytes,
                        stored.size() - snapshot_format::block_header_bytes, raw.data(), raw.size(),
                        snapshot_format::compression_level);
  HEADRACE_ASSERT(ZSTD_isError(written) == 0, "zstd compresses into its own bound");
  stored.resize(snapshot_format::block_header_bytes + written);
  const block_sizes sizes{static_cast<std::uint32_t>(written),
                          static_cast<std::uint32_t>(raw.size())};
  const auto checksum =
      block_checksum(byte_view(stored).substr(snapshot_format::block_header_bytes), sizes);
  std::memcpy(stored.data(), &sizes.stored_bytes, 4);
  std::memcpy(stored.data() + 4, &sizes.raw_bytes, 4);
  std::memcpy(stored.data() + snapshot_format::block_checksum_at, &checksum, 8);
}

result<block_sizes> decode_block_header(byte_view header) {
  if (header.size() < snapshot_format::block_header_bytes)
    return error(errc::malformed_message, "block header cut off");
  block_sizes sizes;
  std::memcpy(&sizes.stored_bytes, header.data(), 4);
  std::memcpy(&sizes.raw_bytes, header.data() + 4, 4);
  if (sizes.raw_bytes > snapshot_format::raw_bytes_max ||
      sizes.raw_bytes > sizes.stored_bytes * snapshot_format::stored_ratio_max)
    return error(errc::malformed_message,
                 "impossible block size: " + std::to_string(sizes.raw_bytes) + " from " +
                     std::to_string(sizes.stored_bytes));
  return sizes;
}

std::uint64_t stored_checksum(byte_view block) {
  std::uint64_t out = 0;
  std::memcpy(&out, block.data() + snapshot_format::block_checksum_at, sizeof(out));
  return out;
}

status decode_block(byte_view block, byte_string& raw) {
  thread_local const std::unique_ptr<ZSTD_DCtx, context_deleter> context(ZSTD_createDCtx());
  HEADRACE_TRY(const auto sizes, decode_block_header(block));
  const auto stored = block.substr(snapshot_format::block_header_bytes);
  if (stored.size() != sizes.stored_bytes)
    return error(errc::malformed_message, "block cut off");
  if (stored_checksum(block) != block_checksum(stored, sizes))
    return error(errc::malformed_message, "checksum does not fit");
  raw.resize(sizes.raw_bytes);
  const auto got =
      ZSTD_decompressDCtx(context.get(), raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(got) != 0 || got != sizes.raw_bytes)
    return error(errc::malformed_message, "block does not decompress to its size");
  return {};
}

} // namespace headrace::state
