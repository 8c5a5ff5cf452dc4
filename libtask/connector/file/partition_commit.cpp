#include "libtask/connector/file/partition_commit.hpp"

#include "libtask/connector/file/partition_path.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libgraph/types/value_text.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {
namespace {

/// Behind those of other committables of the sink.
constexpr std::uint8_t progress_version = 100;
constexpr std::uint64_t progress_bytes_max = 100;
constexpr std::string_view progress_prefix = ".progress-";

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

} // namespace

std::optional<std::int64_t> partition_time(const partition_marking& how,
                                           const std::vector<std::optional<std::string>>& values) {
  std::string text = how.time_pattern.empty() ? "$" + how.keys.front() : how.time_pattern;
  // Longer names first: $hour is not $h.
  std::vector<std::size_t> order(how.keys.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    return how.keys[left].size() > how.keys[right].size();
  });
  for (const auto key : order) {
    const auto variable = "$" + how.keys[key];
    const auto value = values[key].value_or("");
    for (auto at = text.find(variable); at != std::string::npos;
         at = text.find(variable, at + value.size()))
      text.replace(at, variable.size(), value);
  }
  const auto time = graph::parse_timestamp(text);
  if (!time)
    return std::nullopt;
  return static_cast<std::int64_t>(graph::to_timestamp_value(*time, 3));
}

graph::committable writer_progress::encode() const {
  byte_string out;
  byte_writer writer(out);
  writer.put(progress_version);
  writer.put(subtask);
  writer.put(parallelism);
  writer.put(watermark_ms);
  return out;
}

result<std::optional<writer_progress>> writer_progress::decode(byte_view bytes) {
  byte_reader in(bytes);
  const auto version = in.get<std::uint8_t>();
  if (!version || *version != progress_version)
    return std::optional<writer_progress>();
  const auto read = [&]() -> result<writer_progress> {
    writer_progress out;
    HEADRACE_TRY(out.subtask, in.get<std::int32_t>());
    HEADRACE_TRY(out.parallelism, in.get<std::int32_t>());
    HEADRACE_TRY(out.watermark_ms, in.get<std::int64_t>());
    return out;
  };
  auto out = read();
  if (!out || !in.at_end() || out->subtask < 0 || out->subtask >= out->parallelism)
    return error(errc::corrupt_snapshot, "progress of a file sink is corrupt");
  return std::optional(*out);
}

partition_committer::partition_committer(std::string directory, partition_marking how,
                                         graph::writer_context context)
    : directory_(std::move(directory)), how_(std::move(how)), context_(std::move(context)),
      names_(context_) {}

std::string partition_committer::progress_path(std::int32_t subtask) const {
  return directory_ + "/" + std::string(progress_prefix) + names_.final_name(subtask, 0);
}

status partition_committer::publish(const writer_progress& progress) {
  return context_.files.write_atomically(progress_path(progress.subtask),
                                         std::to_string(progress.parallelism) + " " +
                                             std::to_string(progress.watermark_ms));
}

result<std::optional<std::int64_t>> partition_committer::least_watermark(std::int32_t parallelism) {
  std::optional<std::int64_t> least;
  for (std::int32_t subtask = 0; subtask < parallelism; ++subtask) {
    const auto text = context_.files.read_all(progress_path(subtask), progress_bytes_max);
    if (!text && text.error().has(errc::file_not_found))
      return std::optional<std::int64_t>();
    if (!text)
      return text.error();
    const auto parts = split_text(*text, ' ');
    const auto watermark =
        parts.size() == 2 ? graph::parse_integer<std::int64_t>(parts[1]) : std::nullopt;
    if (!watermark)
      return std::optional<std::int64_t>();
    least = std::min(least.value_or(*watermark), *watermark);
  }
  return least;
}

status partition_committer::commit(const writer_progress& progress) {
  if (!how_.by_time)
    return mark_all(directory_, 0, progress.watermark_ms);
  HEADRACE_CHECK(publish(progress));
  HEADRACE_TRY(const auto watermark, least_watermark(progress.parallelism));
  if (!watermark)
    return {};
  HEADRACE_CHECK(mark_all(directory_, 0, *watermark));
  if (*watermark != graph::watermark::end)
    return {};
  return remove_progress(); // all have ended, and this one marked what there was
}

/// Of all subtasks, those of former jobs and of another parallelism, too.
status partition_committer::remove_progress() {
  HEADRACE_TRY(const auto entries, context_.files.list(directory_));
  for (const auto& each : entries) {
    auto name = name_of(each.path);
    if (!name.starts_with(progress_prefix))
      continue;
    name.remove_prefix(progress_prefix.size());
    if (!names_.is_own(name))
      continue;
    if (auto removed = context_.files.remove(each.path);
        !removed && !removed.error().has(errc::file_not_found))
      return removed;
  }
  return {};
}

status partition_committer::mark_all(const std::string& directory, std::size_t depth,
                                     std::int64_t watermark_ms) {
  HEADRACE_TRY(const auto entries, context_.files.list(directory));
  if (depth == how_.keys.size()) {
    const auto has = [&](auto&& is_it) {
      return std::any_of(entries.begin(), entries.end(),
                         [&](const file_info& each) { return is_it(name_of(each.path)); });
    };
    const bool is_marked = has([&](std::string_view name) { return name == how_.mark; });
    const bool has_rows =
        has([&](std::string_view name) { return !name.starts_with('.') && names_.is_own(name); });
    return has_rows && !is_marked ? mark(directory, watermark_ms) : status();
  }
  for (const auto& each : entries)
    if (each.is_directory && !name_of(each.path).starts_with('.'))
      HEADRACE_CHECK(mark_all(each.path, depth + 1, watermark_ms));
  return {};
}

status partition_committer::mark(const std::string& directory, std::int64_t watermark_ms) {
  if (how_.by_time) {
    const auto values = parse_partition(how_.keys, directory, how_.missing);
    if (!values)
      return {}; // of others
    const auto time = partition_time(how_, *values);
    if (!time && watermark_ms != graph::watermark::end)
      return {}; // no time: complete with the input's end
    if (time && watermark_ms <= *time + how_.delay_ms)
      return {};
  }
  context_.log.info("a partition is complete", {{"path", directory}});
  return context_.files.write_atomically(directory + "/" + how_.mark, {});
}

} // namespace headrace::task
