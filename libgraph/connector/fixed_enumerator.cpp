#include "libgraph/connector/fixed_enumerator.hpp"

#include <algorithm>
#include <utility>

namespace headrace::graph {
namespace {
constexpr std::uint8_t version = 1;
} // namespace

result<std::unique_ptr<split_enumerator>>
fixed_enumerator::create(enumerator_context& context, std::vector<source_split> splits,
                         const std::optional<byte_string>& restored) {
  std::unique_ptr<fixed_enumerator> made(new fixed_enumerator(context));
  if (restored) {
    if (auto read = made->restore(*restored); !read)
      return error(errc::corrupt_snapshot, "state of a source's splits is not readable",
                   std::move(read).error());
  } else {
    for (auto& split : splits)
      made->unassigned_.push_back({made->unassigned_.size(), std::move(split)});
  }
  return std::unique_ptr<split_enumerator>(std::move(made));
}

status fixed_enumerator::add_reader(std::int32_t reader) {
  const auto readers = static_cast<std::uint64_t>(std::max(context_.reader_count(), 1));
  const auto is_its = [&](const owned_split& one) {
    return one.number % readers == static_cast<std::uint64_t>(reader);
  };
  std::vector<source_split> its;
  for (const auto& one : unassigned_) {
    if (is_its(one))
      its.push_back(one.split);
  }
  std::erase_if(unassigned_, is_its);
  if (!its.empty())
    context_.assign(reader, std::move(its));
  context_.no_more_splits(reader);
  return {};
}

status fixed_enumerator::add_splits_back(std::vector<source_split> splits, std::int32_t reader) {
  for (auto& split : splits)
    unassigned_.push_back({static_cast<std::uint64_t>(reader), std::move(split)});
  return {};
}

result<byte_string> fixed_enumerator::snapshot(checkpoint_id /*checkpoint*/) {
  byte_string out;
  byte_writer writer(out);
  writer.put(version);
  writer.put_varint(unassigned_.size());
  for (const auto& one : unassigned_) {
    writer.put_varint(one.number);
    writer.put_bytes(one.split.id);
    writer.put_bytes(one.split.state);
  }
  return out;
}

status fixed_enumerator::restore(byte_view state) {
  byte_reader in(state);
  HEADRACE_TRY(const auto found, in.get<std::uint8_t>());
  if (found != version)
    return error(errc::unsupported_snapshot_version, "unknown version: " + std::to_string(found) +
                                                         ", this release reads " +
                                                         std::to_string(version));
  HEADRACE_TRY(const auto count, in.get_varint());
  for (std::uint64_t i = 0; i < count; ++i) {
    HEADRACE_TRY(const auto number, in.get_varint());
    HEADRACE_TRY(const auto id, in.get_bytes());
    HEADRACE_TRY(const auto bytes, in.get_bytes());
    unassigned_.push_back({number, {std::string(id), byte_string(bytes)}});
  }
  return {};
}

} // namespace headrace::graph
