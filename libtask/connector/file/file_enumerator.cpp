#include "libtask/connector/file/file_enumerator.hpp"

#include "libtask/connector/file/input_files.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace headrace::task {
namespace {

constexpr std::uint8_t version = 1;
constexpr std::uint64_t bytes_at_once = std::uint64_t{1} << 20U;
constexpr std::array<std::string_view, 8> compressed_suffixes{".gz",  ".gzip", ".bz2",     ".xz",
                                                              ".zst", ".zstd", ".deflate", ".lz4"};

status refuse_compressed(const std::vector<file_info>& files) {
  for (const auto& file : files) {
    for (const auto suffix : compressed_suffixes) {
      if (file.path.ends_with(suffix))
        return error(errc::input_unreadable, "compressed input is not read, decompress it or "
                                             "name other files: " +
                                                 file.path);
    }
  }
  return {};
}

/// "part-2" before "part-10": numbers in names count as such.
bool is_before(std::string_view left, std::string_view right) {
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  const auto take_number = [&](std::string_view& from) {
    const auto begin = std::min(from.find_first_not_of('0'), from.size());
    auto end = begin;
    while (end < from.size() && is_digit(from[end]))
      ++end;
    const auto out = from.substr(begin, end - begin);
    from.remove_prefix(end);
    return out;
  };
  while (!left.empty() && !right.empty()) {
    if (is_digit(left.front()) && is_digit(right.front())) {
      const auto one = take_number(left);
      const auto other = take_number(right);
      if (one.size() != other.size())
        return one.size() < other.size();
      if (one != other)
        return one < other;
    } else if (left.front() != right.front()) {
      return left.front() < right.front();
    } else {
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
  }
  return left.size() < right.size();
}

result<std::vector<graph::source_split>> discover(file_system& files, const file_input& input,
                                                  std::int32_t readers) {
  // Who watches may be there before the first file.
  const auto none =
      input.monitor_interval.count() > 0 ? empty_match::allowed : empty_match::refused;
  HEADRACE_TRY(auto found, find_input_files(files, input.path, input.recursive, none));
  HEADRACE_CHECK(refuse_compressed(found));
  if (input.assignment == split_assignment::in_order)
    std::stable_sort(found.begin(), found.end(), [](const file_info& left, const file_info& right) {
      return is_before(left.path, right.path);
    });
  const auto split_bytes = input.split_bytes.value_or(derived_split_bytes(found, readers));
  std::vector<graph::source_split> out;
  for (const auto& split : cut_into_splits(found, split_bytes, input.splittable))
    out.push_back(split.to_source_split());
  return out;
}

std::string path_of(const graph::source_split& split) {
  return split.id.substr(0, split.id.rfind('@'));
}

std::uint64_t bytes_of(const graph::source_split& split) {
  const auto decoded = file_split::decode(split.state);
  return decoded ? decoded->end - decoded->start : bytes_at_once;
}

} // namespace

result<std::unique_ptr<graph::split_enumerator>>
file_enumerator::create(file_input input, graph::enumerator_context& context,
                        const std::optional<byte_string>& restored) {
  std::unique_ptr<file_enumerator> made(new file_enumerator(std::move(input), context));
  if (restored) {
    if (auto read = made->restore(*restored); !read)
      return error(errc::corrupt_snapshot, "state of the file source is not readable",
                   std::move(read).error());
  }
  return std::unique_ptr<graph::split_enumerator>(std::move(made));
}

status file_enumerator::start() {
  if (discovered_ && is_finite())
    return {};
  auto find = [&files = context_.files(), input = input_, readers = context_.reader_count()] {
    return discover(files, input, readers);
  };
  auto handle = [this, alive = std::weak_ptr(alive_)](auto discovered) -> status {
    return alive.expired() ? status() : on_discovered(std::move(discovered));
  };
  context_.call_async(std::move(find), std::move(handle), input_.monitor_interval);
  return {};
}

status file_enumerator::on_discovered(result<std::vector<graph::source_split>> discovered) {
  if (!discovered) {
    if (is_finite() || !discovered_)
      return std::move(discovered).error();
    context_.log().warn("input could not be listed, trying again",
                        {{"path", input_.path}, {"error", discovered.error().message}});
    return {};
  }
  if (discovered->empty() && !discovered_)
    context_.log().warn("input has no data", {{"path", input_.path}});
  std::set<std::string> arrived;
  for (auto& split : *discovered) {
    if (!is_finite()) {
      auto path = path_of(split);
      if (seen_paths_.contains(path))
        continue;
      arrived.insert(std::move(path));
    }
    unassigned_.push_back({next_number_++, std::move(split)});
  }
  seen_paths_.merge(arrived);
  discovered_ = true;
  const auto readers = is_on_request() ? std::vector<std::int32_t>(waiting_.begin(), waiting_.end())
                                       : context_.registered_readers();
  for (const auto reader : readers)
    assign_to(reader);
  return {};
}

status file_enumerator::add_reader(std::int32_t reader) {
  if (!is_on_request() && discovered_)
    assign_to(reader);
  return {};
}

status file_enumerator::handle_split_request(std::int32_t reader) {
  if (discovered_)
    assign_to(reader);
  else
    waiting_.insert(reader);
  return {};
}

void file_enumerator::assign_to(std::int32_t reader) {
  waiting_.erase(reader);
  auto splits = take_for(reader);
  const bool gave = !splits.empty();
  if (gave)
    context_.assign(reader, std::move(splits));
  const bool has_all = !is_on_request() || !gave;
  if (!has_all)
    return;
  if (is_finite())
    context_.no_more_splits(reader);
  else
    waiting_.insert(reader);
}

std::vector<graph::source_split> file_enumerator::take_for(std::int32_t reader) {
  std::vector<graph::source_split> out;
  if (is_on_request()) {
    // Of many small ones several, and fewer towards the end, so that no reader is left with more.
    const auto readers = static_cast<std::size_t>(std::max(context_.reader_count(), 1));
    const auto share = std::min(unassigned_.size() / (2 * readers), input_.splits_at_once_max);
    for (std::uint64_t bytes = 0;
         !unassigned_.empty() && (out.empty() || out.size() < share) && bytes < bytes_at_once;) {
      out.push_back(std::move(unassigned_.front().split));
      unassigned_.pop_front();
      bytes += bytes_of(out.back());
    }
    return out;
  }
  if (const auto own = returned_.extract(reader); !own.empty())
    out = std::move(own.mapped());
  const auto readers = static_cast<std::uint64_t>(std::max(context_.reader_count(), 1));
  const auto is_own = [&](const numbered_split& one) {
    const auto whose =
        input_.assignment == split_assignment::in_order ? std::uint64_t{0} : one.number % readers;
    return whose == static_cast<std::uint64_t>(reader);
  };
  for (auto& one : unassigned_) {
    if (is_own(one))
      out.push_back(one.split);
  }
  std::erase_if(unassigned_, is_own);
  return out;
}

status file_enumerator::add_splits_back(std::vector<graph::source_split> splits,
                                        std::int32_t reader) {
  waiting_.erase(reader);
  if (!is_on_request()) {
    auto& own = returned_[reader];
    own.insert(own.end(), std::make_move_iterator(splits.begin()),
               std::make_move_iterator(splits.end()));
    return {};
  }
  for (auto split = splits.rbegin(); split != splits.rend(); ++split)
    unassigned_.push_front({0, std::move(*split)});
  // Readers that wait for new files take them at once.
  while (!waiting_.empty() && !unassigned_.empty() && discovered_)
    assign_to(*waiting_.begin());
  return {};
}

result<byte_string> file_enumerator::snapshot(checkpoint_id /*checkpoint*/) {
  byte_string out;
  byte_writer writer(out);
  writer.put(version);
  writer.put(static_cast<std::uint8_t>(discovered_));
  writer.put_varint(next_number_);
  std::vector<numbered_split> all(unassigned_.begin(), unassigned_.end());
  for (const auto& [reader, splits] : returned_) {
    for (const auto& split : splits)
      all.push_back({static_cast<std::uint64_t>(reader), split});
  }
  writer.put_varint(all.size());
  for (const auto& one : all) {
    writer.put_varint(one.number);
    writer.put_bytes(one.split.id);
    writer.put_bytes(one.split.state);
  }
  writer.put_varint(seen_paths_.size());
  for (const auto& path : seen_paths_)
    writer.put_bytes(path);
  return out;
}

status file_enumerator::restore(byte_view state) {
  byte_reader in(state);
  HEADRACE_TRY(const auto found, in.get<std::uint8_t>());
  if (found != version)
    return error(errc::unsupported_snapshot_version, "unknown version: " + std::to_string(found) +
                                                         ", this release reads " +
                                                         std::to_string(version));
  HEADRACE_TRY(const auto discovered, in.get<std::uint8_t>());
  discovered_ = discovered != 0;
  HEADRACE_TRY(next_number_, in.get_varint());
  HEADRACE_TRY(const auto splits, in.get_varint());
  for (std::uint64_t i = 0; i < splits; ++i) {
    HEADRACE_TRY(const auto number, in.get_varint());
    HEADRACE_TRY(const auto id, in.get_bytes());
    HEADRACE_TRY(const auto bytes, in.get_bytes());
    unassigned_.push_back({number, {std::string(id), byte_string(bytes)}});
  }
  HEADRACE_TRY(const auto paths, in.get_varint());
  for (std::uint64_t i = 0; i < paths; ++i) {
    HEADRACE_TRY(const auto path, in.get_bytes());
    seen_paths_.insert(std::string(path));
  }
  return {};
}

} // namespace headrace::task
