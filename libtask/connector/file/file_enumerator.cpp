#include "libtask/connector/file/file_enumerator.hpp"

#include "libtask/connector/file/input_files.hpp"
#include "libtask/connector/file/written_order.hpp"

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

result<std::vector<graph::source_split>> discover(file_system& files, const file_input& input,
                                                  std::int32_t readers) {
  // Who watches may be there before the first file.
  const auto none =
      input.monitor_interval.count() > 0 ? empty_match::allowed : empty_match::refused;
  HEADRACE_TRY(auto found, find_input_files(files, input.path, input.recursive, none));
  HEADRACE_CHECK(refuse_compressed(found));
  if (input.assignment == split_assignment::in_order)
    found = in_written_order(std::move(found));
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
    HEADRACE_CHECK(made->check_paths());
  }
  return std::unique_ptr<graph::split_enumerator>(std::move(made));
}

status file_enumerator::check_paths() const {
  for (const auto& path : seen_paths_)
    if (!is_of_input(input_.path, path))
      return error(errc::incompatible_state,
                   "savepoint goes on with files of another path than " + input_.path +
                       ": it has read " + path +
                       "; let the table have the path that it had, or name it otherwise and leave "
                       "the state of the former out with --allow-non-restored-state");
  return {};
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
    auto path = path_of(split);
    if (seen_paths_.contains(path))
      continue;
    arrived.insert(std::move(path));
    unassigned_.push_back({next_number_++, std::move(split)});
  }
  seen_paths_.merge(arrived);
  discovered_ = true;
  if (input_.assignment == split_assignment::fixed) {
    for (const auto reader : context_.registered_readers())
      assign_to(reader);
  } else {
    serve_waiting();
  }
  return {};
}

status file_enumerator::add_reader(std::int32_t reader) {
  if (input_.assignment == split_assignment::fixed) {
    if (discovered_)
      assign_to(reader);
  } else {
    std::erase(waiting_, reader); // a new attempt, which has yet to ask
    ended_.erase(reader);
  }
  return {};
}

status file_enumerator::handle_split_request(std::int32_t reader) {
  if (input_.assignment == split_assignment::fixed) {
    if (discovered_)
      assign_to(reader);
    return {};
  }
  std::erase(waiting_, reader);
  waiting_.push_back(reader);
  serve_waiting();
  return {};
}

void file_enumerator::serve_waiting() {
  if (!discovered_)
    return;
  if (input_.assignment == split_assignment::in_order) {
    serve_in_order();
    return;
  }
  while (!waiting_.empty() && !unassigned_.empty()) {
    const auto reader = waiting_.front();
    waiting_.pop_front();
    context_.assign(reader, take_shared());
  }
  if (is_finite())
    end_waiting();
}

void file_enumerator::serve_in_order() {
  const auto readers = static_cast<std::size_t>(std::max(context_.reader_count(), 1));
  if (waiting_.empty() || waiting_.size() + ended_.size() < readers)
    return; // one that was restored may still read
  if (!unassigned_.empty()) {
    const auto first = std::min_element(waiting_.begin(), waiting_.end());
    const auto reader = *first;
    waiting_.erase(first);
    std::vector<graph::source_split> next;
    next.push_back(std::move(unassigned_.front().split));
    unassigned_.pop_front();
    context_.assign(reader, std::move(next));
  }
  if (is_finite())
    end_waiting();
}

void file_enumerator::end_waiting() {
  for (const auto reader : std::exchange(waiting_, {})) {
    context_.no_more_splits(reader);
    ended_.insert(reader);
  }
}

/// Static assignment.
void file_enumerator::assign_to(std::int32_t reader) {
  auto splits = take_own(reader);
  if (!splits.empty())
    context_.assign(reader, std::move(splits));
  if (is_finite())
    context_.no_more_splits(reader);
}

std::vector<graph::source_split> file_enumerator::take_shared() {
  // Of many small ones several, and fewer towards the end, so that no reader is left with more.
  std::vector<graph::source_split> out;
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

std::vector<graph::source_split> file_enumerator::take_own(std::int32_t reader) {
  std::vector<graph::source_split> out;
  if (const auto own = returned_.extract(reader); !own.empty())
    out = std::move(own.mapped());
  const auto readers = static_cast<std::uint64_t>(std::max(context_.reader_count(), 1));
  const auto is_own = [&](const numbered_split& one) {
    return one.number % readers == static_cast<std::uint64_t>(reader);
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
  if (input_.assignment == split_assignment::fixed) {
    if (splits.empty())
      return {};
    auto& own = returned_[reader];
    own.insert(own.end(), std::make_move_iterator(splits.begin()),
               std::make_move_iterator(splits.end()));
    return {};
  }
  std::erase(waiting_, reader);
  ended_.erase(reader);
  for (auto split = splits.rbegin(); split != splits.rend(); ++split)
    unassigned_.push_front({0, std::move(*split)});
  serve_waiting(); // readers that wait for new files take them at once
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
