#include "libtask/connector/file/file_split.hpp"

#include <algorithm>

namespace headrace::task {
namespace {

constexpr std::uint8_t version = 1;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
constexpr std::uint64_t split_bytes_least = 4 * mebibyte;
constexpr std::uint64_t split_bytes_most = 64 * mebibyte;
constexpr std::uint64_t splits_per_reader = 4;

result<file_split> read_split(byte_reader& in) {
  file_split split;
  HEADRACE_TRY(const auto path, in.get_bytes());
  split.path = path;
  HEADRACE_TRY(split.start, in.get_varint());
  HEADRACE_TRY(split.end, in.get_varint());
  HEADRACE_TRY(split.next, in.get_varint());
  HEADRACE_TRY(const auto aligned, in.get<std::uint8_t>());
  split.is_aligned = aligned != 0;
  HEADRACE_TRY(split.lines, in.get_varint());
  if (!in.at_end() || split.end < split.start || split.next < split.start)
    return error(errc::malformed_message, "values contradict each other");
  return split;
}

} // namespace

byte_string file_split::encode() const {
  byte_string out;
  byte_writer writer(out);
  writer.put(version);
  writer.put_bytes(path);
  writer.put_varint(start);
  writer.put_varint(end);
  writer.put_varint(next);
  writer.put(static_cast<std::uint8_t>(is_aligned));
  writer.put_varint(lines);
  return out;
}

result<file_split> file_split::decode(byte_view bytes) {
  byte_reader in(bytes);
  const auto found = in.get<std::uint8_t>();
  if (found && *found != version)
    return error(errc::unsupported_snapshot_version,
                 "state of a file split has an unknown version: " + std::to_string(*found) +
                     ", this release reads " + std::to_string(version));
  auto split = found ? read_split(in) : result<file_split>(found.error());
  if (!split)
    return error(errc::corrupt_snapshot, "state of a file split is corrupt",
                 std::move(split).error());
  return split;
}

std::vector<file_split> cut_into_splits(std::span<const file_info> files, std::uint64_t split_bytes,
                                        bool splittable) {
  std::vector<file_split> out;
  for (const auto& file : files) {
    const auto piece = splittable ? std::max<std::uint64_t>(split_bytes, 1) : file.size_bytes;
    for (std::uint64_t start = 0; start < file.size_bytes; start += piece) {
      // A last piece that is a tenth too large is better than one that is tiny.
      auto end = std::min(file.size_bytes, start + piece);
      if (file.size_bytes - end <= piece / 10)
        end = file.size_bytes;
      out.push_back(file_split::of(file.path, start, end));
      if (end == file.size_bytes)
        break;
    }
  }
  return out;
}

std::uint64_t derived_split_bytes(std::span<const file_info> files, std::int32_t readers) {
  std::uint64_t total = 0;
  for (const auto& file : files)
    total += file.size_bytes;
  const auto pieces = splits_per_reader * static_cast<std::uint64_t>(std::max(readers, 1));
  return std::clamp((total + pieces - 1) / pieces, split_bytes_least, split_bytes_most);
}

} // namespace headrace::task
